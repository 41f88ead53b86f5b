#!/bin/sh
# Options that name texts may be given several times: the files are one text, in order. Others may stand
# once. Run: sh tests/cli/several_files.sh build/release/tfc
set -eu
. tests/common.sh
enter_work
words_backwards
backwards_model >model.tfg
for side in src tgt; do
    head -n 60 train.$side >one.$side
    sed -n 61,100p train.$side >two.$side
    cat one.$side two.$side >both.$side
done
for part in one two both; do paste $part.src $part.tgt >$part.tsv; done
settings="--vocab words:auto --seed 3 --batch-tokens 300 --set d_ff=32"

train_on() { # train_on RUN STEPS OPTION …
    run=$1 steps=$2
    shift 2
    # shellcheck disable=SC2086
    "$tfc" train model.tfg $settings --out "$run" --steps "$steps" "$@" 2>err || fail "$run: $(cat err)"
}

# Two files train as one with both would.
train_on whole 4 --data both.tsv --valid-data both.tsv
train_on columns 4 --data one.tsv --data two.tsv --valid-data one.tsv --valid-data two.tsv
train_on sides 4 --source one.src --source two.src --target one.tgt --target two.tgt \
    --valid-source one.src --valid-target one.tgt --valid-source two.src --valid-target two.tgt
grep -q '100 rows of text' err || fail "not all rows: $(cat err)"
for run in columns sides; do
    same_tensors whole/last.safetensors $run/last.safetensors "$run: another training"
    grep -o '"valid_loss":[^,]*' whole/log.jsonl >want
    grep -o '"valid_loss":[^,]*' $run/log.jsonl | cmp - want || fail "$run: another validation"
done

# A compressed file is the text in it, also where it is read line by line.
gzip -c one.tsv >one.tsv.gz
cp two.tsv two # whatever its name
gzip two && mv two.gz two.txt
train_on packed 4 --data one.tsv.gz --data two.txt --valid-data one.tsv.gz --valid-data two.tsv
same_tensors whole/last.safetensors packed/last.safetensors "packed: another training"
head -c 100 one.tsv.gz >cut.gz
refuses 1 'cut.gz .--source.: it is compressed by gzip, and ends too early' \
    "$tfc" eval whole --source cut.gz --target one.tgt
"$tfc" translate whole --input one.src >want
for packed in 'gzip' 'xz' 'zstd -q'; do
    $packed -c one.src >one.packed
    "$tfc" translate whole --input one.packed | cmp - want || fail "translate of $packed"
    "$tfc" translate whole <one.packed | cmp - want || fail "translate of $packed in a pipe"
    for form in text json; do
        "$tfc" data one.src $([ $form = text ] || echo --json) >looked
        "$tfc" data one.packed $([ $form = text ] || echo --json) | sed 's/one[.]packed/one.src/g' | cmp - looked || fail "data of $packed"
    done
done
head -c 60 one.packed >cut.packed
refuses 1 'cut.packed: error: it is compressed by zstd, and ends too early' "$tfc" translate whole --input cut.packed
refuses 1 'cut.packed: it is compressed by zstd, and ends too early' "$tfc" data cut.packed
for file in one.tsv one.tsv.gz; do
    "$tfc" prepare --data $file --vocab words:auto -o prepared.$file 2>err || fail "prepare $file: $(cat err)"
done
grep -q 'one.tsv.gz is unpacked' err || fail "no word of what is unpacked: $(cat err)"
for file in one.tsv one.tsv.gz; do
    "$tfc" train model.tfg --seed 3 --batch-tokens 300 --set d_ff=32 --out on.$file --steps 4 --prepared prepared.$file --no-bleu 2>err || fail "$(cat err)"
done
same_tensors on.one.tsv/last.safetensors on.one.tsv.gz/last.safetensors "prepared of gz: another training"

# The run remembers each file; going on with one of them changed, or without it, is told.
[ "$(grep -c '"option": "data"' columns/run.json)" = 2 ] || fail "not both files in run.json"
"$tfc" train columns --resume --steps 6 2>err || fail "resumed: $(cat err)"
grep -q 'going on from step 4' err || fail "resumed from another step: $(cat err)"
train_on straight 6 --data both.tsv --valid-data both.tsv
same_tensors straight/last.safetensors columns/last.safetensors "a resumed run learned something else"
refuses 1 '--data: it was .*two.tsv and is not given now' "$tfc" train columns --resume --steps 8 --data one.tsv
echo "h	h" >>two.tsv
refuses 1 '--data .*two.tsv: it was .*40 lines' "$tfc" train columns --resume --steps 8
sed -i '$d' two.tsv

# Commands that read texts answer as for one file.
"$tfc" translate whole --input both.src >want
"$tfc" translate whole --input one.src --input two.src | cmp - want || fail "translate"
"$tfc" translate whole --input - --input two.src <one.src | cmp - want || fail "translate: standard input"
for command in "score" "align" "eval --json"; do
    # shellcheck disable=SC2086
    "$tfc" $command whole --source both.src --target both.tgt >want 2>/dev/null
    # shellcheck disable=SC2086
    "$tfc" $command whole --source one.src --target one.tgt --source two.src --target two.tgt 2>/dev/null |
        cmp - want || fail "$command"
done
"$tfc" attend whole --source one.src --source two.src --lines 70 --json seen.json
[ "$(grep -o '"source": *\[' seen.json | wc -l)" = 70 ] || fail "attend"
"$tfc" data --data both.tsv --json | sed 's/"file": "[^"]*"//g' >want
"$tfc" data --data one.tsv --data two.tsv --json | sed 's/"file": "[^"]*"//g' | cmp - want || fail "data"
"$tfc" data --data one.tsv --data two.tsv | head -n 1 | grep -q '^one.tsv, two.tsv: 100 pairs' || fail "data's head"
"$tfc" report columns -o page.html || fail "report"

# Sides are paired by order; what is uneven is told with the files' names.
refuses 2 '2 of --source and 1 of --target' "$tfc" score whole --source one.src --source two.src --target both.tgt
refuses 1 'one.src has 60 lines, two.tgt' "$tfc" eval whole --source one.src --source two.src --target two.tgt --target one.tgt
refuses 1 'two.tgt has 40 lines, one.src has more' "$tfc" score whole --source one.src --source two.src \
    --target two.tgt --target one.tgt
refuses 1 'stands twice' "$tfc" translate whole --input - --input -

# One value, one option.
refuses 2 '--beam is given twice' "$tfc" translate whole --beam 2 --input one.src --beam 3
refuses 2 '-o is given twice' "$tfc" prepare --data one.tsv --vocab words:auto -o a -o b
refuses 2 '-o is given twice' "$tfc" train model.tfg --data one.tsv --vocab words:auto --out a --out=b
"$tfc" prepare --help | grep -q 'may be given again' || fail "help does not tell which options may be given again"
