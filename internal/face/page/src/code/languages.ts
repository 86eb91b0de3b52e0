// names are the colourer's names of languages that it calls otherwise than we do.
export const names: Record<string, string> = {
  tsx: 'typescript', jsx: 'javascript', 'c++': 'cpp', 'c#': 'csharp', c_sharp: 'csharp', shell: 'bash', sh: 'bash', html: 'xml', svg: 'xml', vue: 'xml', svelte: 'xml',
  toml: 'ini', 'objective-c': 'objectivec', jsonc: 'json', make: 'makefile', mdx: 'markdown', groovy: 'java', visualbasic: 'vbnet', gherkin: 'yaml',
};

const endings: Record<string, string> = {
  go: 'go', py: 'python', js: 'javascript', mjs: 'javascript', cjs: 'javascript', jsx: 'jsx', ts: 'typescript', tsx: 'tsx', java: 'java', kt: 'kotlin', rs: 'rust', c: 'c', h: 'c',
  cc: 'cpp', cpp: 'cpp', hpp: 'cpp', cs: 'csharp', rb: 'ruby', php: 'php', swift: 'swift', lua: 'lua', pl: 'perl', r: 'r', sql: 'sql', sh: 'shell', css: 'css', scss: 'scss',
  html: 'html', xml: 'xml', svg: 'xml', json: 'json', yaml: 'yaml', yml: 'yaml', toml: 'toml', md: 'markdown', scala: 'scala', mk: 'make', diff: 'diff', ini: 'ini',
};

// languageOf guesses the language of a document from its path.
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^makefile$/i.test(name)) return 'make';
  return endings[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? '';
}
