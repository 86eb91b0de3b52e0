// Enter sends what stands in a field of several lines; with Shift it is a line
// break, and so is one that is pasted.

let shift = false;

export function entering(submit: () => void) {
  return {
    onKeyDown: (e: KeyboardEvent) => {
      shift = e.shiftKey;
    },
    // Keyboards of telephones send no key, but this.
    onBeforeInput: (e: InputEvent) => {
      if (e.inputType !== 'insertLineBreak' || shift) return;
      e.preventDefault();
      submit();
    },
  };
}
