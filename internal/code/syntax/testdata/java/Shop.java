package com.example.shop;

import java.util.List;
import java.util.*;
import static java.util.Map.entry;
import static java.util.Map.*;

/**
 * A shop.
 */
@Service(name = "shop")
public final class Shop<T extends Item> extends Base<T> implements Seller, java.io.Closeable {
  private static final Logger LOG = Logger.getLogger(Shop.class), OTHER = null;
  public List<T> items = new ArrayList<>();
  int[] counts = {1, 2};

  static { LOG.info("x"); }

  /** Makes one. */
  public Shop(final Database db, int... sizes) throws IOException {
    super(db);
    this.db = db;
  }

  Shop() { this(null); }

  @Override
  public <R> Map<String, R> find(String id, Function<? super T, R> f) {
    for (T item : items) {
      Item copy = (Item) item.clone();
      if (item instanceof Book book && book.ok()) { book.read(); }
    }
    try (Reader in = open(id)) {
      var x = new Inner.Deep<T>() {
        @Override public void run() { go(); }
      };
      items.stream().map(Item::name).map(Shop::new).forEach((a, b) -> a.use(b));
      list.forEach(q -> q.z());
    } catch (IOException | RuntimeException e) {
      throw new ShopException(e);
    }
    super.find(id);
    Shop.this.items.clear();
    class Local { void m() {} }
    switch (id) { case "a" -> a(); default -> b(); }
    return null;
  }

  abstract void abs();

  interface Seller<X> extends A, B<X> { void sell(X x); default int k() { return 1; } int CONST = 3; }
  enum Color implements Named { RED(1) { void paint() {} }, GREEN; private int v; Color(int v) { this.v = v; } Color() {} }
  record Point(int x, Label y) implements Comparable<Point> {
    Point { check(x); }
    static Point of() { return new Point(1, null); }
  }
  @interface Marker { String value() default ""; int K = 1; }
}

@FunctionalInterface
interface Handler { void handle(@Nullable Event e); }
