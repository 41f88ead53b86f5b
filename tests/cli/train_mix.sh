#!/bin/sh
# tfc train --mix FILE:WEIGHT: more data mixed in, the same after an interruption, recorded; what
# is wrong with it is told. How many rows an epoch has is tested in tests/data/test_batch.c.
# Usage: train_mix.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >small.tfg <<'END'
model small
use transformer
const layers = 1, d_model = 32, d_ff = 64, heads = 2
train {
  rate  = inverse_sqrt(peak = 0.02, warmup = 10)
  batch = tokens(400)
}
END
words_backwards
# The other task: the same words as they are, behind a word that says so.
sed 's/^/same /' train.src >same.src
paste same.src train.src >same.tsv
sed 's/^/same /' valid.src >valid.same
cat train.src same.src train.tgt >words.txt
"$tfc" train small.tfg --source words.txt --target words.txt --vocab words:auto --steps 1 --out vocab 2>/dev/null
train() { "$tfc" train small.tfg --source train.src --target train.tgt --vocab vocab/vocab.txt --seed 1 "$@" 2>err.txt || fail "$(cat err.txt)"; }
loss() { "$tfc" eval "$1" --source valid.same --target valid.src --json --no-bleu 2>/dev/null | tr ',' '\n' | sed -n 's/.*"loss": \([0-9.]*\).*/\1/p'; }

train --steps 200 --out alone
train --steps 200 --out mixed --mix same.tsv:0.5
awk -v a="$(loss alone)" -v b="$(loss mixed)" 'BEGIN { exit !(b < 0.6 * a) }' ||
    fail "what was mixed in was not learned: $(loss alone), $(loss mixed)"
grep -q '"mix": "0.5"' mixed/run.json || fail "run.json does not name the weight"
grep -q '"option": "mix"' mixed/run.json || fail "run.json does not name the data"

train --steps 70 --out part --mix same.tsv:0.5
mkdir elsewhere
(cd elsewhere && "$tfc" train ../part --resume --steps 200 2>../err.txt) || fail "$(cat err.txt)"
same_tensors mixed/last.safetensors part/last.safetensors "gone on with, mixed data"

mix() { refuses "$1" "$2" "$tfc" train small.tfg --source train.src --target train.tgt --vocab vocab/vocab.txt --out no --mix "$3"; }
mix 1 "same.tsv: expected FILE:WEIGHT" same.tsv
mix 1 "expected FILE:WEIGHT" same.tsv:0
mix 1 "expected FILE:WEIGHT" same.tsv:-1
mix 1 "expected FILE:WEIGHT" same.tsv:1x
mix 1 "expected FILE:WEIGHT" :1
mix 1 "none.tsv" none.tsv:1
mix 1 "train.src:1" train.src:1
: >empty.tsv
mix 1 "empty.tsv" empty.tsv:1
(cd elsewhere && "$tfc" train ../mixed --resume --steps 201 --mix ../same.tsv:0.5 2>../err.txt) || fail "the same --mix: $(cat err.txt)"
refuses 2 "give these --mix again, or leave them out" "$tfc" train mixed --resume --steps 300 --mix same.tsv:2
echo "train --mix: learned, recorded, gone on with"
