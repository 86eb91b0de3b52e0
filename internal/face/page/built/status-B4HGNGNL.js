import{a,b}from"./chunk-2BNQQFIG.js";import"./chunk-TN4S4DF3.js";import"./chunk-FCXUZASD.js";export{a as Status,b as Tile};
