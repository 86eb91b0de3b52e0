import{a,b}from"./chunk-ARE7VGCS.js";import"./chunk-2URX6WJJ.js";export{a as Status,b as Tile};
