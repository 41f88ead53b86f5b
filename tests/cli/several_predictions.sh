#!/bin/sh
# A model of a table with several tasks at once, a text that hides tokens and a text with its own vocabulary: figures are
# those of what tfc predict says, of texts that hide nothing; what is prepared trains as the table does; tfc data looks at
# its tables; what its commands and its page say of it.
# Usage: several_predictions.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
enter_work

cat >several.tfg <<'END_OF_MODEL'
model several
const vocab = 50, who_vocab = 20, d = 8
dim B, S, T
input body : token[B, S~] = column("body", hide = 0.5, keep = 0, random = 0)
input who : token[B, T~] = column("who")
input paid : float[B] = column("price")
input weight : float[B] = column("weight")
input sort : int[B] = column("kind")
vocab who = own("words:auto")
vocab sort = words
param bodies : [vocab, d] = normal(0, 0.3)
param whos : [who_vocab, d] = normal(0, 0.3)
pooled = reshape(mean(bodies[body], 1) + mean(whos[who], 1), [B, d])
logits = linear as head(pooled, 3)
fills = linear as fill_head(bodies[body], vocab)
number = reshape(linear as number_head(pooled, 1), [B])
loss = cross_entropy(logits, sort) + cross_entropy(fills, hidden(body)) + mean((number - paid) * (number - paid) * weight)
predict kind = softmax(logits)
predict fill = softmax(fills)
predict price = number
predict other = -number
train { rate = constant(0.02); batch = tokens(300); optimizer = adamw() }
END_OF_MODEL
python3 - <<'END_OF_MAKER'
import random
random.seed(5)
words = {"food": "soup bread salt pan".split(), "sport": "ball goal team race".split(), "office": "form stamp queue clerk".split()}
for name, n in (("t.tsv", 300), ("v.tsv", 90)):
    with open(name, "w") as out:
        print("who", "body", "price", "weight", "kind", sep="\t", file=out)
        for _ in range(n):
            kind = random.choice(sorted(words))
            body = " ".join(random.choice(words[kind] + ["the", "a", "of", "and", "to"]) for _ in range(random.randint(1, 5)))
            print(random.choice("Ann Bob Cy".split()), body, round(len(kind) + random.random(), 1), random.choice("12"), kind, sep="\t", file=out)
END_OF_MAKER

train() {
    out=$1
    shift
    "$tfc" train several.tfg "$@" --threads 1 --out "$out" >said 2>&1 || fail "tfc train $*: $(cat said)"
}
train run --data t.tsv --valid-data v.tsv --vocab words:auto --steps 200 --validate-every 100 --best spearman
grep -q 'rank correlation' said || fail "a validation tells no rank correlation: $(cat said)"
awk -F '\t' 'BEGIN { OFS = FS } NR > 1 { $3 = 1 } { print }' v.tsv >alike.tsv
refuses 1 "best spearman: the rank correlation of this validation is undefined" "$tfc" train several.tfg --data t.tsv \
    --valid-data alike.tsv --vocab words:auto --steps 20 --validate-every 10 --best spearman --threads 1 --out undefined
"$tfc" train undefined --resume --best loss 2>err.txt || fail "an undefined figure loses the training: $(cat err.txt)"
"$tfc" eval run --data v.tsv --json >figures || fail "no figures"
"$tfc" eval run --data v.tsv --confusions confusions.tsv >said || fail "no confusions"
"$tfc" predict run --input v.tsv --json >predicted || fail "no predictions"
python3 - <<'END_OF_COUNT' || fail "figures are not those of what is predicted"
import json
header, *rows = [line.rstrip("\n").split("\t") for line in open("v.tsv")]
predicted = [json.loads(line) for line in open("predicted")]
figures = json.load(open("figures"))
right = sum(p["kind"][0][0] == row[4] for p, row in zip(predicted, rows))
assert 45 < right < 90, right
assert abs(figures["accuracy"] - right / len(rows)) < 1e-6, (figures, right / len(rows))
kinds, *counts = [line.rstrip("\n").split("\t") for line in open("confusions.tsv")]
assert [[int(n) for n in row[1:]] for row in counts] == [
    [sum(p["kind"][0][0] == found and row[4] == label for p, row in zip(predicted, rows)) for found in kinds[1:]]
    for label in kinds[1:]], counts
rank = lambda x, all: sum(y < x for y in all) + sum(y <= x for y in all)
a = [float(row[2]) for row in rows]
b = [p["price"] for p in predicted]
a, b = [rank(x, a) for x in a], [rank(x, b) for x in b]
mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
product = lambda x, y: sum((p - mean_a) * (q - mean_b) for p, q in zip(x, y))
spearman = product(a, b) / (sum((p - mean_a) ** 2 for p in a) * sum((q - mean_b) ** 2 for q in b)) ** 0.5
assert abs(figures["spearman"] - spearman) < 1e-6, (figures, spearman)
END_OF_COUNT
refuses 1 '--top 2: `price` has numbers, and no classes' "$tfc" predict run --input v.tsv --only price --top 2
refuses 1 '--top 2: `fill` is one class for each position: use --json' "$tfc" predict run --input v.tsv --only fill --top 2
refuses 1 'tfc predict for those that read tables' "$tfc" translate run
"$tfc" report run -o page.html >said 2>&1 || fail "$(cat said)"
grep -q 'tfc attend run --input TABLE' page.html || fail "the page names another command to attend"

# The run's vocabulary is of `body` alone, in prepared data, too.
cp run/vocab-who.txt who.txt
sed -i 's/own("words:auto")/own("words:who.txt")/' several.tfg
"$tfc" prepare several.tfg --data t.tsv --vocab words:auto -o ready >said 2>&1 || fail "$(cat said)"
cmp ready/vocab.txt run/vocab.txt || fail "prepared data has another vocabulary than the table"
train table --data t.tsv --vocab words:auto --steps 20
train prepared --prepared ready --steps 20
same_tensors table/last.safetensors prepared/last.safetensors "prepared data trains otherwise than the table"

# A vocabulary that is to be made is no hindrance to looking at the table first.
sed -i 's/own("words:who.txt")/own("words:auto")/' several.tfg
for vocab in '' '--vocab run'; do
    "$tfc" data several.tfg t.tsv --valid-data v.tsv $vocab >said 2>&1 || fail "$(cat said)"
    grep -q '^t.tsv: 300 records' said && grep -q '^    office ' said && ! grep -q unknown said || fail "tfc data $vocab: $(cat said)"
done
