import{a,b}from"./chunk-ZOR2O4E5.js";import"./chunk-TN4S4DF3.js";import"./chunk-ARPSEORC.js";import"./chunk-W3DCK2ZL.js";export{a as Status,b as Tile};
