# frozen_string_literal: true
require "set"
require_relative 'lib/x'
autoload :Foo, "foo/bar"

# A module.
module A::B
  MAX = 3
  # A class.
  class C < D::E
    include Enumerable
    extend F, G::H
    attr_accessor :x, :y
    private attr_reader :z
    has_many :things
    scope :open, -> { where(x: 1) }
    class << self
      def one; end
    end
    define_method(:dyn) { |a| a.foo }
    alias old new
    alias_method :q, :r
    # Doc.
    private def initialize(a, b = 1, *c, k: Foo.new, **o, &blk)
      @x = Foo::Bar.new(a)
      y = Baz.new
      super(a)
      super
      foo
      foo!
      self.bar(1)
      @x.run(y) do |i, j|
        i.go
      end
      A::B.baz
      A::B::CONST
      ::Top.x
      a&.b
      x ||= Q.new
    rescue Foo::Error, Bar => e
      e.message
    end
    def self.make(x) = new(x)
    def ==(o) = true
    def x=(v); @x = v; end
    protected
    def foo_bar?; yield 1; end
    P = Struct.new(:a, :b) do
      def z; end
    end
  end
end
def A.x; end
describe "foo" do
  it "works" do
    let(:x) { 1 }
  end
end
x = 1
