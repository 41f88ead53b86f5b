#!/bin/sh
# Sets of labels: a table of any format gives the same params; thresholds are chosen on validation, kept with the params and
# shown; figures are those of what is predicted; programs, Python and packages give the sets that tfc predict does.
# Usage: label_sets.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

# Eight words, each of which brings a label with it in most texts; labels with a blank in them.
awk 'BEGIN { srand(3); print "text\tlabels"
     for (i = 0; i < 240; i++) { n = 1 + int(rand() * 4); text = ""; labels = ""
         for (k = 0; k < n; k++) { w = int(rand() * 8); text = text (k ? " " : "") "w" w
             if (w < 5 && rand() < .9) labels = labels (labels == "" ? "" : " | ") "the " w }
         print text "\t" labels } }' >all.tsv
head -n 161 all.tsv >train.tsv
{ head -n 1 all.tsv; tail -n 80 all.tsv; } >valid.tsv
sed 's/\t/,/; s/ | /|/g' train.tsv >train.csv
awk -F'\t' 'NR > 1 { n = split($2, l, / \| /); s = ""
    for (i = 1; i <= n; i++) s = s (i > 1 ? ", " : "") "\"" l[i] "\""
    printf "{\"text\": \"%s\", \"labels\": [%s]}\n", $1, s }' train.tsv >train.jsonl
model=$root/models/labels.tfg
small="--set d_model=16 --set d_ff=16 --set heads=2 --set layers=1"

# shellcheck disable=SC2086  # options
train() { # RUN DATA OPTION …
    out=$1 data=$2
    shift 2
    "$tfc" train "$model" --data "$data" --out "$out" --vocab words:auto --seed 3 --set 'p_drop=0' $small "$@" 2>"$out.err" ||
        fail "$out: $(cat "$out.err")"
}
for format in tsv csv jsonl; do
    train "by_$format" "train.$format" --steps 3
    cmp by_tsv/last.safetensors "by_$format/last.safetensors" || fail "$format gives other params"
done
grep -q '"labels=5"' by_tsv/run.json || fail "the constant is not the number of labels"
"$tfc" prepare "$model" --data train.tsv --vocab words:auto -o prepared 2>told || fail "$(cat told)"
# shellcheck disable=SC2086
"$tfc" train "$model" --prepared prepared --out by_prepared --seed 3 --set 'p_drop=0' $small --steps 3 2>told || fail "$(cat told)"
same_tensors by_tsv/last.safetensors by_prepared/last.safetensors "prepared data give other params"

# Labels without blanks: fastText's lines are the same table.
sed 's/the //g; s/ | / /g' train.tsv | awk -F'\t' 'NR > 1 { n = split($2, l, " "); s = ""
    for (i = 1; i <= n; i++) s = s "__label__" l[i] " "; print s $1 }' | LC_ALL=C sort >train.txt
awk '{ text = labels = ""; for (i = 1; i <= NF; i++)
           if (sub(/^__label__/, "", $i)) labels = labels (labels == "" ? "" : "|") $i; else text = text (text == "" ? "" : " ") $i
       print text "\t" labels }' train.txt | { echo 'text	labels'; cat; } >same.tsv
train by_lines train.txt --steps 3
train by_table same.tsv --steps 3
cmp by_lines/last.safetensors by_table/last.safetensors || fail "fastText's lines give other params"

# Other labels: the head begins anew.
sed '2,$s/the \([0-4]\)/a \1/g; $s/$/ | a 9/' train.tsv >other.tsv
refuses 1 "is none of the labels of .tags. in by_tsv/labels-tags.txt, .*--new 'head' begins with new ones for the 6 labels" \
    "$tfc" train by_tsv --data other.tsv -o other --steps 2
"$tfc" train by_tsv --data other.tsv --new head --set labels=6 -o other --steps 2 2>told || fail "$(cat told)"
[ "$(cut -c 1-2 other/labels-tags.txt | sort -u)" = "a " ] || fail "the labels: $(cat other/labels-tags.txt)"
"$tfc" info other | grep -q "head.*6" || fail "no head of six labels: $("$tfc" info other)"

# Thresholds: of the validation that decides, in every checkpoint of its own.
train run train.tsv --valid-data valid.tsv --steps 200 --validate-every 100 --best micro-f1
"$tfc" info run >said
[ "$(grep -c 'threshold of tag  0\.[0-9]*  the [0-4]$' said)" = 5 ] || fail "info: $(cat said)"
"$tfc" eval run --data valid.tsv --json >figures
figure() { sed 's/.*"'"$1"'": \([0-9.e-]*\).*/\1/' figures; }
logged=$(grep -o '"valid_micro_f1": [0-9.]*' run/log.jsonl | sed 's/.* //' | sort -n | tail -n 1)
[ "$(figure micro_f1)" = "$logged" ] || fail "eval: $(figure micro_f1), and validation: $logged"
cut -f 1 valid.tsv | tail -n +2 >texts
"$tfc" predict run --input texts >sets
"$tfc" predict run --input valid.tsv | cmp - sets || fail "a table is predicted otherwise than its texts"

# A checkpoint whose thresholds are no JSON, and that has no checksum.
cp -r run hurt
python3 - <<'END'
import json, os, struct
with open("hurt/best.safetensors", "rb") as file:
    data = file.read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
header["__metadata__"].pop("xxh64_blocks")
header["__metadata__"]["thresholds"] = "["
text = json.dumps(header).encode()
os.remove("hurt/best.safetensors")
with open("hurt/best.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data[8 + size:])
END
refuses 1 "hurt/best.safetensors: its thresholds are damaged" "$tfc" predict hurt --input texts

# The figures of what is printed: exact sets and micro F1, counted here.
tail -n +2 valid.tsv | paste - sets | awk -F'\t' '
    { n = split($2, right, / ?\| ?/); m = split($3, found, "|"); split("", is); both = 0; r = 0
      for (i = 1; i <= n; i++) if (!(right[i] in is)) { is[right[i]] = 1; r++ }
      for (i = 1; i <= m; i++) both += found[i] in is
      exact += both == r && both == m; all += both; sum += r + m }
    END { printf "%.6f %.6f\n", exact / NR, 2 * all / sum }' >counted
printf '%.6f %.6f\n' "$(figure exact)" "$(figure micro_f1)" | cmp - counted || fail "$(cat counted) counted, and $(cat figures)"

# A label that stands twice counts once, and nothing between marks is no label.
printf 'text\tlabels\nw0 w1\tthe 0|the 1\n' >once.tsv
printf 'text\tlabels\nw0 w1\t the 1 ||the 0|the 1|\n' >twice.tsv
"$tfc" eval run --data once.tsv >once
"$tfc" eval run --data twice.tsv | cmp - once || fail "a set is read otherwise where a label stands twice"

# The same at other thresholds, label by label, and on the page of the run.
count_labels() { # count_labels SETS: label, how often it is there, predicted, right
    tail -n +2 valid.tsv | paste - "$1" | awk -F'\t' '
        { n = split($2, right, / ?\| ?/); m = split($3, found, "|"); split("", is)
          for (i = 1; i <= n; i++) if (!(right[i] in is)) { is[right[i]] = 1; r[right[i]]++ }
          for (i = 1; i <= m; i++) { p[found[i]]++; if (found[i] in is) both[found[i]]++ } }
        END { for (l in r) print l "\t" r[l] + 0 "\t" p[l] + 0 "\t" both[l] + 0 }' | LC_ALL=C sort
}
"$tfc" predict run --input texts --threshold 0.3 >low
for given in '' '--threshold 0.3'; do
    # shellcheck disable=SC2086
    "$tfc" eval run --data valid.tsv --confusions labels.tsv $given >/dev/null || fail "eval $given"
    [ "$(head -n 1 labels.tsv | cut -f 1-4,9)" = "label	labels	predictions	right	threshold" ] || fail "$(cat labels.tsv)"
    if [ -n "$given" ]; then count_labels low; else count_labels sets; fi >counted
    tail -n +2 labels.tsv | cut -f 1-4 | LC_ALL=C sort | cmp - counted || fail "$given: $(cat labels.tsv counted)"
done
[ "$(tail -n +2 labels.tsv | cut -f 9 | sort -u)" = 0.300000012 ] || fail "$(cat labels.tsv)"
refuses 2 'expected a number from 0 to 1' "$tfc" eval run --data valid.tsv --threshold 1.5
"$tfc" report run -o page.html 2>told || fail "$(cat told)"
count_labels sets >counted
sed -n '/figcaption>Labels of tag</,/<\/figure>/p' page.html | sed 's/<[^>]*>/ /g' |
    awk '/^ *the [0-4] / { print $1 " " $2 "\t" $3 "\t" $4 }' | LC_ALL=C sort >shown
cut -f 1-3 counted | cmp - shown || fail "the page: $(cat shown) $(cat told)"

"$tfc" predict run --input texts --threshold 0.999 >few
"$tfc" predict run --input texts --threshold 0.001 >many
[ "$(wc -c <few)" -lt "$(wc -c <sets)" ] && [ "$(wc -c <sets)" -lt "$(wc -c <many)" ] || fail "--threshold"
[ "$(echo w0 | "$tfc" predict run --threshold 0 | tr '|' '\n' | grep -c the)" = 5 ] || fail "--threshold 0 is not the least"
refuses 1 "threshold: --top gives the most probable labels" "$tfc" predict run --input texts --threshold 0 --top 2
echo 'w0 w1' | "$tfc" predict run --top 2 >top
[ "$(tr '\t' '\n' <top | grep -c '^the [01]$')" = 2 ] || fail "--top: $(cat top)"
"$tfc" predict run --input texts --json >expected
"$tfc" quantize run -o small --dtype int8 2>told || fail "$(cat told)"
"$tfc" info run | grep threshold >said
"$tfc" info small | grep threshold | cmp - said || fail "quantize loses the thresholds"

# The same in a program and in Python.
"$tfc" compile run -o sets.so --cpu x86-64-v2 2>told || fail "$(cat told)"
"$tfc" predict run --input texts --json --cpu x86-64-v2 >expected
"$tfc" compile run --emit exe -o tell --cpu x86-64-v2 2>told || fail "$(cat told)"
./tell --json <texts | cmp - expected || fail "a program gives other sets"
./tell <texts | cmp - sets || fail "a program prints other sets"
# Another checkpoint has thresholds of its own; one of a training without validation has 0.5.
"$tfc" predict run --checkpoint by_tsv/last.safetensors --input texts --threshold 0.5 >even
for other in run/step-100.safetensors by_tsv/last.safetensors; do
    "$tfc" predict run --checkpoint $other --input texts >of_other
    ./tell --weights $other <texts | cmp - of_other || fail "a program with $other gives other sets"
done
cmp of_other even || fail "a checkpoint without thresholds has others than 0.5"
if command -v python3 >/dev/null && [ -z "${TFC_RUNTIME:-}" ]; then
    "$tfc" predict run --checkpoint run/step-100.safetensors --input texts --json >of_other
    python3 - <<'END' || fail "Python gives other sets with other weights, or does not save their thresholds"
import json
import labels
for path in "run/step-100.safetensors", "saved.safetensors":
    model = labels.Model(path)
    for line, text in zip(open("of_other"), open("texts")):
        expected = [name for name, _ in json.loads(line)["tag"]]
        assert [name for name, _ in model.predict(text.strip())["tag"]] == expected, (path, text, expected)
    model.save("saved.safetensors")
END
    python3 - <<'END' || fail "Python gives other sets"
import json
import labels
model = labels.Model()
for line, text in zip(open("expected"), open("texts")):
    expected = [name for name, _ in json.loads(line)["tag"]]
    assert [name for name, _ in model.predict(text.strip())["tag"]] == expected, (text, expected)
assert len(model.predict("w0", top=3)["tag"]) == 3
END
fi
[ -z "${TFC_SHORT:-}" ] || exit 0

# In C by the header, and in Node.
cat >sets.c <<'END'
#include "labels.h"
#include <stdio.h>
int main(void)
{
    labels *model;
    labels_label_set set;
    labels_prediction_info info;
    if (labels_open(NULL, &model) || labels_prediction_set(model, 0, &set) || labels_prediction(model, 0, &info))
        return 1;
    for (int i = 0; i < set.n; i++)
        printf("%s%s", i ? set.separator : "", info.labels[i]);
    printf(" %d %d\n", set.thresholds[0] > 0, labels_prediction_set(model, 1, &set) != 0);
    labels_close(model);
    return 0;
}
END
$CC sets.c -o sets_c -I. ./sets.so -Wl,-rpath,"$work"
[ "$(./sets_c)" = "the 0|the 1|the 2|the 3|the 4 1 1" ] || fail "C: $(./sets_c)"
for need in clang-19 wasm-ld-19 node; do command -v $need >/dev/null || exit 0; done
[ -e /usr/include/wasm32-wasi ] || exit 0
"$tfc" compile run --emit js -o package 2>told || fail "$(cat told)"
cat >ask.mjs <<'END'
import {readFileSync} from "node:fs";
import {load} from "./package/index.js";
const model = await load();
for (const [i, line] of readFileSync("expected", "utf8").trim().split("\n").entries()) {
  const names = JSON.parse(line).tag.map(([name]) => name), text = readFileSync("texts", "utf8").split("\n")[i];
  const found = model.predict(text).tag.map(([name]) => name);
  if (found.join() !== names.join())
    throw new Error(`${text}: ${found} in place of ${names}`);
}
if (model.predict("w0", {top: 3}).tag.length !== 3)
  throw new Error("top");
END
node ask.mjs || fail "Node gives other sets"
"$tfc" compile run --emit html -o page.html 2>told || fail "$(cat told)"
# Room for labels that there are none of: no set has them. A label with the column's mark in it would be two.
train room train.tsv --steps 1 --set labels=8
if "$tfc" predict room --input texts --threshold 0 2>/dev/null | grep -q unused; then fail "a set has a class without a label"; fi
printf '__label__a|b hello there\n__label__c hi\n' >mark.txt
refuses 1 "mark.txt:1:1: error: the label 'a|b' of .tags. has the mark '|' in it" \
    "$tfc" train "$model" --data mark.txt --vocab words:auto --steps 1 --out no
grep -q '"set": true' page.html || fail "the page knows of no set"
