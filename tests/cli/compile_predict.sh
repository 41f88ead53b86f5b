#!/bin/sh
# Predictions in a compiled library: those of a text are tfc predict's, bit for bit, in C and in Python, of classes, tags,
# vectors and numbers, in f32 and in integers, for each way in which a text can feed a model; CTC's best path; arguments
# that are not allowed; one prediction of several.
# Usage: compile_predict.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
python=$(command -v python3 || true)
cpu="--cpu x86-64-v2" # the same vectors in both
[ -z "${TFC_RUNTIME:-}" ] || python='' # an instrumented library is loaded by instrumented programs alone

train() { # MODEL OPTION …
    model=$1
    shift
    "$tfc" train "$model.tfg" --out "$model" --steps 12 --seed 3 --validate-every 0 "$@" 2>"$model.err" ||
        fail "$model: $(cat "$model.err")"
}
# library RUN OPTION …: RUN.lib/libRUN.so, and a program that predicts lines
library() {
    run=$1
    shift
    mkdir -p "$run.lib"
    # shellcheck disable=SC2086  # words
    "$tfc" compile "$run" -o "$run.lib/lib$run.so" $cpu "$@" 2>compiled || fail "$run is not compiled: $(cat compiled)"
    $CC "$root/tests/cli/compile_predict.c" -o "$run.lib/predict" -I"$run.lib" -L"$run.lib" -l"$run" \
        -DHEADER="\"$run.h\"" -DNAME="$run" -Wl,-rpath,"$work/$run.lib" ${searches:+-DSEARCHES}
}
# same RUN OPTION …: the program and the module predict what tfc predict does with these options
same() {
    run=$1
    shift
    # shellcheck disable=SC2086
    "$tfc" predict "$run" --json --top 1000 --input lines $cpu "$@" >expected 2>told || fail "$run: $(cat told)"
    "$run.lib/predict" <lines >found 2>told || fail "$run: $(cat told)"
    cmp found expected || fail "$run $*: predictions differ"
    "$run.lib/predict" together <lines >found 2>again || fail "$run: $(cat again)"
    cmp found expected && cmp told again || fail "$run $*: texts that are predicted together differ"
    [ -z "$python" ] || PYTHONPATH=$run.lib "$python" "$root/tests/cli/compile_predict.py" "$run" lines expected ||
        fail "$run $*: Python predicts otherwise"
}

# A text with a class; words with tags; both with numbers of all sorts.
cat >reader.tfg <<'END'
model reader
const vocab = 40, classes = 3, d = 16
dim B, S
input text : token[B, S~] = column("text")
input kind : int[B] = column("kind")
vocab kind = words
param embedding : [vocab, d] = normal(0, 1)
x = embedding[text]
m = reshape(mean(x, 1), [B, d])
y = gelu(linear as inner(m, 64))
logits = linear as head(y, classes)
loss = cross_entropy(logits, kind)
predict class = softmax(logits)
predict vector = y
predict number = sum(m * m, -1)
predict each = sum(x * x, -1)
predict letters = softmax(x)
predict two = softmax(reshape(m, [B, 2, 8]))
predict pairs = softmax(reshape(x, [B, S, 2, 8]))
train { rate = constant(0.01); batch = tokens(300); max_length = 12; optimizer = adam(0.9, 0.98) }
END
cat >tagger.tfg <<'END'
model tagger
const vocab = 40, tags = 4, d = 16
dim B, S
input words : token[B, S~] = column("text")
input tags_ : int[B, S~] = column("tags")
vocab tags_ = words
param embedding : [vocab, d] = normal(0, 1)
logits = linear as head(gelu(linear as inner(embedding[words], 64)), tags)
loss = cross_entropy(logits, tags_)
predict tag = softmax(logits)
train { rate = constant(0.01); batch = tokens(300); optimizer = adam(0.9, 0.98) }
END
# The frames of CTC are the letters of the text.
sed 's/^model.*/model speller/; s/^dim.*/dim B, S, T/; s/tags_ : int\[B, S~\]/tags_ : int[B, T~]/
    s/column("tags")/column("once")/; s/^loss.*/loss = ctc_loss(logits, tags_)/' tagger.tfg >speller.tfg
# Texts that are no columns, and a target.
cat >plain.tfg <<'END'
model plain
const vocab = 16, d = 16
dim B, S
input src : token[B, S~]
param embedding : [vocab, d] = normal(0, 1)
x = embedding[src]
output logits = linear as head(x, vocab)
loss = cross_entropy(logits, src)
predict token = softmax(logits)
predict vector = mean(x, 1)
train { rate = constant(0.01); batch = tokens(300); optimizer = adam(0.9, 0.98) }
END
cat >line.tfg <<'END'
model line
const vocab = 16, d = 16
dim B, T
input tgt : token[B, T~]
param embedding : [vocab, d] = normal(0, 1)
x = embedding[tgt]
output logits = linear as head(x, vocab)
loss = cross_entropy(logits, next(tgt))
predict vector = x
predict sum = mean(x, 1)
train { rate = constant(0.01); batch = tokens(300); optimizer = adam(0.9, 0.98) }
END
cat >towers.tfg <<'END'
model towers
const vocab = 16, d = 16
dim B, S, T
input a : token[B, S~] = column("text")
input b : token[B, T~] = column("tags")
vocab a = shared
vocab b = shared
param embedding : [vocab, d] = normal(0, 1)
block tower(tokens) { return reshape(mean(embedding[tokens], 1), [B, d]) }
left = tower as tower(a)
right = tower as same tower(b)
loss = cross_entropy(left @ transpose(right), position(B))
predict left = left
predict right = right
train { rate = constant(0.01); batch = tokens(300); optimizer = adam(0.9, 0.98) }
END
awk 'BEGIN { srand(5); print "text\tkind\ttags\tonce" > "all.tsv"
     for (i = 0; i < 300; i++) { n = 1 + int(rand() * 6); s = t = o = last = "";
     for (k = 0; k < n; k++) { w = substr("abcdefgh", 1 + int(rand() * 8), 1);
     tag = w < "c" ? "LOW" : w < "f" ? "mid\"le\"" : "é\\"
     s = s (k ? " " : "") w; t = t (k ? " " : "") tag; if (tag != last) o = o (k ? " " : "") tag; last = tag }
     print s "\t" (n < 3 ? "short one" : n < 5 ? "middle" : "long \"one\"") "\t" t "\t" o > "all.tsv"
     print s > "all.txt" } }'
# Lines with unknown words, several blanks, and one longer than the model takes.
{ head -n 40 all.txt; printf 'a   b\nh g zz \303\251\n\na b c d e f g h a b c d e f g h a b\nb a\n'; } >lines

train reader --data all.tsv --vocab words:auto
library reader --gemm native
same reader
grep -q 'line 44: 7 tokens are left out' told || fail "what is cut is not told: $(cat told)"
grep -q 'long \\"one\\"' expected || fail "labels"
[ "$(cut -c1-60 expected | sort -u | wc -l)" -gt 30 ] || fail "few answers"
if [ -n "$python" ]; then
    PYTHONPATH=reader.lib "$python" -W always -c 'import reader
reader.Model().predict("a " * 20, top=1)' 2>warned || fail "$(cat warned)"
    grep -q "the last 9 tokens of the text are left out" warned || fail "Python does not warn: $(cat warned)"
fi
"$tfc" compile reader -o reader.lib/reads --cpu x86-64-v2
"$tfc" predict reader --json --top 2 --input lines $cpu 2>told >expected
reader.lib/reads --top 2 <lines 2>told | cmp - expected || fail "the program, several predictions"
grep -q 'line 44: .* the last 7 tokens of the text are left out' told || fail "the program cuts silently: $(cat told)"
"$tfc" compile reader -o reader.lib/classifies --cpu x86-64-v2 --only class
for options in '' '--top 2' --json; do
    # shellcheck disable=SC2086  # words
    "$tfc" predict reader --only class --input lines $options $cpu 2>told >expected
    # shellcheck disable=SC2086
    reader.lib/classifies $options <lines 2>told | cmp - expected || fail "the program $options"
done
refuses 2 "there is no option '--beam'" reader.lib/classifies --beam
refuses 2 "\-\-top takes a whole number from 1 to 2147483647, not '0'" reader.lib/classifies --top 0
refuses 2 "\-\-top takes a value" reader.lib/classifies --top
refuses 2 "\-\-top is given twice" reader.lib/classifies --top 1 --top 2
refuses 1 "line 2: the line is longer than 1000000 bytes" sh -c '{ echo a; yes a | head -n 600000 | tr -d "\n"; yes a | head -n 600000 | tr -d "\n"; } | reader.lib/classifies'
refuses 1 "absent" reader.lib/classifies --weights absent
refuses 1 "line 2: byte 0 of utf8 is 0xff" sh -c "printf 'a\n\377\n' | reader.lib/classifies"
[ ! -e /dev/full ] || refuses 1 "cannot write" sh -c 'reader.lib/classifies <lines >/dev/full'
library reader --dtype int8
same reader --dtype int8
cpu="--cpu x86-64-v2,x86-64-v3"
library reader --only vector
for level in 2 3; do
    export TFC_CPU_LEVEL=$level
    cpu="--cpu x86-64-v$level"
    same reader --only vector
done
unset TFC_CPU_LEVEL
"$tfc" quantize reader -o quantised >quantising 2>&1 || fail "$(cat quantising)"
rm -r reader
mv quantised reader
library reader
same reader

train tagger --data all.tsv --vocab words:auto
library tagger
same tagger
"$tfc" compile tagger -o tagger.lib/tags
"$tfc" predict tagger --input lines >expected 2>told
tagger.lib/tags <lines 2>told | cmp - expected || fail "the program tags otherwise"
train plain --text all.txt --lines --vocab words:auto
library plain
same plain
train line --text all.txt --lines --vocab words:auto
library line
same line
train towers --data all.tsv --vocab words:auto
library towers --only left
same towers --only left
mkdir both.lib
"$tfc" compile towers -o both.lib/libtowers.so
grep -q 'towers_predict(' both.lib/towers.h || fail "two texts: no function"
! grep -q towers_predict_text both.lib/towers.h || fail "two texts are one"
refuses 1 "do not read one text whose vocabulary is inside; --only chooses one" "$tfc" compile towers -o both.lib/program

# CTC: labels of the best path, of a beam, of words.
train speller --data all.tsv --vocab words:auto
searches=1 library speller
"$tfc" predict speller --json --input lines $cpu 2>told >expected
speller.lib/predict <lines 2>told | cmp - expected || fail "CTC's best path"
[ "$(sort -u expected | wc -l)" -gt 15 ] || fail "few answers of CTC"
"$tfc" compile speller -o speller.lib/spells $cpu
speller.lib/spells --json <lines 2>told | cmp - expected || fail "the program, CTC's best path"
"$tfc" predict speller --input lines $cpu 2>told >expected
speller.lib/spells <lines 2>told | cmp - expected || fail "the program, CTC's labels"
printf '%s\n' LOW 'LOW mid"le"' 'é\ LOW' 'é\' >words
printf '%s\n' LOW 'é\ LOW' 'é\' >between-words
for options in '--beam 8' '--beam 8 --top 3' '--beam 4 --lexicon words' '--beam 4 --top 2 --lexicon between-words --separator mid"le"' '--top 2'; do
    # shellcheck disable=SC2086  # words
    {
        "$tfc" predict speller --json --input lines $options $cpu 2>told >expected || fail "$options: $(cat told)"
        speller.lib/spells --json $options <lines 2>told | cmp - expected || fail "the program $options"
        "$tfc" predict speller --input lines $options $cpu 2>told >lined
        speller.lib/spells $options <lines 2>told | cmp - lined || fail "the program $options"
    }
    beam=$(echo "$options" | sed -n 's/.*--beam \([0-9]*\).*/\1/p') nbest=$(echo "$options" | sed -n 's/.*--top \([0-9]*\).*/\1/p')
    set -- BEAM="${beam:-1}" NBEST="${nbest:-1}"
    case $options in
    *between*) set -- "$@" LEXICON="$(cat between-words)" SEPARATOR='mid"le"' ;;
    *words*) set -- "$@" LEXICON="$(cat words)" ;;
    esac
    env "$@" speller.lib/predict together <lines 2>told | cmp - expected || fail "the library $options: $(cat told)"
    [ -z "$python" ] || env "$@" PYTHONPATH=speller.lib "$python" -W ignore -c 'import json, os, speller
get = os.environ.get
found = speller.Model().predict(open("lines").read().split("\n")[:-1], top=int(get("NBEST")), beam=int(get("BEAM")),
                                lexicon=get("LEXICON", "\n") != "\n" and get("LEXICON").split("\n") or None, separator=get("SEPARATOR"))
for line, answer in zip(open("expected"), found):
    want = json.loads(line).get("tag")
    assert (want is None) == (not answer), (want, answer)
    for (labels, probability), (spelt, logarithm) in zip(want or [], answer.get("tag", [])):
        assert labels == " ".join(spelt) and abs(probability - logarithm) < 1e-7, (want, answer)
    assert len(want or []) == len(answer.get("tag", []))' || fail "Python $options"
done
# No word fits: the labels of the best path, and a note.
awk 'BEGIN { for (i = 0; i < 40; i++) printf "LOW "; print "" }' >words
speller.lib/spells <lines >path 2>told
"$tfc" predict speller --input lines --lexicon words $cpu >expected 2>err || fail "$(cat err)"
cmp expected path && grep -q '^note: line 1 of the answers and [0-9]* others: no words of the lexicon fit' err || fail "no word fits: $(cat err)"
speller.lib/spells --lexicon words <lines 2>err | cmp - expected || fail "the program without words that fit"
grep -q 'spells: note: line 1 of the answers' err || fail "the program has no note: $(cat err)"
[ -z "$python" ] || PYTHONPATH=speller.lib "$python" -c 'import speller, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    found = speller.Model().predict(open("lines").readline().strip(), lexicon=open("words").read().split("\n")[:1])
assert any("no words of the lexicon fit" in str(one.message) for one in told), told
assert " ".join(found["tag"]) == open("expected").readline().strip(), found' || fail "Python without words that fit"
refuses 1 "lexicon has no words" sh -c ': >none; echo a | speller.lib/spells --lexicon none'
refuses 1 "line 1 of lexicon: 'what' is no label of tag" sh -c 'echo what >odd; echo a | speller.lib/spells --lexicon odd'
refuses 1 "\-\-lexicon: line 2: the line is longer than" sh -c '{ echo LOW; head -c 1100000 /dev/zero | tr "\\0" a; } >long; echo a | speller.lib/spells --lexicon long'
refuses 1 "\-\-separator is for --lexicon" sh -c 'echo a | speller.lib/spells --separator LOW'
refuses 1 "cannot read absent" sh -c 'echo a | speller.lib/spells --lexicon absent'
refuses 2 "\-\-beam takes a whole number from 1 to 65536" speller.lib/spells --beam 65537
if [ -n "$python" ]; then
    "$tfc" predict speller --input lines $cpu 2>told >expected
    PYTHONPATH=speller.lib "$python" -c 'import speller
for line in open("lines", encoding="utf-8"):
    print(" ".join(speller.Model().predict(line[:-1])["tag"]))' 2>told | cmp - expected || fail "CTC in Python"
fi

# C source is the same, of a run in integers, too; what cannot be compiled.
mkdir c
"$tfc" compile reader -o c/reader.c --cpu x86-64
$CC -O0 -w -ffp-contract=off c/reader.c "$root/tests/cli/compile_predict.c" -Ic -DHEADER='"reader.h"' -DNAME=reader -o c/predict \
    -lm -pthread
"$tfc" predict reader --json --top 1000 --input lines --cpu x86-64 >expected 2>told
c/predict <lines >found 2>told || fail "C: $(cat told)"
awk 'function numbers(line, into) { gsub(/"[^"]*"|[^0-9.e-]+/, " ", line); return split(line, into, " ") }
     { n = numbers($0, a); getline other <"expected"; if (numbers(other, b) != n || !n) exit 1
     for (i = 1; i <= n; i++) if (a[i] - b[i] > 1e-5 || b[i] - a[i] > 1e-5) exit 1 }' found || fail "C predicts otherwise"
refuses 1 "--only nothing" "$tfc" compile reader -o a.so --only nothing
refuses 1 "the function predict is not compiled" "$tfc" compile reader -o a.so --only class --function forward
"$tfc" compile reader.tfg --function predict -o c/libreader.so || fail "without a run"
! grep -q reader_predict_text c/reader.h || fail "text without a vocabulary"
# Names that are one in C.
printf '%s\n' 'model clash' 'dim B' 'input int : float[B, 2]' 'input int_ : float[B, 2]' 'predict sum = sum(int + int_, -1)' >clash.tfg
refuses 1 '`int` and `int_` are both called int_ in C and Python' "$tfc" compile clash.tfg -o c/libclash.so
sed 's/ int_/ long/; s/+ int_/+ long/; s/sum = /double = /; $a predict double_ = int' clash.tfg >outputs.tfg
refuses 1 '`double` and `double_` are both called double_ in C and Python' "$tfc" compile outputs.tfg -o c/libclash.so
[ ! -e c/libclash.so ] || fail "a refused library was written"
# A program of a model that decodes and predicts.
printf '%s\n' 'predict likely = softmax(logits)' >>line.tfg
rm -r line
train line --text all.txt --lines --vocab words:auto
"$tfc" compile line -o c/both 2>told || fail "$(cat told)"
grep -q 'what the model predicts is left out: --function predict' told || fail "predictions are left out silently: $(cat told)"
echo "all is well"
