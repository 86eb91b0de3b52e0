import{a,b}from"./chunk-B5RVKCZS.js";import"./chunk-TN4S4DF3.js";import"./chunk-TQY3WHK6.js";import"./chunk-UO4K2JPO.js";export{a as Status,b as Tile};
