// Prints the declarations of the JavaScript and TypeScript files named on the
// standard input with the parser of the TypeScript compiler, which is the
// first argument: one JSON array a declaration, as goast has it.
'use strict'
const fs = require('fs')
const ts = require(process.argv[2])
for (const path of fs.readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const file = ts.createSourceFile(path, fs.readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const line = p => file.getLineAndCharacterOfPosition(p).line + 1
  const out = (kind, name, scope, n) => {
    if (!name || !(ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) return
    console.log(JSON.stringify([path, kind, name.text, scope, line(n.getStart(file)), line(name.getStart(file)), line(n.getEnd())]))
  }
  const walk = (n, scope, inside) => {
    let s = scope, i = inside
    if (ts.isFunctionDeclaration(n)) { out('callable', n.name, scope, n); i = true }
    else if (ts.isMethodDeclaration(n) || ts.isGetAccessor(n) || ts.isSetAccessor(n) || ts.isMethodSignature(n)) {
      if (!ts.isObjectLiteralExpression(n.parent)) out('callable', n.name, scope, n)
      i = true
    } else if (ts.isConstructorDeclaration(n) || ts.isArrowFunction(n) || ts.isFunctionExpression(n)) i = true
    else if (ts.isClassDeclaration(n) || ts.isInterfaceDeclaration(n) || ts.isTypeAliasDeclaration(n) || ts.isEnumDeclaration(n)) { out('type', n.name, scope, n); s = n.name ? n.name.text : scope }
    else if ((ts.isPropertyDeclaration(n) || ts.isPropertySignature(n)) && !i && ts.isInterfaceDeclaration(n.parent) | ts.isClassDeclaration(n.parent)) out('field', n.name, scope, n)
    else if (ts.isEnumMember(n)) out('constant', n.name, scope, n)
    else if (ts.isVariableDeclaration(n) && !i) {
      const f = n.initializer && (ts.isArrowFunction(n.initializer) || ts.isFunctionExpression(n.initializer))
      out(f ? 'callable' : 'constant', n.name, scope, n)
    }
    ts.forEachChild(n, c => walk(c, s, i))
  }
  walk(file, '', false)
}
