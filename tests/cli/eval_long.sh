#!/bin/sh
# References that are longer than the model takes are judged whole, in tfc eval and in validations; how much of
# the loss is left out is told. A model that copies five letters gives the first five of thirteen.
# Usage: tests/cli/eval_long.sh TFC
set -eu
. tests/common.sh
enter_work
cat >m.tfg <<'M'
model m
use transformer_pre_norm
const vocab = 30, layers = 1, d_model = 32, d_ff = 64, heads = 2, p_drop = 0, smoothing = 0
train {
  optimizer = adam()
  rate = constant(0.01)
  batch = tokens(600)
  max_length = 6
}
M
awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) { s = ""; for (k = 0; k < 5; k++)
     s = s (k ? " " : "") substr("abcdefgh", 1 + int(rand() * 8), 1); print s } }' >train.txt
head -n 2 train.txt >s.txt
sed 's/$/ a b c d e f g h/' s.txt >long.txt
"$tfc" train m.tfg --source train.txt --target train.txt --vocab words:auto --steps 300 --validate-every 300 \
    --valid-source s.txt --valid-target long.txt --out run 2>err.txt || fail "$(cat err.txt)"
"$tfc" translate run --input s.txt --checkpoint last.safetensors | cmp - s.txt || fail "the model copies nothing"
grep -q "long.txt: warning: 2 of 2 targets are longer than 6 tokens: the loss is over the first 6" err.txt ||
    fail "$(cat err.txt)"

"$tfc" eval run --source s.txt --target long.txt --checkpoint last.safetensors >out.txt 2>err.txt || fail "$(cat err.txt)"
for line in 'exactly right      0.00 %' 'symbol error rate  61.54 %' 'BLEU               20.19 ' 'tokens             12' \
    'targets cut        2, to 6 tokens'; do
    grep -q "$line" out.txt || fail "no '$line' in: $(cat out.txt)"
done
grep -q "2 of 2 targets are longer" err.txt || fail "$(cat err.txt)"
"$tfc" eval run --source s.txt --target long.txt --checkpoint last.safetensors --json >out.json 2>err.txt
[ "$(number cut_targets <out.json)" = 2 ] && [ "$(number cut_sources <out.json)" = 0 ] || fail "$(cat out.json)"
[ "$(number accuracy <out.json)" = 0 ] && [ "$(number symbol_error_rate <out.json)" = 0.615384615 ] || fail "$(cat out.json)"

# A validation says the same as tfc eval.
loss=$(number loss <out.json)
tail -n 1 run/log.jsonl >last.json
for figure in "valid_symbol_error_rate 0.6153" "valid_line_error_rate 1" "valid_bleu 20.1896" "valid_loss ${loss%????}"; do
    value=$(number "${figure% *}" <last.json)
    case $value in ${figure#* }*) ;; *) fail "a validation has ${figure% *} $value, not ${figure#* }" ;; esac
done

# Nothing to validate on is a mistake, as it was.
: >empty.txt
refuses 1 "empty.txt (--valid-source) has no lines" "$tfc" train m.tfg --source train.txt --target train.txt \
    --vocab words:auto --valid-source empty.txt --valid-target empty.txt --out none
