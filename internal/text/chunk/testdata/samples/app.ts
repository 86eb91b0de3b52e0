import { a } from './a';
import type { B } from './b';
import {
  c,
  d,
} from './c';

const fs = require('fs');

export const LIMIT = 10;

/** Options of a client. */
export interface Options {
  url: string;
  retry?: number;
}

export type Handler = (req: Request) => Promise<void>;

export enum Color { Red, Green }

/**
 * Fetches a page. Retries.
 */
export async function fetchPage(url: string, { retry = 3 }: Options = {}): Promise<string> {
  const x = () => 1;
  if (retry) {
    return fetchPage(url);
  }
  return `
function notThis() {
}
`;
}

export const useThing = (a: number): number => {
  return a + 1;
};

export default class Client<T> extends Base<T> {
  private count = 0;

  constructor(private readonly options: Options) {
    super();
  }

  static async create(): Promise<Client> {
    return new Client({});
  }

  get size() { return 1; }

  handle = async (e: Event) => {
    if (e) {
      return;
    }
  };

  #secret() {
    return /['"`]/.test(this.x);
  }
}

Client.prototype.old = function (a) {
  return a;
};

module.exports = { Client };
