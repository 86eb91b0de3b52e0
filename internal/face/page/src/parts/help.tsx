// The list of shortcuts, and the dialog that shows it.

import { useEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { known } from '../keys';

export const helping = signal(false);

const shown: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', Escape: 'Esc', ' ': 'Space' };

export function Help() {
  const box = useRef<HTMLDialogElement>(null);
  const open = helping.value;
  useEffect(() => {
    if (open) box.current?.showModal();
  }, [open]);
  if (!open) return null;
  return (
    <dialog ref={box} class="help" aria-labelledby="help-title" onClose={() => (helping.value = false)}
      onClick={(e) => e.target === e.currentTarget && e.currentTarget.close()}
      onKeyDown={(e) => e.key === '?' && e.currentTarget.close()}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {known().map((k) => <div key={k.key}><dt><kbd>{shown[k.key] ?? k.key}</kbd></dt><dd>{k.does}</dd></div>)}
        <div><dt><kbd>Enter</kbd></dt><dd>opens what has the focus</dd></div>
      </dl>
      <button type="button" onClick={() => box.current?.close()}>Close</button>
    </dialog>
  );
}
