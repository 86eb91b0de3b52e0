#!/usr/bin/env bash
# Runs things.
set -euo pipefail

# Says it.
say() {
  echo "$1"
}

function main {
  cat <<'USAGE'
usage() {
USAGE
  say hi
}

main "$@"
