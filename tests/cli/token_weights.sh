#!/bin/sh
# Numbers beside the text that a model predicts: one for each of its own tokens, or for each word.
# Usage: token_weights.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# The loss says what each position has: position t counts 10^t times.
write_model() { # what is summed, settings of the column
    cat <<END
model weighed
use language_model
const vocab = 90, layers = 1, d_model = 8, heads = 2, context = 16, p_drop = 0
input tokens : token[B, T~] = column("text")
input weight : float[B, T~] = column("weights"$2)
digit = exp(log(10) * float(position(T)))
loss = sum($1 * digit) + 0 * sum(pick(log_softmax(logits), next(tokens)) * next(weight))
train { rate = constant(0.01); batch = tokens(64) }
END
}
loss_of() { # model data vocabulary
    rm -rf run
    "$tfc" train "$1" --data "$2" --vocab "$3" --steps 1 --report-every 1 --threads 1 --out run >out 2>&1 || { cat out; return 1; }
    sed -n 's/^step 1\/1 .*loss \([0-9.]*\).*/\1/p' out | head -n 1
}
is() { # what want got
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(b != "" && a - b < 0.01 * a && b - a < 0.01 * a) }' || fail "$1: $3, not $2: $(cat out)"
}
write_model weight '' >own.tfg
write_model 'next(weight)' '' >next.tfg
write_model 'next(weight)' ', end = 7' >end.tfg
echo '{"text": "hello you there", "weights": [1, 2, 3]}' >n.jsonl
is "of the tokens" 3211 "$(loss_of own.tfg n.jsonl words:auto)"
is "of the tokens after them" 3321 "$(loss_of next.tfg n.jsonl words:auto)"
is "an end of its own" 7321 "$(loss_of end.tfg n.jsonl words:auto)"

# One more is refused, wherever it stands; so is one fewer.
for weights in '1, 2, 3, 0' '1, 2'; do
    echo "{\"text\": \"hello you there\", \"weights\": [$weights]}" >wrong.jsonl
    ! loss_of own.tfg wrong.jsonl words:auto >/dev/null || fail "$weights are taken"
    grep -q 'the text beside it 3 tokens: give each token or each word one; the tokens that begin and end a text have none' out ||
        fail "$weights: $(cat out)"
done

# Tokens have the number of their word: characters here, and the blank goes with the word before it.
echo '{"text": "ab c", "weights": [1, 2]}' >pieces.jsonl
is "of characters" 21111 "$(loss_of own.tfg pieces.jsonl chars:auto)"

# tfc data shows which token has which number: of a vocabulary, or without one of words.
"$tfc" data own.tfg pieces.jsonl --vocab run >out || fail "no survey"
grep -q "^    each token with its own, record 1: 'a' 1, 'b' 1, ' ' 1, 'c' 2$" out || fail "pieces: $(cat out)"
grep -q '^weight: 4 numbers from 1 to 2, mean 1.25$' out || fail "the token before them counts: $(cat out)"
(echo '{"text": "so be it", "weights": [1, 1, 1]}' && cat n.jsonl) >several.jsonl
"$tfc" data own.tfg several.jsonl >out || fail "no survey"
grep -q "^    each token with its own, record 2: 'hello' 1, 'you' 2, 'there' 3$" out || fail "words: $(cat out)"

sed 's/column("text")/column("text", end = 1)/' own.tfg >wrong.tfg
refuses 1 '`end` is for numbers beside a text, which are float' "$tfc" info wrong.tfg

# Logits that read no column are generated from a text alone.
"$tfc" generate run --prompt "ab" --tokens 2 --seed 1 >out 2>&1 || fail "$(cat out)"
echo "all is well"
