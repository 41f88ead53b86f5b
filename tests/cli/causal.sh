#!/bin/sh
# Which models can decode: those whose logits depend on no later position, however their formula says so. What depends on
# later positions is refused at its line. (That the others decode as all at once: cli.papers, graphs.random.)
# Usage: causal.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# layer EXPRESSION: a model whose layers add it; s are scores [B, T, T], v values, i and j positions, w a table
layer() {
    cat <<END
model m
use language_model
const vocab = 40, layers = 2, d_model = 16, heads = 2, context = 64
param w : [context, context] = normal(0, 0.3)
block decoder_layer(x) {
  s = linear as query(x, 8) @ transpose(linear as key(x, 8))
  v = linear as value(x, d_model)
  i = reshape(position(T), [T, 1]); j = position(T)
  return x + $1
}
END
}
count=0
accepts() {
    layer "$1" >layer.tfg
    "$tfc" dump layer.tfg --function decode_step --stage graph >out.txt 2>err.txt ||
        fail "is refused: $1: $(cat err.txt)"
    count=$((count + 1))
}
leaks() { # EXPRESSION [MESSAGE]
    layer "$1" >layer.tfg
    refuses 1 "layer.tfg:9:[0-9]*: error: .* depends on later positions, .*${2:-}" \
        "$tfc" dump layer.tfg --function decode_step --stage graph
    count=$((count + 1))
}

# Masks in other words.
for mask in 'causal(T)' 'i >= j' 'i - j >= 0' 'not (j > i)' 'j < i + 1' 'j - i <= 0' '0.5 * (j - i) < 0.25' \
    'maximum(j - i, 0) == 0' 'i / 4 >= j / 4' 'abs(i - j) == i - j' 'causal(T) and window(3, T)' 'i == j' 'float(causal(T)) > 0.5' \
    'i * 64 >= j * 64' 'float(i) + 1000 >= float(j) + 1000' \
    'floor(j / 4) < floor(i / 4) or i == j' 'int(i / 4) - int(j / 4) >= 1' 'not (floor((j + 1) / 4) >= floor((i + 1) / 4))' \
    '(i >= j and i - j < 4) or i == j + 9' 'i - j > 3 or causal(T)' 'not (not causal(T) or j < 2)' 'relu(j - i) <= 0'; do
    accepts "select($mask, s, 0) @ v"
    accepts "softmax(mask(s, $mask)) @ v"
done
for mask in 'i >= j - 1' 'window(3, T)' 'causal(T) or j < 4' 'i <= j' 'not causal(T)' 'j < 8' 'i + j < 9' 'int(i / 4) >= int(j / 4)' \
    'float(i) + 1e9 >= float(j) + 1e9' 'float(i) * 1e38 >= float(j) * 1e38' 'i * 1000000000 >= j * 1000000000' \
    'floor(j / 4) < floor(i / 3)' 'floor((j - 1) / 4) < floor((i + 1) / 4)' 'floor(-j / 4) < floor(-i / 4)' 'i != j' 's > 0' 'abs(i - j) == j - i' 'i == j or j == 0 or i == 0' '0.1 * (j - i) < 0.15'; do
    leaks "select($mask, s, 0) @ v" 'mixes positions'
    leaks "softmax(mask(s, $mask)) @ v" 'runs over the positions'
done

# What becomes of masked scores.
for weights in '-softmax(mask(s, causal(T)))' 'softmax(mask(s, i >= j)) - 0.5 * softmax(mask(2 * s, i >= j))' \
    'float(causal(T)) * s' 'float(causal(T))' 'select(causal(T), s, 0) ^ 2' 'abs(select(causal(T), s, 0))' \
    'exp(mask(s, causal(T)))' 'sigmoid(mask(s, causal(T)))' 'relu(mask(s, causal(T))) / 4' \
    'exp(float(i - j) * -0.1) * float(i >= j)' 'tanh(select(causal(T), s, 0)) * sigmoid(s)' \
    'select(i >= j, s, 0) / (1 + abs(sum(select(i >= j, s, 0), -1)))' 'exp(mask(s, i >= j) - logsumexp(mask(s, i >= j)))' \
    'exp(mask(s, i >= j) - max(mask(s, i >= j), -1))' 'softmax(s + (1 - float(causal(T))) * -1e9)' \
    'softmax(s - float(j > i) * 1e9)' 'softmax(s + 0.25 * (j - i) + select(causal(T), 0, -1e9))' \
    'softmax(s - 1000 * float(j - i) + select(causal(T), 0, -1e9))' 'softmax(s - 0.1 * float(j - i) ^ 2 + select(causal(T), 0, -1e9))' \
    'softmax(s + log(1.0 + abs(j - i)) + select(causal(T), 0, -1e9))' 'softmax(s + sin(100.0 * (j - i)) + select(causal(T), 0, -1e9))' \
    'softmax(mask(s + 1000 * float(j - i), causal(T)))' 'softmax(mask(s - float(j - i) ^ 2, causal(T)))' 'softmax(s - 1e9 * float(j > i) + 100)' \
    'softmax(select(causal(T), s, -1e9))' 'select(causal(T), s, 0) @ select(causal(T), s, 0)' \
    'expm1(select(j > i, 0, s))' 'stop_gradient(float(causal(T))) * s'; do
    accepts "($weights) @ v"
done
for weights in 'softmax(s)' 'softmax(select(j < i, s, -1e9))' 'softmax(select(causal(T), s, -1e6))' 'softmax(s + 1000 * float(j - i) + select(causal(T), 0, -1e9))' \
    'softmax(s + 1000 * (j - i) + select(causal(T), 0, -1e9))' 'softmax(s + float(j - i) ^ 2 + select(causal(T), 0, -1e9))' \
    'softmax(s + (j - i) * (j - i) + select(causal(T), 0, -1e9))' 'softmax(s + exp(float(j - i)) + select(causal(T), 0, -1e9))' \
    'softmax(s + maximum(1000 * float(j - i), s) + select(causal(T), 0, -1e9))' \
    'softmax(s + abs(s + 1000 * float(i - j)) + select(causal(T), 0, -1e9))' \
    's * (float(causal(T)) + 0.1)' 'cos(select(causal(T), s, 0))' 'exp(select(causal(T), s, 0))' \
    'float(causal(T)) - 1' 'float(causal(T)) * mask(s, window(2, T))' 'select(causal(T), s, 0) + s' \
    'select(causal(T), softmax(s), 0)' 'select(i >= j, s, 0) / (1 + abs(sum(s, -1)))' \
    'select(causal(T), s, 0) @ s' 'transpose(softmax(mask(s, causal(T))))' 's - mask(s, causal(T))' \
    'exp(-mask(s, causal(T)))' '1 / select(causal(T), s, 0)' 'softmax(s + (1 - float(i > j)) * -1e9)'; do
    leaks "($weights) @ v"
done

# Far below, but so may be the query's own position, by a number that is far above or made so.
padding='reshape(float(tokens == 1), [B, 1, T])'
for masked in "s - 1e9 * $padding" "s - $padding / 1e-9" "select($padding > 0, minimum(s, -1e9), s)" "s - select($padding > 0, 1e9, s)" \
    's + 1e9 * log(sigmoid(s))' "s - 1e9 * $padding ^ 2"; do
    leaks "softmax($masked + (1 - float(causal(T))) * -1e9) @ v"
done

# Sums, maxima and lookups of positions.
accepts 'sum(select(causal(T), s, 0), -1) * v'
accepts 'max(mask(s, causal(T)), -1) * v'
accepts 'sigmoid(logsumexp(mask(s, causal(T))) - 1) * v'
accepts 'select(causal(T), transpose(transpose(w[position(T)])[position(T)]), 0) @ v'
accepts 'select(causal(T), gelu(linear as a(v, 1) + transpose(linear as b(v, 1))), 0) @ v'
leaks 'sum(s, -1) * v' 'adds up positions'
leaks 'max(select(causal(T), s, 0), -1) * v'
leaks 'mean(v, 1) * v'
leaks 'v / size(T)' 'the length of the whole text'
leaks 'reshape(lookup(first(x, T), B, 0), [1, 1, d_model])' 'the rows of the batch, which are other texts'
leaks 'reshape(slice(first(x, T), 0, 0, 1), [1, 1, d_model])' 'the rows of the batch, which are other texts'
leaks '0.1 * reshape(position(B), [B, 1, 1])' 'it counts the rows of the batch, which are other texts'
leaks 'transpose(transpose(w[position(T)])[position(T)]) @ v' 'mixes positions'

# A mean of the source, which no constant makes empty, beside the text.
cat >source.tfg <<'END'
use transformer
const vocab = 40, layers = 1, d_model = 16, heads = 2
output logits = project(decoder(tgt, mean(encoder(src), 1)) + sum(encoder as second(src), 1) / reshape(lengths(S), [B, 1, 1]))
END
"$tfc" dump source.tfg --function decode_step --stage graph >out.txt 2>err.txt || fail "a mean of the source is refused: $(cat err.txt)"

# The way from there is told.
layer '0.5 * softmax(s) @ v' >layer.tfg
refuses 1 'layer.tfg:9:[0-9]*: error: softmax in layer.. depends' "$tfc" dump layer.tfg --function decode_step --stage graph
grep -q 'note: so does this product, which is `logits`' err.txt || fail "no path: $(cat err.txt)"
echo "$count formulas: what depends on later positions is refused, and the rest is decoded"
