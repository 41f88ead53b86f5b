#!/bin/sh
# What a command would write over and did not make itself is refused, by name, and stays: the folders of
# train, prepare, export --format hf and compile --emit js; NAME.h and NAME.py of compile. What is there
# of their own, whole or left unfinished, is theirs.
# Usage: tests/cli/ownership.sh TFC
set -eu
. tests/common.sh
enter_work
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
cat >m.tfg <<'M'
model m
use transformer_pre_norm
const vocab = 30, layers = 1, d_model = 8, d_ff = 8, heads = 1
train {
  optimizer = adam()
  rate = constant(0.003)
  batch = tokens(300)
  max_length = 20
}
M
texts="--source t.txt --target t.txt --vocab words:auto"
train="$tfc train m.tfg $texts --steps 1"
prepare="$tfc prepare $texts"

# kept FOLDER COMMAND …: refused by the name of the folder's file, which stays as it was
kept() {
    folder=$1
    shift
    find "$folder" -type f -exec sha256sum {} + | sort >before
    refuses 1 "$folder/[^ ]* was not written by tfc" "$@"
    find "$folder" -type f -exec sha256sum {} + | sort >after
    cmp before after || fail "$*: what was there is not what it was"
}

# ---- folders of somebody else's ----
mkdir -p notes/lib
echo "# a model, a week of work" >notes/model.tfg
echo "a word list" >notes/vocab.txt
echo '{"a": "log"}' >notes/log.jsonl
echo "# a library" >notes/lib/attention.tfg
# shellcheck disable=SC2086
{
kept notes $train --out notes
kept notes $prepare -o notes
for file in vocab.txt run.json prepared.json lock model.safetensors; do
    mkdir "only-$file"
    echo '{"mine": 1}' >"only-$file/$file"
    kept "only-$file" $train --out "only-$file"
    kept "only-$file" $prepare -o "only-$file"
done
mkdir folder folder/lib
kept folder $train --out folder

# ---- their own ----
mkdir new
$train --out new >new/out.txt 2>new/err.txt || fail "a new folder, with its messages in it: $(cat new/err.txt)"
refuses 2 "new holds a training already" $train --out new
mv new/last.safetensors new/best.safetensors
refuses 2 "new holds a training already" $train --out new
rm new/*.safetensors
$train --out new 2>err.txt || fail "a run without params: $(cat err.txt)"
$prepare -o data 2>err.txt || fail "prepare: $(cat err.txt)"
$prepare -o data 2>err.txt || fail "prepare again: $(cat err.txt)"
kept data $train --out data
kept new $prepare -o new

# An import is not begun anew: its params are its weights'.
cp -r new import
mkdir import/weights
cp new/last.safetensors import/weights/model.safetensors
rm import/*.safetensors
refuses 2 "import holds a training already" $train --out import

# What was left unfinished is gone on with: by an error after the vocabulary was there, or a kill.
printf 'a b c\n\377\n' >bad.txt
head -n 2 t.txt >two.txt
refuses 1 "UTF-8" "$tfc" prepare --source two.txt --target bad.txt --vocab words:data/vocab.txt -o half
[ -e half/vocab.txt ] && [ ! -e half/prepared.json ] || fail "not left unfinished: $(ls half)"
$prepare -o half 2>err.txt || fail "what an error left: $(cat err.txt)"
[ ! -e half/lock ] || fail "the lock of whole data stays"
mkdir -p killed/lib
cp new/model.tfg killed
echo 99999999 >killed/lock
$train --out killed 2>err.txt || fail "what a kill left: $(cat err.txt)"
[ ! -e killed/lock ] || fail "the lock of a whole run stays"
}

# ---- compile ----
mkdir lib
echo "/* a header of mine */" >lib/m.h
refuses 1 "lib/m.h was not written by tfc compile" "$tfc" compile m.tfg --function forward -o lib/m.o
kept lib "$tfc" compile m.tfg --function forward -o lib/m.c
rm lib/m.h
echo "import this" >lib/m.py
kept lib "$tfc" compile m.tfg --function forward -o lib/m.so
rm lib/m.py
"$tfc" compile m.tfg --function forward -o lib/m.so || fail "compile"
"$tfc" compile m.tfg --function forward -o lib/m.so || fail "compile again"
mkdir site
echo "# about my site" >site/README.md
kept site "$tfc" compile new --emit js -o site
