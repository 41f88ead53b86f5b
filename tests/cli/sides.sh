#!/bin/sh
# A vocabulary a side, rules of tokens (--token), Marian's vocabularies: trained, kept in the run's
# folder, used by translate, score and eval, and gone on with.
# Usage: sides.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

words_backwards
# The sources' words are others than the targets', and one more.
for part in train valid; do
    tr a-h A-H <$part.src | sed 's/A B/A Z B/' >$part.SRC
done
model() { # model NAME [LINE…]
    name=$1
    shift
    cat >"$name.tfg" <<END
model $name
use transformer
$(printf '%s\n' "$@")
const layers = 1, d_model = 32, d_ff = 64, heads = 2, vocab = 8
const p_drop = 0
train {
  rate  = inverse_sqrt(peak = 0.02, warmup = 10)
  batch = tokens(400)
}
END
}
model one
model two 'use source_embedding'
model three 'const source_vocab = 2'
text="--source train.SRC --target train.tgt --valid-source valid.SRC --valid-target valid.tgt"

"$tfc" train two.tfg $text --vocab words:auto --source-vocab words:auto --steps 60 --seed 1 --out run \
    2>err.txt || fail "$(cat err.txt)"
[ "$(wc -l <run/vocab.txt)" = 12 ] || fail "targets have eight words and four special ones"
[ "$(wc -l <run/source-vocab.txt)" = 13 ] || fail "sources have nine words and four special ones"
"$tfc" translate run --input valid.SRC >out.txt
grep -q '[A-Z]' out.txt && fail "targets are of the sources' words: $(head -n 3 out.txt)"
grep -q '[a-h]' out.txt || fail "nothing was translated"
"$tfc" score run --source valid.SRC --target valid.tgt >scores.txt

# Its folder stands for both sides; two files say the same; a run that goes on is the run.
sizes="--set vocab=12 --set source_vocab=13"
"$tfc" score two.tfg $sizes --weights run --vocab run --source valid.SRC --target valid.tgt | cmp -s - scores.txt ||
    fail "the folder as --vocab scores otherwise"
"$tfc" score two.tfg $sizes --weights run --vocab run/vocab.txt --source-vocab run/source-vocab.txt \
    --source valid.SRC --target valid.tgt | cmp -s - scores.txt || fail "two files score otherwise"
"$tfc" train two.tfg $text --vocab words:auto --source-vocab words:auto --steps 30 --seed 1 --out part 2>/dev/null
"$tfc" train part --resume --steps 60 2>err.txt || fail "$(cat err.txt)"
same_tensors run/last.safetensors part/last.safetensors "gone on with, two vocabularies"
"$tfc" train run --out next $text --steps 2 2>err.txt || fail "$(cat err.txt)"
cmp -s run/source-vocab.txt next/source-vocab.txt || fail "the next run has other sources"

refuses 1 "the model says so by .use source_embedding" "$tfc" train one.tfg $text --vocab words:auto --source-vocab words:auto --steps 1 --out no
refuses 2 "the vocabulary of a run stays: leave --source-vocab out" \
    "$tfc" train run --resume --source-vocab words:auto
refuses 1 "the sources' vocabulary has 13 tokens, but the model's src takes 12" \
    "$tfc" score three.tfg $sizes --weights run --vocab run --source valid.SRC --target valid.tgt

# What begins and ends: other tokens give other batches, and the run remembers them.
begin() { "$tfc" train one.tfg --source train.src --target train.tgt --vocab words:auto --seed 1 "$@" 2>err.txt || fail "$(cat err.txt)"; }
begin --steps 40 --out plain
begin --steps 40 --out marian --token 'begin=<pad>' --token source-end=none
grep -q '"begin=<pad>"' marian/run.json || fail "run.json does not hold the rules"
"$tfc" score plain --source valid.src --target valid.tgt >plain.txt
"$tfc" score marian --source valid.src --target valid.tgt >marian.txt
cmp -s plain.txt marian.txt && fail "the rules change nothing"
"$tfc" score one.tfg --set vocab=12 --weights marian --vocab marian/vocab.txt --token 'begin=<pad>' --token source-end=none \
    --source valid.src --target valid.tgt | cmp -s - marian.txt || fail "the same rules score otherwise"
"$tfc" score one.tfg --set vocab=12 --weights marian --vocab marian/vocab.txt \
    --source valid.src --target valid.tgt | cmp -s - marian.txt && fail "other rules score the same"
"$tfc" score one.tfg --set vocab=12 --weights marian --vocab marian \
    --source valid.src --target valid.tgt | cmp -s - marian.txt || fail "a run's folder as --vocab has not its rules"
"$tfc" train one.tfg --source train.src --target train.tgt --vocab marian --seed 1 --steps 40 --out taken 2>err.txt ||
    fail "$(cat err.txt)"
same_tensors marian/last.safetensors taken/last.safetensors "the vocabulary of a run, with its rules"
begin --steps 20 --out half --token 'begin=<pad>' --token source-end=none
"$tfc" train half --resume --steps 40 2>err.txt || fail "$(cat err.txt)"
same_tensors marian/last.safetensors half/last.safetensors "gone on with, other rules"
# A line without words has no token where sources have no end.
printf '\na b\n' | "$tfc" translate marian >lines.txt
[ "$(wc -l <lines.txt)" = 2 ] || fail "two lines became $(wc -l <lines.txt)"
[ -z "$(head -n 1 lines.txt)" ] || fail "the empty line became: $(head -n 1 lines.txt)"

# `first`: as a word h before each target, but without text.
begin --steps 40 --out first --token first=h --valid-source valid.src --valid-target valid.tgt
sed 's/^/h /' train.tgt >train.h
sed 's/^/h /' valid.tgt >valid.h
"$tfc" train one.tfg --source train.src --target train.h --valid-source valid.src --valid-target valid.h \
    --vocab first/vocab.txt --seed 1 --steps 40 --out spelled 2>err.txt || fail "$(cat err.txt)"
same_tensors spelled/last.safetensors first/last.safetensors "a first token, and the same as a word"
"$tfc" score first --source valid.src --target valid.tgt >first.txt
"$tfc" score spelled --source valid.src --target valid.h | cmp - first.txt || fail "a first token scores otherwise"
sed 's/.*/h/' valid.src >h.txt
for how in "" "--beam 1" "--sample --seed 3"; do
    "$tfc" translate first $how <valid.src >first.txt
    "$tfc" translate spelled $how --prefix h.txt --input valid.src | sed 's/^h \{0,1\}//' >spelled.txt
    cmp first.txt spelled.txt || fail "translate $how: a first token says otherwise"
done
sed 's/ .*//' valid.tgt >begins.txt
"$tfc" translate first --prefix begins.txt --input valid.src >first.txt
paste -d ' ' h.txt begins.txt >h-begins.txt
"$tfc" translate spelled --prefix h-begins.txt --input valid.src | sed 's/^h //' | cmp - first.txt ||
    fail "a first token before a prefix"
"$tfc" compile first -o said 2>err.txt || fail "$(cat err.txt)"
./said <valid.src >said.txt
"$tfc" translate first <valid.src | cmp - said.txt || fail "a program says otherwise"
printf 'model g\nuse language_model\nconst layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8\n' >gpt.tfg
refuses 1 "token first: translations begin with it, but the model has no source" \
    "$tfc" train gpt.tfg --text train.tgt --lines --vocab words:auto --steps 1 --out no --token first=h

refuses 1 "begin=<none>: the vocabulary has no token '<none>'" \
    "$tfc" train one.tfg --source train.src --target train.tgt --vocab words:auto --out no --token 'begin=<none>'
refuses 1 "expected NAME=TOKEN, where NAME is begin, .*did you mean 'begin'" \
    "$tfc" train one.tfg --source train.src --target train.tgt --vocab words:auto --out no --token 'begni=<s>'
"$tfc" score plain --token 'begin=<pad>' --source valid.src --target valid.tgt | cmp -s plain.txt - &&
    fail "--token changes nothing of a run"
echo "sides: two vocabularies, rules of tokens"
