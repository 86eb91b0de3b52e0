package graph

import "strings"

// kindOf returns what a symbol's kind makes of a node.
func kindOf(kind string) uint8 {
	switch kind {
	case "class", "interface", "struct", "enum", "trait", "record", "type", "object", "protocol", "union",
		"extension", "impl", "mixin", "actor", "annotation", "alias", "typealias", "instance", "newtype", "data":
		return isType
	case "module", "namespace", "package", "mod":
		return isSpace
	case "function", "method", "constructor", "macro", "getter", "setter", "func", "fn", "operator", "test",
		"initializer", "destructor", "procedure", "delegate", "signature":
		return isFunc
	}
	return isVar
}

// The names by which code speaks of the object or class it stands in. Facts
// write most of them as "self".
var selfWords = wordSet("self this cls Self @ $this static __CLASS__ __MODULE__")

// super reports whether a name means the base of the class around.
func (f *family) super(s string) bool {
	return s == "super" || s == "super()" || s == f.superWord && s != ""
}

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// commonMethods are names that libraries give their methods, so that a single
// declaration in a store says nothing about an unknown receiver.
var commonMethods = wordSet(`append apply accept assert assign attach bounds cancel charAt children clone close collect
compare compile concat config connect console contains convert create cursor decode default define delete describe
destroy detach dispatch dispose encode endswith endsWith entries equals escape exists execute expand expect export extend
filter finish flatten flatMap flat_map for_each forEach format fulfill getItem getClass getName getValue handle hasNext hashCode
has_next hasOwnProperty hexdigest import includes indexOf index_of insert instance_of intersection invoke is_empty isEmpty is_none
is_some isinstance iterator keySet keys_list lastIndexOf length listen locate lookup lowercase map_err matches message
next_back notify notifyAll observe on_error onError ordinal parent parse_args pop_front popitem position prepend print printf println process
promise publish push_back push_str pushState querySelector readline readLine readlines receive reduce refresh register release
remove removeAll render repeat replace replaceAll replace_all request require reserve reset_mock resize resolve respond restart
result resume return reverse rollback schedule search select serialize setdefault setItem set_value setName setTimeout setValue
settimeout shutdown signal_all sort_by sorted splice splitlines splitLines startsWith starts_with startswith status stream
strip_prefix submit subscribe substring substr suspend symmetric_difference synchronized tearDown test_all to_owned to_string to_vec
toArray toList toLowerCase toMap toSet toString toUpperCase to_lowercase to_uppercase transform translate trim_end trim_start trimEnd
trimStart truncate unwrap_or unwrap_or_else unsubscribe update updated upgrade uppercase validate valueOf values verify visit
warning with_capacity withIndex write_all write_str writelines writeln writable readable exitcode getattr setattr hasattr
addEventListener removeEventListener appendChild removeChild getElementById createElement getAttribute setAttribute
containsKey containsValue putAll addAll computeIfAbsent getOrDefault getBytes getMessage getCause printStackTrace compareTo
isPresent orElse orElseThrow ifPresent as_str as_ref as_mut as_bytes as_slice into_iter iter_mut and_then ok_or unwrap expect_err
is_ok is_err is_alive isalnum isdigit isalpha casefold finditer findall fullmatch groupdict setUp add_argument set_defaults
maketrans most_common total_seconds isoformat strftime strptime fromtimestamp utcnow timestamp getvalue fileno readinto
seekable getTime toISOString toFixed toString_ stringify defineProperty getOwnPropertyNames isArray fromEntries
preventDefault stopPropagation dispatchEvent postMessage terminate clearTimeout localeCompare padStart padEnd codePointAt
initCause getPort getHost nextBytes nextDouble getSimpleName getCanonicalName setLength setCharAt deleteCharAt
getDeclaredField getDeclaredMethod getMethod getField getSuperclass getComponentType getParameterTypes getReturnType getAnnotation
getModifiers newInstance getActualTypeArguments getRawType isAssignableFrom isInstance getInterfaces getAndIncrement
incrementAndGet decrementAndGet getAndSet compareAndSet addAndGet toByteArray getAsString getContent getText setText getId setId
charCodeAt matchAll findIndex findLast copyWithin reduceRight toSorted hasAttribute toggleAttribute createTextNode`)
