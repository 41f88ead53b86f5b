#!/bin/sh
# --attention of translate and score: rows of weights that sum to 1, the same for a pair however it
# came, and, of a model that has learnt to translate word by word, the word that is translated.
# Usage: alignment.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model words
use transformer_pre_norm
const encoder_layers = 0, decoder_layers = 1, d_model = 32, d_ff = 64, heads = 1, vocab = 8
const p_drop = 0, smoothing = 0
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = cosine(peak = 0.01, warmup = 30)
  batch     = tokens(400)
}
END
shared_runs
for part in train valid; do rm $part.tgt && tr a-h A-H <$part.src >$part.tgt; done
"$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --out run --steps 400 2>err ||
    fail "$(cat err)"
head -n 60 valid.src >some.src
"$tfc" translate run --input some.src >some.out
tr a-h A-H <some.src | paste -d '|' - some.out | awk -F '|' '{ right += $1 == $2 } END { exit right < 0.9 * NR }' ||
    fail "the model has not learnt to translate"

# TEXT ||| a row a token and one of the end, of as many weights as the source has tokens, with its end.
"$tfc" translate run --input some.src --attention >aligned.txt
sed 's/ |||.*//' aligned.txt | cmp - some.out || fail "another translation"
sed 's/.* ||| //' aligned.txt >weights.txt
paste -d '|' some.src some.out weights.txt | awk -F '|' '{
    n = split($1, source, " "); m = split($2, target, " "); rows = split($3, row, " ")
    if (rows != m + 1) { print "rows " rows; bad = 1 }
    for (t = 1; t <= rows; t++) {
        if (split(row[t], w, ",") != n + 1) { print "columns"; bad = 1 }
        sum = 0; best = 1
        for (s = 1; s <= n + 1; s++) { sum += w[s]; if (w[s] + 0 > w[best] + 0) best = s }
        if ((sum - 1) ^ 2 > 1e-5) { print "sum " sum; bad = 1 }
        words++; right += best == (t <= m ? t : best)
    }
} END { print right " of " words " look at the word they translate"; exit bad || right < 0.9 * words }' ||
    fail "the weights are not where the words come from"

# The same of given pairs, and in JSON.
"$tfc" score run --source some.src --target some.out --attention | sed 's/.* ||| //' | cmp - weights.txt ||
    fail "score gives others"
"$tfc" translate run --input some.src --attention --json | sed -n 1p >one.json
tokens=$(head -n 1 some.src | sed 's/ /", "/g')
grep -q "\"attention\": {\"source\": \[\"$tokens\", \"</s>\"\], \"target\": \[.*\"</s>\"\], \"weights\": \[\[" one.json ||
    fail "$(cat one.json)"
weights=$(sed 's/.*"weights": \[\[//; s/\]\]}}$//; s/\], \[/|/g; s/, /,/g; s/|/ /g' one.json)
[ "$weights" = "$(head -n 1 weights.txt)" ] || fail "JSON has others: $weights"
"$tfc" translate run --input some.src --attention --nbest 2 --token-scores | grep -c '"attention"' | grep -qx 120 ||
    fail "not every result is aligned"

refuses 1 "leave --with out" "$tfc" translate run --with run --input some.src --attention
refuses 1 "no attention of its target over a source" "$tfc" score "$runs/generator" --text some.src --attention

# Such an output, of two ragged dimensions, against f64.
cat >output.tfg <<'END'
const vocab = 50
input src : token[B, S~]
input tgt : token[B, T~]
dim B, T, S
param table : [vocab, 8] = normal(0, 1)
block heads_of_two(tokens, length) { return permute(reshape(table[tokens], [B, length, 2, 4]), [0, 2, 1, 3]) }
output alignment = mean(softmax(heads_of_two(tgt, T) @ transpose(heads_of_two(src, S))), 1)
loss = mean(alignment * alignment)
END
"$tfc" check output.tfg >check.txt 2>&1 || fail "$(cat check.txt)"
