/* Licensed under X. */
package com.example;

import java.util.List;
import java.util.Map;

/**
 * An application. It runs.
 *
 * @author x
 */
@Component
@Named("app")
public class App<T> extends Base implements Runnable {
    private static final int LIMIT = 10;
    private final Map<String, List<T>> cache = new HashMap<>();

    public App(int a) {
        this.a = a;
    }

    /** Runs it. */
    @Override public void run() {
        for (int i = 0; i < 10; i++) {
            step(i);
        }
        if (done()) {
            return;
        }
    }

    protected <R> Map<String, R> convert(
            List<T> in,
            Function<T, R> f) throws IOException {
        return in.stream().map(f).collect(toMap());
    }

    abstract int size();

    static class Inner {
        int get() { return 1; }
    }
}

interface Visitor<R> {
    R visit(Node n);
    default void done() { }
}

record Point(int x, int y) {}
enum Color { RED, GREEN }
