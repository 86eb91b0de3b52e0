// Calls what the modules of a folder export with arguments that do not fit and
// prints the traces; the sources are translated by esbuild with source maps.
//   node --enable-source-maps node.js ESBUILD FOLDER
'use strict'
const fs = require('fs'), path = require('path'), os = require('os')
const esbuild = require(process.argv[2]), root = fs.realpathSync(process.argv[3])
const files = fs.readdirSync(root, { recursive: true }).map(String).filter(f => /\.ts$/.test(f) && !/\.d\.ts$|test|spec|benchmark|locales/.test(f))
const entry = files.map(f => path.join(root, f))
const seen = new Set()
const values = [undefined, null, 'x', 7, {}, [], () => { throw new TypeError('x is not a function') }, new Date(NaN), /x/, { a: 1, _zod: {} }, { path: 'a.b', type: 'query' }, Symbol('s'), new Error('x'), true]
let n = 1
const any = () => values[(n = (n * 48271) % 2147483647) % values.length]
const own = s => s && s.startsWith(root)
Error.stackTraceLimit = 40
process.on('unhandledRejection', e => say(e))
function say(e) {
  if (!(e instanceof Error) || typeof e.stack !== 'string') return
  const frames = []
  for (const l of e.stack.split('\n')) {
    let m = /^\s+at (?:(.+?) \()?(?:file:\/\/)?([^()\s]+):(\d+):(\d+)\)?$/.exec(l)
    if (!m || m[2].includes(__filename)) continue
    frames.push([m[1] || '', m[2], +m[3], +m[4]])
  }
  const f = frames.find(f => own(f[1]))
  if (!f || seen.has(f[1] + f[0] + f[2])) return
  seen.add(f[1] + f[0] + f[2])
  console.log(JSON.stringify({ error: e.constructor.name, message: String(e.message).slice(0, 300), frames }))
}
function call(f) { try { const r = f(); if (r && typeof r.then === 'function') r.then(() => {}, say); return r } catch (e) { say(e) } }
async function main() {
  const out = fs.mkdtempSync(path.join(os.tmpdir(), 'fuzz-'))
  for (const file of entry) {
    const to = path.join(out, path.relative(root, file).replace(/\.ts$/, '.cjs'))
    try { await esbuild.build({ entryPoints: [file], bundle: true, platform: 'node', format: 'cjs', outfile: to, sourcemap: true, logLevel: 'silent', packages: 'external', keepNames: true, target: 'node20' }) } catch (e) { continue }
    let m
    try { m = require(to) } catch (e) { continue }
    for (const k of Object.keys(m)) {
      const v = m[k]
      if (typeof v !== 'function' || /serve|run|start|listen|exit|kill|remove|write|clean/i.test(k)) continue
      for (let i = 0; i < 10; i++) {
        const args = Array.from({ length: i % 4 }, any)
        let o = call(() => v(...args))
        if (/^class|^[A-Z]/.test(Function.prototype.toString.call(v)) || /^[A-Z]/.test(k)) o = call(() => new v(...args)) || o
        if (o && typeof o === 'object') {
          const names = new Set([...Object.keys(o), ...Object.getOwnPropertyNames(Object.getPrototypeOf(o) || {})])
          for (const q of [...names].slice(0, 60)) if (q !== 'constructor') call(() => typeof o[q] === 'function' && o[q](any(), any()))
        }
      }
    }
  }
  setTimeout(() => process.exit(0), 500)
}
main()
