// Lists the declarations of JavaScript and TypeScript files with the parser of
// the TypeScript compiler, which is the first argument.
//
// Reads paths from standard input, one a line, and prints for each a line of
// JSON: {"file": path, "symbols": [[class, qualified name, line], ...]}, or
// {"file": path, "error": why}.
'use strict'

const fs = require('fs')
const ts = require(process.argv[2])
const K = ts.SyntaxKind

function read(name) {
  const text = fs.readFileSync(name, 'utf8')
  // JavaScript may hold JSX under any of its names.
  const kind = /\.[cm]?js$/.test(name) ? ts.ScriptKind.JSX : undefined
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, kind)
  // 8000 and above: only meant for TypeScript, or only for JavaScript.
  const bad = file.parseDiagnostics.find(d => d.code < 8000)
  if (bad) return { file: name, error: ts.flattenDiagnosticMessageText(bad.messageText, ' ') }
  const out = []
  const add = (what, path, label, at) =>
    out.push([what, [...path, label].join('.'), file.getLineAndCharacterOfPosition(at.getStart(file)).line + 1])

  // key is the name of a member, undefined when it is computed from anything
  // but a name or a string.
  const key = n => {
    if (!n) return undefined
    if (ts.isIdentifier(n) || ts.isPrivateIdentifier(n) || ts.isNumericLiteral(n)) return n.getText(file)
    if (ts.isStringLiteralLike(n)) return n.getText(file).slice(1, -1)
    if (ts.isComputedPropertyName(n)) {
      const e = n.expression
      if (ts.isStringLiteral(e)) return e.getText(file).slice(1, -1)
      if (chain(e)) return `[${e.getText(file)}]`
    }
    return undefined
  }
  // chain is "a.b.c" as a list, undefined for anything else.
  const chain = e => {
    if (ts.isIdentifier(e)) return [e.text]
    if (e.kind === K.ThisKeyword) return ['this']
    if (e.kind === K.SuperKeyword) return ['super']
    if (ts.isPropertyAccessExpression(e)) {
      const c = chain(e.expression)
      return c && [...c, e.name.text]
    }
    return undefined
  }
  const plain = e => {
    while (e && (ts.isParenthesizedExpression(e) || ts.isAsExpression(e) || ts.isSatisfiesExpression(e) || ts.isNonNullExpression(e))) e = e.expression
    return e
  }
  const isFunction = e => e && (ts.isArrowFunction(e) || ts.isFunctionExpression(e))
  const isRequire = e => {
    if (!e) return false
    if (ts.isAwaitExpression(e)) e = e.expression
    if (ts.isPropertyAccessExpression(e)) e = e.expression
    if (ts.isParenthesizedExpression(e)) e = e.expression
    if (ts.isAwaitExpression(e)) e = e.expression
    return ts.isCallExpression(e) && (e.expression.kind === K.ImportKeyword || e.expression.getText(file) === 'require') &&
      e.arguments.length > 0 && ts.isStringLiteralLike(e.arguments[0])
  }

  // The state: path, names around; top, whether variables are those of the
  // module or a namespace; inside, whether a function is around that has a
  // name; member, whether this is directly in a class, interface or type.
  const into = (n, s) => ts.forEachChild(n, c => walk(c, s))
  const body = (n, s, name) => into(n, { path: [...s.path, name], top: false, inside: true, member: false })
  const type = (n, s, name, members) => {
    const t = { path: [...s.path, name], top: false, inside: false, member: true }
    members.forEach(m => walk(m, t))
    // Whatever else is in it: heritage, decorators, parameters of types.
    ts.forEachChild(n, c => { if (!members.includes(c)) walk(c, { ...t, member: false }) })
  }
  // object lists the functions of an object that goes by a name.
  const object = (o, s, owners, deep) => {
    for (const p of o.properties) {
      if (ts.isMethodDeclaration(p) || ts.isAccessor(p)) {
        const k = key(p.name)
        if (k === undefined) { walk(p, s); continue }
        add('function', [...s.path, ...owners], k, p.name)
        body(p, { ...s, path: [...s.path, ...owners] }, k)
      } else if (ts.isPropertyAssignment(p)) {
        const k = key(p.name), v = plain(p.initializer)
        if (k !== undefined && isFunction(v)) {
          add('function', [...s.path, ...owners], k, p.name)
          body(v, { ...s, path: [...s.path, ...owners] }, k)
        } else if (k !== undefined && ts.isObjectLiteralExpression(v) && deep < 4) object(v, s, [...owners, k], deep + 1)
        else walk(p, s)
      } else walk(p, s)
    }
  }
  const value = (v, s) => {
    if (ts.isObjectLiteralExpression(v)) object(v, s, [], 0)
    else if ((ts.isCallExpression(v) || ts.isNewExpression(v)) && v.arguments) {
      walk(v.expression, s)
      v.arguments.forEach(a => ts.isObjectLiteralExpression(a) ? object(a, s, [], 0) : walk(a, s))
    } else walk(v, s)
  }
  const named = (n, s, v, at, label, fn = 'function') => {
    if (isFunction(v)) { add(fn, s.path, label, at); body(v, s, label); return true }
    if (v && ts.isClassExpression(v)) { add('type', s.path, label, at); type(v, s, label, v.members); return true }
    return false
  }
  const variable = (d, s) => {
    const v = plain(d.initializer)
    if (isRequire(v)) return
    if (ts.isIdentifier(d.name) && named(d, s, v, d.name, d.name.text)) return
    if (!s.top) { into(d, s); return }
    const each = p => {
      if (ts.isIdentifier(p)) add('value', s.path, p.text, p)
      else p.elements.forEach(e => { if (e.name) each(e.name); if (e.initializer) walk(e.initializer, { ...s, top: false }) })
    }
    each(d.name)
    if (d.type) walk(d.type, { ...s, top: false })
    if (v) ts.isIdentifier(d.name) ? value(v, { ...s, path: [...s.path, d.name.text], top: false }) : walk(v, { ...s, top: false })
  }
  const exported = (n, s, v) => {
    v = plain(v)
    const label = v.name ? v.name.text : 'default'
    const at = v.name || n
    if (named(n, s, v, at, label)) return
    if (ts.isBinaryExpression(v)) walk(v, s)
    else value(v, { ...s, top: false })
  }
  // assignment lists functions and classes given to a member of something.
  const assignment = (n, s) => {
    const left = chain(n.left), v = plain(n.right)
    if (s.inside || !left || left.length < 2 || left[0] === 'this') return false
    if (left.join('.') === 'module.exports') { exported(n, s, n.right); return true }
    let owners = left.slice(0, -1)
    const label = left[left.length - 1], at = n.left.name
    if (label === 'prototype' && ts.isObjectLiteralExpression(v)) { object(v, s, owners, 0); return true }
    if (owners.join('.') === 'exports' || owners.join('.') === 'module.exports') owners = []
    if (owners.length > 1 && owners[owners.length - 1] === 'prototype') owners = owners.slice(0, -1)
    return named(n, { ...s, path: [...s.path, ...owners] }, v, at, label)
  }
  const functionLike = n => ts.isFunctionDeclaration(n) || ts.isMethodDeclaration(n) || ts.isConstructorDeclaration(n) || ts.isAccessor(n) || ts.isMethodSignature(n)

  function walk(n, s) {
    const below = { ...s, top: false, member: false }
    switch (n.kind) {
      case K.ImportDeclaration: case K.ImportEqualsDeclaration: case K.ExportDeclaration:
        return
      case K.ExportAssignment:
        exported(n, s, n.expression)
        return
      case K.ClassDeclaration: case K.InterfaceDeclaration: {
        const label = n.name ? n.name.text : 'default'
        add('type', s.path, label, n.name || n)
        type(n, s, label, [...n.members])
        return
      }
      case K.ClassExpression:
        if (!n.name) { type2(n, s); return }
        add('type', s.path, n.name.text, n.name)
        type(n, s, n.name.text, [...n.members])
        return
      case K.TypeAliasDeclaration: {
        add('type', s.path, n.name.text, n.name)
        type(n, s, n.name.text, ts.isTypeLiteralNode(n.type) ? [...n.type.members] : [])
        return
      }
      case K.EnumDeclaration:
        add('type', s.path, n.name.text, n.name)
        n.members.forEach(m => { const k = key(m.name); if (k !== undefined) add('value', [...s.path, n.name.text], k, m.name) })
        return
      case K.ModuleDeclaration: {
        if (n.name.text === 'global' && !ts.isStringLiteral(n.name) && n.flags & ts.NodeFlags.GlobalAugmentation) {
          n.body && n.body.statements.forEach(c => walk(c, s))
          return
        }
        const names = [n.name.text]
        let b = n.body, at = n.name
        while (b && ts.isModuleDeclaration(b)) { names.push(b.name.text); b = b.body }
        add('space', [...s.path, ...names.slice(0, -1)], names[names.length - 1], at)
        if (b) b.statements.forEach(c => walk(c, { path: [...s.path, ...names], top: true, inside: false, member: false }))
        return
      }
      case K.FunctionDeclaration: {
        const label = n.name ? n.name.text : 'default'
        add('function', s.path, label, n.name || n)
        body(n, s, label)
        return
      }
      case K.FunctionExpression: case K.ArrowFunction:
        into(n, below)
        return
      case K.Constructor:
        if (!s.member) break // of a class without a name
        add('function', s.path, 'constructor', n.getChildren(file).find(c => c.kind === K.ConstructorKeyword || c.kind === K.StringLiteral) || n)
        body(n, s, 'constructor')
        return
      case K.MethodDeclaration: case K.GetAccessor: case K.SetAccessor: case K.MethodSignature: {
        const k = key(n.name)
        // Of a type without a name, or computed: an object's are listed all the same.
        if (k === undefined || !s.member && !ts.isObjectLiteralExpression(n.parent) && !ts.isClassLike(n.parent)) { into(n, below); return }
        add('function', s.path, k, n.name)
        body(n, s, k)
        return
      }
      case K.PropertyDeclaration: {
        const k = key(n.name)
        if (k !== undefined && isFunction(n.initializer)) {
          add('function', s.path, k, n.name)
          body(n.initializer, s, k)
          return
        }
        into(n, below)
        return
      }
      case K.VariableStatement:
        n.declarationList.declarations.forEach(d => variable(d, s))
        return
      case K.VariableDeclarationList:
        n.declarations.forEach(d => variable(d, below))
        return
      case K.ExpressionStatement:
        if (!s.top) break
        walk(n.expression, { ...s, top: false })
        return
      case K.BinaryExpression:
        if (n.operatorToken.kind === K.EqualsToken && assignment(n, s)) return
        break
    }
    into(n, below)
  }
  // type2 is a class without any name: its members go by their own.
  const type2 = (n, s) => into(n, { ...s, top: false, member: false })

  file.statements.forEach(c => walk(c, { path: [], top: true, inside: false, member: false }))
  return { file: name, symbols: out }
}

for (const name of fs.readFileSync(0, 'utf8').split('\n')) {
  if (!name) continue
  let r
  try { r = read(name) } catch (e) { r = { file: name, error: String(e && e.stack) } }
  console.log(JSON.stringify(r))
}
