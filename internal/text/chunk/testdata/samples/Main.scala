package a

import b.C

/** Doc. */
case class User(name: String)

object Main extends App {
  val limit = 10

  def run[T](x: T)(implicit y: Int): Unit = {
    println(x)
  }
}
