#!/usr/bin/env bash
# Compiles the Java files below SOURCES into a scratch folder and calls their
# public static methods with arguments that do not fit: java.sh SOURCES PREFIX [CLASSPATH]
set -euo pipefail
here=$(dirname "$0"); out=$(mktemp -d)
find "$1" -name '*.java' ! -name module-info.java ! -path '*/test/*' > "$out/files"
javac -nowarn -proc:none -d "$out/c" ${3:+-cp "$3"} -encoding UTF-8 @"$out/files" 2> "$out/err" || tail -5 "$out/err" >&2
javac -d "$out/c" "$here/Fuzz.java"
cd "$out/c"
find . -name '*.class' | sed 's|^\./||; s|\.class$||; s|/|.|g' | grep "^$2" | sort | timeout 120 java -cp "$out/c${3:+:$3}" Fuzz "$2"
