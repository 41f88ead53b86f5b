#!/bin/sh
# A compiled library called by a thread that flushes denormals to zero, or rounds upwards: the same bits.
# Usage: float_state.sh TFC   (from the project's root)
set -eu
. tests/common.sh
[ "$(uname -m)" = x86_64 ] || exit 77 # the test sets MXCSR
cd "$work"
export LD_LIBRARY_PATH="$work"
# shellcheck disable=SC2086
"$tfc" compile "$root/models/multi30k_small.tfg" $small --gemm native -o libmulti30k_small.so
$CC "$root/tests/model/float_state.c" -o state -I"$root/tests/model" -I. -L. -lmulti30k_small
./state || fail "the thread's state"
for state in flushes upwards; do
    cmp $state.safetensors usual.safetensors || fail "$state: other params"
done

# tfc itself beside a library that is linked with -ffast-math.
cat >halves.tfg <<'END'
model halves
input a : float[4]
output half = a / 2
END
printf '\100\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}         ' >in.safetensors
printf '\001\001\100\0\002\002\200\0\003\003\200\200\004\004\004\201' >>in.safetensors
printf 'int nothing;\n' >fast.c
$CC -shared -fPIC -ffast-math fast.c -o fast.so
"$tfc" run halves.tfg --in in.safetensors -o usual.out || fail "run"
LD_PRELOAD="$work/fast.so" "$tfc" run halves.tfg --in in.safetensors -o fast.out || fail "run beside -ffast-math"
cmp usual.out fast.out || fail "a library linked with -ffast-math changes results"
