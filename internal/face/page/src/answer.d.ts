declare module '*/answer.js' {
  export interface Source { title?: string; url?: string; snippet?: string }
  export interface Reply { result?: string; sources?: Source[]; confidence?: number }
  export class AnswerView {
    constructor(options: { lang?: string; base?: string; rate?: (rating: 'positive' | 'negative', reply: Reply) => Promise<void>; again?: () => void });
    element: HTMLElement;
    text: string;
    add(delta: string): void;
    done(reply: Reply): void;
    fail(why: string): void;
  }
  export const style: string;
}
