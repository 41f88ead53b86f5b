#!/bin/sh
# Numbers that are none: a NaN or infinite gradient, param or checkpoint ends the training
# with its name, before anything is updated or written.
# Usage: train_numbers.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

model() {
    cat <<END
model numbers
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
param w : [8] = $1
loss = cross_entropy(logits, next(tgt), label_smoothing = smoothing) + $2
train { optimizer = $3; rate = constant($4); batch = tokens(200) }
END
}
for _ in $(seq 40); do
    echo a b c d >>train.src
    echo d c b a >>train.tgt
done
train() {
    file=$1
    shift
    "$tfc" train "$file" --source train.src --target train.tgt --vocab words:auto --out run --seed 3 "$@"
}

# The derivative of sqrt at 0, with and without clipping, in both types, accumulated.
model zeros 'sqrt(sum(w * w))' 'adam()' 0.01 >root.tfg
sed 's/batch =/clip_norm = 1; batch =/' root.tfg >clipped.tfg
model zeros 'sqrt(sum(w * w))' 'sgd(momentum = 0.9)' 0.01 >momentum.tfg
for with in root.tfg clipped.tfg "momentum.tfg --dtype bf16" "root.tfg --accumulate 2"; do
    # shellcheck disable=SC2086
    refuses 1 "error: step 1: the gradient of 'w' is not a number" train $with --steps 1
    ! ls run/*.safetensors 2>/dev/null || fail "$with: a checkpoint was written"
done
refuses 1 "step 1: the first NaN was made by 'optimizer.w" train root.tfg --steps 1 --check-numerics

# Infinite, later in the run: what was saved stays, and the run can go on from it.
model ones 'sum(w * 1e30)' 'adam()' 0.01 >large.tfg
refuses 1 "the norm of the gradient, or the update that it makes, is infinite" train large.tfg --steps 3
model ones 'sum(w * w * w * w)' 'sgd()' 2 >runaway.tfg
refuses 1 "error: step [2-9]: the \(loss\|gradient of\|norm of the gradient\)" train runaway.tfg --steps 50 --save-every 1
grep -q "the last good checkpoint is that of step [1-9]" err.txt || fail "no checkpoint is named: $(cat err.txt)"
"$tfc" eval run --source train.src --target train.tgt >/dev/null || fail "the last checkpoint is no good"
rm -r run

# A param that an update made no number (0 / 0: its gradient is 0, and so is eps) is not saved. It is
# w, or a key's bias before it, whose gradient is 0 but for rounding.
model ones 'sum(relu(w - 2))' 'adam(eps = 0)' 0.1 >far.tfg
refuses 1 "step-1.safetensors: '[a-z0-9._]*' is not finite" train far.tfg --steps 1
! ls run/*.safetensors 2>/dev/null || fail "a checkpoint with such a param was written"

# Nor read: a NaN in a checkpoint without checksums, and one that was damaged.
model ones 'sum(w * w)' 'adam()' 0.01 >good.tfg
train good.tfg --steps 2 2>err || fail "$(cat err)"
"$tfc" info run/last.safetensors | grep -q "checksums are right" || fail "info says nothing of checksums"
cp run/last.safetensors good.safetensors
size=$(wc -c <good.safetensors)
LC_ALL=C sed 's/"xxh64_blocks"/"other_blocks"/' good.safetensors >foreign.safetensors
for file in good foreign; do
    printf '\377\377\377\177' | dd of=$file.safetensors bs=1 seek=$((size - 4)) conv=notrunc 2>/dev/null
done
cp good.safetensors run/last.safetensors
refuses 1 "last.safetensors is damaged: the checksum of 'w'" "$tfc" train run --resume --steps 3
refuses 1 "damaged: the checksum of 'w'" "$tfc" info run/last.safetensors
refuses 1 "damaged: the checksum of 'w'" "$tfc" compile good.tfg --set vocab=8 --weights good.safetensors -o good.so
cp foreign.safetensors run/last.safetensors
refuses 1 "last.safetensors: 'w' is not finite: 1 of its 8 values, number 8 the first, is NaN" \
    "$tfc" train run --resume --steps 3
echo "all is well"
