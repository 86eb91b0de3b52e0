// Functions of JavaScript files, by the parser in Node: node --expose-internals functions.cjs.
const acorn = require('internal/deps/acorn/acorn/dist/acorn')
const fs = require('fs')
for (const path of fs.readFileSync(0, 'utf8').split('\n')) {
  if (!path) continue
  const out = []
  const walk = (node, name) => {
    if (!node || typeof node !== 'object') return
    if (Array.isArray(node)) { for (const n of node) walk(n, ''); return }
    if (typeof node.type !== 'string') return
    if (/Function/.test(node.type) && node.body.type === 'BlockStatement') {
      const n = (node.id && node.id.name) || name
      out.push([n || '', node.loc.start.line, node.loc.end.line, node.loc.start.line + 1])
    }
    for (const [k, v] of Object.entries(node)) {
      if (k === 'loc' || k === 'type') continue
      let n = ''
      if (node.type === 'VariableDeclarator' && k === 'init') n = node.id.name || ''
      if (node.type === 'AssignmentExpression' && k === 'right') n = (node.left.property && node.left.property.name) || node.left.name || ''
      if ((node.type === 'Property' || node.type === 'MethodDefinition') && k === 'value') n = node.key.name || ''
      walk(v, n)
    }
  }
  const text = fs.readFileSync(path, 'utf8')
  for (const sourceType of ['script', 'module']) {
    try {
      walk(acorn.parse(text, { ecmaVersion: 'latest', sourceType, locations: true, allowHashBang: true, allowReturnOutsideFunction: true }), '')
      break
    } catch { out.length = 0 }
  }
  console.log(JSON.stringify(out))
}
