import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import javax.tools.*;

/**
 * Lists the declarations of Java files with javac's parser.
 *
 * <p>Reads paths from standard input, one a line, and prints for each a line of
 * JSON: {"file": path, "symbols": [[class, qualified name, line], ...]}, or
 * {"file": path, "error": why}.
 */
public class Reference {
  public static void main(String[] args) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String name; (name = in.readLine()) != null; ) {
      out.println(new Reader(compiler, name).read());
    }
  }

  static String quote(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < ' ') b.append(String.format("\\u%04x", (int) c));
      else b.append(c);
    }
    return b.append('"').toString();
  }

  static class Reader extends TreeScanner<Void, List<String>> {
    final JavaCompiler compiler;
    final String name;
    final List<String> symbols = new ArrayList<>();
    CompilationUnitTree unit;
    SourcePositions at;
    String text;
    ClassTree around;

    Reader(JavaCompiler compiler, String name) {
      this.compiler = compiler;
      this.name = name;
    }

    String read() throws IOException {
      DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
      try (StandardJavaFileManager files = compiler.getStandardFileManager(said, null, StandardCharsets.UTF_8)) {
        JavacTask task = (JavacTask) compiler.getTask(null, files, said, List.of("-proc:none"), null, files.getJavaFileObjects(name));
        for (CompilationUnitTree u : task.parse()) {
          unit = u;
          at = Trees.instance(task).getSourcePositions();
          text = u.getSourceFile().getCharContent(true).toString();
          scan(u.getTypeDecls(), List.of());
        }
      }
      for (Diagnostic<?> d : said.getDiagnostics()) {
        if (d.getKind() == Diagnostic.Kind.ERROR) {
          return "{\"file\":" + quote(name) + ",\"error\":" + quote(d.getMessage(Locale.ROOT)) + "}";
        }
      }
      return "{\"file\":" + quote(name) + ",\"symbols\":[" + String.join(",", symbols) + "]}";
    }

    static List<String> with(List<String> path, String name) {
      List<String> l = new ArrayList<>(path);
      l.add(name);
      return l;
    }

    // The name is looked for in the text behind what the tree knows the end of.
    void add(String kind, List<String> path, String label, long from, String before) {
      Matcher m = Pattern.compile(before + Pattern.quote(label) + "\\b").matcher(text);
      long pos = m.find((int) from) ? m.end() - 1 : from;
      symbols.add("[" + quote(kind) + "," + quote(String.join(".", with(path, label))) + "," + unit.getLineMap().getLineNumber(pos) + "]");
    }

    long behind(Tree tree, ModifiersTree modifiers) {
      long end = at.getEndPosition(unit, modifiers);
      return end >= 0 ? end : at.getStartPosition(unit, tree);
    }

    @Override
    public Void visitClass(ClassTree c, List<String> path) {
      ClassTree old = around;
      around = c;
      if (c.getSimpleName().length() == 0) {
        super.visitClass(c, path);
      } else {
        String label = c.getSimpleName().toString();
        add("type", path, label, behind(c, c.getModifiers()), "\\b(?:class|interface|enum|record)\\s+");
        super.visitClass(c, with(path, label));
      }
      around = old;
      return null;
    }

    @Override
    public Void visitMethod(MethodTree m, List<String> path) {
      boolean made = m.getName().contentEquals("<init>");
      String label = made ? around.getSimpleName().toString() : m.getName().toString();
      long from = behind(m, m.getModifiers());
      if (m.getReturnType() != null) from = at.getEndPosition(unit, m.getReturnType());
      for (TypeParameterTree t : m.getTypeParameters()) from = Math.max(from, at.getEndPosition(unit, t));
      add("function", path, label, from, "\\b");
      return super.visitMethod(m, with(path, label));
    }

    @Override
    public Void visitVariable(VariableTree v, List<String> path) {
      boolean member = around != null && around.getKind() == Tree.Kind.ENUM && around.getMembers().contains(v);
      String label = v.getName().toString();
      long from = behind(v, v.getModifiers());
      // A constant begins with its name, a field with its type.
      if (member && v.getInitializer() instanceof NewClassTree n && text.startsWith(label, (int) at.getStartPosition(unit, v.getType()))) {
        add("value", path, label, from, "\\b");
        scan(v.getModifiers(), path);
        scan(n.getArguments(), with(path, label));
        scan(n.getClassBody(), with(path, label));
        return null;
      }
      return super.visitVariable(v, path);
    }
  }
}
