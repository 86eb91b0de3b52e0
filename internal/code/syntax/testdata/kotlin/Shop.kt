@file:JvmName("ShopKt")
package com.example.shop

import kotlin.collections.List
import com.example.util.*
import com.example.Base as Root

/**
 * A shop.
 */
@Service(name = "shop")
open class Shop<T : Item>(private val db: Database, var count: Int = 0, plain: String) : Root<T>(db), Seller, Closeable by db where T : Any {
    private val items: MutableList<T> = mutableListOf()
    lateinit var log: Logger
    val made = Logger("x")
    val size: Int
        get() = items.size
    var name: String? = null
        set(value) { field = check(value) }
    val lazyOne by lazy { Maker() }

    init { println(plain) }

    constructor(db: Database) : this(db, 1, "x") { go() }

    /** Finds one. */
    @Throws(IOException::class)
    override suspend fun <R> find(id: String, vararg rest: Int, block: (T) -> R): Map<String, R>? {
        val (a, b) = pair()
        val item: Item = items.first { it.id == id } as Item
        for (x in items) { x.touch() }
        try { db?.load(id)!!.use { s -> s.read() } } catch (e: IOException) { throw ShopException(e) }
        fun local(q: Int) = q + 1
        val anon = object : Runnable { override fun run() { this@Shop.go() } }
        val f = fun(z: Int): Int { return z }
        when (val y = item) { is Book -> y.read(); in list -> Unit }
        super.find(id)
        this.count = 3
        listOf<String>().map(Item::name)
        return null
    }

    companion object {
        const val MAX = 3
        fun of(): Shop<Item> = Shop(Database())
    }
    inner class Deep
    enum class Color(val rgb: Int) : Named { RED(1) { override fun paint() {} }, GREEN(2); abstract fun paint() }
}

interface Seller { fun sell(x: Item); val price: Int }
fun interface Handler { fun handle(e: Event) }
object Registry : Base() { fun add(x: Item) {} }
data class Point(val x: Int, val y: Label)
sealed interface Shape { data object Nil : Shape }
annotation class Marker(val value: String)
typealias Names = List<String>
const val LIMIT = 10
val top: Item by lazy { Item() }
private val tops = listOf(1)
fun String.shout(): String = uppercase()
fun <T> List<T>.second(): T = this[1]
val Item.label: String get() = name
fun main() { Shop<Item>(db).find("x") { it } }
