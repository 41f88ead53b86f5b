#!/bin/sh
# --fma emulate: a processor without fused multiply-add computes the bits of one that has it: functions, products in f32,
# bf16 and f64, a training of 20 steps; tfc itself and compiled libraries.
# Usage: fma.sh TFC   (from the project's root)
set -eu
. tests/common.sh
[ "$(uname -m)" = x86_64 ] || exit 77 # it compares levels of x86-64
grep -qw fma /proc/cpuinfo || exit 77
enter_work

# What comes out of functions and products, of values from 1e-30 to 1e30 and of denormals.
cp "$root/tests/cli/values.tfg" .
python3 - <<'END'
import json, random, struct
random.seed(4)
def values(n):
    out = []
    for i in range(n):
        size = 2.0 ** random.choice([0, 0, 0, 0, random.uniform(-100, 60), -148 + random.randrange(30)])
        if i % 48 > 35 or i >= 36 * 48: # of products that are denormals
            size = 2.0 ** (-71 + random.randrange(16))
        out.append(random.uniform(-1, 1) * size)
    return struct.pack("<%df" % n, *out)
a, b = values(37 * 48), values(48 * 33)
header = json.dumps({"a": {"dtype": "F32", "shape": [37, 48], "data_offsets": [0, len(a)]},
                     "b": {"dtype": "F32", "shape": [48, 33], "data_offsets": [len(a), len(a) + len(b)]}}).encode()
open("in.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + a + b)
END
for dtype in f32 bf16 f64; do
    run() { # OUT OPTION …
        out=$1
        shift
        "$tfc" run values.tfg --in in.safetensors --dtype $dtype --out "$out" "$@" || fail "run $dtype $*"
    }
    run fused.safetensors --cpu x86-64-v3 --gemm native
    run apart.safetensors --cpu x86-64-v2 --gemm native
    for cpu in x86-64 x86-64-v2; do
        run exact.safetensors --cpu $cpu --fma emulate
        cmp fused.safetensors exact.safetensors || fail "$dtype: $cpu computes other bits"
    done
    if [ $dtype != bf16 ] || ! grep -qw amx_bf16 /proc/cpuinfo; then # AMX has sums of its own
        run native.safetensors --gemm native
        cmp fused.safetensors native.safetensors || fail "$dtype: this machine's own code computes other bits"
    fi
    # the products of two bf16 are exact
    [ $dtype = bf16 ] || ! cmp -s fused.safetensors apart.safetensors || fail "$dtype: nothing is fused"
done

cat >slopes.tfg <<'END'
model slopes
dim B
input x : float[B, 4] = column("x")
input y : float[B] = column("y")
param w : [4, 40] = normal(0, 1)
param v : [40, 24] = normal(0, 0.3)
param u : [24, 1] = normal(0, 0.3)
h = sigmoid(x @ w)
z = reshape(tanh(h @ v) @ u, [B])
loss = mean((z - y) * (z - y))
train { rate = cosine(0.01, steps = 20); batch = sentences(16); optimizer = adam(0.9, 0.98) }
END
python3 - >rows.jsonl <<'END'
import random
random.seed(7)
for i in range(200):
    x = [random.uniform(-2, 2) for j in range(4)]
    print('{"x": %s, "y": %r}' % (x, x[0] * x[1] - x[2] / (1 + x[3] ** 2)))
END
train() { # RUN OPTION …
    out=$1
    shift
    "$tfc" train slopes.tfg --data rows.jsonl --out "$out" --steps 20 --seed 3 "$@" 2>told || fail "train $*: $(cat told)"
}
for dtype in f32 bf16; do
    train v3-$dtype --cpu x86-64-v3 --gemm native --dtype $dtype
    train v2-$dtype --cpu x86-64-v2 --fma emulate --dtype $dtype
    train own-$dtype --cpu x86-64-v2 --gemm native --dtype $dtype
    cmp v3-$dtype/last.safetensors v2-$dtype/last.safetensors || fail "$dtype: other params"
    [ $dtype = bf16 ] || ! cmp -s v3-$dtype/last.safetensors own-$dtype/last.safetensors || fail "nothing is fused"
done
grep -q 'fused multiply-add emulated' v2-f32/run.json || fail "the record does not say that it was emulated"
grep -q 'without fused multiply-add' own-f32/run.json || fail "the record does not say that it has bits of its own"
refuses 2 "leave --gemm blas out" "$tfc" train slopes.tfg --data rows.jsonl --out x --fma emulate --gemm blas

# Compiled, and as C for any machine.
"$tfc" compile values.tfg --function forward --cpu x86-64-v2 --fma emulate --emit obj -o values.o || fail "compile"
! nm values.o | grep -qE ' U (fmaf?|expf?|powf?|sinf?|cosf?|erff?|logf?)$' || fail "the object calls the C library's functions"
refuses 1 "leave --gemm blas out" "$tfc" compile values.tfg --fma emulate --gemm blas -o bad.so
