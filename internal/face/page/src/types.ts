// The shapes of the server's replies, as far as the page reads them.

export interface Hit {
  id: string;
  store: string;
  at: string;
  symbol?: string;
  score: number;
  line?: number;
  code?: string;
  note?: string;
  kind?: string;
  language?: string;
  signature?: string;
  doc?: string;
  why?: string[];
  explain?: Record<string, number>;
  calledBy?: string[];
  calls?: string[];
}

export interface SearchReply {
  hits: Hit[];
  count: number;
  confidence: 'high' | 'medium' | 'low' | 'none';
  probability?: number;
  ms: number;
  notes?: string[];
}

export interface GrepReply {
  store: string;
  matches: { path: string; line: number; text: string }[];
  total: number;
  note?: string;
}

export interface Store {
  name: string;
  id: string;
  kind: string;
  source: string;
  status: string;
  documents: number;
  chunks: number;
  scope: string;
  indexed?: string;
}
