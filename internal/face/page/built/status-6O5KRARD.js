import{a,b}from"./chunk-E26AQGQF.js";import"./chunk-TN4S4DF3.js";import"./chunk-EJ77PIRO.js";import"./chunk-TEPXY4YS.js";export{a as Status,b as Tile};
