#!/bin/sh
# scripts/lines: what it counts, and where tests and benchmarks stand.
# Usage: lines.sh TFC   (from the project's root)
set -eu
. tests/common.sh
mkdir -p "$work/scripts" "$work/driver/run" "$work/tests" "$work/bench"
cp scripts/lines "$work/scripts"
cd "$work"
printf 'a\nb\n' >driver/run/a.c
printf 'a\n' >driver/a.h
printf 'a\n' >tests/a.c
printf 'a\n' >bench/a.py
printf 'a\n' >driver/notes.md # no code
git init -q .
git add .
printf 'a\n' >driver/unknown.c # to git
[ "$(scripts/lines | tr -s ' ')" = "driver 3 lines 2 files
product 3 lines 2 files
bench 1 lines 1 files
tests 1 lines 1 files" ] || fail "$(scripts/lines)"
[ "$(scripts/lines driver | tr -s ' ')" = "run 2 lines 1 files
. 1 lines 1 files
sum 3 lines 2 files" ] || fail "$(scripts/lines driver)"
