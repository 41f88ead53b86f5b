#!/bin/sh
# tfc attend: every head's weights as they follow from the params (attend.py, in f64), the same in JSON,
# arrays, figure and page, for given pairs and translations, of models with one side, too; what the pages
# show is what tfc run gives (attend_run.mjs); wrong usage. (reference.attention compares with PyTorch.)
# Usage: attend.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

shared_runs
ln -s "$runs/translator" run
ln -s "$runs/generator" speak
head -n 3 valid.src >some.src
head -n 3 valid.tgt >some.tgt
"$tfc" attend run --source some.src --target some.tgt -o page.html --json all.json --npy all.npz --svg all.svg 2>err ||
    fail "$(cat err)"
for name in encoder.layer.0.self encoder.layer.1.self decoder.layer.0.self decoder.layer.1.cross; do
    grep -q "\"$name\"" all.json || fail "no $name in the JSON"
done
python=$(python_with_numpy)
if [ -n "$python" ]; then
    "$python" "$root/tests/cli/attend.py" run/last.safetensors all.npz 1 4 run/vocab.txt \
        "$(sed -n 2p some.src) </s>" "<s> $(sed -n 2p some.tgt)" || fail "the weights do not follow from the params"
fi

# The last attention over the source is what score --attention tells, the mean of its heads.
"$tfc" attend run --source some.src --target some.tgt --kind cross --layer 1 --json one.json || fail "no layer"
"$tfc" attend run --source some.src --target some.tgt --kind cross --layer 1 --json - | cmp -s - one.json && test ! -e - ||
    fail "--json - is not the standard output"
! grep -q '"encoder.layer' one.json || fail "another kind was not left out"

# Translations, one head, figures.
"$tfc" attend run --source some.src -o translated.html || fail "translations are not attended"
"$tfc" attend run --source some.src --target some.tgt --kind encoder --layer 0 --head 2 --svg one.svg || fail "no head"
for file in all.svg one.svg; do
    "${python:-python3}" -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $file || fail "$file is no XML"
done

# A model with one side.
"$tfc" attend speak --text some.src --json speak.json -o speak.html || fail "a decoder alone is not attended"

# An encoder alone.
printf '%s\n' '<pad>' '<unk>' '<s>' '</s>' t4 t5 t6 t7 t8 >bert.txt
seq 9 39 | sed 's/^/t/' >>bert.txt
printf '%s\n' 't31 t5 t5 t17 t38' 't6' >bert.src
bert="--weights $root/tests/fixtures/bert_published.safetensors"
"$tfc" attend "$root/tests/fixtures/bert_published.tfg" $bert --vocab bert.txt --text bert.src --json bert.json -o bert.html ||
    fail "an encoder alone is not attended"
[ "$(grep -o '"name": "[^"]*", "kind": "[^"]*"' bert.json | sort -u)" = '"name": "encoder.layer.0.self", "kind": "encoder"
"name": "encoder.layer.1.self", "kind": "encoder"' ] || fail "other attentions of an encoder alone: $(cat bert.json)"

refuses 2 "run reads pairs, and --text is for language models: give --source FILE, alone or with" "$tfc" attend run --text some.src -o no.html
refuses 1 "\-\-layer 7: the model has . layers\?: give 0" "$tfc" attend run --source some.src --target some.tgt --layer 7 -o no.html
refuses 1 "cannot read nothing" "$tfc" attend run --source nothing -o no.html

in_browsers "$root/tests/cli/attend.mjs" page.html
in_browsers "$root/tests/cli/opens.mjs" translated.html speak.html bert.html
[ -z "$short" ] || exit 0

# Of the same models with their attentions as outputs.
printf '%s\n' 'use "run/model.tfg"' 'output encoder.layer.*.self.weights' 'output decoder.layer.*.self.weights' \
    'output decoder.layer.*.cross.weights' >watched.tfg
in_browsers "$root/tests/cli/attend_run.mjs" page.html run/vocab.txt src=source,tgt=target \
    "$tfc" watched.tfg --weights run/last.safetensors --set "vocab=$(grep -c "" run/vocab.txt)"
printf '%s\n' 'use "speak/model.tfg"' 'output layer.*.self.weights' >watched.tfg
in_browsers "$root/tests/cli/attend_run.mjs" speak.html speak/vocab.txt tokens=target \
    "$tfc" watched.tfg --weights speak/last.safetensors --set "vocab=$(grep -c "" speak/vocab.txt)"
printf '%s\n' "use \"$root/tests/fixtures/bert_published.tfg\"" 'output encoder.layer.*.self.weights' >watched.tfg
in_browsers "$root/tests/cli/attend_run.mjs" bert.html bert.txt tokens=source,labels=source "$tfc" watched.tfg $bert
