// The list of shortcuts, and the dialog that shows it.

import { useEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { known } from '../keys';

export const helping = signal(false);

const shown: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc', ' ': 'Space' };

// grouped puts the keys that do the same on one line.
function grouped(): [string, string[]][] {
  const m = new Map<string, string[]>();
  for (const k of known()) m.set(k.does, [...(m.get(k.does) ?? []), shown[k.key] ?? k.key]);
  return [...m];
}

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
        {grouped().map(([does, keys]) => <div key={does}><dt>{keys.map((k) => <><kbd key={k}>{k}</kbd> </>)}</dt><dd>{does}</dd></div>)}
        <div><dt><kbd>Enter</kbd></dt><dd>opens what has the focus</dd></div>
      </dl>
      <button type="button" onClick={() => box.current?.close()}>Close</button>
    </dialog>
  );
}
