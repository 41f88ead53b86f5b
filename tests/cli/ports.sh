#!/bin/sh
# What a model's inputs and outputs are taken for: an output that is no distribution, a target whose next
# tokens nobody reads.
# Usage: ports.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
words_backwards
head -n 40 train.src >src
head -n 40 train.tgt >tgt

# Its one output is as wide as one number, not as the vocabulary.
cat >only.tfg <<'END'
model only
const vocab = 64, d = 8
dim B, T
input tokens : token[B, T~]
param e : [vocab, d] = normal(0, 1)
output found = sum(e[tokens], -1)
loss = cross_entropy(e[tokens] @ transpose(e), next(tokens))
train { rate = constant(0.01) }
END
"$tfc" train only.tfg --text src --valid-text tgt --vocab words:auto --steps 4 --out run-only 2>err || fail "$(cat err)"
"$tfc" eval run-only --text tgt >out 2>&1 && grep -q '^loss' out || fail "eval: $(cat out)"
refuses 1 'gives no probabilities of next tokens' "$tfc" score run-only --text tgt

# Of another name, but as wide as the vocabulary: logits.
sed 's/^output.*/output scores = e[tokens] @ transpose(e)/; s/^loss.*/loss = cross_entropy(scores, next(tokens))/' only.tfg >named.tfg
"$tfc" train named.tfg --text src --vocab words:auto --steps 2 --out run-named 2>err || fail "$(cat err)"
"$tfc" score run-named --text tgt >out 2>&1 && [ "$(wc -l <out)" = 40 ] || fail "score: $(cat out)"

# What a model predicts for its user is no logits, as wide as the vocabulary or not, and changes none.
sed 's/^output.*/predict logits = softmax(e[tokens] @ transpose(e))/; s/^model only/model said/' only.tfg >said.tfg
"$tfc" train said.tfg --text src --vocab words:auto --steps 2 --out run-said 2>err || fail "$(cat err)"
refuses 1 'gives no probabilities of next tokens' "$tfc" score run-said --text tgt
sed 's/^output.*/predict likely = softmax(e[tokens] @ transpose(e))\n&/' named.tfg >both.tfg
"$tfc" train both.tfg --text src --vocab words:auto --steps 2 --out run-both 2>err || fail "$(cat err)"
"$tfc" score run-named --text tgt >named.txt && "$tfc" score run-both --text tgt >both.txt && cmp named.txt both.txt ||
    fail "a prediction changes the scores"
"$tfc" generate run-both --prompt 'a' --tokens 3 --temperature 0 >out 2>err || fail "generate: $(cat err)"

# The second input of tokens is the target, predicted or not.
cat >pairs.tfg <<'END'
model pairs
const vocab = 64, d = 8
dim B, S, T
input src : token[B, S~]
input tgt : token[B, T~]
param e : [vocab, d] = normal(0, 1)
a = reshape(mean(e[src], 1), [B, d])
b = reshape(mean(e[tgt], 1), [B, d])
loss = cross_entropy(a @ transpose(b), position(B))
train { rate = constant(0.05); batch = sentences(8) }
END
"$tfc" train pairs.tfg --source src --target tgt --valid-source src --valid-target tgt --vocab words:auto --steps 60 \
    --validate-every 20 --out run-pairs 2>err || fail "$(cat err)"
number valid_loss <run-pairs/log.jsonl | awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR == 3 && last < first) }' ||
    fail "nothing is learnt: $(cat run-pairs/log.jsonl)"
"$tfc" eval run-pairs --source src --target tgt >out 2>&1 && grep -q '^loss' out || fail "eval: $(cat out)"
refuses 1 'no tokens to generate: the model has no input whose next token it predicts' "$tfc" translate run-pairs --input src

# Labels of the same positions are no target: of a pair's sides, one begins and the other ends with a token more.
cat >tagger.tfg <<'END'
model tagger
const vocab = 64, d = 8
dim B, S
input src : token[B, S~]
input tgt : token[B, S~]
param e : [vocab, d] = normal(0, 1)
output logits = e[src] @ transpose(e)
loss = cross_entropy(logits, tgt)
END
refuses 1 'tagger.tfg:5:7: error: no column of the data feeds the input `tgt`' \
    "$tfc" train tagger.tfg --text src --vocab words:auto --steps 2 --out no

# Two tokens ahead: the logits of one place cannot be sure of both, log 2 each.
cat >ahead.tfg <<'END'
model ahead
const vocab = 64, d = 16
dim B, T
input tokens : token[B, T~]
param e : [vocab, d] = normal(0, 1)
param out : [d, vocab] = normal(0, 0.1)
output logits = e[tokens] @ out
loss = cross_entropy(logits, next(tokens)) + cross_entropy(logits, next(next(tokens)))
train { rate = constant(0.03); batch = tokens(400); max_length = 40 }
END
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%s ", substr("abcd", 1 + i % 4, 1); print "" }' >cycle
"$tfc" train ahead.tfg --text cycle --vocab words:auto --steps 150 --report-every 30 --out run-ahead 2>err || fail "$(cat err)"
number loss <run-ahead/log.jsonl | awk '{ last = $1 } END { exit !(last > 1.386 && last < 1.5) }' ||
    fail "the loss of two tokens ahead: $(cat run-ahead/log.jsonl)"
sed 's/next(next(tokens))/next(next(next(tokens)))/' ahead.tfg >three.tfg
refuses 1 'no column of the data feeds the input `tokens.next.next.next`' \
    "$tfc" train three.tfg --text cycle --vocab words:auto --steps 2 --out no

# A target that is compared with fewer positions than the vocabulary has is no target for it.
sed 's/^loss.*/loss = mean(float(reshape(tgt, [B, T, 1]) == position(5))) + sum(a + b)/' pairs.tfg >labels.tfg
refuses 1 "the vocabulary has 12 tokens, but the model's tgt takes 5" \
    "$tfc" train labels.tfg --source src --target tgt --vocab words:auto --steps 2 --out no
echo "inputs and outputs are taken for what they are"
