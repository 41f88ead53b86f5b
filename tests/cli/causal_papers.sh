#!/bin/sh
# Attention as papers write it, without softmax(mask(…)): token by token it gives what it gives all at once.
# Usage: causal_papers.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# decodes NAME: `block attention(x, memory, allowed)` or the like on standard input
decodes() {
    {
        echo "model $1"
        echo "use language_model"
        echo "const vocab = 40, layers = 2, d_model = 16, heads = 2, context = 32, d_ff = 16, p_drop = 0"
        cat
    } >"$1.tfg"
    decoded "$1"
}
decoded() {
    "$tfc" check "$1.tfg" --samples 1 >out 2>&1 || fail "$1: $(cat out)"
    grep -q '^ok  *token by token' out || fail "$1 is not decoded: $(cat out)"
}

# Mamba-2, whose values tests/reference/gradients.c compares with its recurrence.
cp "$root/tests/models/mamba2.tfg" .
decoded mamba2
# DeltaNet (Yang et al. 2024): its triangular system by products of causal matrices.
decodes deltanet <<'END'
block unit(x) { return x * rsqrt(sum(x * x, -1) + 1e-6) }
block attention(x, memory, allowed) {
  q = unit(silu(heads_of(linear as query(x, d_model), heads)))
  k = unit(silu(heads_of(linear as key(memory, d_model), heads)))
  b = sigmoid(heads_of(linear as beta(x, heads), heads))
  a = -select(reshape(position(T), [T, 1]) > position(T), b * (k @ transpose(k)), 0)
  u = b * silu(heads_of(linear as value(memory, d_model), heads))
  repeat 3 as r { u = u + a @ u; if r < 2 { a = a @ a } }
  o = select(causal(T), q @ transpose(k), 0) @ u
  return linear as output(join_heads(rms_norm as norm(o)), d_model)
}
END
"$tfc" compile deltanet.tfg -o deltanet.o --emit obj 2>err || fail "compile: $(cat err)"
grep -q deltanet_decode_step deltanet.h || fail "no decode_step: $(cat err)"
[ -z "$short" ] || exit 0

# Differential Transformer (Ye et al. 2024, equations 1 and 2).
decodes differential <<'END'
block attention(x, memory, allowed) {
  q = heads_of(linear as query(x, 2 * d_model), 2 * heads)
  k = heads_of(linear as key(memory, 2 * d_model), 2 * heads)
  v = heads_of(linear as value(memory, 2 * d_model), heads)
  param l : [4, d_model / heads] = normal(0, 0.1)
  first = exp(sum(slice(l, 0, 0, 1) * slice(l, 0, 1, 1)))
  lambda = first - exp(sum(slice(l, 0, 2, 1) * slice(l, 0, 3, 1))) + 0.8
  a1 = softmax(mask(slice(q, 1, 0, heads) @ transpose(slice(k, 1, 0, heads)) * q.-1 ^ -0.5, allowed))
  a2 = softmax(mask(slice(q, 1, heads, heads) @ transpose(slice(k, 1, heads, heads)) * q.-1 ^ -0.5, allowed))
  return linear as output(join_heads(rms_norm as sub((a1 - lambda * a2) @ v) * 0.2), d_model)
}
END
# RetNet (Sun et al. 2023, equations 5 and 8): scores times a decay of positions, normalised by rows.
decodes retnet <<'END'
block attention(x, memory, allowed) {
  q = rotary(heads_of(linear as query(x, d_model), heads))
  k = rotary(heads_of(linear as key(memory, d_model), heads)) * (d_model / heads) ^ -0.5
  v = heads_of(linear as value(memory, d_model), heads)
  gamma = reshape(1 - exp((-5 - position(heads)) * log(2)), [heads, 1, 1])
  distance = reshape(position(T), [T, 1]) - position(T)
  decay = select(distance >= 0, exp(float(distance) * log(gamma)), 0)
  r = (q @ transpose(k)) * (decay / sum(decay, -1) ^ 0.5)
  y = join_heads(rms_norm as group(r / maximum(abs(sum(r, -1)), 1) @ v))
  return linear as output(silu(linear as gate(x, d_model)) * y, d_model)
}
END
# gMLP (Liu et al. 2021): weights of positions alone, here gathered from a table.
decodes gmlp <<'END'
param space : [context, context] = normal(0, 0.1)
block decoder_layer(x) {
  w = transpose(transpose(space[position(T)])[position(T)])
  u, v = split(gelu(linear as in(x, 2 * d_model)), 2)
  return x + linear as out(u * (select(causal(T), w, 0) @ layer_norm as norm(v) + 1), d_model)
}
END
# gpt-oss (2025): a learned sink in the softmax's denominator. Prefix tuning (Li & Liang 2021): keys before the text.
decodes sinks <<'END'
block attention(x, memory, allowed) {
  q = rotary(heads_of(linear as query(x, d_model), heads))
  k = rotary(heads_of(linear as key(memory, d_model), heads))
  v = heads_of(linear as value(memory, d_model), heads)
  param sink : [heads, 1, 1] = zeros
  param prefix_k : [heads, 3, d_model / heads] = normal(0, 1)
  param prefix_v : [heads, 3, d_model / heads] = normal(0, 1)
  s = mask(scores as _(q, k), allowed)
  t = q @ transpose(prefix_k)
  share = sigmoid(logsumexp(s) - logsumexp(t))
  mixed = share * (softmax(s) @ v) + (1 - share) * (softmax(t) @ prefix_v)
  return linear as output(join_heads(mixed * sigmoid(logsumexp(s) - sink)), d_model)
}
END
# minGRU (Feng et al. 2024): a weight [T, T] of each channel.
decodes mingru <<'END'
block attention(x, memory, allowed) {
  z = linear as z(x, d_model)
  h = linear as h(x, d_model)
  keep = float(causal(T)) @ -softplus(z)
  a = permute(keep, [0, 2, 1])
  b = permute(-softplus(-z) - keep, [0, 2, 1])
  w = select(causal(T), exp(minimum(reshape(a, [a.0, a.1, a.2, 1]) + reshape(b, [b.0, b.1, 1, b.2]), 0)), 0)
  y = sum(w * reshape(permute(h, [0, 2, 1]), [h.0, d_model, 1, T]), -1)
  return linear as output(permute(reshape(y, [h.0, d_model, T]), [0, 2, 1]), d_model)
}
END
echo "attention of seven papers is decoded"
