import{a,b}from"./chunk-KL5BXYEZ.js";import"./chunk-TN4S4DF3.js";import"./chunk-CHRT2SJU.js";import"./chunk-FXVVJJUR.js";export{a as Status,b as Tile};
