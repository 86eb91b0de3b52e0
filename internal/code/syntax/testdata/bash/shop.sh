#!/usr/bin/env bash
# Comment
set -euo pipefail
source "./lib.sh"
. "$(dirname "$0")/util.sh"
. lib/x.sh
readonly MAX=3
export FOO=bar
declare -r X=1
alias ll='ls -l'
# Doc
# more
foo() {
  local a=$1 b
  bar "$a" | baz
  cmd=$(qux)
  if check; then run; fi
}
function bar { foo; }
function baz() ( sub )
outer() {
  inner() { echo; }
}
case "$1" in start) foo ;; esac
trap cleanup EXIT
foo
