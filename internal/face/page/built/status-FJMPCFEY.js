import{a,b}from"./chunk-QGNXZQBP.js";import"./chunk-TN4S4DF3.js";import"./chunk-VI4XMOZN.js";import"./chunk-77PQ4443.js";export{a as Status,b as Tile};
