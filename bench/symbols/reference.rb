# Lists the declarations of Ruby files with the parser of CRuby.
#
# Reads paths from standard input, one a line, and prints for each a line of
# JSON: {"file": path, "symbols": [[class, qualified name, line], ...]}, or
# {"file": path, "error": why}.
require "json"

Node = RubyVM::AbstractSyntaxTree::Node

# The calls that declare methods named by their symbols; :first takes only the
# first name, :rest all but the first, :second only the second.
MACROS = {
  "property" => %i[attr_accessor attr_reader attr_writer attr mattr_accessor mattr_reader mattr_writer cattr_accessor cattr_reader
    cattr_writer class_attribute thread_mattr_accessor attr_internal],
  "property first" => %i[has_many has_one belongs_to has_and_belongs_to_many has_one_attached has_many_attached],
  "function first" => %i[scope define_method define_singleton_method alias_method],
  "function" => %i[delegate], "function rest" => %i[def_delegators], "function second" => %i[def_delegator],
}.flat_map { |kind, names| names.map { |n| [n, kind] } }.to_h

def names(n)
  case n&.type
  when :CONST then [n.children[0].to_s]
  when :COLON3 then [n.children[0].to_s]
  when :COLON2
    a, b = n.children
    return [b.to_s] if a.nil?
    r = names(a)
    r && r + [b.to_s]
  end
end

def symbols_of(args)
  return [] unless args.is_a?(Node) && %i[LIST ARGSPUSH ARGSCAT].include?(args.type)
  args.children.compact.map do |a|
    next unless a.is_a?(Node)
    v = a.children[0]
    if a.type == :LIT && v.is_a?(Symbol) || a.type == :STR
      [v.to_s, a.first_lineno]
    end
  end
end

# made returns the class that "X = Class.new(...) do" makes, and its body.
def made(v)
  call, body = v, nil
  call, body = v.children if v.is_a?(Node) && v.type == :ITER
  return unless call.is_a?(Node) && call.type == :CALL
  on, name = call.children
  return unless on.is_a?(Node) && on.type == :CONST
  return unless name == :new && %i[Struct Class Module].include?(on.children[0]) || name == :define && on.children[0] == :Data
  [on.children[0] == :Module ? "space" : "type", body]
end

# place is :type in a class, a module or at top level of the file, :def in a
# method, :block in a block.
def walk(n, path, place, out, inside)
  return unless n.is_a?(Node)
  c = n.children
  case n.type
  when :DEFN
    out << ["function", (path + [c[0].to_s]).join("."), n.first_lineno]
    walk(c[1], path + [c[0].to_s], :def, out, :def)
  when :DEFS
    on = names(c[0])
    p = on && on.join(".") != path.last ? path + on : path
    out << ["function", (p + [c[1].to_s]).join("."), n.first_lineno]
    walk(c[2], p + [c[1].to_s], :def, out, :def)
  when :CLASS, :MODULE
    p = path + names(c[0])
    out << [n.type == :CLASS ? "type" : "space", p.join("."), n.first_lineno]
    c[1..].each { |x| walk(x, p, :type, out, :type) }
  when :SCLASS
    walk(c[1], path, place, out, inside)
  when :ITER, :LAMBDA
    call = c[0]
    if call.is_a?(Node) && call.type == :FCALL && inside == :type && !path.empty? && %i[define_method define_singleton_method].include?(call.children[0])
      s = symbols_of(call.children[1])[0]
      if s
        out << ["function", (path + [s[0]]).join("."), s[1]]
        walk(c[1], path + [s[0]], :def, out, :def)
        return
      end
    end
    walk(c[0], path, place, out, inside)
    c[1..].each { |x| walk(x, path, :block, out, inside) }
  when :FCALL, :VALIAS, :ALIAS
    if inside == :type && !path.empty?
      if n.type == :ALIAS
        a = c[0].children[0]
        out << ["function", (path + [a.to_s]).join("."), n.first_lineno]
      elsif n.type == :FCALL && (m = MACROS[c[0]])
        kind, only = m.split
        all = symbols_of(c[1])
        all = { "first" => all[0, 1], "rest" => all[1..], "second" => all[1, 1] }.fetch(only, all)
        (all || []).compact.each { |s, line| out << [kind, (path + [s]).join("."), line] }
      end
    end
    c.each { |x| walk(x, path, place, out, inside) }
  when :CDECL
    if place == :type
      name = c[0].is_a?(Symbol) ? [c[0].to_s] : names(c[0]) || (c[1].is_a?(Symbol) ? [c[1].to_s] : nil)
      if name
        kind, body = made(c.last)
        out << [kind || "value", (path + name).join("."), n.first_lineno]
        if kind
          walk(body, path + name, :type, out, :type)
          return
        end
      end
    end
    c.each { |x| walk(x, path, place, out, inside) }
  else
    c.each { |x| walk(x, path, place, out, inside) }
  end
end

$stdin.each_line(chomp: true) do |file|
  out = []
  begin
    verbose, $VERBOSE = $VERBOSE, nil
    tree = RubyVM::AbstractSyntaxTree.parse(File.binread(file).force_encoding("UTF-8"))
    $VERBOSE = verbose
    walk(tree, [], :type, out, :type)
    puts JSON.generate(file: file, symbols: out)
  rescue SyntaxError, StandardError => e
    puts JSON.generate(file: file, error: e.message[0, 200])
  end
end
