defmodule My.App do
  @moduledoc """
  The app.
  """
  use GenServer

  @doc "Starts."
  @spec start(term) :: term
  def start(arg) do
    arg
  end

  defp helper(x), do: x
end
