#!/bin/sh
# Models that are fed by tables: what every kind of column holds reaches the model (columns.py draws tables, the model
# predicts what it is fed), whatever the format, compression, order of fields, shards, ranks and resumption; models for
# other tasks train, are validated and measured, and predict; mistakes.
# Usage: columns.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
fixtures=$root/tests/fixtures/columns
enter_work

train() {
    out=$1
    shift
    "$tfc" train "$@" --out "$out" >said 2>&1 || fail "tfc train $*: $(cat said)"
}

# Every kind of column, and every format.
python3 "$root/tests/cli/columns.py" make
gzip -k t.tsv
for file in t.tsv t.csv t.jsonl t.tsv.gz odd.csv end.jsonl list.json row.jsonl; do
    train run-$file "$fixtures/echo.tfg" --data $file --vocab words:auto --steps 12
    cmp run-t.tsv/last.safetensors run-$file/last.safetensors || fail "$file gives other params"
    "$tfc" predict run-$file --input $file --json >said-$file || fail "no predictions of $file"
    cmp said-t.tsv said-$file || fail "$file gives other predictions"
done
python3 "$root/tests/cli/columns.py" check run-t.tsv/vocab.txt <said-t.tsv || fail "columns hold something else"
given="--column pair=1 --column number=2 --column kind=3 --column tag=4 --column frame=5 --column text=6"
# shellcheck disable=SC2086  # words
train run-plain "$fixtures/echo.tfg" --data plain.tsv --vocab words:auto --steps 12 $given
cmp run-t.tsv/last.safetensors run-plain/last.safetensors || fail "numbered fields are other fields"
split -n l/3 t.jsonl part.
for part in part.a?; do mv "$part" "$part.jsonl"; done
train run-parts "$fixtures/echo.tfg" --data part.aa.jsonl --data part.ab.jsonl --data part.ac.jsonl --vocab words:auto --steps 12
cmp run-t.tsv/last.safetensors run-parts/last.safetensors || fail "three files are not one table"

# Resumption, shards, data that is mixed in, several validation tables.
train run-resumed "$fixtures/echo.tfg" --data t.tsv --vocab words:auto --steps 5
"$tfc" train run-resumed --resume --steps 12 2>err || fail "a run on a table is not resumed: $(cat err)"
cmp run-t.tsv/last.safetensors run-resumed/last.safetensors || fail "a resumed run has other params"
train run-shards "$fixtures/echo.tfg" --data t.tsv --vocab words:auto --steps 12 --shards 3
"$tfc" predict run-shards --input t.tsv --json | cmp - said-t.tsv || fail "shards feed other values"
train run-mixed "$fixtures/echo.tfg" --data t.tsv --mix t.csv:0.5 --valid one=t.jsonl --valid two=t.tsv \
    --vocab words:auto --steps 4 --validate-every 4
grep -q 'one [0-9.]*  two [0-9.]*' said || fail "two validation tables are not measured: $(cat said)"
sed 's/ein/zwei/' t.tsv >changed.tsv
cp t.tsv kept.tsv
cp changed.tsv t.tsv
refuses 1 'it was 37 lines' "$tfc" train run-resumed --resume --steps 13
cp kept.tsv t.tsv

# Other tasks: trained, validated by a measure of their own, measured, predicted.
python3 - <<'END'
import json, random
random.seed(3)
words = ["ein", "zwei", "drei", "vier", "5"]
with open("text.jsonl", "w") as out:
    for i in range(300):
        line = [random.choice(words) for _ in range(random.randint(1, 6))]
        text, upper = " ".join(line), " ".join(w.upper() for w in line)
        out.write(json.dumps({
            "src": text, "src2": " ".join(line[::-1]), "tgt": upper, "first": text, "second": upper,
            "text": text, "kind": line[0], "words": text, "tags": " ".join("B-N" if w == "5" else "O" for w in line),
            "sound": [[float(j % 5 == words.index(w)) for j in range(40)] for w in line for _ in range(3)],
            "image": [[[float(i % 10 == x)] * 3 for x in range(16)] for _ in range(16)], "label": i % 10}) + "\n")
END
cp "$fixtures"/*.tfg .
printf 'O\nB-N\n' >tags.txt
seq 0 9 >classes.txt
task() { # NAME MEASURE PATTERN-OF-PREDICTION OPTIONS…
    name=$1 measure=$2 pattern=$3
    shift 3
    column=
    [ $name != classifier ] || column="--column label=kind"
    # shellcheck disable=SC2086  # words
    train run-$name $name.tfg --data text.jsonl --valid-data text.jsonl --steps 8 --validate-every 8 $column "$@"
    [ -z "$measure" ] || grep -q "${measure#share of } [0-9]" said || grep -q 'wrong [0-9.]* % of lines' said || fail "$name is validated without $measure: $(cat said)"
    "$tfc" eval run-$name --data text.jsonl >said 2>&1 || fail "$name is not evaluated: $(cat said)"
    [ -z "$measure" ] || grep -q "^$measure  *[0-9]" said || fail "$name is evaluated without $measure: $(cat said)"
    [ -z "$pattern" ] || "$tfc" predict run-$name --input text.jsonl --json >said 2>err || fail "$name: $(cat err)"
    [ -z "$pattern" ] || [ "$(grep -c "$pattern" said)" = 300 ] || fail "$name predicts no $pattern: $(head -n 2 said)"
}
words="--vocab words:auto --set layers=1 --set d_model=32 --set heads=2"
# shellcheck disable=SC2086  # words
{
    task tagger accuracy '"tag": \[\[\["[BO]' $words --set tags=2
    grep -q '^F1 of spans  *[0-9]' said || "$tfc" eval run-tagger --data text.jsonl | grep -q '^F1 of spans' || fail "no spans"
    task two_towers 'recall at 1' '"a": \[-*[0-9.e-]*, .*"b": \[' $words
    task multi_source '' '' $words
    task classifier 'macro F1' '"class": \[\["' $words --set labels=5
    task speech_ctc 'share of wrong symbols' '"letters": \[\["' --set layers=1
    task vit accuracy '"class": \[\["[0-9]", ' --set layers=1 --set d_model=16 --set d_ff=16 --set heads=2
}
head -n 3 text.jsonl | sed 's/.*"text": "\([^"]*\)".*/\1/' >lines
"$tfc" predict run-tagger <lines >said || fail "lines are not tagged"
awk 'NF != n[FNR] && FNR == NR { n[FNR] = NF; next } NF != n[FNR] { exit 1 }' lines said || fail "no tag a word: $(cat said)"
"$tfc" predict run-two_towers --only a --npy a.npy <lines && [ "$(wc -c <a.npy)" = $((128 + 4 * 3 * 32)) ] ||
    fail "no array of vectors"
"$tfc" predict run-two_towers --only a --tsv a.tsv <lines || fail "no table of vectors"
[ "$(head -n 1 a.tsv | cut -f 1,2,32)" = "$(printf 'a\ta.1\ta.31')" ] || fail "no header of numbers: $(head -n 1 a.tsv)"
"$tfc" predict run-two_towers --only a <lines | tr ' ' '\t' >said && tail -n 3 a.tsv | cmp - said || fail "other vectors"
"$tfc" predict run-speech_ctc --input text.jsonl --beam 4 --top 2 >said || fail "no beam"
awk -F '\t' 'NF != 4 || $2 !~ /^-[0-9.]+$/ || $4 !~ /^-[0-9.]+$/ || $2 < $4 { exit 1 }' said || fail "not two results of a beam: $(head -n 2 said)"
echo ein >lexicon
"$tfc" predict run-speech_ctc --input text.jsonl --beam 4 --lexicon lexicon | sort -u >said
[ "$(cat said)" = ein ] || fail "a lexicon of one word gives others: $(cat said)"
# Frames that end with the separator (of clear letters, one unclear: the model is its input).
cat >frames.tfg <<'END'
model frames
const n = 5
dim B, S, T
input x : float[B, S~, n] = column("x")
input y : token[B, T~] = column("y")
vocab y = words("letters.txt")
param scale : [1] = ones
each = ctc(log_softmax(x * scale), y)
fits = each < inf
loss = sum(select(fits, each, 0)) / maximum(sum(float(fits)), 1)
predict said = softmax(x * scale)
train { optimizer = sgd(); rate = constant(0.0000000001); batch = sentences(8) }
END
printf '%s\n' a b c '|' >letters.txt
awk 'BEGIN { unclear = "[0, 2, 1.9, 1.8, -2], "; blank = "[6, -6, -6, -6, -6]"; bar = "[-6, -6, -6, -6, 6], "
     print "{\"x\": [" unclear blank ", " unclear blank ", " bar bar blank ", " blank "], \"y\": \"a\"}" }' >frames.jsonl
printf '%s\n' 'a b' 'b a' a b c 'a a' 'b b' 'a c' 'b c' 'c a' 'c b' 'c c' >lexicon
"$tfc" train frames.tfg --data frames.jsonl --steps 1 --out run-frames 2>err || fail "$(cat err)"
for beam in 1 4 8 64; do
    "$tfc" predict run-frames --input frames.jsonl --beam $beam --lexicon lexicon --separator '|' >said 2>err || fail "$(cat err)"
    [ "$(cat said)" = 'a a' ] && [ ! -s err ] || fail "a separator at the end, beam $beam: $(cat said err)"
done
echo 'c c c' >lexicon
"$tfc" predict run-frames --input frames.jsonl --beam 8 --lexicon lexicon --separator '|' >said 2>err || fail "$(cat err)"
[ "$(cat said)" = 'a a |' ] && grep -q 'note: line 1 of the answers: no words of the lexicon fit' err || fail "no word fits: $(cat said err)"
: >lexicon
refuses 1 'error: --lexicon lexicon: the file has no words' "$tfc" predict run-speech_ctc --input text.jsonl --beam 4 --lexicon lexicon
"$tfc" predict run-classifier --input text.jsonl --tsv said || fail "no table of classes"
head -n 1 said | tr '\t' '\n' | cmp - run-classifier/labels-label.txt || fail "a header of other classes: $(head -n 1 said)"
[ "$(wc -l <said)" = "$(($(wc -l <text.jsonl) + 1))" ] || fail "not a line for each record"
# An ensemble predicts the mean of what its runs predict.
mv said one
# shellcheck disable=SC2086  # words
train run-other classifier.tfg --data text.jsonl --steps 4 --column label=kind $words --set labels=5 --seed 9
# shellcheck disable=SC2086  # words
train run-taught tagger.tfg --data text.jsonl --steps 2 $words --set tags=2
"$tfc" predict run-other --input text.jsonl --tsv other || fail "no table of the other's classes"
"$tfc" predict run-classifier --with run-other --input text.jsonl --tsv both || fail "two runs do not predict"
paste one other both | awk -F '\t' 'NR > 1 { n = NF / 3; for (i = 1; i <= n; i++) { d = ($i + $(i + n)) / 2 - $(i + 2 * n)
    if (d * d > 1e-12 || NF != 15) exit 1 } }' || fail "an ensemble is not the mean: $(tail -n 1 both)"
! cmp -s one both || fail "the second run changes nothing"
# Its figures are those of the mean, and it has no loss.
"$tfc" eval run-classifier --with run-other --data text.jsonl --json >figures 2>err || fail "$(cat err)"
python3 - <<'END' || fail "an ensemble's figures: $(cat figures)"
import json
head, *rows = [line.rstrip("\n").split("\t") for line in open("both")]
right = [json.loads(line)["kind"] for line in open("text.jsonl")]
said = [head[max(range(5), key=lambda k: float(row[k]))] for row in rows]
figures = json.load(open("figures"))
accuracy = sum(a == b for a, b in zip(said, right)) / len(right)
assert figures["loss"] is None and figures["records"] == len(right), figures
assert abs(figures["accuracy"] - accuracy) < 1e-5, (figures, accuracy)
END
refuses 1 'run-classifier and run-taught cannot be averaged' "$tfc" eval run-classifier --with run-taught --data text.jsonl
refuses 1 'run-classifier and run-taught cannot be averaged' "$tfc" predict run-classifier --with run-taught --input text.jsonl

"$tfc" predict run-classifier --dtype int8 --input text.jsonl >said || fail "no predictions in int8"

# Tensors are a table, too: the same values give the same params.
python3 - <<'END'
import json, struct
rows = [json.loads(line) for line in open("text.jsonl")]
image = b"".join(struct.pack("<768f", *[x for line in row["image"] for dot in line for x in dot]) for row in rows)
label = struct.pack("<300q", *[row["label"] for row in rows])
head = json.dumps({"image": {"dtype": "F32", "shape": [300, 16, 16, 3], "data_offsets": [0, len(image)]},
                   "label": {"dtype": "I64", "shape": [300], "data_offsets": [len(image), len(image) + len(label)]}})
head = head.encode() + b" " * (-len(head) % 8)
open("image.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + image + label)
END
sed '/^vocab label/d' vit.tfg >numbers.tfg
for data in text.jsonl image.safetensors; do
    train run-$data numbers.tfg --data $data --set layers=1 --set d_model=16 --set d_ff=16 --set heads=2 --steps 4
done
cmp run-text.jsonl/last.safetensors run-image.safetensors/last.safetensors || fail "tensors give other params"
"$tfc" predict run-text.jsonl --input image.safetensors >said || fail "tensors are not predicted"
refuses 1 "there is no tensor 'imag'; did you mean 'image'" "$tfc" predict run-text.jsonl --input image.safetensors --column image=imag

# What is told of a text is told once, however many records it has.
yes 'strange words' | head -n 17000 >many
"$tfc" predict run-classifier --input many >said 2>err || fail "$(cat err)"
[ "$(wc -l <said)" = 17000 ] && [ "$(grep -c 'unknown to the vocabulary' err)" = 1 ] && grep -q '(34000 of 34000)' err ||
    fail "unknown tokens of many lines: $(cat err)"

# Errors of CTC need no translations.
train run-errors speech_ctc.tfg --data text.jsonl --valid-data text.jsonl --steps 2 --set layers=1 --best errors --no-bleu
grep -q '"best by": "errors"' run-errors/run.json || fail "the best is not chosen by errors"
"$tfc" train run-errors --resume --steps 3 2>err || fail "--best errors --no-bleu is not resumed: $(cat err)"
grep -q '"best by": "errors"' run-errors/run.json || fail "a resumed run is judged otherwise"

# Mistakes: each with its place, and nothing is made.
refuses 1 'text.jsonl:1:.*`tgt` has [0-9] positions\|is none of the 2 labels' "$tfc" train tagger.tfg --data text.jsonl \
    --column tgt=kind --vocab words:auto --out no --steps 1
refuses 2 'no text needs a vocabulary: leave --vocab out' "$tfc" train vit.tfg --data text.jsonl --vocab words:auto --out no
refuses 2 'give it as --data FILE' "$tfc" train vit.tfg --text text.jsonl --out no
refuses 1 "has 5 labels, and the model tells 3 apart" "$tfc" train classifier.tfg --data text.jsonl \
    --vocab words:auto --set labels=3 --column label=kind --out no
sed '7s/"kind": "[^"]*"/"kind": "six"/' text.jsonl >six.jsonl
refuses 1 "six.jsonl:7:.*'six' is none of the 5 labels of \`label\`" "$tfc" eval run-classifier --data six.jsonl
refuses 2 'give it as --data FILE' "$tfc" score run-multi_source --source lines --target lines
refuses 2 "reads a table: give it as --data FILE" "$tfc" align run-multi_source --source lines --target lines
refuses 1 'predicts a, b: --only NAME' "$tfc" predict run-two_towers --input text.jsonl
refuses 1 "--only c: the model does not predict this; there are 'a' and 'b'" "$tfc" predict run-two_towers --only c --input text.jsonl
[ ! -e no ] || fail "a refused training leaves a folder"
