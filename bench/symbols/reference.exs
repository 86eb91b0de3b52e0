# Lists the declarations of Elixir files with the parser of Elixir.
#
# Reads paths from standard input, one a line, and prints for each a line of
# JSON: {"file": path, "symbols": [[class, qualified name, line], ...]}, or
# {"file": path, "error": why}. Clauses of one name and number of parameters
# that follow each other are one declaration, listed at the first.
defmodule Listing do
  @defs %{def: "function", defp: "function", defmacro: "function", defmacrop: "function", defguard: "function",
    defguardp: "function", defdelegate: "function", defn: "function", defnp: "function"}

  def read(code) do
    {:ok, tree} = Code.string_to_quoted(code, columns: true)
    Process.put(:out, [])
    Process.put(:last, nil)
    walk(tree, [], false)
    Enum.reverse(Process.get(:out))
  end

  defp add(class, path, name, line), do: Process.put(:out, [[class, Enum.join(path ++ [name], "."), line] | Process.get(:out)])

  defp name_of({:__aliases__, meta, [{:__MODULE__, _, _} | rest]}), do: {Enum.map(rest, &Atom.to_string/1), meta[:line]}
  defp name_of({:__aliases__, meta, parts}) do
    if Enum.all?(parts, &is_atom/1), do: {Enum.map(parts, &Atom.to_string/1), meta[:line]}
  end
  defp name_of(_), do: nil

  # What "@name value" and defstruct in the body of a module declare.
  @plain [:doc, :moduledoc, :typedoc, :impl, :deprecated, :since, :dialyzer, :external_resource, :compile, :on_load, :before_compile, :after_compile,
    :behaviour, :behavior, :spec]
  defp attributes(rest, path) do
    body = Enum.find_value(rest, fn options -> is_list(options) && Keyword.get(options, :do) end)
    statements =
      case body do
        {:__block__, _, all} -> all
        one -> [one]
      end
    Enum.reduce(statements, MapSet.new(), fn
      {:@, meta, [{name, _, [value]}]}, seen when name not in @plain ->
        cond do
          name in [:type, :typep, :opaque, :callback, :macrocallback] ->
            case head(value) do
              {type, at, _} when is_atom(type) -> add(if(name in [:callback, :macrocallback], do: "callback", else: "type"), path, Atom.to_string(type), at[:line])
              _ -> :ok
            end
            seen
          name in seen -> seen
          true ->
            add("value", path, Atom.to_string(name), meta[:line])
            MapSet.put(seen, name)
        end
      {form, meta, [_]}, seen when form in [:defstruct, :defexception] ->
        add("type", path, "__struct__", meta[:line])
        seen
      _, seen -> seen
    end)
  end

  defp head({:"::", _, [left, _]}), do: head(left)
  defp head({:when, _, [left, _]}), do: head(left)
  defp head(node), do: node

  defp walk({form, _, [name | rest]} = node, path, inside) when form in [:defmodule, :defprotocol, :defimpl] do
    case name_of(name) do
      {parts, line} ->
        parts =
          with :defimpl <- form,
               [options | _] when is_list(options) <- rest,
               {of, _} <- name_of(Keyword.get(options, :for)) do
            parts ++ of
          else
            _ -> parts
          end
        class = %{defmodule: "space", defprotocol: "type", defimpl: "impl"}[form]
        add(class, path, Enum.join(parts, "."), line)
        attributes(rest, path ++ parts)
        Process.put(:last, nil)
        walk(rest, path ++ parts, true)
      nil ->
        each(node, path, inside)
    end
  end

  defp walk({form, meta, [head | rest]} = node, path, inside) when is_map_key(@defs, form) do
    call = case head do
      {:when, _, [call | _]} -> call
      call -> call
    end
    case call do
      {name, at, args} when is_atom(name) and name not in [:unquote, :__block__] ->
        arity = if is_list(args), do: length(args), else: 0
        key = {path, name, arity, form in [:defmacro, :defmacrop, :defguard, :defguardp]}
        if Process.get(:last) != key, do: add(@defs[form], path, Atom.to_string(name), at[:line] || meta[:line])
        Process.put(:last, key)
        walk(args, path ++ [Atom.to_string(name)], inside)
        walk(rest, path ++ [Atom.to_string(name)], inside)
        Process.put(:last, key)
      _ ->
        each(node, path, inside)
    end
  end

  defp walk(node, path, inside), do: each(node, path, inside)

  defp each({a, _, b}, path, inside) do
    walk(a, path, inside)
    walk(b, path, inside)
  end
  defp each({a, b}, path, inside) do
    walk(a, path, inside)
    walk(b, path, inside)
  end
  defp each(list, path, inside) when is_list(list), do: Enum.each(list, &walk(&1, path, inside))
  defp each(_, _, _), do: :ok
end

json = fn s -> "\"" <> (s |> String.replace("\\", "\\\\") |> String.replace("\"", "\\\"")) <> "\"" end
for line <- IO.stream(:stdio, :line) do
  file = String.trim_trailing(line, "\n")
  try do
    symbols = Listing.read(File.read!(file))
    IO.puts("{\"file\":#{json.(file)},\"symbols\":[" <>
      Enum.map_join(symbols, ",", fn [c, n, l] -> "[#{json.(c)},#{json.(n)},#{l}]" end) <> "]}")
  rescue
    e -> IO.puts("{\"file\":#{json.(file)},\"error\":#{json.(inspect(e.__struct__))}}")
  end
end
