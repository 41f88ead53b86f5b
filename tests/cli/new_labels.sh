#!/bin/sh
# Other labels and more tokens: a classifier's head begins anew for the labels of the data, from a run and from a file, and
# what else is to be given is said; a vocabulary that has grown keeps the rows of its tokens; of several files of weights
# the last counts.
# Usage: new_labels.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model c
const vocab = 1000, classes = 3, d = 16
dim B, S
input text : token[B, S~] = column("text")
input label : int[B] = column("label")
vocab label = words
param embedding : [vocab, d] = normal(0, 0.1)
logits = linear as head(reshape(mean(embedding[text], 1), [B, d]), classes)
loss = cross_entropy(logits, label)
predict class = softmax(logits)
train { optimizer = adam(); rate = constant(0.05); batch = sentences(8) }
END
printf 'text\tlabel\na a\tA\nb b\tB\n' >old.tsv
printf 'text\tlabel\na a\tX\nb b\tY\na b\tZ\n' >new.tsv
printf 'text\tlabel\na a\tX\nb b\tY\n' >two.tsv
train() { "$tfc" train "$@" --threads 1 2>err.txt || fail "$*: $(cat err.txt)"; }
tells() { grep -q -- "$1" err.txt || fail "no '$1' in: $(cat err.txt)"; }
train model.tfg --data old.tsv --vocab words:auto --set classes=2 --steps 50 --out old

# Without --new the labels do not fit; a part of the head is not enough; the number of classes is said.
refuses 1 "'X' is none of the labels of .label. in old/labels-label.txt, .*: --new 'head' begins with new ones for the 3 labels of the data" \
    "$tfc" train old --data new.tsv --out no
refuses 1 "'X' is none of the labels" "$tfc" train old --data new.tsv --new head.bias --out no
refuses 1 '`label` has 3 labels, and the model tells 2 apart: --set classes=3' "$tfc" train old --data new.tsv --new head --out no
refuses 1 "the tensor 'head.weight' is .16, 2., but the param 'head.weight' takes .16, 3." \
    "$tfc" train model.tfg --weights old/last.safetensors --vocab old --data new.tsv --out no
cp -r old swapped
sort -r old/labels-label.txt >swapped/labels-label.txt
refuses 1 "swapped/labels-label.txt is not the list that the run was made with: put that back" "$tfc" train swapped --data old.tsv --out no

# From the run, from its checkpoint by another model's file, and as many labels of other names.
train old --data new.tsv --new head --set classes=3 --steps 60 --out from_run
tells "the 3 labels of .label. are those of the data, not the 2 of old/labels-label.txt"
tells "head.weight, head.bias begin with the model's initial values, not with those of old/last.safetensors"
[ "$(cat from_run/labels-label.txt | tr '\n' ' ')" = "X Y Z " ] || fail "labels: $(cat from_run/labels-label.txt)"
[ "$(printf 'a a\nb b\n' | "$tfc" predict from_run 2>/dev/null | cut -f 1 | tr '\n' ' ')" = "X Y " ] || fail "new labels were not learned"
train model.tfg --weights old/last.safetensors --new head --vocab old --data new.tsv --steps 60 --out from_file
same_tensors from_run/last.safetensors from_file/last.safetensors "from a run is not as from its checkpoint"
train old --data two.tsv --new head --steps 1 --out renamed
tells "head.weight, head.bias begin with the model's initial values"
train old --data old.tsv --new head --steps 1 --out same
if grep -q "initial values" err.txt; then fail "the same labels began anew: $(cat err.txt)"; fi

# Labels that are two by mistake.
printf 'text\tlabel\na a\tX\nb b\tX \n' >blanks.tsv
train model.tfg --data blanks.tsv --vocab words:auto --steps 1 --out blanks
tells "the labels 'X' and 'X ' of .label. differ by blanks alone, and are two"

# More tokens: old rows stay, whatever their order; new ones are the mean.
(printf '<pad>\n<unk>\n<s>\n</s>\nnew\n'; tail -n +5 old/vocab.txt | sort -r; echo newer) >big.txt
train old --data old.tsv --vocab words:big.txt --only head --steps 1 --out grown
tells "2 of the 8 tokens are new: their rows of embedding begin with the mean of those that old/last.safetensors has"
python3 - <<'END' || fail "rows of the grown vocabulary"
import json, struct
def embedding(run):
    data = open(run + "/last.safetensors", "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    tensor = json.loads(data[8:8 + size])["embedding"]
    rows, d = tensor["shape"]
    numbers = struct.unpack("<%df" % (rows * d), data[8 + size + tensor["data_offsets"][0]:][:rows * d * 4])
    words = open(run + "/vocab.txt").read().split("\n")[:rows]
    return {w: numbers[i * d:(i + 1) * d] for i, w in enumerate(words)}
old, new = embedding("old"), embedding("grown")
assert len(old) == 6 and len(new) == 8
assert all(new[word] == old[word] for word in old)
mean = [sum(row[i] for row in old.values()) / 6 for i in range(16)]
assert all(abs(new[word][i] - mean[i]) < 1e-6 for word in ("new", "newer") for i in range(16))
END
(head -n 5 old/vocab.txt; printf 'c\nd\n') >lacks.txt
refuses 1 "the vocabulary lacks 'b', a token of old, and rows .*: take the run's by --vocab old, or begin with new rows by --new 'embedding'" \
    "$tfc" train old --data old.tsv --vocab words:lacks.txt --allow-unknown --out no

# As many tokens: in another order rows follow their texts; others are refused, or begin anew.
(head -n 4 old/vocab.txt; printf 'b\na\n') >turned.txt
train old --data old.tsv --vocab words:turned.txt --only head.bias --steps 1 --out turned
[ "$("$tfc" predict old --input old.tsv 2>/dev/null | cut -f 1)" = "$("$tfc" predict turned --input old.tsv 2>/dev/null | cut -f 1)" ] ||
    fail "rows stayed where tokens have moved"
(head -n 5 old/vocab.txt; echo c) >other.txt
for weights in old old,old/last.safetensors; do
    refuses 1 "the vocabulary lacks 'b', a token of old" \
        "$tfc" train model.tfg --weights $weights --set classes=2 --data old.tsv --vocab words:other.txt --allow-unknown --out no
done
train old --data old.tsv --vocab words:other.txt --allow-unknown --new embedding --steps 1 --out other
tells "embedding begins with the model's initial values"

# Rules of tokens go over by their texts.
train model.tfg --data old.tsv --vocab words:turned.txt --token source-begin=a --token end='#5' --set classes=2 --steps 1 --out rules
train rules --data old.tsv --vocab words:big.txt --steps 1 --out rules_grown
[ "$(tr -d ' \n' <rules_grown/run.json | grep -o '"tokens":[^]]*')" = '"tokens":["source-begin=a","end=a"' ] ||
    fail "rules: $(grep -A 4 tokens rules_grown/run.json)"

# Each side has a list of its own, both of as many tokens before and after.
for side in s t; do
    printf '<pad>\n<unk>\n<s>\n</s>\n%s1\n%s2\n' $side $side >$side.old
    (sed -n 1,4p $side.old; [ $side = t ] || echo s0; echo ${side}2; echo ${side}1; [ $side = s ] || echo t3) >$side.new
    printf '%s1 %s2\n%s2 %s1\n' $side $side $side $side >$side.txt
done
cat >two.tfg <<'END'
model two
use transformer
use source_embedding
const vocab = 9, layers = 1, d_model = 8, d_ff = 8, heads = 2
train { rate = constant(0.01); batch = sentences(4) }
END
train two.tfg --source s.txt --target t.txt --vocab words:t.old --source-vocab words:s.old --steps 150 --out sides
train sides --source s.txt --target t.txt --vocab words:t.new --source-vocab words:s.new --only '**.bias' --steps 1 --out sides_grown
"$tfc" translate sides --input s.txt >sides.txt
"$tfc" translate sides_grown --input s.txt | cmp - sides.txt || fail "rows of sources have moved as the targets'"
cmp sides.txt t.txt || fail "these translations show nothing"

# A head that is new keeps the rows of labels that are there: in the run's order, or moved by text.
printf 'B\nA\n' >turned_labels.txt
printf '0\nA\nB\n' >more_labels.txt
for list in turned more; do
    sed "s/vocab label = words/vocab label = words(\"${list}_labels.txt\")/" model.tfg >$list.tfg
    train $list.tfg --weights old --new head --set classes=$(wc -l <${list}_labels.txt) --vocab old --data old.tsv --only embedding --steps 1 --out labels_$list
    [ "$(printf 'a a\nb b\n' | "$tfc" predict labels_$list 2>/dev/null | cut -f 1 | tr '\n' ' ')" = "A B " ] || fail "labels of $list.tfg have other rows"
done
tells "1 of the 3 labels are new: their rows of head.weight, head.bias begin with the mean"
refuses 1 "'X' is none of the labels of .label. in old/labels-label.txt" \
    "$tfc" train model.tfg --weights old,old/last.safetensors --set classes=2 --vocab old --data two.tsv --out no

# Files that lack most params, over a base: BitFit's biases.
train old --data old.tsv --only '**.bias' --steps 20 --out bitfit
"$tfc" export bitfit --only '**.bias' -o biases.safetensors
train model.tfg --weights old,biases.safetensors --set classes=2 --vocab old --data old.tsv --only head.weight --steps 1 --out over
"$tfc" export over --only '**.bias' -o again.safetensors
cmp biases.safetensors again.safetensors || fail "the last file of --weights does not count"
"$tfc" export old --only '**.bias' -o first.safetensors
if cmp -s biases.safetensors first.safetensors; then fail "these biases show nothing"; fi
echo "new labels: other heads, more tokens, biases over a base"
