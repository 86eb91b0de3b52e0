import com.example.*;

/** Of later versions of the language. */
sealed class Patterns permits Inner {
  Object read(Object o) {
    return switch (o) { case Point(int px, var py) -> px; case String s -> 1; default -> 0; };
  }
}
