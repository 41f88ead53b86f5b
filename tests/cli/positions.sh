#!/bin/sh
# Rows by position: models with convolutions are what the oracle says of them and decode as they
# compute whole texts; positions in a text that is being made are decoded if they are not after
# their own, and refused at their line if they may be.
# Usage: positions.sh TFC   (from the project's root)
set -eu
. tests/common.sh
models=$(pwd)/tests/models
enter_work
export OMP_NUM_THREADS=1

# passes MODEL: every check, in the long test
passes() {
    [ -z "${TFC_SHORT:-}" ] || return 0
    "$tfc" check "$1" --samples 1 >out 2>err || fail "$1: $(cat out err)"
    ! grep -q '^FAILED' out || fail "$1: $(cat out)"
}
decoded() { grep -q '^ok *token by token = all at once' out || fail "$1 was not decoded: $(cat out err)"; }

small="--set layers=1 --set d_model=16"
# shellcheck disable=SC2086  # options are a list of words
for name in conformer canon convs2s; do
    [ -z "${TFC_SHORT:-}" ] || break
    "$tfc" check "$models/$name.tfg" $small --samples 1 >out 2>err || fail "$name: $(cat out err)"
    [ $name = conformer ] || decoded $name
done

# text NAME: a language model whose rows x [B, T~, 8] become what standard input says
text() {
    { printf 'model %s\ndim B, T\ninput tokens : token[B, T~]\nparam e : [9, 8] = normal(0, 1)\nx = e[tokens]\n' "$1"
      cat
      printf 'output logits = x @ transpose(e)\nloss = cross_entropy(logits, next(tokens))\n'
    } >"$1.tfg"
}

# Not after their own, whatever the formula; of more axes; of a table of positions; the first one.
text before <<'END'
x = x + shift(x, T, 2) + token_shift(x) + lookup(x, T, position(T) - position(T) % 3)
x = x + lookup(x, T, minimum(position(T), 4)) + lookup(x, T, int(position(T) / 2))
x = x + reshape(first(x, T), [B, 1, 8])
rows = lookup(x, T, reshape(position(T), [T, 1]) - position(3))    # [B, T~, 3, 8]
x = x + sum(reshape(rows, [B, T, 24]) * 0.1, -1)
x = x + lookup(x, T, maximum(position(T) - 2, 0)) + lookup(sinusoid(T, 8), T, position(T) - 1)
END
"$tfc" dump before.tfg --function decode_step --stage graph >before.txt || fail "before: no decode_step"
[ "$(grep -c ' = lookup ' before.txt)" -ge 8 ] || fail "before: $(cat before.txt)"
if [ -z "${TFC_SHORT:-}" ]; then
    passes before.tfg
    decoded before
fi

# Nobody decodes: other data, other places.
cat >both.tfg <<'END'
model both
dim B, S, T, K = S / 2
input src : token[B, S~]
input at : int[B, T~]
param e : [9, 8] = normal(0, 1)
x = flip(e[src], 1)
y = lookup(x, S, at) + lookup(x, S, reshape(int(lengths(S)), [B, 1]) - position(T)) * 2
h = lookup(permute(heads_of(x, 2), [0, 2, 1, 3]), S, position(4))  # [B, 4, 2, 4]
scores = x @ transpose(e)
chosen = top_k(pick(scores, argmax(x)), K)     # half of each text's positions
half = lookup(x, S, chosen) * 0.1              # [B, K~, 8]
x = x + scatter(half * half, S, chosen) + scatter(half, S, top_k(pick(scores, argmax(x)), K) - 1)
three = pick(transpose(x), top_k(transpose(x), 3))
loss = mean(y * y) + mean(half * half) + mean(three * three) + sum(last(x, S) * first(x, S)) + sum(tanh(h) ^ 2) +
    mean(scatter(half, 8, argmax(half)) ^ 2)                      # [B, 8, 8]
output y
END
passes both.tfg

# Along axes of constant length, one as long as the channels; heads of the pixels of each patch.
cat >fixed.tfg <<'END'
const n = 6
dim B
input image : float[B, 4, n, n]
x = linear as in(image, n)
y = conv as own(x, 3) + conv as all(x, 4, n, causal = false) + token_shift(x) + shift(x, -2, 2)
q = heads_of(y, 2)                                               # [B, 4, 2, n, 3]
y = y + join_heads(softmax(q @ transpose(q)) @ q)
z = lookup(y, -2, reshape(position(2), [2, 1]) * 3 + position(3))  # [B, 4, 2, 3, n]
output y
output first_rows = lookup(y, -2, 0)
rows = reshape(y, [B, 4 * n, n])
best = top_k(reshape(mean(rows, -1), [B, 4 * n]), 3)
put = scatter(lookup(rows, -2, best), 4 * n, best) + scatter(lookup(rows, -2, best), 4 * n, best - 1)
loss = mean(y ^ 2) + mean(z ^ 3) + sum(lookup(y, -1, 7)) + mean(put ^ 2)
END
passes fixed.tfg
"$tfc" dump fixed.tfg --function forward --stage graph >fixed.txt || fail "fixed: not built"
grep -q "reshape .* : f32.B, 4, 6.$" fixed.txt || fail "fixed: $(cat fixed.txt)"

# refuses_text NAME COLUMN: at the line of x
refuses_text() {
    text "$1"
    refuses 1 "^$1.tfg:6:$2: error: lookup.* depends on later positions.*nothing shows that the positions it looks up are not after its own" \
        "$tfc" dump "$1.tfg" --function decode_step --stage graph
}
echo 'x = x + lookup(x, T, position(T) + 1)' | refuses_text next_one 9
echo 'x = x + conv(x, 3, causal = false)' | refuses_text centred 9
echo 'x = x + lookup(x, T, tokens)' | refuses_text any_position 9
echo 'x = x + lookup(x, T, 2 * position(T) - 3)' | refuses_text twice 9
echo 'x = x + reshape(lookup(x, T, 1), [B, 1, 8])' | refuses_text second_one 17
text last_one <<'END'
x = x + reshape(last(x, T), [B, 1, 8])
END
refuses 1 "^last_one.tfg:6:17: error: lengths.*it is the length of the whole text" \
    "$tfc" dump last_one.tfg --function decode_step --stage graph

# Positions chosen from a whole text; features chosen at each position decode.
text best_positions <<'END'
x = x + reshape(lookup(x, T, top_k(reshape(sum(x, -1), [B, T]), 1)), [B, 1, 8])
END
refuses 1 "^best_positions.tfg:6:30: error: top_k.* depends on later positions.*it chooses among the positions of the whole text" \
    "$tfc" dump best_positions.tfg --function decode_step --stage graph
text best_features <<'END'
x = x * reshape(e[argmax(x)], [B, T, 8]) + sum(pick(x, top_k(x, 3)), -1)
# Equal ones: numbers that rounding may exchange, and what is computed of where they stand.
x = x + sum(pick(x, (top_k(concat([x, x]), 2) + 5) % 8), -1)
END
"$tfc" dump best_features.tfg --function decode_step --stage graph | grep -q ' = top_k ' || fail "best_features: no top_k"
if [ -z "${TFC_SHORT:-}" ]; then
    passes best_features.tfg
    decoded best_features
fi
