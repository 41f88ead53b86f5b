#!/bin/sh
# Masked language modelling of a column: a training hides the same whatever cuts its batches and wherever it is resumed;
# validation and tfc eval hide the same; predict fills in what a line hides; which vocabularies have a mask.
# Usage: hidden.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >mlm.tfg <<'END'
model mlm
const vocab = 30, d = 16, share = 0.3
dim B, T
input text : token[B, T~] = column("text", hide = share, random = 0, keep = 0)
param embedding : [vocab, d] = normal(0, 0.3)
# A token is found from the sum of the others, without its place: of one hidden token always, of two at best one.
others = broadcast(reshape(sum(embedding[text], 1), [B, 1, d]), [B, T, d])
logits = linear as out(relu(linear as in(concat([others, embedding[text]], -1), 64)), vocab)
loss = cross_entropy(logits, hidden(text))
predict fill = softmax(logits)
train { rate = constant(0.01); batch = tokens(200); optimizer = adamw() }
END
awk 'BEGIN { print "text"; srand(2); for (i = 0; i < 400; i++) { w = int(6 * rand()); print "w" w " x" w " y" w } }' >t.tsv
head -n 101 t.tsv >v.tsv

train() {
    out=$1
    shift
    case "$*" in *--vocab*) ;; *) set -- --vocab words:auto "$@" ;; esac
    "$tfc" train mlm.tfg --data t.tsv --threads 1 "$@" --out "$out" >said 2>&1 || fail "tfc train $*: $(cat said)"
}
train run --steps 200 --valid-data v.tsv --validate-every 200 --best accuracy
[ "$(sed -n 5p run/vocab.txt)" = '<mask>' ] || fail "the vocabulary has no mask: $(head -n 6 run/vocab.txt)"
found=$(sed -n 's/.*accuracy \([0-9.]*\) %.*/\1/p' said | tail -n 1)
"$tfc" eval run --data v.tsv >said 2>&1 || fail "$(cat said)"
grep -q "^accuracy  *$found %" said || fail "tfc eval hides otherwise than the validation, which found $found: $(cat said)"
"$tfc" eval run --data v.tsv | cmp - said || fail "tfc eval hides otherwise each time"

# What is hidden is found, and what a line hides is filled in.
# Of three words a chosen one is the only one with probability 0.49, one of two with 0.42.
[ "${found%.*}" -ge 63 ] || fail "of three words that belong together one is not found: $found %"
echo 'w3 <mask> y3' | "$tfc" predict run >said || fail "no prediction"
[ "$(cut -d ' ' -f 2 said)" = x3 ] || fail "the mask is filled by: $(cat said)"

# Resumed, and in shards: the same. Another seed, another share: others.
train resumed --steps 23
"$tfc" train resumed --resume --steps 60 >said 2>&1 || fail "$(cat said)"
train whole --steps 60
cmp whole/last.safetensors resumed/last.safetensors || fail "a resumed run hides otherwise"
train shards-2 --steps 9 --shards 2
train shards-3 --steps 9 --shards 3
train none --steps 9
python3 - <<'END' || fail "shards hide otherwise"
import json
losses = [[json.loads(line)["loss"] for line in open(run + "/log.jsonl") if '"loss"' in line] for run in ("none", "shards-2", "shards-3")]
assert losses[0] and all(abs(a - b) < 1e-4 * abs(a) for other in losses[1:] for a, b in zip(losses[0], other)), losses
END
train seed --steps 9 --seed 2
train share --steps 9 --set share=0.29
! cmp -s seed/last.safetensors none/last.safetensors && ! cmp -s share/last.safetensors none/last.safetensors ||
    fail "seed and share are not heeded"

# Pieces have one, too; other vocabularies are asked for theirs.
train pieces --steps 2 --vocab auto:40
echo 'w3 <mask> y3' | "$tfc" predict pieces >said || fail "no prediction from pieces"
"$tfc" compile pieces --emit exe -o pieces.exe >err 2>&1 || fail "$(cat err)"
echo 'w3 <mask> y3' | ./pieces.exe | cmp - said || fail "what is compiled reads a mask otherwise"
printf 'w1\nw2\n' >list.txt
refuses 1 'the vocabulary has no <mask> to stand for them: --token mask=TOKEN' \
    "$tfc" train mlm.tfg --data t.tsv --vocab words:list.txt --allow-unknown --out no
refuses 1 'the vocabulary has no <mask> to stand for them: --token mask=TOKEN' \
    "$tfc" train mlm.tfg --data t.tsv --vocab chars:auto --out no
train unknown --steps 2 --vocab chars:auto --token 'mask=<unk>'
printf '<mask>\nw1\nw2\n' >list.txt
train list --steps 2 --vocab words:list.txt --allow-unknown
[ ! -e no ] || fail "a refused training leaves a folder"

# Where nothing can be hidden.
mistake() { # LINE MESSAGE
    sed "s/^input text.*/$1/" mlm.tfg >wrong.tfg
    refuses 1 "$2" "$tfc" info wrong.tfg
}
mistake 'input text : token[B, T~] = column("text")' 'nothing of `text` is hidden: .*hide = 0.15'
mistake 'input text : token[B, T~] = column("text", hide = 0)' '`hide` is a share, a number above 0 and up to 1, not the number 0'
mistake 'input text : token[B, T~] = column("text", hide = 0.1, rndom = 0)' 'a column has no `rndom`;.*did you mean `random`?'
mistake 'input text : token[B, T~] = column("text", keep = 0.1)' '`keep` says what becomes of hidden tokens'
mistake 'input text : token[B, T~] = column("text", hide = 0.1, keep = 0.95)' 'together at most 1'
mistake 'input text : token[B, T~] = column("text", hide = 0.1, whole_words = 1)' '`whole_words` is true or false'
mistake 'input text : token[B, 3] = column("text", hide = 0.1)' '`hide` is for a text, which is token'
{ sed 's/^logits.*/logits = linear as out(others, vocab)/' mlm.tfg; echo 'vocab text = words'; } >labels.tfg
refuses 1 '`text` hides tokens, so it is a text' "$tfc" train labels.tfg --data t.tsv --out no
