require 'json'

# A shop sells.
module Shop
  class Cart < Base
    attr_reader :items

    # Adds an item.
    def add(item)
      @items << item
      if item.nil?
        raise "x"
      end
    end

    def self.build(*args) = new(*args)

    def empty?
      @items.empty?
    end

    class << self
      def create
        new
      end
    end

    private

    def sql
      <<~SQL
        SELECT 1
def not_me
      SQL
    end
  end
end
