//! Lists the declarations of Rust files with syn, as reference.py does those of
//! Python: paths on standard input, one a line, a line of JSON for each.

use std::io::{self, BufRead};
use syn::{ImplItem, Item, TraitItem, Type};

struct Out(Vec<(&'static str, String, usize)>, Vec<String>);

impl Out {
    fn add(&mut self, class: &'static str, name: &syn::Ident) {
        let mut path = self.1.clone();
        let text = name.to_string();
        path.push(text.strip_prefix("r#").map(str::to_string).unwrap_or(text));
        self.0.push((class, path.join("."), name.span().start().line));
    }
    fn within(&mut self, name: String, f: impl FnOnce(&mut Out)) {
        self.1.push(name);
        f(self);
        self.1.pop();
    }
    fn items(&mut self, items: &[Item]) {
        for i in items {
            self.item(i);
        }
    }
    fn item(&mut self, i: &Item) {
        match i {
            Item::Fn(f) => {
                self.add("function", &f.sig.ident);
                self.within(f.sig.ident.to_string(), |o| o.block(&f.block));
            }
            Item::Struct(s) => self.add("type", &s.ident),
            Item::Union(s) => self.add("type", &s.ident),
            Item::Type(s) => self.add("type", &s.ident),
            Item::Const(s) if s.ident != "_" => self.add("value", &s.ident),
            Item::Static(s) => self.add("value", &s.ident),
            Item::Enum(e) => {
                self.add("type", &e.ident);
                self.within(e.ident.to_string(), |o| {
                    for v in &e.variants {
                        o.add("value", &v.ident);
                    }
                });
            }
            Item::Mod(m) => {
                if let Some((_, items)) = &m.content {
                    self.add("space", &m.ident);
                    self.within(m.ident.to_string(), |o| o.items(items));
                }
            }
            Item::Macro(m) => {
                if let (Some(name), true) = (&m.ident, m.mac.path.is_ident("macro_rules")) {
                    self.add("function", name);
                }
            }
            Item::ForeignMod(m) => {
                for i in &m.items {
                    match i {
                        syn::ForeignItem::Fn(f) => self.add("function", &f.sig.ident),
                        syn::ForeignItem::Static(s) => self.add("value", &s.ident),
                        syn::ForeignItem::Type(t) => self.add("type", &t.ident),
                        _ => {}
                    }
                }
            }
            Item::Trait(t) => {
                self.add("type", &t.ident);
                self.within(t.ident.to_string(), |o| {
                    for i in &t.items {
                        match i {
                            TraitItem::Method(f) => {
                                o.add("function", &f.sig.ident);
                                if let Some(b) = &f.default {
                                    o.within(f.sig.ident.to_string(), |o| o.block(b));
                                }
                            }
                            TraitItem::Const(c) => o.add("value", &c.ident),
                            TraitItem::Type(c) => o.add("type", &c.ident),
                            _ => {}
                        }
                    }
                });
            }
            Item::Impl(i) => {
                let owner = owner(&i.self_ty);
                self.within(owner, |o| {
                    for i in &i.items {
                        match i {
                            ImplItem::Method(f) => {
                                o.add("function", &f.sig.ident);
                                o.within(f.sig.ident.to_string(), |o| o.block(&f.block));
                            }
                            ImplItem::Const(c) => o.add("value", &c.ident),
                            ImplItem::Type(c) => o.add("type", &c.ident),
                            _ => {}
                        }
                    }
                });
            }
            _ => {}
        }
    }
    fn block(&mut self, b: &syn::Block) {
        syn::visit::Visit::visit_block(&mut Inner(self), b);
    }
}

/// Finds the items in the bodies of functions.
struct Inner<'a>(&'a mut Out);

impl<'a, 'ast> syn::visit::Visit<'ast> for Inner<'a> {
    fn visit_item(&mut self, i: &'ast Item) {
        self.0.item(i);
    }
}

/// The name that members of an impl go by: that of the type behind pointers.
fn owner(t: &Type) -> String {
    match t {
        Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default(),
        Type::Reference(r) => owner(&r.elem),
        Type::Ptr(r) => owner(&r.elem),
        Type::Paren(r) => owner(&r.elem),
        Type::Group(r) => owner(&r.elem),
        Type::TraitObject(o) => o
            .bounds
            .iter()
            .find_map(|b| match b {
                syn::TypeParamBound::Trait(t) => t.path.segments.last().map(|s| s.ident.to_string()),
                _ => None,
            })
            .unwrap_or_default(),
        Type::Slice(_) => "slice".into(),
        Type::Array(_) => "array".into(),
        Type::Tuple(_) => "tuple".into(),
        Type::BareFn(_) => "fn".into(),
        Type::Never(_) => "never".into(),
        _ => String::new(),
    }
}

fn quote(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 32 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

fn main() {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let text = std::fs::read_to_string(&line).unwrap_or_default();
        match syn::parse_file(&text) {
            Err(e) => println!("{{\"file\":{},\"error\":{}}}", quote(&line), quote(&e.to_string())),
            Ok(file) => {
                let mut out = Out(Vec::new(), Vec::new());
                out.items(&file.items);
                let list: Vec<String> = out.0.iter().map(|(c, n, l)| format!("[{},{},{}]", quote(c), quote(n), l)).collect();
                println!("{{\"file\":{},\"symbols\":[{}]}}", quote(&line), list.join(","));
            }
        }
    }
}
