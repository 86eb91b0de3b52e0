import{a,b}from"./chunk-TJ4XORWV.js";import"./chunk-FJNGLWTJ.js";import"./chunk-FCXUZASD.js";export{a as Status,b as Tile};
