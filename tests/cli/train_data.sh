#!/bin/sh
# Pairs from one file with tabs: the same training, bit for bit, as from two files.
# Usage: train_data.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model backwards
use transformer
const layers = 1, d_model = 32, d_ff = 64, heads = 4, vocab = 8
train { rate = inverse_sqrt(peak = 0.01, warmup = 40); batch = tokens(400) }
END
words_backwards
paste train.src train.tgt | awk '{ print $0 "\tcolumn" NR }' >train.tsv
paste valid.src valid.tgt >valid.tsv
train() {
    out=$1
    shift
    "$tfc" train model.tfg --vocab words:auto --out "$out" --seed 3 --steps 8 "$@" 2>"$out.err"
}
losses() { grep -o '"valid_[a-z]*": *[0-9.e+-]*' "$1/log.jsonl"; }

pair="--source train.src --target train.tgt --valid-source valid.src --valid-target valid.tgt"
train two $pair || fail "$(cat two.err)"
train one --data train.tsv --valid-data valid.tsv || fail "$(cat one.err)"
losses two >two.losses && losses one >one.losses || fail "no validation in the log"
cmp two.losses one.losses || fail "one file validates otherwise than two"
same_tensors two/last.safetensors one/last.safetensors "one file trains otherwise than two"

# It goes on with the file that it began with, and with no other.
"$tfc" train one --resume --steps 12 2>more.err || fail "resuming: $(cat more.err)"
sed 5d train.tsv >less.tsv
status=0; "$tfc" train one --resume --steps 16 --data less.tsv 2>less.err || status=$?
[ $status = 1 ] && grep -q -- '--data .*less.tsv: it was' less.err || fail "resumed on other data: $(cat less.err)"

# Wrong lines are told by file and line, and what contradicts itself is refused.
sed '7s/\t/ /g' train.tsv >wrong.tsv
status=0; train wrong --data wrong.tsv || status=$?
[ $status = 1 ] && grep -q 'wrong.tsv:7:.*no tab' wrong.err || fail "no tab: $(cat wrong.err)"
status=0; train both $pair --data train.tsv || status=$?
[ $status = 1 ] && grep -q 'in place of' both.err || fail "both: $(cat both.err)"
