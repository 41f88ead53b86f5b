#!/bin/sh
# Products of integers of each type: losses, scores and texts near those in f32, and the same for other processors
# but where an argmax is close, in programs, and under Node; what they are refused for.
# Usage: integers.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
shared_runs
export TFC_CACHE="$work/cache"
awk 'BEGIN { srand(11); for (i = 0; i < 400; i++) { line = ""; for (n = 2 + int(rand() * 9); n > 0; n--) line = line substr("abcdefgh", 1 + int(rand() * 8), 1) " "; print substr(line, 1, length(line) - 1) } }' >lines
awk '{ line = $NF; for (i = NF - 1; i > 0; i--) line = line " " $i; print line }' lines >backwards
differ() { diff "$1" "$2" | grep -c '^<' || true; }
translate() { "$tfc" translate "$runs/translator" --input lines --beam 2 "$@"; }
translate >wide
cat >texts.mjs <<'EOF'
import {readFileSync} from "node:fs"
import {load} from "./package/index.js"
const model = await load()
for (const line of readFileSync("lines", "utf8").split("\n").slice(0, 100)) console.log(model.nbest(line, 1, {beam: 2})[0].text)
EOF

# check TYPE NATS TEXTS: with integers of this type the loss is within NATS, and at most TEXTS of 400 texts are others:
# how many are close depends on the params, which differ with the processor that trained them. With a fourth word that is
# all.
check() {
    dtype=$1
    # The loss: it is another number, so integers are multiplied.
    found="$(for type in f32 "$dtype"; do
        "$tfc" eval "$runs/translator" --source lines --target backwards --dtype "$type" --json |
            sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p' | head -n 1
    done | paste -sd ' ' -)"
    echo "$found" | awk -v most="$2" '{ d = $1 - $2; if (NF != 2 || d == 0 || d > most || d < -most) exit 1 }' ||
        fail "losses in f32 and $dtype: $found"

    # Texts: few differ from those in f32; of other levels of processors still fewer.
    translate --dtype "$dtype" >here
    [ "$(wc -l <here)" = 400 ] && [ "$(differ wide here)" -le "$3" ] ||
        fail "$dtype: $(differ wide here) of 400 texts are others"
    rm -rf program package
    "$tfc" compile "$runs/translator" --dtype "$dtype" -o program
    ./program --beam 2 <lines | cmp - here || fail "$dtype: a program writes other texts"
    [ $# = 3 ] || return 0
    for cpu in x86-64-v2 x86-64-v3; do
        translate --dtype "$dtype" --cpu $cpu >level 2>err || continue # a machine that is no such one
        [ "$(differ here level)" -le 2 ] || fail "$dtype, $cpu: $(differ here level) of 400 texts are others"
    done

    # C, and WebAssembly: the same texts.
    "$tfc" compile "$runs/translator" --dtype "$dtype" --emit c -o translator.c 2>note
    grep -q "train_step is left out: products of integers ($1) have no gradient" note || fail "no word on train_step"
    "$tfc" compile "$runs/translator" --dtype "$dtype" --emit js -o package
    node texts.mjs >texts
    head -n 100 here >first
    [ "$(differ first texts)" -le 1 ] || fail "$dtype, WebAssembly: $(differ first texts) of 100 texts are others"

    dump() { "$tfc" dump "$root/models/multi30k_tiny.tfg" --function decode_step --dtype "$dtype" "$@"; }
    dump --stage fused | grep -q "quant = .$1." || fail "the graph does not show $1"
    dump --stage plan | grep -q ", $dtype, panels" || fail "the plan does not show $1"
    refuses 1 "mode train measures a step of training, and integers ($1) have no gradient: --mode decode, prefill" \
        "$tfc" bench "$root/models/multi30k_tiny.tfg" --dtype "$dtype" --steps 1
    refuses 1 "train_step trains, and products of integers ($1) have no gradient: use f32 or bf16" \
        "$tfc" dump "$root/models/multi30k_tiny.tfg" --function train_step --stage fused --dtype "$dtype"
    refuses 2 "dtype is '$dtype'; expected f32|bf16; integers have no gradient: tfc quantize makes" "$tfc" train "$root/models/multi30k_tiny.tfg" --dtype "$dtype"
}
check int8 0.01 80
check int4 0.05 240 ${short:+texts}
check q8_0 0.01 80 texts
check q4_1 0.05 240 ${short:+texts}
echo "all is well"
