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
}

export interface SearchReply {
  hits: Hit[];
  count: number;
  confidence: 'high' | 'medium' | 'low' | 'none';
  probability?: number;
  signs?: Record<string, number>;
  ms: number;
  notes?: string[];
}

export interface GrepReply {
  store: string;
  matches: { path: string; line: number; text: string }[];
  total: number;
  note?: string;
}

// Lines are what several greps found.
export interface Lines {
  matches: (GrepReply['matches'][number] & { store: string })[];
  total: number;
  stores: Map<string, number>; // lines by each store that was looked through
  notes: string[];
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

export interface FileText {
  store: string;
  commit?: string;
  path: string;
  url?: string;
  start: number;
  lines: number;
  text: string;
  note?: string;
}

export interface OutlineSymbol {
  id: string;
  lines: string;
  symbol: string;
  kind: string;
  signature?: string;
  members?: OutlineSymbol[];
}

export interface OutlineReply {
  store: string;
  path: string;
  language?: string;
  symbols?: OutlineSymbol[];
}

export interface Pointer {
  id: string;
  store?: string;
  at: string;
  symbol?: string;
  code?: string;
  why?: string;
}

// Context is what get_full_context says of a place.
export interface Context {
  id: string;
  store: string;
  at: string;
  path: string;
  start: number;
  end: number;
  symbol?: string;
  kind?: string;
  signature?: string;
  note?: string;
  callers?: Pointer[];
  moreCallers?: number;
  callees?: Pointer[];
  moreCallees?: number;
  types?: Pointer[];
  tests?: Pointer[];
  related?: Pointer[];
  mentionedBy?: Pointer[];
  provenBy?: Pointer[];
  specs?: { title: string; section?: string; url: string; why: string; kdd_status?: string }[];
  findings?: { severity: string; message: string; ruleId?: string; lines?: number[]; source?: string }[];
  moreFindings?: number;
}
