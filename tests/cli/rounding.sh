#!/bin/sh
# What an op of the text gives is that op's alone: no product is fused with the sum that it goes into,
# finite scores count whatever their size, functions keep their digits near zero, and a maximum with NaN is NaN. At every
# level of optimisation and width of vectors, and as C.
# Usage: rounding.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
check="$root/tests/cli/rounding.py"
python3 "$check" inputs
cat >values.tfg <<'END'
model values
input a : float[6]
input b : float[6]
input x : float[6, 4]
input s : float[1, 5]
input scores : float[6, 4]
input n : float[8]
m = mean(x, -1)
output difference = a * a - b * b
output variance = mean(x * x, -1) - m * m
output normal = (x - m) / (sqrt(mean(x * x, -1) - m * m) + 1e-6)
output scaled = softmax(s * 1e10)
output weights = softmax(scores)
output levels = logsumexp(scores)
output softplus = softplus(n)
output elu = elu(n)
END
cat >slopes.tfg <<'END'
model slopes
param p : [8] = zeros
loss = sum(softplus(p))
END
cat >maxima.tfg <<'END'
model maxima
dim B, S
input holes : float[B, S~, 3]
output down_max = max(holes, 1)
output down_min = min(holes, 1)
output last_max = max(holes, -1)
END
for how in -O2 -O0 "--cpu x86-64" "--cpu x86-64-v3" "--passes -fuse_rows"; do
    # shellcheck disable=SC2086
    "$tfc" run values.tfg --in in.safetensors --out out.safetensors $how 2>err || fail "$how: $(cat err)"
    [ "$(python3 "$check" check out.safetensors)" = "difference elu levels normal scaled softplus variance weights" ] ||
        fail "$how: other values"
    # shellcheck disable=SC2086
    "$tfc" run maxima.tfg --in in.safetensors --out out.safetensors $how 2>err || fail "$how: $(cat err)"
    [ "$(python3 "$check" check out.safetensors)" = "down_max down_min last_max" ] || fail "$how: a maximum loses a NaN"
    # shellcheck disable=SC2086
    "$tfc" run slopes.tfg --in in.safetensors --weights params.safetensors --grad --out out.safetensors $how 2>err || fail "$how: $(cat err)"
    [ "$(python3 "$check" check out.safetensors)" = "grad.p" ] || fail "$how: other gradients"
done

# Each alone in its kernel, where LLVM may make one condition of several.
for one in 'sizes = maximum(abs(n), 0)' 'less = minimum(-abs(n), 0)' 'turned = maximum(-n, 0)' 'zeros = minimum(abs(n), 0)' \
    'clipped = maximum(abs(n), 1)'; do
    printf 'model one\ninput n : float[8]\noutput %s\n' "$one" >one.tfg
    for how in -O2 "--cpu x86-64" "--dtype f64"; do
        # shellcheck disable=SC2086
        "$tfc" run one.tfg --in in.safetensors --out out.safetensors $how 2>err || fail "$how: $(cat err)"
        python3 "$check" check out.safetensors >/dev/null || fail "$one, $how"
    done
done

# As C, compiled for this processor: the file itself says that nothing is fused.
cat >same.tfg <<'END'
model same
input a : float[6]
input b : float[6]
output difference = a * a - b * b
END
"$tfc" compile same.tfg -o same.c --function forward
grep -q -- '-ffp-contract=off' same.c || fail "the head of the C file does not advise -ffp-contract=off"
for cc in gcc clang-19; do
    command -v $cc >/dev/null || continue
    for flag in "" -ffp-contract=off; do
        # shellcheck disable=SC2086
        $cc -O1 -march=native $flag -S -w same.c -o same.s 2>err || fail "$cc: $(cat err)"
        awk '/^code_row/, /ret/' same.s >kernel
        grep -q 'mul[ps]s' kernel || fail "$cc $flag: no product in $(cat kernel)"
        ! grep -q 'fn*m\(add\|sub\)' kernel || fail "$cc $flag fuses a difference of products"
    done
done
