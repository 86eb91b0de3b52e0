# Calls what the classes of a Ruby library declare with arguments that do not
# fit and prints the backtraces: ruby.rb LIB CONSTANT FILE…
require "json"
require "timeout"
lib, constant = ARGV[0], ARGV[1]
$:.unshift lib
ARGV[2..].each { |f| begin; require f; rescue LoadError, StandardError; end }
ODD = [nil, "x", 7, :x, {}, [], "a=%", { "REQUEST_METHOD" => "GET" }, { "rack.input" => 1, "CONTENT_TYPE" => "multipart/form-data; boundary=x", "REQUEST_METHOD" => "POST" }, Object.new, "text/html;q=x", ->(*) { raise "no" }]
AVOID = /run|serve|start|listen|exit|kill|fork|exec|sleep|write|abort|send|instance_|class_|remove|define|binding|wait|load|require|^method|trap|puts|print|gets/
$seen = {}
$r = Random.new(1)
def say(e, lib)
  frames = (e.backtrace_locations || []).reject { |l| l.absolute_path == File.expand_path(__FILE__) || l.path.include?("timeout.rb") }
  own = frames.find { |l| l.path.start_with?(lib) } or return
  return if e.is_a?(Timeout::Error) || e.is_a?(SystemExit) || $seen[own.label + own.path]
  $seen[own.label + own.path] = true
  puts JSON.generate(error: e.class.name, message: e.message.lines.first.to_s.chomp, frames: frames.map { |l| [l.label, l.path, l.lineno] })
end
def attempt(lib)
  Timeout.timeout(0.5) { yield }
rescue SystemStackError, NoMemoryError, SystemExit, Timeout::Error, Interrupt
rescue Exception => e
  say(e, lib)
  nil
end
def args(n) = Array.new(n) { ODD[$r.rand(ODD.size)] }
def walk(c, lib, done)
  return if done[c]
  done[c] = true
  (c.singleton_methods(false)).sort.each { |m| next if m =~ AVOID; 6.times { |i| attempt(lib) { c.public_send(m, *args(i % 3)) } } }
  if c.is_a?(Class)
    8.times do |i|
      o = attempt(lib) { c.new(*args(i % 4)) } or next
      c.public_instance_methods(false).sort.each { |m| next if m =~ AVOID; 3.times { |k| attempt(lib) { r = o.public_send(m, *args(k)); r.each { } if r.is_a?(Array) } } }
    end
  end
  c.constants(false).sort.each { |k| v = begin; c.const_get(k); rescue Exception; nil end; walk(v, lib, done) if v.is_a?(Module) && v.name.to_s.start_with?(c.name) }
end
$stderr = File.open(File::NULL, "w")
walk(Object.const_get(constant), lib, {})
exit!(0)
