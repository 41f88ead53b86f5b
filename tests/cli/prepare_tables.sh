#!/bin/sh
# tfc prepare MODEL: a table of any format, in shards of any size, trains to the same bits as the table itself; windows,
# resumption, pieces of batches, models of each kind; what is wrong is told with its place, however the table is cut.
# Usage: prepare_tables.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
fixtures=$root/tests/fixtures/columns
enter_work
cp "$fixtures"/*.tfg .
# shellcheck disable=SC2086  # words
prepare() { "$tfc" prepare "$@" 2>err.txt || fail "prepare $*: $(cat err.txt)"; }
train() { # RUN OPTIONS…
    out=$1
    shift
    "$tfc" train "$@" --out "$out" >said 2>&1 || fail "train $*: $(cat said)"
}

# Every kind of column, every format, many cuts: as the table itself.
python3 "$root/tests/cli/columns.py" make
gzip -k t.tsv
xz -k t.jsonl
words="--vocab words:auto"
# shellcheck disable=SC2086  # words
{
    train table echo.tfg --data t.tsv $words --steps 12
    for file in t.tsv t.csv t.jsonl t.tsv.gz t.jsonl.xz odd.csv end.jsonl list.json row.jsonl; do
        prepare echo.tfg --data $file $words --rows-per-shard 5 --threads 3 -o p-$file
        grep -q "^p-$file: 37 records of 37 records, 6 columns, 8 shards$" err.txt || fail "not told: $(cat err.txt)"
        train run-$file echo.tfg --prepared p-$file --steps 12
        same_tensors table/last.safetensors run-$file/last.safetensors "$file, prepared, gives other params"
    done
    [ "$(ls p-t.tsv.gz)" = "$(ls p-t.tsv)" ] || fail "left: $(ls p-t.tsv.gz)"
    prepare echo.tfg --data t.csv $words --rows-per-shard 5 --threads 1 -o p-t.csv
    grep -q '8 shards (8 were there)' err.txt || fail "made again: $(cat err.txt)"
    given="--column pair=1 --column number=2 --column kind=3 --column tag=4 --column frame=5 --column text=6"
    prepare echo.tfg --data plain.tsv $words $given -o p-plain
    train run-plain echo.tfg --prepared p-plain --steps 12 --valid-data plain.tsv --validate-every 12
    same_tensors table/last.safetensors run-plain/last.safetensors "numbered fields, prepared, are other fields"
    "$tfc" predict run-plain --input plain.tsv --json >said || fail "a run on prepared data does not know its fields"
    "$tfc" predict table --input t.tsv --json | cmp - said || fail "other predictions"
    python3 -c 'open("open.json", "w").write(open("list.json").read().rstrip().removesuffix("]"))'
    for command in "prepare echo.tfg --data open.json $words -o no" "predict table --json --input open.json" "eval table --data open.json" \
        "train echo.tfg --data open.json $words --out no"; do
        refuses 1 "open.json: error: nothing closes the list: the file has no ']' at its end" "$tfc" $command
    done
    split -n l/3 t.jsonl part.
    for part in part.a?; do mv "$part" "$part.jsonl"; done
    prepare echo.tfg --data part.aa.jsonl --data part.ab.jsonl --data part.ac.jsonl $words --rows-per-shard 5 -o p-parts
    train run-parts echo.tfg --prepared p-parts --steps 12
    same_tensors table/last.safetensors run-parts/last.safetensors "three files, prepared, are not one table"
    "$tfc" info p-parts | grep -q 'column      kind of kind: labels (3, ' || fail "info tells nothing of columns"

    # Several windows: the same bits for any number of threads, and resumed anywhere; pieces of batches.
    prepare echo.tfg --data t.csv $words --rows-per-shard 5 --window-rows 10 -o windows
    train pieces echo.tfg --data t.csv $words --steps 12 --shards 3 --accumulate 2
}
train whole echo.tfg --prepared windows --steps 23 --threads 1
train again echo.tfg --prepared windows --steps 23 --threads 2
cmp whole/last.safetensors again/last.safetensors || fail "another training"
for steps in 1 3 8 10 17; do
    rm -rf part
    train part echo.tfg --prepared windows --steps $steps
    "$tfc" train part --resume --steps 23 2>err.txt || fail "not resumed: $(cat err.txt)"
    cmp whole/last.safetensors part/last.safetensors || fail "resumed at step $steps"
done
train pieces-prepared echo.tfg --prepared p-t.csv --steps 12 --shards 3 --accumulate 2
same_tensors pieces/last.safetensors pieces-prepared/last.safetensors "prepared, in pieces"
refuses 1 "it was .* and is now" "$tfc" train part --resume --steps 24 --prepared p-t.csv

# CSV whose records are cut at each place: line breaks, commas and quotes in its fields.
python3 "$root/tests/cli/prepare_tables.py"
field="label=la
bel"
tiny="--set layers=1 --set d_model=16 --set heads=2"
small="$tiny --set d_ff=16 --set labels=3"
# shellcheck disable=SC2086  # words
{
    train quoted classifier.tfg --data q.csv --column "$field" --vocab chars:auto $small --steps 6
    for n in 1 7 1000; do
        prepare classifier.tfg --data q.csv --column "$field" --vocab chars:auto $small --rows-per-shard $n -o q-$n
        train quoted-$n classifier.tfg --prepared q-$n $small --steps 6
        same_tensors quoted/last.safetensors quoted-$n/last.safetensors "CSV in shards of $n records gives other params"
    done
    prepare classifier.tfg --data q.jsonl --column "$field" --vocab chars:auto $small --rows-per-shard 9 -o q-jsonl
    train quoted-jsonl classifier.tfg --prepared q-jsonl $small --steps 6
    same_tensors quoted/last.safetensors quoted-jsonl/last.safetensors "JSON lines are other texts than CSV"
}

# Models of other tasks: a target beside columns, tags, CTC, two texts, numbers, tensors.
printf 'O\nB-N\n' >tags.txt
seq 0 9 >classes.txt
sed '/^vocab label/d' vit.tfg >numbers.tfg
task() { # MODEL DATA VOCABULARY OPTIONS…: the vocabulary is for preparing, and for the table alone
    name=$1 data=$2 vocab=$3
    shift 3
    # shellcheck disable=SC2086  # words
    {
        train task-$name $name.tfg --data $data --steps 8 $vocab "$@"
        prepare $name.tfg --data $data --rows-per-shard 20 $vocab "$@" -o p-$name
    }
    train task-$name-p $name.tfg --prepared p-$name --steps 8 "$@"
    same_tensors task-$name/last.safetensors task-$name-p/last.safetensors "$name: prepared data trains otherwise"
}
# shellcheck disable=SC2086  # words
{
    task tagger all.jsonl "$words" $tiny --set tags=2
    task two_towers all.jsonl "$words" $tiny
    task multi_source all.jsonl "$words" $tiny
    task speech_ctc all.jsonl "" --set layers=1
    task vit all.jsonl "" $tiny --set d_ff=16
    task numbers image.safetensors "" $tiny --set d_ff=16
    cp "$root/models/bert_mlm.tfg" hidden.tfg
    task hidden all.jsonl "--vocab auto:50" $tiny --set d_ff=16 # hides the same tokens
}

# Tables mixed into tables: the same, and the same tokens are hidden.
mixed() { # MODEL DATA MODEL-OPTIONS…: as task has prepared it
    name=$1 data=$2
    shift 2
    head -n 30 $data >few.jsonl
    prepare $name.tfg --data few.jsonl --vocab p-$name "$@" -o few-$name
    train mixed-$name $name.tfg --data $data --vocab p-$name --mix few.jsonl:0.08 --steps 8 "$@"
    train mixed-$name-p $name.tfg --prepared p-$name --mix few-$name:0.08 --steps 8 "$@"
    same_tensors mixed-$name/last.safetensors mixed-$name-p/last.safetensors "$name: prepared data is mixed in otherwise"
    train mixed-$name-t $name.tfg --prepared p-$name --mix few.jsonl:0.08 --steps 8 "$@"
    same_tensors mixed-$name/last.safetensors mixed-$name-t/last.safetensors "$name: a table is mixed in otherwise"
}
# shellcheck disable=SC2086  # words
{
    mixed hidden all.jsonl $tiny --set d_ff=16
    mixed tagger all.jsonl $tiny --set tags=2
}
prepare two_towers.tfg --data few.jsonl --vocab p-hidden $tiny -o few-two
refuses 1 "few-two: it was prepared for the inputs" "$tfc" train hidden.tfg --prepared p-hidden --mix few-two:1 $tiny --set d_ff=16 --out no

# Mistakes: with the line and column of the file, in whichever cut they are; the first in the file's order.
wrong() { # PATTERN MODEL OPTIONS…
    pattern=$1
    shift
    refuses 1 "$pattern" "$tfc" prepare "$@" --rows-per-shard 10 --threads 2 -o no
}
# shellcheck disable=SC2086  # words
{
    sed '77s/"tags": "[^"]*"/"tags": "O O O O O O O O"/; 130s/"tags": "[A-Z]/"tags": "Q/' all.jsonl >bad.jsonl
    wrong 'bad.jsonl:77:1: error: `tgt` has 8 positions and `src` ' tagger.tfg --data bad.jsonl $words --set tags=2
    sed '130s/"tags": "[A-Z]/"tags": "Q/' all.jsonl >bad.jsonl
    wrong "bad.jsonl:130:[0-9]*: error: 'Q[A-Z-]*' is none of the 2 labels" tagger.tfg --data bad.jsonl $words --set tags=2
    sed '99s/"label": /"label": x/; 120s/"label": /"label": "x/' all.jsonl >bad.jsonl
    wrong 'bad.jsonl:99:[0-9]*: error: something that is no value' vit.tfg --data bad.jsonl $tiny --set d_ff=16
    gzip -k bad.jsonl
    wrong 'bad.jsonl.gz:99:[0-9]*: error: something that is no value' vit.tfg --data bad.jsonl.gz $tiny --set d_ff=16
    awk 'BEGIN { for (i = 1; i < 200; i++) print i == 1 ? "label,text" : i == 88 ? "one,\"never closed" : "two,b" }' >open.csv
    wrong 'open.csv:88:5: error: nothing closes this quote' classifier.tfg --data open.csv --vocab chars:auto $small
    grep -q '^   88 | one,"never closed$' err.txt || fail "the line is not shown: $(cat err.txt)"
    awk '{ print } NR == 31 { print "y\txx\tz\tq" }' t.tsv >wide.tsv
    wrong 'wide.tsv:32:1: error: the record has 4 fields, and the header has 7' echo.tfg --data wide.tsv $words
    head -n 1 t.tsv >header.tsv
    wrong 'header.tsv: error: the table has a header and no records' echo.tfg --data header.tsv $words
    : >nothing.csv
    wrong 'nothing.csv: error: the table is empty' echo.tfg --data nothing.csv $words
    wrong "t.tsv:1:1: error: the header has no field 'nr'" echo.tfg --data t.tsv $words --column number=nr
    wrong 'has 3 labels, and the model tells 2 apart' classifier.tfg --data q.csv --column "$field" --vocab chars:auto --set labels=2
    wrong '--column other=x: no field feeds an input' echo.tfg --data t.tsv $words --column other=x
    head -c 500 t.tsv.gz >cut.tsv.gz
    wrong 'cut.tsv.gz.*: it is compressed by gzip, and ends too early' echo.tfg --data cut.tsv.gz $words
    # CoNLL's columns are cut at empty lines, and give the shards of the same records in TSV.
    cp "$root/models/tagger.tfg" tags.tfg
    awk 'BEGIN { for (i = 0; i < 90; i++) { if (i % 30 == 0) print "-DOCSTART- X O\n"
        for (k = 0; k <= i % 4; k++) print "w" (i + k) % 7, "x", (k ? "B" : "A"); print "" } }' >t.conll
    awk 'BEGIN { print "words\ttags" } !NF { if (w) print w "\t" t; w = t = ""; next } /^-DOC/ { next }
        { w = w (w ? " " : "") $1; t = t (t ? " " : "") $3 }' t.conll >tags.tsv
    sed 's/$/\r/' t.conll | gzip >t.conll.gz
    "$tfc" prepare tags.tfg --data tags.tsv $words -o from-tsv 2>err.txt || fail "$(cat err.txt)"
    for file in t.conll t.conll.gz; do
        rm -rf from-conll
        "$tfc" prepare tags.tfg --data $file --column words=1 --column tag=3 $words -o from-conll 2>err.txt || fail "$(cat err.txt)"
        grep -q "^$file: note: 3 lines are left out: -DOCSTART- and comments$" err.txt || fail "not counted: $(cat err.txt)"
        tail -c +121 from-tsv/shard-00000.tokens >x.ids
        tail -c +121 from-conll/shard-00000.tokens | cmp - x.ids || fail "$file is prepared otherwise"
    done
    "$tfc" prepare tags.tfg --data t.conll --column words=1 --column tag=3 $words --rows-per-shard 40 -o from-parts 2>err.txt
    grep -q '90 records of 90 records, 2 columns, 3 shards$' err.txt || fail "not cut: $(cat err.txt)"
    sed '40s/.*/alone/' t.conll >bad.conll
    wrong 'bad.conll:40:1: error: the line has 1 field, and there must be at least 3' tags.tfg --data bad.conll $words --column words=1 --column tag=3
    awk '/B$/ && !done { $0 = "New " $0; done = 1 } 1' t.conll >bad.conll
    wrong 'bad.conll:[0-9]*:1: error: the line has 4 fields, and those before it 3: blanks part fields' tags.tfg --data bad.conll $words --column words=1 --column tag=3
    wrong "CoNLL's columns have no names, such as 'words': --column words=NUMBER takes one by its number" tags.tfg --data t.conll $words
    if find no -name '*.tmp-*' | grep .; then fail "a temporary file is left"; fi
    refuses 2 'no text needs a vocabulary' "$tfc" prepare vit.tfg --data all.jsonl $words -o no
    refuses 2 'vocab is missing' "$tfc" prepare echo.tfg --data t.tsv -o no
    refuses 2 'a table is needed' "$tfc" prepare echo.tfg --text t.tsv $words -o no
    refuses 1 'fields of a table that is no pairs are named beside the model that reads them, MODEL.tfg' "$tfc" prepare --data t.tsv --column a=b $words -o no
    cat >lm.tfg <<'END'
model lm
use language_model
const layers = 1, d_model = 16, heads = 2, vocab = 8, context = 64
train { batch = tokens(300) }
END
    refuses 1 'lm.tfg reads texts, and no table' "$tfc" prepare lm.tfg --data t.tsv $words -o no
    cut -f 2 t.tsv >lines
    prepare --text lines --lines $words -o p-lines
}
refuses 1 'was prepared from a table for another model' "$tfc" train lm.tfg --prepared p-t.tsv --out no
refuses 1 'p-lines was prepared from texts' "$tfc" train echo.tfg --prepared p-lines --out no
refuses 1 'was prepared for a model with the inputs `pair`, `number`' "$tfc" train tagger.tfg --prepared p-t.tsv --out no
sed 's/input number : int/input number : float/; s/float(number + kind)/number + float(kind)/; s/= float(number)/= number/' \
    echo.tfg >floats.tfg
refuses 1 'has of `number` integers, 1 a row, and floats.tfg reads floats, 1 a row' \
    "$tfc" train floats.tfg --prepared p-t.tsv --out no
printf 'black\n' >>p-t.jsonl/labels-kind.txt
refuses 1 'has of `kind` labels (3, .*reads labels (4, ' "$tfc" train echo.tfg --prepared p-t.jsonl --out no

# Texts may be compressed as well.
head -n 30 lines >lines.txt
gzip -k lines.txt
for file in lines.txt lines.txt.gz; do
    # shellcheck disable=SC2086  # words
    prepare --text $file --lines $words -o l-$file
    tail -c +121 l-$file/shard-00000.tokens >ids-$file # the fields name the text
done
cmp ids-lines.txt ids-lines.txt.gz || fail "a compressed text is another"
echo "prepare of tables: the same training"
