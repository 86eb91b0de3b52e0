package a.b

import x.y

const val LIMIT = 10

data class User(val name: String) {
    fun greet(): String = "hi"

    companion object {
        fun of(name: String): User {
            return User(name)
        }
    }
}

fun <T> List<T>.second(): T = this[1]

object Registry {
    val all = mutableListOf<User>()
}

sealed interface Event
