#!/bin/sh
# Models of people who did not write tfc: an output of a library that is replaced alone, and
# inputs that no column of the data feeds.
# Usage: strangers.sh TFC   (from the project's root)
set -u
. tests/common.sh
enter_work
words_backwards
head -n 60 train.src >src
head -n 60 train.tgt >tgt

cat >replaced.tfg <<'END'
model replaced
use language_model
const vocab = 40, layers = 1, d_model = 16, heads = 2
output logits = 2 * project as _(decoder as _(tokens))
END
"$tfc" check replaced.tfg --samples 1 >out 2>&1 || fail "a replaced output: $(cat out)"
grep -q '^ok  *gradients' out || fail "a replaced output has no gradients: $(cat out)"
"$tfc" train replaced.tfg --text src --vocab words:auto --out run-replaced --steps 2 2>err ||
    fail "a replaced output does not train: $(cat err)"
"$tfc" eval run-replaced --text src >out 2>&1 || fail "a replaced output is not evaluated: $(cat out)"

cat >two.tfg <<'END'
model two
const vocab = 40, d = 8
dim B, S, T
input src : token[B, S~]
input src2 : token[B, S~]
input tgt : token[B, T~]
param e : [vocab, d]
x = mean(e[src] + e[src2], 1)
output logits = linear as head(e[tgt] + x, vocab)
loss = cross_entropy(logits, next(tgt))
END
message='two.tfg:5:7: error: no column of the data feeds the input `src2`: source text feeds `src`, target text `tgt` and its next tokens'
refuses 1 "$message" "$tfc" train two.tfg --source src --target tgt --vocab words:auto --out run-two --steps 2
[ ! -e run-two ] || fail "a refused training leaves a folder"
refuses 1 "$message" "$tfc" bench two.tfg --mode decode --batch 2 --steps 1
refuses 1 "$message" "$tfc" compile two.tfg -o two.o --emit obj --function decode_step
"$tfc" compile two.tfg -o two.o --emit obj 2>err || fail "compile: $(cat err)"
grep -q 'note: encode and decode_step are left out: no column .* `src2`' err || fail "compile says: $(cat err)"
grep -q two_forward two.h || fail "no forward"
! grep -q two_decode_step two.h || fail "decode_step without src2"
"$tfc" bench two.tfg --batch 2 --steps 1 >out 2>&1 || fail "bench: $(cat out)"
"$tfc" check two.tfg --samples 1 >out 2>&1 || fail "check: $(cat out)"
grep -q '^skipped  *token by token.*`src2`' out || fail "check says: $(cat out)"

# Attention without a softmax is decoded where its weights are seen to look back, and else refused.
cat >squared.tfg <<'END'
model squared
use language_model
const vocab = 40, layers = 1, d_model = 16
block decoder_layer(x) {
  scores = linear as query(x, 8) @ transpose(linear as key(x, 8))
  return x + WEIGHTS @ linear as value(x, d_model)
}
END
squares() { # squares WEIGHTS
    sed "s|WEIGHTS|($1)|" squared.tfg >one_squared.tfg
    "$tfc" check one_squared.tfg --samples 1 >out 2>&1
}
for weights in 'relu(mask(scores, causal(T)))' 'select(causal(T), relu(scores) ^ 2, 0) / 4'; do
    squares "$weights" || fail "$weights: $(cat out)"
    grep -q '^ok  *token by token' out || fail "$weights is not decoded: $(cat out)"
done
for weights in 'relu(scores)' 'select(causal(T), 0, scores)' 'relu(scores) * float(window(3, T))' 'select(causal(T), relu(scores), 1)'; do
    squares "$weights" || true
    grep -q 'depends on later positions, .*: it mixes positions' out || fail "$weights is decoded: $(cat out)"
done

# A run whose model got an input that its training did not have.
sed '/src2/d' two.tfg >one.tfg
echo 'x = mean(e[src], 1)' >x
sed -i '/^param e/r x' one.tfg
"$tfc" train one.tfg --source src --target tgt --vocab words:auto --out run --steps 2 --no-bleu 2>err ||
    fail "one source: $(cat err)"
cp two.tfg run/model.tfg
for command in "translate run --input src" "score run --source src --target tgt" \
    "eval run --source src --target tgt"; do
    refuses 1 'error: no column of the data feeds the input `src2`' "$tfc" $command
done

# A weight a sentence, which no text gives; and a text model's.
cat >weighted.tfg <<'END'
model weighted
use language_model
const vocab = 40, layers = 1, d_model = 16, heads = 2
input weight : float[B]
loss = cross_entropy(logits, next(tokens)) * mean(weight)
END
refuses 1 'error: no column of the data feeds the input `weight`: the text feeds `tokens` and its next tokens' \
    "$tfc" train weighted.tfg --text src --vocab words:auto --out run-weighted --steps 2
