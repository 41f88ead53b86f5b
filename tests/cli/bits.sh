#!/bin/sh
# The same bits on every processor: trainings and compiled libraries of bench/bits, as x86-64-v3, as this machine and as
# one file of C with NEON, have one hash; all rows are bench/bits/run itself.
# Usage: bits.sh TFC   (from the project's root)
set -eu
. tests/common.sh
if [ "$(uname -m)" != x86_64 ] || "$tfc" --version | grep -q 'no fused multiply-add'; then
    echo "skipped: this machine does not run x86-64-v3"
    exit 77
fi
enter_work
one() { "$root/bench/bits/run" --steps 4 "$@" "$tfc" >out 2>&1 || fail "$*: $(cat out)"; cat out; }
if [ -n "$short" ]; then
    one --only train --only table,window --only bf16 --only x86-64-v3,native
    one --only compiled --only translator --only f32 --only x86-64-v3,native,c-neon
    exit 0
fi
one --only train --only x86-64-v3,native
one --only compiled --only translator,window --only x86-64-v3,native,c-any,c-neon

# Texts and scores of a run, in every type.
awk 'BEGIN { for (i = 0; i < 90; i++) { t = ""; for (k = 0; k < 3 + i % 7; k++) t = t (k ? " " : "") "w" (i * 7 + k * 5) % 30
     print t > "source"; gsub("w", "v", t); print t > "target" } }'
"$tfc" train "$root/bench/bits/translator.tfg" --source source --target target --vocab words:auto --steps 40 -o run 2>err ||
    fail "$(cat err)"
for dtype in f32 bf16 int8 int4 q8_0 q4_1; do
    for cpu in x86-64-v3 native; do
        name=
        [ $cpu = native ] || name="--cpu $cpu"
        # shellcheck disable=SC2086
        "$tfc" translate run --input source --dtype $dtype $name --beam 4 --nbest 2 --json >texts.$cpu 2>err || fail "$(cat err)"
        # shellcheck disable=SC2086
        "$tfc" score run --source source --target target --dtype $dtype $name >scores.$cpu 2>err || fail "$(cat err)"
    done
    cmp texts.x86-64-v3 texts.native || fail "$dtype: other texts"
    cmp scores.x86-64-v3 scores.native || fail "$dtype: other scores"
done
