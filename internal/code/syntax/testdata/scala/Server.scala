package com.foo
package bar
import scala.collection.mutable
import java.util.{List => JList, Map, _}
/** A server. */
@deprecated
sealed abstract class Server[T <: Foo](val addr: String, port: Int = 1) extends Base(port) with Proto[T] {
  private val conns: List[Conn] = Nil
  var x = new Conn(1)
  lazy val l = Conn(3)
  def start(p: Int)(implicit h: Handler): Boolean = {
    val c = new Conn(p)
    val y: Foo = mk(p)
    c.open().go(p)
    conns.map(k => k.close())
    def nested = 1
    x match { case Foo(a, b) => a.run(); case q: Bar => q.z }
    for (i <- conns) i.close()
    this.addr.size
    bar.baz.check(c)
  }
  type Al = Int
  object In { val z = 1 }
}
case class P(a: Int, b: String)
trait Tr extends A with B { def f(x: Int): Int }
object Server extends App { def main(args: Array[String]): Unit = println("x") }
package object pk { val q = 1 }
enum Color { case Red, Green(x: Int) }
given ord: Ordering[Int] with { def compare(a: Int, b: Int) = 1 }
extension (s: String) def shout = s.toUpperCase
def topf(a: Int) = a
val (a, b) = (1, 2)
