import java.io.*;
import java.lang.reflect.*;
import java.util.*;

/** Calls methods and constructors with arguments that do not fit and prints the traces. */
public class Fuzz {
  static String q(String s) {
    return s == null ? "null" : "\"" + s.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\r", "").replace("\t", " ").replaceAll("[\\x00-\\x1f]", "") + "\"";
  }

  static final Random R = new Random(1);

  static Object value(Class<?> t) {
    if (t == int.class) return R.nextBoolean() ? -1 : 99;
    if (t == long.class) return -1L;
    if (t == boolean.class) return R.nextBoolean();
    if (t == char.class) return 'x';
    if (t == byte.class) return (byte) 1;
    if (t == short.class) return (short) -1;
    if (t == float.class) return -1f;
    if (t == double.class) return -1d;
    if (R.nextInt(3) == 0) return null;
    if (t == String.class || t == CharSequence.class || t == Object.class) return R.nextBoolean() ? "x" : "{[,";
    if (t == Class.class) return R.nextBoolean() ? Thread.State.class : Runnable.class;
    if (t == Reader.class) return new StringReader("{\"a\": [1, }");
    if (t == Object[].class) return new Object[] {null, "a"};
    if (t == int[].class) return new int[] {};
    return null;
  }

  static Object[] values(Class<?>[] ts) {
    Object[] v = new Object[ts.length];
    for (int i = 0; i < v.length; i++) v[i] = value(ts[i]);
    return v;
  }

  static final Set<String> seen = new HashSet<>();

  static void say(Throwable t, String prefix) {
    while (t instanceof InvocationTargetException) t = t.getCause();
    if (t instanceof Error && !(t instanceof ExceptionInInitializerError) && !(t instanceof AssertionError)) return;
    StringBuilder b = new StringBuilder();
    String own = null;
    for (StackTraceElement e : t.getStackTrace()) {
      if (e.getClassName().contains("reflect") && !e.getClassName().startsWith(prefix) || e.getClassName().equals("Fuzz")) continue;
      if (e.getFileName() == null) return;
      if (own == null && e.getClassName().startsWith(prefix)) own = e.getClassName() + e.getMethodName();
      if (b.length() > 0) b.append(",");
      b.append("[" + q(e.getClassName() + "." + e.getMethodName()) + "," + q(e.getFileName()) + "," + e.getLineNumber() + "," + q(e.getModuleName()) + "]");
    }
    if (own != null && seen.add(own))
      System.out.println("{\"error\":" + q(t.getClass().getName()) + ",\"message\":" + q(t.getMessage()) + ",\"frames\":[" + b + "]}");
  }

  public static void main(String[] a) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String name; (name = in.readLine()) != null; ) {
      if (name.contains("Thread") || name.contains("Timed") || name.contains("Background")) continue;
      Class<?> c;
      try { c = Class.forName(name); } catch (Throwable t) { continue; }
      if (c.isInterface()) continue;
      List<Object> made = new ArrayList<>();
      for (int k = 0; k < 6; k++)
        for (Constructor<?> m : c.getConstructors()) {
          if (Modifier.isAbstract(c.getModifiers())) break;
          try { made.add(m.newInstance(values(m.getParameterTypes()))); } catch (Throwable t) { say(t, a[0]); }
        }
      for (Method m : c.getDeclaredMethods()) {
        if (!Modifier.isPublic(m.getModifiers()) || m.getName().matches(".*(sleep|wait|join|await|exit).*")) continue;
        try { m.setAccessible(true); } catch (Throwable t) { continue; }
        for (int k = 0; k < 8; k++) {
          Object at = Modifier.isStatic(m.getModifiers()) || made.isEmpty() ? null : made.get(R.nextInt(made.size()));
          if (at == null && !Modifier.isStatic(m.getModifiers())) break;
          try { m.invoke(at, values(m.getParameterTypes())); } catch (Throwable t) { say(t, a[0]); }
        }
      }
    }
    System.exit(0);
  }
}
