var n=!1;function r(t){return{onKeyDown:e=>{n=e.shiftKey},onBeforeInput:e=>{e.inputType!=="insertLineBreak"||n||(e.preventDefault(),t())}}}export{r as a};
