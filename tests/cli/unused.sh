#!/bin/sh
# A const or block of the model's file that nothing uses is a warning with the nearest name, once, and ends nothing;
# the models that come with tfc have none, and a run is not warned of again.
# Usage: tests/cli/unused.sh TFC
set -eu
. tests/common.sh
enter_work
cp "$root"/models/*.tfg .

cat >names.tfg <<'M'
model names
use transformer
const vocab = 30, layers = 1, heads = 2, d_ff = 16
const dmodel = 8                # misspelt
const smoothing = 0             # the library's own
const half = d_ff / 2, d_model = half
const width = half              # used by a block that is not called where layers = 1
block activatoin(x) { return gelu(x) }
block helper(x) { return x * width }
if layers > 1 { x = helper(1) }
M
"$tfc" info names.tfg >out.txt 2>err.txt || fail "a warning ends it: $(cat err.txt)"
grep -q 'names.tfg:4:7: warning: nothing uses the constant `dmodel`; did you mean `d_model`?' err.txt || fail "$(cat err.txt)"
grep -q 'names.tfg:8:7: warning: nothing uses the block `activatoin`; did you mean `activation`?' err.txt || fail "$(cat err.txt)"
[ "$(grep -c warning err.txt)" = 2 ] || fail "other warnings: $(cat err.txt)"
for model in *.tfg; do
    [ "$model" = names.tfg ] && continue
    "$tfc" info "$model" >out.txt 2>err.txt || fail "$model: $(cat err.txt)"
    ! grep warning err.txt || fail "$model has a warning"
done

# Of many the first are named, and the others counted, in a time and memory that their number explains.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "const abc%d = 1\nblock of%d(x) { return x }\n", i, i
             print "dim B\ninput x : f32[B, 4]\noutput y = x" }' >many.tfg
(
    sanitized || ulimit -v 1000000
    timeout 60 "$tfc" info many.tfg >out.txt 2>err.txt || fail "$(cat err.txt)"
)
[ "$(grep -c warning err.txt)" = 20 ] || fail "$(grep -c warning err.txt) warnings"
grep -q 'many.tfg: note: nothing uses 39980 more constants and blocks' err.txt || fail "$(tail -n 3 err.txt)"

awk 'BEGIN { for (i = 0; i < 40000; i++) printf "param p%d : [4]\n", i
             print "dim B\ninput x : f32[B, 4]\noutput y = x" }' >params.tfg
timeout 60 "$tfc" info params.tfg >out.txt 2>err.txt || fail "$(tail -n 3 err.txt)"
[ "$(grep -c warning err.txt)" = 20 ] || fail "$(grep -c warning err.txt) warnings of params"
grep -q 'params.tfg: note: 39980 more params and states are never used' err.txt || fail "$(tail -n 3 err.txt)"

# A training reads its model twice, and warns once.
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
cat >m.tfg <<'M'
model m
use transformer_pre_norm
const vocab = 30, layers = 2, d_model = 8, d_ff = 8, heads = 1
const spare = 1
train { batch = tokens(300); max_length = 20 }
M
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --steps 2 --out run 2>err.txt || fail "$(cat err.txt)"
[ "$(grep -c 'nothing uses the constant `spare`' err.txt)" = 1 ] || fail "a model read twice has not one warning: $(cat err.txt)"
"$tfc" translate run --input t.txt >out.txt 2>err.txt
! grep warning err.txt || fail "a run is warned of again"
