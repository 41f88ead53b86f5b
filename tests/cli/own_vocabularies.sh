#!/bin/sh
# Columns of text with vocabularies of their own: made, kept, checked, taken over, read by eval, predict and what is
# compiled; the same as one that the whole run has; refused where a model decodes.
# Usage: own_vocabularies.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >two.tfg <<'END'
model two
const title_vocab = 2, body_vocab = 2, d = 8, pieces = "auto:60"
dim B, S, T
input title : token[B, S~] = column("title")
input body : token[B, T~] = column("body")
input label : int[B] = column("label")
vocab title = own("words:auto")
vocab body = own(pieces)
vocab label = words
param a : [title_vocab, d] = normal(0, 0.1)
param b : [body_vocab, d] = normal(0, 0.1)
block of(x) { return linear as head(reshape(x, [B, d]), 2) }
loss = cross_entropy(of as of(mean(a[title], 1) + mean(b[body], 1)), label)
predict class = softmax(of as same of(mean(a[title], 1) + mean(b[body], 1)))
predict short = softmax(of as same of(mean(a[title], 1)))
train { rate = constant(0.02); batch = tokens(300); optimizer = adamw() }
END
awk 'BEGIN { print "title\tbody\tlabel"; srand(3)
    for (i = 0; i < 200; i++) { k = rand() < 0.5 ? "x" : "y"; b = ""
        for (j = 0; j < 5; j++) b = b (j ? " " : "") k k substr("abcde", 1 + int(5 * rand()), 1) int(9 * rand())
        print "w" int(9 * rand()) " " k "\t" b "\t" k } }' >t.tsv
train() {
    out=$1
    shift
    "$tfc" train "$@" --data t.tsv --threads 1 --out "$out" >said 2>&1 || fail "tfc train $*: $(cat said)"
}
train run two.tfg --steps 30
[ -e run/vocab-title.txt ] && [ -e run/vocab-body.model ] || fail "the run keeps no vocabularies: $(ls run)"
grep -q 'making the vocabulary auto:60 of `body`' said || fail "nothing says what is made: $(cat said)"
grep -q '"title_vocab=15"' run/run.json || fail "the size of the titles' vocabulary: $(grep _vocab run/run.json)"
grep -qx 'w8' run/vocab-title.txt && ! grep -q 'a8' run/vocab-title.txt || fail "a vocabulary of other texts"
"$tfc" eval run --data t.tsv >said 2>&1 || fail "$(cat said)"
grep -q '^accuracy  *100' said || fail "nothing is learnt: $(cat said)"

# Resumed; params of a run with its vocabularies; quantised; compiled.
train resumed two.tfg --steps 11
"$tfc" train resumed --resume --steps 30 >said 2>&1 || fail "$(cat said)"
cmp run/last.safetensors resumed/last.safetensors || fail "a resumed run has other params"
head -n 40 t.tsv >few.tsv
mv t.tsv all.tsv
cp few.tsv t.tsv
train further two.tfg --weights run --steps 1
mv all.tsv t.tsv
cmp run/vocab-title.txt further/vocab-title.txt && cmp run/vocab-body.model further/vocab-body.model ||
    fail "a run does not take over the vocabularies of the params that it begins with"
tail -n 20 t.tsv | cut -f 1 >titles
"$tfc" predict run --only short <titles >short || fail "titles are not predicted"
"$tfc" predict run --only class --input t.tsv --dtype int8 >said || fail "no predictions in int8"
"$tfc" compile run --only short --emit exe -o short.exe >said 2>&1 || fail "$(cat said)"
./short.exe <titles | cmp - short || fail "what is compiled reads titles otherwise"
refuses 1 'do not read one text whose vocabulary is inside' "$tfc" compile run --only class --emit exe -o no

# A vocabulary of a file beside the model, and one of the whole run: the same predictions.
mkdir beside
cp run/vocab-title.txt beside/titles.txt
sed 's/own("words:auto")/own("words:titles.txt")/' two.tfg >beside/two.tfg
train from-file beside/two.tfg --steps 30
"$tfc" predict from-file --only short <titles | cmp - short || fail "a vocabulary from a file gives other predictions"
cp run/vocab-body.model beside/bodies.model
sed 's/pieces = .*/pieces = "bodies.model"/' beside/two.tfg >beside/files.tfg
"$tfc" prepare beside/files.tfg --data t.tsv -o ready >said 2>&1 || fail "$(cat said)"
"$tfc" train beside/files.tfg --prepared ready --threads 1 --steps 30 --out from-ready >said 2>&1 || fail "$(cat said)"
"$tfc" predict from-ready --only short <titles | cmp - short || fail "prepared data gives other predictions"
refuses 1 'the vocabulary of `title`, words:auto, is made from its texts, which tfc train alone has' \
    "$tfc" prepare two.tfg --data t.tsv -o no
sed '/^vocab title/d; s/title_vocab/vocab/' two.tfg >shared.tfg
train shared shared.tfg --vocab words:auto --steps 30
"$tfc" predict shared --only short <titles | cmp - short || fail "the vocabulary of a run gives other predictions"
train set two.tfg --set 'pieces="chars:auto"' --steps 2
[ -e set/vocab-body.txt ] || fail "--set does not choose the vocabulary: $(ls set)"

# Hidden tokens have a mask in it.
cat >hide.tfg <<'END'
const text_vocab = 9
dim B, S
input text : token[B, S~] = column("title", hide = 0.4)
vocab text = own("words:auto")
param a : [text_vocab, 8] = normal(0, 0.1)
logits = linear as head(a[text], text_vocab)
loss = cross_entropy(logits, hidden(text))
predict fill = softmax(logits)
train { rate = constant(0.02); batch = tokens(300); optimizer = adamw() }
END
train hide hide.tfg --steps 5
echo '<mask> x' | "$tfc" predict hide >said || fail "no filling"
grep -q '^[wxy]' said || fail "a mask is filled by: $(cat said)"

# Mistakes.
refuses 2 'texts that have vocabularies of their own, and no text needs a vocabulary: leave --vocab out' \
    "$tfc" train two.tfg --data t.tsv --vocab words:auto --out no
sed 's/title_vocab = 2, //; s/\[title_vocab/[2/' two.tfg >size.tfg
refuses 1 'the model needs `const title_vocab`' "$tfc" train size.tfg --data t.tsv --out no
sed 's/own("words:auto")/own("words:none.txt")/' two.tfg >none.tfg
refuses 1 'none.txt' "$tfc" train none.tfg --data t.tsv --out no
sed 's/own("words:auto")/own(words)/' two.tfg >wrong.tfg
refuses 1 'wrong.tfg:7' "$tfc" info wrong.tfg
sed 's/own("words:auto")/own/' two.tfg >wrong.tfg
refuses 1 'a vocabulary is `words`, `words("FILE")`, `shared` or `own("auto:8000")`, not `own`' "$tfc" info wrong.tfg
cat >next.tfg <<'END'
const vocab = 9
dim B, T
input body : token[B, T~] = column("body")
vocab body = own("auto:60")
param a : [vocab, 8] = normal(0, 0.1)
output logits = linear as head(a[body], vocab)
loss = cross_entropy(logits, next(body))
train { rate = constant(0.02); batch = tokens(300); optimizer = adamw() }
END
refuses 1 '`body` is the target of a model of next tokens, whose vocabularies are' "$tfc" train next.tfg --data t.tsv --vocab words:auto --out no
echo extra >>run/vocab-title.txt
refuses 1 'vocab-title.txt is not the vocabulary that the run was trained with: put that back' "$tfc" predict run --only short <titles
rm run/vocab-title.txt
refuses 1 'vocab-title' "$tfc" eval run --data t.tsv
[ ! -e no ] || fail "a refused training leaves a folder"
