// Builds src into built: node build.mjs, after npm ci.
//
// Names hold a hash of what is in the file, and nothing in a file depends on the
// machine or the hour, so that the same sources make the same bytes. SOURCES
// has the hash of each source, for the test that tells stale files.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const out = 'built';
rmSync(out, { recursive: true, force: true });
mkdirSync(out);

const common = {
  bundle: true, minify: true, target: 'es2022', legalComments: 'none', charset: 'utf8', metafile: true, logLevel: 'warning',
  entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]', outdir: out, absWorkingDir: import.meta.dirname,
};

// The worker is built first: its name stands in the program.
const worker = await build({ ...common, format: 'iife', entryPoints: ['src/code/worker.ts'] });
const nameOf = (result, source) => Object.entries(result.metafile.outputs).find(([, o]) => o.entryPoint === source)[0].slice(out.length + 1);

const page = await build({
  ...common, format: 'esm', splitting: true, jsx: 'automatic', jsxImportSource: 'preact', entryPoints: ['src/main.tsx'],
  define: { WORKER: JSON.stringify('/assets/' + nameOf(worker, 'src/code/worker.ts')) },
});
const style = await build({ ...common, entryPoints: ['src/style.css'] });

const drawn = readFileSync('src/icon.svg');
const icon = `icon-${createHash('sha256').update(drawn).digest('hex').slice(0, 8)}.svg`;
writeFileSync(`${out}/${icon}`, drawn);

const main = nameOf(page, 'src/main.tsx');
const loads = page.metafile.outputs[`${out}/${main}`].imports.filter((i) => i.kind === 'import-statement').map((i) => i.path.slice(out.length + 1));
const html = readFileSync('src/index.html', 'utf8')
  .replace('STYLE', '/assets/' + nameOf(style, 'src/style.css'))
  .replace('ICON', '/assets/' + icon)
  .replace('<!-- PRELOAD -->', loads.map((p) => `<link rel="modulepreload" href="/assets/${p}">`).join('\n'))
  .replace('MAIN', '/assets/' + main);
writeFileSync(`${out}/index.html`, html);

const sha = (f) => createHash('sha256').update(readFileSync(f)).digest('hex');
const inputs = new Set(['build.mjs', 'package.json', 'package-lock.json', 'tsconfig.json', 'src/index.html', 'src/icon.svg']);
for (const f of readdirSync('src', { recursive: true }).map((f) => 'src/' + f)) if (/\.(tsx?|css)$/.test(f)) inputs.add(f);
for (const r of [worker, page, style]) {
  for (const f of Object.keys(r.metafile.inputs)) if (!f.startsWith('node_modules/')) inputs.add(f);
}
const made = readdirSync(out).map((f) => `${out}/${f}`);
writeFileSync(`${out}/SOURCES`, [...inputs, ...made].sort().map((f) => `${sha(f)}  ${f}\n`).join(''));
