#!/bin/sh
# tfc check: what it finds, on which batches, and that it says what it could not check.
# Usage: check.sh TFC   (from the project's root)
set -u
. tests/common.sh
enter_work
export OMP_NUM_THREADS=1

# model NAME: the rest of a model, over tokens [B, S~] and labels [B, T~]
model() {
    { printf 'model %s\ndim B, S, T\ninput src : token[B, S~]\ninput tgt : token[B, T~]\n' "$1"
      printf 'const vocab = 9\nparam table : [vocab, 6] = uniform(0.3, 1.4)\nx = table[src]\n'
      cat; } >"$1.tfg"
}
# passes MODEL, finds MODEL PATTERN: exit status 0; or 1, and a row of the pattern
passes() {
    "$tfc" check "$1" --samples 2 >out 2>err || fail "$1: $(cat out err)"
    ! grep -q '^FAILED' out || fail "$1: $(cat out)"
}
finds() {
    status=0
    "$tfc" check "$1" --samples 2 >out 2>err || status=$?
    [ $status = 1 ] || fail "$1: exit status $status: $(cat out err)"
    grep -q "^FAILED *$2" out || fail "$1: no $2 in: $(cat out err)"
}
says() { grep -q -- "$1" out || fail "no '$1' in: $(cat out)"; }

model plain <<'END'
loss = mean(x * x) + mean(table[tgt])
END
passes plain.tfg
for row in 'gradients = central differences (f64)' 'gradients = differences (interpreted)' \
    'fused = interpreted (f64)' 'unfused = interpreted (f64)' 'fused = interpreted (f32)' \
    'fused = unfused (f64)' 'kernels = scalar reference (f32)'; do
    says "^ok *$row"
done
says '8 batches'
"$tfc" check plain.tfg --samples 2 --json | grep -q '"check": "unfused = interpreted (f64)", "result": "ok"' ||
    fail "no row of the interpreter in JSON"

# Labels that do not fit into their input have no finite loss: said, and another batch is taken.
# Nothing is left to be done once for the same params that a later run's step changes in place
# (the 1 that is divided by the batch's size, unfused).
model ctc <<'END'
loss = ctc_loss(x, minimum(tgt, 4) + 1)
END
passes ctc.tfg
says 'on longer sources; no finite loss on mixed lengths'
says 'no finite loss on mixed lengths, longer targets'

# On none: nothing was checked, which is no success.
model never <<'END'
loss = mean(log(x * 0)) - mean(log(x * 0))
END
finds never.tfg 'a loss that is a number'
says 'no finite loss on mixed lengths, longer sources, .*an empty target'

# Inputs may be probabilities.
model teacher <<'END'
input teacher : float[B, S~, 6]
loss = -mean(sum(softmax(log(teacher + 1e-9) / 2) * log_softmax(x), -1))
END
passes teacher.tfg
says 'float inputs from 0 to 1: below 0 no loss is finite'

# What is badly conditioned (the bound of an exponent by its row's maximum, whose own gradient cancels)
# is held to what roundings make of it.
"$tfc" check "$root/tests/strangers/mlstm.tfg" --samples 2 >out 2>err || fail "mlstm: $(cat out err)"

# A gradient takes what stop() gives, and states, as given: so do the differences. (That wrong ones are
# found: tests/check.)
model stopped <<'END'
loss = mean(stop(x) * x)
END
passes stopped.tfg
says '^ok *gradients = central differences.*; 1 stopped value held'
says '^ok *gradients = differences (interpreted).*; 1 stopped value held'
# A scale that stop() gives puts the greatest value of each row on the bound of a clamp, wherever the params are.
"$tfc" check "$root/tests/strangers/eight_bits.tfg" --samples 2 >out 2>err || fail "eight_bits: $(cat out err)"
model counted <<'END'
state count : [1] = zeros
state mean_row : [6] = ones
update count = count + 1
update mean_row = mean_row * 0.9 + reshape(mean(stop(table), 0), [6]) * 0.1
loss = mean(x * x * mean_row) * (1 + sum(count) * 0.1)
END
passes counted.tfg

# Kernels over tokens alone, which have no row, where the first sentence is empty.
model random <<'END'
chosen = random(src) < 0.5
loss = mean((x + float(reshape(chosen, [B, S, 1])) * reshape(float(position(6)), [6])) ^ 2)
END
passes random.tfg

# Sentences of no tokens: their mean is no number, and whatever code gives is right.
model empty <<'END'
loss = mean(sum(x, 1) / reshape(lengths(S), [B, 1, 1]))
END
passes empty.tfg
says 'of them no number (first: an empty source)'

for name in classifier ctc; do
    stranger="$root/../shared/data/strangers/$name.tfg"
    [ -f "$stranger" ] || continue
    passes "$stranger"
done
echo "tfc check: what is right passes, what is wrong is found, what could not be checked is said"
