#!/bin/sh
# Tables that their names do not tell: records of a pipe or of another name are read by their form, and what cannot be
# known is said. Run: sh tests/cli/by_form.sh build/release/tfc
set -eu
. tests/common.sh
enter_work

cat >m.tfg <<'M'
model m
const vocab = 30, classes = 2, d = 8
dim B, S
input text : token[B, S~] = column("text")
input label : int[B] = column("label")
vocab label = words
param e : [vocab, d] = normal(0, 0.1)
logits = linear as head(reshape(mean(e[text], 1), [B, d]), classes)
loss = cross_entropy(logits, label)
predict class = softmax(logits)
train { rate = constant(0.01); batch = tokens(100) }
M
for i in 1 2 3 4 5 6 7 8; do
    printf '%s\ta dog, runs\tpet\n%s\ta red saw\ttool\n' $i $i
done >rows
awk -F'\t' 'BEGIN { print "id,text,label" } { print $1 ",\"" $2 "\"," $3 }' rows >t.csv
awk -F'\t' 'BEGIN { print "id;text;label" } { print $1 ";" $2 ";" $3 }' rows >semi
{ echo 'sep=;' && cat semi; } >excel
awk -F'\t' 'BEGIN { print "id\tlabel\ttext" } { print $1 "\t" $3 "\t" $2 }' rows >tabs
{ echo '[' && awk -F'\t' '{ print (NR == 1 ? "" : ",") "{\"id\": " $1 ", \"text\": \"" $2 "\", \"label\": \"" $3 "\"}" }' rows && echo ']'; } >list
grep -v '^\[\|^\]' list | sed 's/^,//' >objects
awk -F'\t' '{ print "__label__" $3 " " $2 }' rows >fast
sed 's/id,text,label/id,review,kind/' t.csv >other.csv

"$tfc" train m.tfg --data t.csv --vocab words:auto --steps 20 -o run 2>err.txt || fail "$(cat err.txt)"
"$tfc" predict run --input t.csv >want.txt
[ "$(wc -l <want.txt)" = 16 ] || fail "$(cat want.txt)"
"$tfc" eval run --data t.csv >want.eval
for form in t.csv semi excel tabs list objects fast; do
    "$tfc" predict run <$form >out.txt 2>err.txt || fail "$form: $(cat err.txt)"
    cmp want.txt out.txt && [ ! -s err.txt ] || fail "$form from standard input: $(head -n 3 out.txt) $(cat err.txt)"
    # shellcheck disable=SC2002  # a pipe
    cat $form | "$tfc" eval run --data - >out.txt 2>err.txt || fail "eval $form: $(cat err.txt)"
    cmp want.eval out.txt || fail "$form is measured otherwise"
    "$tfc" train m.tfg --data $form --vocab words:auto --steps 1 -o "run.$form" 2>err.txt || fail "train on $form: $(cat err.txt)"
    "$tfc" prepare m.tfg --data $form --vocab words:auto -o "prepared.$form" 2>err.txt || fail "prepare $form: $(cat err.txt)"
    cmp run.t.csv/vocab.txt "run.$form/vocab.txt" && cmp prepared.t.csv/vocab.txt "prepared.$form/vocab.txt" || fail "$form has other words"
done

# --column says of a pipe, too, which field the texts are; numbers count from 1, and there is no header.
"$tfc" predict run --column text=review <other.csv >out.txt 2>err.txt && cmp want.txt out.txt || fail "$(cat out.txt err.txt)"
tail -n +2 t.csv | "$tfc" predict run --column text=2 >out.txt 2>err.txt && cmp want.txt out.txt || fail "$(cat out.txt err.txt)"
{ echo text && cut -f 2 rows; } >column
"$tfc" predict run --column text=text <column >out.txt 2>err.txt && cmp want.txt out.txt || fail "$(cat out.txt err.txt)"
refuses 1 "<standard input> is lines of text: no field 'text' stands in its first line" sh -c "cut -f 2 rows | '$tfc' predict run --column text=text"
refuses 1 'field.*--column text=FIELD reads another for the input .text.' "$tfc" eval run --data other.csv
refuses 1 'field.*--column text=FIELD reads another for the input .text.' "$tfc" predict run --input other.csv
echo '{"review": "a dog"}' >other.jsonl
refuses 1 'no field .text.; there is .review.; --column text=FIELD' "$tfc" predict run --input other.jsonl
# What may be a header or a record without the field is read as a text, and that is said.
for form in column other.csv other.jsonl; do
    "$tfc" predict run <$form >out.txt 2>err.txt || fail "$(cat err.txt)"
    [ "$(wc -l <out.txt)" = "$(wc -l <$form)" ] || fail "$(cat out.txt)"
    grep -q '<standard input>:1:1: note: this line is read as a text, as all others: if it is .*, --column text=FIELD' err.txt || fail "$form: $(cat err.txt)"
done
echo 'a dog, a red saw' | "$tfc" predict run >out.txt 2>err.txt
! grep -q 'read as a text' err.txt || fail "a sentence is no header: $(cat err.txt)"

# Lines of fastText: the first may lack a label. A pipe's first line alone can be waited for.
{ echo 'a saw' && cat fast; } >late
"$tfc" predict run --input late >out.txt 2>err.txt || fail "$(cat err.txt)"
tail -n +2 out.txt | cmp - want.txt || fail "$(cat out.txt)"
refuses 1 'late:1:1: error: the line has no label, and the model takes one' "$tfc" train m.tfg --data late --vocab words:auto --steps 1 -o none
# shellcheck disable=SC2002
cat late | "$tfc" predict run >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q '<standard input>:2:1: warning: the label is read as a part of the text' err.txt || fail "$(cat err.txt)"

# Sets of labels with another mark than the column's, or none.
sed 's/input label.*/input label : bool[B, classes] = column("label", many = "|")/; s/cross_entropy/binary_&/; s/softmax/many/' m.tfg >sets.tfg
for mark in '|' ';' , /; do
    printf 'text\tlabel\na\tx%sy\nb\tx\na b\ty%sz\n\tz\nc\tx%sz\n' "$mark" "$mark" "$mark" >sets.tsv
    "$tfc" data sets.tfg sets.tsv >out.txt 2>err.txt || fail "$(cat err.txt)"
    said=$(grep -c 'warning: .x.[yz]. is one label of .label., .* many = "[;,/]") in place of many = "|"' err.txt || true)
    case $mark in '|') want=0 ;; *) want=1 ;; esac
    [ "$said" = $want ] || fail "the mark $mark: $(cat err.txt)"
done
"$tfc" train sets.tfg --data sets.tsv --vocab words:auto --steps 1 -o sets.run 2>err.txt || fail "$(cat err.txt)"
grep -q 'many = "/") in place of many = "|"' err.txt || fail "$(cat err.txt)"
sed 's/\(.*\)\t\(.*\)/__label__\2 \1/; 1d; s/[|;,/]/ __label__/g' sets.tsv >fast
{ echo 'a b c' && cat fast; } >late
"$tfc" eval run --data fast >/dev/null 2>&1 && fail "other labels"
"$tfc" data sets.tfg late >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q '^late: 6 records' out.txt && grep -q 'label: 3 labels' out.txt || fail "$(cat out.txt)"

# A run remembers --column: a training that begins from it reads its fields, and is remembered, too.
"$tfc" train m.tfg --data other.csv --column text=review --column label=kind --vocab words:auto --steps 20 -o named 2>err.txt || fail "$(cat err.txt)"
"$tfc" train named --data other.csv --steps 1 -o again 2>err.txt || fail "$(cat err.txt)"
"$tfc" eval again --data other.csv >out.txt 2>err.txt && grep -q '^records  *16' out.txt || fail "$(cat out.txt err.txt)"
"$tfc" train named --data t.csv --column text=text --column label=label --steps 1 -o back 2>err.txt || fail "$(cat err.txt)"
"$tfc" eval back --data t.csv >out.txt 2>err.txt || fail "$(cat err.txt)"

# Mistakes in CoNLL's columns have the place of the word in the file; records in it may be few.
sed 's/input text.*/input text : token[B, S~] = column("words")/; s/input label.*/input label : token[B, S~] = column("tags")/; s/reshape(mean(e\[text\], 1), \[B, d\])/e[text]/' m.tfg >tag.tfg
printf '# about\na x T\nb  x  U\n\nb x U\na\tx\tT\n\n' >t.conll
refuses 1 "such as 'words': --column text=NUMBER" "$tfc" train tag.tfg --data t.conll --vocab words:auto --steps 1 -o none
"$tfc" train tag.tfg --data t.conll --column text=1 --column label=3 --vocab words:auto --steps 1 -o tagger 2>err.txt || fail "$(cat err.txt)"
printf 'b x U\n\n# T of two\na x T\na  x   W\n' >other.conll
refuses 1 "other.conll:5:8: error: 'W' is none of the 2 labels" "$tfc" eval tagger --data other.conll
refuses 1 "(CoNLL's columns are read as FILE.conll)" sh -c "cat other.conll | '$tfc' predict tagger --column text=1"

# No records are no mistake where each is answered; they cannot be measured.
head -n 1 t.csv >none.csv
"$tfc" predict run --input none.csv >out.txt 2>err.txt || fail "$(cat err.txt)"
[ ! -s out.txt ] && grep -q 'none.csv: note: the table has a header and no records' err.txt || fail "$(cat out.txt err.txt)"
refuses 1 'a header and no records' "$tfc" eval run --data none.csv

# A model of numbers has no vocabulary.
cat >numbers.tfg <<'M'
model numbers
dim B
input x : float[B, 2] = column("a", "b")
input y : float[B] = column("y")
guessed = reshape(linear as head(x, 1), [B])
loss = mean((guessed - y) * (guessed - y))
predict guess = guessed
train { rate = constant(0.01); batch = sentences(4) }
M
printf 'a,b,y\n1,2,3\n2,3,5\n3,4,7\n4,5,9\n' >numbers.csv
"$tfc" train numbers.tfg --data numbers.csv --steps 2 -o numbers 2>err.txt || fail "$(cat err.txt)"
"$tfc" info numbers >out.txt && grep -q '^no vocabulary, trained on records' out.txt || fail "$(cat out.txt)"

# Pairs of another name.
cat >translator.tfg <<'M'
model t
use transformer_pre_norm
const vocab = 30, layers = 1, d_model = 8, d_ff = 8, heads = 1
train { rate = constant(0.003); batch = tokens(300); max_length = 20 }
M
printf 'source,target\n"a b, c",x y\nb c,y z\n' >pairs
"$tfc" train translator.tfg --data pairs --vocab words:auto --steps 1 -o pairs.run 2>err.txt || fail "$(cat err.txt)"
grep -q '2 rows of text' err.txt || fail "$(cat err.txt)"
printf 'english,german\nb c,y z\n' >named.csv
"$tfc" translate pairs.run --input named.csv >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q 'named.csv:1:1: warning: this line is translated, too: if it is a header, --column source=FIELD' err.txt || fail "$(cat err.txt)"
"$tfc" translate pairs.run --input named.csv --column source=english >out.txt 2>err.txt && [ "$(wc -l <out.txt)" = 1 ] && [ ! -s err.txt ] || fail "$(cat out.txt err.txt)"
printf 'a b,x y\n' >headless
refuses 1 'no tab: expected a source, a tab and its target (tables of other forms are FILE.csv' \
    "$tfc" train translator.tfg --data headless --vocab words:auto --steps 1 -o none
