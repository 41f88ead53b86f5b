#!/bin/sh
# tfc data MODEL TABLE: counts of records, labels, numbers and faults as data_tables.py counts them, whatever the format
# and however many files; text for people; mistakes.
# Usage: data_tables.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
enter_work
cat >m.tfg <<'END'
model m
const vocab = 20, classes = 3
dim B, S
input text : token[B, S~] = column("text")
input label : int[B] = column("label")
vocab label = words
input score : float[B] = column("score")
param embedding : [vocab, 8] = normal(0, 0.1)
logits = linear as head(reshape(mean(embedding[text], 1), [B, 8]), classes)
loss = cross_entropy(logits, label) + mean(score * 0)
predict class = softmax(logits)
END
python3 "$root/tests/cli/data_tables.py" make
printf '%s\n' '<pad>' '<unk>' '<s>' '</s>' ein zwei drei vier fünf Sechs EIN ZWEI DREI VIER FÜNF >words.txt
look() { "$tfc" data m.tfg "$@" --vocab words:words.txt --max-length 8 2>err.txt || fail "data $*: $(cat err.txt)"; }
check() { python3 "$root/tests/cli/data_tables.py" check || fail "data $*: other figures"; }
look train.jsonl --valid held=valid.jsonl --json | check of JSON lines
split -n l/3 train.jsonl part.
for part in part.a?; do mv "$part" "$part.jsonl"; done
look --data part.aa.jsonl --data part.ab.jsonl --data part.ac.jsonl --valid held=valid.jsonl --json | check of three files
gzip -k train.jsonl
look train.jsonl.gz --valid held=valid.jsonl --json | check of gzip
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name "text.tmp-$$-*")" ] || fail "a temporary file is left"

# For people: places, shares, what to do. Without a vocabulary, labels are counted all the same.
printf 'text\tkind\tscore\nA dog.\tred\t1\nA cat.\tred\t1\na  dog.\tred\t1\nA dog.\tblue\t1\n\tblue\t1\n' >t.tsv
printf 'text\tkind\tscore\nA cat.\tred\t1\nA bird.\tgreen\t1\n' >v.tsv
"$tfc" data m.tfg t.tsv --valid-data v.tsv --column label=kind >out.txt || fail "no survey"
for line in '^t.tsv: 5 records$' '^label: 2 labels; the model tells 3 apart$' '^    red  *3  75.00 %$' \
    '^score: 4 numbers from 1 to 1, mean 1$' '^Of 2 records of validation, the training table has 1 (50.00 %).$' \
    "^    line 3, validation: 'green' is none of the 2 labels of .label.: A bird.$" \
    '^    line 4, as record 1: a  dog.$' '^    line 5, as record 1: A dog.$' '^    line 6: $' '^What to do$'; do
    grep -E -q "$(echo "$line" | sed 's/(50.00 %)/\\(50.00 %\\)/')" out.txt || fail "no '$line' in: $(cat out.txt)"
done
"$tfc" data m.tfg t.tsv --column label=kind --set classes=1 >out.txt || fail "no survey"
grep -q 'tells 1 apart$' out.txt && grep -q '^  labels: the model tells fewer apart' out.txt && ! grep -q 'Nothing to mend' out.txt ||
    fail "more labels than the model has are not told: $(cat out.txt)"
printf 'text\tlabel\tscore\na\tö\t1\nb\to\t1\n' >umlaut.tsv
[ "$("$tfc" data m.tfg umlaut.tsv | grep '^    [oö] ' | sed 's/ö/o/' | sort -u | wc -l)" = 1 ] || fail "counts of labels are not aligned"
refuses 1 "t.tsv:1:1: error: the header has no field 'label'" "$tfc" data m.tfg t.tsv
printf 'text\tlabel\tscore\na\tred\n' >bad.tsv
refuses 1 'bad.tsv:2:1: error: the record has 2 fields, and the header has 3' "$tfc" data m.tfg bad.tsv
refuses 2 'reads a table: give its FILE' "$tfc" data m.tfg
refuses 1 'fields of a table that is no pairs are named beside the model that reads them, MODEL.tfg' "$tfc" data t.tsv --column label=kind
refuses 2 'name tables' "$tfc" data m.tfg t.tsv --valid-source v.tsv --valid-target v.tsv
refuses 1 'makes a vocabulary, and a finished one is needed' "$tfc" data m.tfg t.tsv --vocab words:auto
echo "data of tables: the same figures"
