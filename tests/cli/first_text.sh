#!/bin/sh
# tfc bench --mode decode tells the first text's speed beside that of the texts after it: it is the process's
# first step, also where no step is left out before the measured ones.
# Usage: first_text.sh TFC   (from the project's root)
set -eu
. tests/common.sh
export TFC_CACHE="$work/cache"

field() { sed -n "s/.*\"$1\": \([0-9.e+-]*\)[,}].*/\1/p" "$work/out"; }
bench() { "$tfc" bench models/multi30k_tiny.tfg $small --batch 2 --source-length 3 --target-length 40 --threads 1 "$@" >"$work/out"; }

bench --mode decode --steps 1 --warm-up 0 --json
[ -n "$(field first_tokens_per_second)" ] && [ "$(field first_tokens_per_second)" = "$(field tokens_per_second)" ] ||
    fail "the only step is not the first one: $(cat "$work/out")"
bench --mode decode --steps 3 --warm-up 1 --json
[ "$(field first_tokens_per_second)" != "$(field tokens_per_second)" ] || fail "the first step counts: $(cat "$work/out")"
bench --mode decode --steps 1
grep -q '^tokens/s  .* of the target, [0-9]* in the first step$' "$work/out" || fail "$(cat "$work/out")"
bench --mode prefill --steps 1 --json
[ -n "$(field first_tokens_per_second)" ] || fail "prompts have no first step: $(cat "$work/out")"
bench --mode forward --steps 1 --json
[ -z "$(field first_tokens_per_second)" ] || fail "forward has no first text: $(cat "$work/out")"
