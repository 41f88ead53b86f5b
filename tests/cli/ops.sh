#!/bin/sh
# `tfc check` on each op alone: gradients in f64 against central differences, compiled code
# against the interpreter, kernels against the scalar reference. A line of the table is an
# expression in x [B, S~, 6] (from a trained table), v [6] and w [6, 6].
# Usage: ops.sh TFC   (from the project's root)
set -u
. tests/common.sh
status=0
while read -r op expression; do
    [ -n "$op" ] || continue
    cat >"$work/op.tfg" <<END
model op_$op
dim B, S
input tokens : token[B, S~]
const vocab = 9
param table : [vocab, 6] = uniform(0.3, 1.4)
param v : [6] = uniform(0.4, 1.3)
param w : [6, 6] = normal(0, 0.5)
x = table[tokens]
u = float(position(6)) + 1
y = $expression
loss = mean(y * y * 0.5 + y) + mean(x * u) * 0.1 + mean(v * w)
END
    if "$tfc" check "$work/op.tfg" >"$work/out" 2>&1 && grep -q '^ok .*gradients' "$work/out"; then
        printf '%-14s %s\n' "$op" "$(sed -n 's/^ok .*differences (f64) *//p' "$work/out")"
    else
        echo "FAILED: $op: $expression"
        cat "$work/out"
        status=1
    fi
done <<'TABLE'
neg            -x * v
abs            abs(x - v)
exp            exp(x * v)
log            log(x) * v
sqrt           sqrt(x * v)
rsqrt          rsqrt(x * v)
tanh           tanh(x - v)
erf            erf(x - v)
sigmoid        sigmoid(x - v)
sin            sin(x * v)
cos            cos(x * v)
floor          floor(x * 3) * v
relu           relu(x - v)
cast           float(int(x * 4)) * v
stop_gradient  stop_gradient(floor(x * 3)) * x
not            select(not (x < v), x, v * v)
add            x + v * v
sub            v - x * x
mul            x * v * x
div            v / x
pow            x ^ v
square         x ^ 2
cube           (x - v) ^ 3
power0         (x - x) ^ 0 * v
first          x * reshape(float(reshape(position(S), [1, S]) == 0) * float(tokens), [B, S, 1])
max            maximum(x, v)
min            minimum(x, v)
lt             select(x < v, x * x, v)
le             select(x <= v, x * x, v)
eq             select(tokens == 3, 1, 0) * mean(v)
and            select(x < v and v < 1, x, v)
or             select(x < v or v < 1, x, v)
reduce_sum     sum(x * v, -1)
reduce_max     max(x * v, -1)
column_sum     sum(x * v, 1)
column_max     max(x * v, 1)
all_sum        sum(x * v) * 0.1
softmax        softmax(x * v)
logsumexp      logsumexp(x * v)
reshape        reshape(x * v, [B, S, 2, 3]) * 2
transpose      transpose(reshape(x * v, [B, S, 2, 3]))
broadcast      broadcast(v, [B, S, 6]) * x
slice          slice(x * v, -1, 1, 3)
pad            pad(x * v, -1, 2, 1)
concat         concat([x, x * v])
flip           flip(x, -1) * v
dot            x @ w
dot_weights    w @ transpose(w) * v
dot_batch      x @ transpose(x * v)
dot_ragged     transpose(x) @ (x * v)
gather         table[tokens] * v
gather_rows    w[position(4)] * v
scatter        sum(w[tokens] * x, 1)
layer_norm     layer_norm(x * v)
rms_norm       rms_norm(x * v)
gelu           gelu(x - v)
gelu_tanh      gelu_tanh(x - v)
silu           silu(x - v)
masked_softmax softmax(mask(x @ transpose(x), causal(S))) @ (x * v)
relative       softmax(reshape(x @ transpose(x), [B, 1, S, S]) + relative_bias(2, 3, S)) * mean(v)
alibi          softmax(reshape(x @ transpose(x), [B, 1, S, S]) + alibi(2, S)) * mean(v)
rotary         rotary(x * v)
lengths        x * reshape(lengths(S), [B, 1, 1]) * v
size           x * v / size(S)
batch_norm     batch_norm(x * v)
cross_entropy  cross_entropy(x @ w, tokens - 3, label_smoothing = 0.1) * mean(v)
log_softmax    log_softmax(x * v)
variance       variance(x * v, -1)
TABLE
cat >"$work/ctc.tfg" <<'END'
model op_ctc
dim B, T, L
input tokens : token[B, T~]
input labels : token[B, L~]
const vocab = 9
param table : [vocab, 7] = uniform(-1, 1)
param w : [7, 7] = normal(0, 0.7)
l = ctc(log_softmax(table[tokens] @ w), minimum(labels, 5) + 1)
loss = mean(l)
END
if "$tfc" check "$work/ctc.tfg" >"$work/out" 2>&1 && grep -q '^ok .*gradients' "$work/out"; then
    printf '%-14s %s\n' ctc "$(sed -n 's/^ok .*differences (f64) *//p' "$work/out")"
else
    echo "FAILED: ctc"
    cat "$work/out"
    status=1
fi
exit $status
