#!/bin/sh
# Tags of words in texts that the vocabulary cuts into pieces: each stands at its word's first token, predictions are a
# word each, measures count words alone. Where words are single tokens it is the tagger of words, bit for bit; figures are
# those of tag_words.py; prepared, resumed and compiled it is the same; a published encoder with its special tokens;
# texts that are cut; mistakes.
# Usage: tag_words.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
enter_work
export OMP_NUM_THREADS=1
check="$root/tests/cli/tag_words.py"
cpu="--cpu x86-64-v2" # the same vectors in a program
train() { # RUN OPTIONS …
    out=$1
    shift
    "$tfc" train "$@" --out "$out" >said 2>&1 || fail "tfc train $*: $(cat said)"
}
# figures RUN TABLE: what tfc eval says of a table is what tag_words.py counts of its predictions
figures() {
    "$tfc" eval "$1" --data "$2" --json >eval.json || fail "$1 is not measured"
    "$tfc" predict "$1" --only tagged --input "$2" >tags || fail "$1 predicts nothing"
    python3 "$check" figures "$2" tags eval.json || fail "$1: other figures"
}
# compiled RUN: a program tags lines as tfc predict does
compiled() {
    # shellcheck disable=SC2086  # words
    "$tfc" compile "$1" -o program $cpu --only tagged 2>err || fail "$1 is not compiled: $(cat err)"
    # shellcheck disable=SC2086
    "$tfc" predict "$1" --only tagged --input lines $cpu >expected 2>told
    ./program <lines 2>err | cmp - expected || fail "$1: the program tags otherwise"
}

python3 "$check" make
cut -f 1 valid.tsv | sed 1d >lines
set -- --set layers=1 --set d_model=16 --set heads=2 --set tags=5
train pieces "$root/models/tagger.tfg" --data train.tsv "$@" --vocab auto:52 --steps 60 --valid-data valid.tsv \
    --validate-every 60
[ "$("$tfc" predict pieces --input lines | awk '{ n += NF } END { print n }')" = "$(wc -w <lines)" ] || fail "no tag a word"
figures pieces valid.tsv
printf 'words\ttags\na dog\tO\n' >odd.tsv
refuses 1 'odd.tsv:2:7: error: `tag` has 1 label and `words` 2 words: give each word one' "$tfc" eval pieces --data odd.tsv
[ -z "$short" ] || exit 0

train words "$root/models/tagger.tfg" --data train.tsv "$@" --vocab words:auto --steps 10
python3 "$check" level words/vocab.txt >level.json
train level "$root/models/tagger.tfg" --data train.tsv "$@" --vocab level.json --steps 10
same_tensors words/last.safetensors level/last.safetensors "tags at the first tokens of words that are one token each"

compiled pieces
# shellcheck disable=SC2086
"$tfc" compile pieces -o one.c 2>err && $CC -c one.c -o one.o 2>err || fail "as C it does not compile: $(cat err)"
"$tfc" report pieces -o report.html 2>err || fail "no report: $(cat err)"
"$tfc" prepare "$root/models/tagger.tfg" --data train.tsv "$@" --vocab pieces --rows-per-shard 50 -o prepared 2>err ||
    fail "not prepared: $(cat err)"
grep -q 'word, at its first token' prepared/prepared.json || fail "prepared data does not say what labels are of"
train from-prepared "$root/models/tagger.tfg" --prepared prepared "$@" --steps 60
same_tensors pieces/last.safetensors from-prepared/last.safetensors "prepared, other tags"
train part "$root/models/tagger.tfg" --data train.tsv "$@" --vocab pieces --steps 25
"$tfc" train part --resume --steps 60 --allow-change 2>err || fail "not resumed: $(cat err)"
[ "$("$tfc" data "$root/models/tagger.tfg" train.tsv --vocab pieces "$@" 2>&1 | grep -c 'B-PER')" = 1 ] || fail "no labels counted"

# A published encoder with a layer on top: its special tokens stand around the text, without tags.
"$tfc" import "$root/tests/fixtures/headless_bert/hf" -o bert 2>err || fail "$(cat err)"
{
    printf 'model tags\nuse bert_encoder\n'
    grep '^const \(vocab\|d_model\|d_ff\|layers\|heads\|segments\|norm_eps\|front\)' bert/model.tfg
    cat <<'MODEL'
const context = 64
dim S
input words : token[B, S~] = column("words")
input tag : token[B, S~] = column("tags")
vocab tag = words
logits = linear as head(encoder as encoder(words), 2)
loss = cross_entropy(logits, tag)
predict tagged = softmax(logits)
predict first = words
predict n = sum(words * 0 + 1, 1)
train { optimizer = adam(); rate = constant(0.003); batch = tokens(300) }
MODEL
} >ner.tfg
train ner ner.tfg --weights bert --vocab bert --token source-begin=[CLS] --token source-end=[SEP] --new head --data ner.tsv \
    --steps 30
"$tfc" predict ner --input ner.tsv --json >said || fail "no predictions"
python3 "$check" first bert/tokenizer.json ner.tsv <said || fail "words have other tokens"
figures ner ner.tsv
cut -f 1 ner.tsv | sed '1d;20q' >lines
awk 'BEGIN { for (i = 0; i < 40; i++) printf "abc de "; print "" }' >>lines
compiled ner
grep -q 'longer than 64 tokens and cut' told || fail "what is cut is not told"
[ "$(tail -n 1 expected | wc -w)" = 25 ] || fail "tags of what is cut: $(tail -n 1 expected)"

# Mistakes, with their place.
printf 'words\ttags\nab \342\200\213 cd\tO O O\n' >odd.tsv
refuses 1 'odd.tsv:2:4: error: the vocabulary gives .* no token of its own' "$tfc" eval ner --data odd.tsv
printf 'ab\n\n ab \342\200\213\n' >lines
refuses 1 'lines:3:5: error: the vocabulary gives .* no token of its own' "$tfc" predict ner --only tagged --input lines
./program <lines >said 2>err && fail "a word without a token is tagged"
grep -q 'the text: byte 4: the vocabulary gives .* no token of its own' err || fail "not told: $(cat err)"
