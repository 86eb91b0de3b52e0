// Doing something on the server, and saying how it went.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call, Failure } from '../api';
import { Hint, sentence } from './states';

export interface Act {
  busy: boolean;
  error?: Failure;
  run: (command: string, args: object) => void;
}

// useDo runs one command at a time; done is called after one that succeeded.
export function useDo<T>(done: (result: T) => void): Act {
  const [state, set] = useState<{ busy: boolean; error?: Failure }>({ busy: false });
  const run = (command: string, args: object) => {
    set({ busy: true });
    call<T>(command, args).then(
      (result) => {
        set({ busy: false });
        done(result);
      },
      (error) => set({ busy: false, error: error instanceof Failure ? error : new Failure('internal', String(error)) }),
    );
  };
  return { ...state, run };
}

// Did says why something was not done; cure is what to do about it where the
// page knows better than the server, whose readers may be programs.
export function Did({ act, cure }: { act: Act; cure?: ComponentChildren }) {
  if (!act.error) return null;
  return <div class="did" role="alert"><p><b>{sentence(act.error.message)}.</b></p>{cure ?? (act.error.hint && <Hint text={act.error.hint} />)}</div>;
}
