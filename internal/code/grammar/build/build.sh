#!/usr/bin/env bash
# Builds the modules of package grammar: build.sh [LANGUAGE ...]
#
# Each line of grammars.txt becomes wasm/LANGUAGE.wasm.zst: the C sources of
# tree-sitter (lib.c, from the npm package named below), of the grammar
# (parser.c and, where there is one, its hand-written scanner.c) and shim.c.
# It needs Debian's clang, lld, binaryen (clang runs its wasm-opt), wasi-libc,
# libclang-rt-14-dev-wasm32 and zstd,
# and npm to fetch the packages. The same versions of these give the same
# bytes: SHA256SUMS holds what Debian 12's gave, and --check compares.
set -euo pipefail
cd "$(dirname "$0")"
core_package=tree-sitter@0.25.1
check=
[ "${1:-}" = --check ] && { check=1; shift; }
for tool in clang wasm-ld wasm-opt zstd npm go sha256sum; do
  command -v $tool >/dev/null || { echo "build.sh needs $tool: apt-get install clang lld binaryen wasi-libc libclang-rt-14-dev-wasm32 zstd, and npm" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$PWD/../wasm
[ -n "$check" ] && out=$work/wasm
mkdir -p "$out"

# unpack PACKAGE@VERSION prints the folder of its sources.
unpack() {
  local to=$work/${1//\//+}
  if [ ! -d "$to" ]; then
    local file
    file=$(cd "$work" && npm pack --silent "$1")
    mkdir -p "$to"
    tar xzf "$work/$file" -C "$to" --strip-components=1
  fi
  echo "$to"
}

core=$(unpack $core_package)/vendor/tree-sitter/lib
flags="--target=wasm32-wasi -O3 -flto -DNDEBUG -D_POSIX_C_SOURCE=200112L -D_DEFAULT_SOURCE -fvisibility=hidden -w -ffile-prefix-map=$work=."
while read -r language package sources constructor; do
  [[ -z $language || $language = \#* ]] && continue
  [[ $# -gt 0 && " $* " != *" $language "* ]] && continue
  folder=$(unpack "$package")
  src=$folder/$sources
  objects=()
  compile() { # FILE NAME FLAGS...
    clang $flags "${@:3}" -I"$core/include" -I"$core/src" -I"$src" -c "$1" -o "$work/$2.o"
    objects+=("$work/$2.o")
  }
  compile pool.c pool
  compile "$core/src/lib.c" core -include pool.h -fsanitize-coverage=bb,trace-pc -fsanitize-coverage-allowlist=counted.txt
  compile shim.c shim -DTS_LANGUAGE="$constructor"
  compile "$src/parser.c" parser
  if [ -f "$src/scanner.c" ]; then
    compile "$src/scanner.c" scanner -fsanitize-coverage=trace-pc
  fi
  clang --target=wasm32-wasi -O3 -flto -mexec-model=reactor -Wl,--lto-O3 -Wl,--strip-all -Wl,--gc-sections \
    -Wl,-z,stack-size=1048576 -o "$work/$language.wasm" "${objects[@]}"
  go run -C ../../../../bench ./wasmjoin "$work/$language.wasm"
done < grammars.txt
# All modules hold the same runtime: they are packed against the smallest one,
# which saves a fifth. Package grammar knows it as packedAgainst.
base=$work/json.wasm
[ -f "$base" ] || zstd -dq ../wasm/json.wasm.zst -o "$base"
for module in "$work"/*.wasm; do
  against=()
  [ "$module" = "$base" ] || against=(--patch-from="$base")
  name=$(basename "$module").zst
  zstd -q -f --ultra -22 "${against[@]}" "$module" -o "$out/$name" 2> /dev/null
  echo "$name $(stat -c %s "$out/$name") bytes"
done
if [ -n "$check" ]; then
  (cd "$out" && sha256sum --check --ignore-missing "$OLDPWD/SHA256SUMS")
else
  (cd "$out" && sha256sum ./*.zst) > SHA256SUMS
fi
