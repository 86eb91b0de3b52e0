// The shapes of the server's replies about what there is and how it goes.

import type { Store } from './types';

export interface StoreInfo extends Store {
  textBytes: number;
  diskBytes: number;
  generation: number;
  languages?: Record<string, number>;
  skipped?: Record<string, number>;
  masked?: number;
  commit?: string;
  embedder?: string;
  follows?: string;
  lastError?: string;
  notes?: string[];
}

// Started is what store:create and store:index reply.
export interface Started {
  store: string;
  id: string;
  jobId?: string;
  note?: string;
}

export interface Job {
  id: string;
  type: string;
  store?: string;
  storeName?: string;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'interrupted';
  cancelling?: boolean;
  progress: { phase?: string; done: number; total?: number; percent?: number; rate?: number; eta?: number };
  message?: string;
  hint?: string;
  createdAt: string;
  updatedAt: string;
}

export interface Usage {
  dir: string;
  parts: { what: string; path: string; files: number; bytes: number }[];
  bytes: number;
  diskFree?: number;
  diskSize?: number;
  memory: { resident?: number; heap: number; reserved: number };
}

export interface Diagnosis {
  findings: { what: string; status: string; text: string; hint?: string }[];
  wrong: number;
}

export interface Evidence {
  status: string;
  evidence: {
    path: string; exists: boolean; valid: boolean; note?: string; timestamp?: string; outcome?: string;
    findings_count: number; severity_counts?: Record<string, number>;
  };
}

export interface Finding {
  ruleId: string;
  severity: string;
  message: string;
  file: string;
  lines?: number[];
}

export interface Gate {
  allowed: boolean;
  status: string;
  stage: string;
  violations: { code: string; severity: string; message: string }[];
  evidence?: { age_seconds: number | null; max_age_seconds: number };
  repo_state?: { git?: { branch: string | null; staged: number; unstaged: number; untracked: number } };
}

export interface ReviewEntry {
  question: string;
  times?: number;
  negative?: number;
  positive?: number;
  confidence?: number;
  comments?: string[];
  sources?: string[];
  change?: string;
}

export interface Review {
  unanswered: ReviewEntry[];
  badly_rated: ReviewEntry[];
  most_asked: ReviewEntry[];
  drifted: ReviewEntry[];
  notes?: string[];
}

export interface Rating {
  feedback_id: string;
  query: string;
  response?: string;
  rating: string;
  comment?: string;
  pending?: boolean;
  created_at: string;
}

export interface SpecGraph {
  graph?: {
    nodes: { name: string; type: string; about?: string; url?: string; faded?: boolean }[];
    edges: { from: number; to: number; type: string; wrong?: boolean }[];
  };
  message?: string;
  warnings?: string[];
}

export interface Around {
  store: string;
  path: string;
  nodes: { path: string; distance: number }[];
  edges: { from: number; to: number; calls?: number; types?: number; inherits?: number; others?: number }[];
  more?: number;
  notes?: string[];
}
