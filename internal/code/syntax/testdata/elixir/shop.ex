defmodule App.Store do
  @moduledoc """
  Stores things.
  """
  use GenServer, restart: :temporary
  import Ecto.Query, only: [from: 2]
  alias App.{User, Repo}
  alias App.Long.Name, as: Short
  alias App.Thing
  require Logger
  @behaviour Plug
  @timeout 5000
  @type t :: %__MODULE__{a: integer()}
  @typep p :: atom
  @callback init(x :: term) :: term
  defstruct [:a, b: 1]
  @doc "Puts it."
  @spec put(t, term) :: t
  def put(store, x) when is_map(store) do
    y = %User{name: x}
    Repo.insert(y)
    |> helper()
    y.name
    __MODULE__.other(1)
    Enum.map(xs, &helper/1)
    Enum.map(xs, &Short.go(&1))
    fn a, b -> a + b end
    case x do
      {:ok, v} -> v
      %Thing{} = t -> t
    end
    :ets.new(:x, [])
    nope
  end
  def put(nil, _), do: nil
  @doc false
  def get(%User{} = u, opts \\ []), do: Map.get(u, opts)
  defp helper(x), do: x
  defp helper(x, y) do x + y end
  defmacro mac(expr) do
    quote do: unquote(expr)
  end
  defguard is_big(x) when x > 3
  defdelegate fetch(a, b), to: Repo
  def a <> b, do: a
  defexception message: "x"
  defmodule Inner do
    def run, do: :ok
  end
  @impl true
  def handle_call(:x, _from, s), do: {:reply, s, s}
  @impl true
  def handle_call(:y, _from, s), do: {:reply, s, s}
end
defprotocol Size do
  @doc "size"
  def size(x)
end
defimpl Size, for: [Map, List] do
  def size(x), do: 1
end
defmodule T do
  use ExUnit.Case
  describe "a" do
    test "works", %{c: c} do
      assert true
    end
  end
end
