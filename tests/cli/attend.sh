#!/bin/sh
# tfc attend: every head's weights as they follow from the params (attend.py, in f64), the same in JSON,
# arrays, figure and page, for given pairs and translations, of models with one side, and of tables; what the pages
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

# Models that read tables: each text by itself, named by its tokens; frames of numbers by their places.
python3 - <<'END'
import json
words = ["ein", "zwei", "drei", "vier"]
with open("t.jsonl", "w") as out:
    for i in range(40):
        text = " ".join(words[(i + k * (i % 3 + 1)) % 4] for k in range(i % 5 + 1))
        out.write(json.dumps({"text": text, "label": text.split()[0], "first": text, "second": text.upper(), "tgt": text,
                              "sound": [[float(j % 4 == k % 4) for j in range(40)] for k in range(3 * len(text.split()))]}) + "\n")
END
for model in classifier two_towers speech_ctc; do
    words='--vocab words:auto --set d_model=32 --set heads=2'
    [ $model != speech_ctc ] || words='--set d_model=32 --set heads=2'
    # shellcheck disable=SC2086  # words
    "$tfc" train "$root/tests/fixtures/columns/$model.tfg" --data t.jsonl --steps 3 --out run-$model $words 2>err || fail "$(cat err)"
    "$tfc" attend run-$model --input t.jsonl --lines 4 --json $model.json --npy $model.npz -o $model.html --svg $model.svg ||
        fail "the attention of $model is not shown"
done
third=$(sed -n '3s/.*"text": "\([^"]*\)".*/\1/p' t.jsonl)
if [ -n "$python" ]; then
    "$python" "$root/tests/cli/attend.py" run-classifier/last.safetensors classifier.npz 2 2 run-classifier/vocab.txt \
        "layer.0=$third </s>" || fail "the weights of a classifier do not follow from its params"
    "$python" "$root/tests/cli/attend.py" run-two_towers/last.safetensors two_towers.npz 2 2 run-two_towers/vocab.txt \
        "tower.layer.0=$third </s>" "tower.layer.0=$(echo "$third" | tr a-z A-Z) </s>" ||
        fail "the weights of two towers do not follow from their params"
fi
sed 's/.*"text": "\([^"]*\)".*/\1/' t.jsonl >lines
for given in --text --input; do
    "$tfc" attend run-classifier $given lines --lines 4 --json - | cmp - classifier.json || fail "$given: lines are attended otherwise"
done
grep -q '"source": \["1", "2", "3"\]' speech_ctc.json || fail "frames are not named by their places"
refuses 2 'give it, or lines of its one text, as --input FILE' "$tfc" attend run-classifier --source lines --json no.json
refuses 2 'input is of models that are fed by columns, and run is not: give --source FILE, alone or with --target FILE, or --data FILE' "$tfc" attend run --input lines --json no.json
cp "$root/tests/fixtures/columns/vit.tfg" .
seq 0 9 >classes.txt
echo "{\"label\": \"3\", \"image\": [$(seq -s, 768)]}" | "$tfc" train vit.tfg --steps 1 --out run-vit --data - 2>err || fail "$(cat err)"
refuses 1 'no attention that is a softmax of tokens over tokens' "$tfc" attend run-vit --input t.jsonl --json no.json

refuses 2 "run reads pairs, and --text is for language models: give --source FILE, alone or with" "$tfc" attend run --text some.src -o no.html
refuses 1 "\-\-layer 7: the model has . layers\?: give 0" "$tfc" attend run --source some.src --target some.tgt --layer 7 -o no.html
refuses 1 "cannot read nothing" "$tfc" attend run --source nothing -o no.html

in_browsers "$root/tests/cli/attend.mjs" page.html
in_browsers "$root/tests/cli/opens.mjs" translated.html speak.html bert.html classifier.html two_towers.html
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
