// What the TypeScript compiler says of the uses that a project makes of packages.
//
//   node reference.js PATH/TO/typescript PROJECT [TSCONFIG]
//
// prints, by tabs:
//
//   file  PATH                                        a file that was looked at
//   use   PATH LINE NAME KIND  PACKAGE PATH LINE …    a name and its declarations, which are several
//                                                     for overloads and merged ones
//
// KIND is call (a call, new, a tag of JSX), type, or inherit. Reading a value is none of these.
"use strict";
const path = require("path");
const fs = require("fs");
const ts = require(process.argv[2]);
const root = fs.realpathSync(process.argv[3]);
const config = process.argv[4] ? path.join(root, process.argv[4]) : ts.findConfigFile(root, ts.sys.fileExists);

let names, options;
if (config && fs.existsSync(config)) {
  const read = ts.readConfigFile(config, ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(read.config, ts.sys, path.dirname(config));
  names = parsed.fileNames;
  options = parsed.options;
} else {
  names = ts.sys.readDirectory(root, [".ts", ".tsx", ".js", ".jsx"], ["node_modules"]);
  options = { allowJs: true, moduleResolution: ts.ModuleResolutionKind.Node10 };
}
options.noEmit = true;
options.skipLibCheck = true;
const program = ts.createProgram(names, options);
const checker = program.getTypeChecker();
const said = new Set();
function say(...fields) {
  const line = fields.join("\t");
  if (!said.has(line)) {
    said.add(line);
    console.log(line);
  }
}

// place returns package, path below it and line of a declaration; undefined
// for what lies in no package, or in those of the compiler and of Node.
function place(d) {
  const source = d.getSourceFile();
  let file = source.fileName;
  try { file = fs.realpathSync(file); } catch { return undefined; }
  const at = file.lastIndexOf("/node_modules/");
  if (at < 0) return undefined;
  const parts = file.slice(at + "/node_modules/".length).split("/");
  const name = parts[0].startsWith("@") ? parts.splice(0, 2).join("/") : parts.shift();
  if (name === "typescript" || name === "@types/node") return undefined;
  const node = ts.getNameOfDeclaration(d) || d;
  const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
  return [name, parts.join("/"), line];
}

// kindOf says how a name is used; undefined for reading it, and for imports and exports.
function kindOf(id) {
  let n = id;
  if (ts.isPropertyAccessExpression(n.parent) && n.parent.name === n) n = n.parent;
  const p = n.parent;
  if ((ts.isCallExpression(p) || ts.isNewExpression(p)) && p.expression === n) return "call";
  if (ts.isTaggedTemplateExpression(p) && p.tag === n) return "call";
  if (ts.isDecorator(p) && p.expression === n) return "call";
  if ((ts.isJsxOpeningElement(p) || ts.isJsxSelfClosingElement(p)) && p.tagName === n) return "call";
  if (ts.isExpressionWithTypeArguments(p) && p.expression === n) return "inherit";
  let t = id;
  if (ts.isQualifiedName(t.parent) && t.parent.right === t) t = t.parent;
  if (ts.isTypeReferenceNode(t.parent) && t.parent.typeName === t) return "type";
  return undefined;
}

// around returns the call that a name is called by.
function around(id) {
  let n = id;
  if (ts.isPropertyAccessExpression(n.parent) && n.parent.name === n) n = n.parent;
  const p = n.parent;
  return (ts.isCallExpression(p) || ts.isNewExpression(p)) && p.expression === n ? p : undefined;
}

for (const source of program.getSourceFiles()) {
  const file = source.fileName;
  if (source.isDeclarationFile && file.includes("/node_modules/") || file.includes("/node_modules/")) continue;
  const rel = path.relative(root, fs.realpathSync(file)).split(path.sep).join("/");
  if (rel.startsWith("..")) continue;
  say("file", rel);
  const visit = (n) => {
    if (ts.isIdentifier(n)) {
      const kind = kindOf(n);
      let s = kind && checker.getSymbolAtLocation(n);
      if (s && s.flags & ts.SymbolFlags.Alias) s = checker.getAliasedSymbol(s);
      const to = [];
      for (const d of (s && s.declarations) || []) {
        const p = place(d);
        if (p) to.push(...p);
      }
      // Of several overloads, or constructors, the one that is called.
      const call = kind === "call" && n.parent && around(n);
      const chosen = call && checker.getResolvedSignature(call);
      const made = to.length > 0 && chosen && chosen.declaration && place(chosen.declaration);
      if (made) to.push(...made);
      if (to.length > 0 && (s.declarations || []).every(place)) {
        say("use", rel, source.getLineAndCharacterOfPosition(n.getStart(source)).line + 1, n.text, kind, ...to);
      }
    }
    ts.forEachChild(n, visit);
  };
  visit(source);
}
