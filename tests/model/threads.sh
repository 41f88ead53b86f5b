#!/bin/sh
# Several models in one process, several threads with a session each (threads.c): as
# libraries of their own, as objects that share the runtime, and under a sanitizer.
# Usage: threads.sh TFC CC ARCHIVE FLAGS   (the runtime compiled with these flags)
set -eu
. tests/common.sh
cc=$2 archive=$(realpath "$3") flags=$4

cd "$work"
# compile FOLDER OPTIONS …: both models as libraries there, and the driver with them
compile() {
    folder=$1
    shift
    mkdir "$folder"
    for model in multi30k_small multi30k_tiny; do
        "$tfc" compile "$root/models/$model.tfg" -o "$folder/lib$model.so" $small "$@"
    done
    $CC "$root/tests/model/threads.c" -o "$folder/threads" -I"$root/tests/model" -I"$folder" -L"$folder" \
        -lmulti30k_small -lmulti30k_tiny -Wl,-rpath,"$work/$folder" -pthread
}

export CC="$cc"
compile plain
for threads in 1 2; do
    plain/threads $threads || fail "$threads threads"
done

mkdir objects
for model in multi30k_small multi30k_tiny; do
    "$tfc" compile "$root/models/$model.tfg" -o objects/$model.o $small
done
blas=$(ldd plain/libmulti30k_small.so | sed -n 's/.*=> \(.*openblas[^ ]*\).*/\1/p')
$cc "$root/tests/model/threads.c" objects/*.o "$(dirname "$tfc")/libtfc_runtime.a" -o objects/threads \
    -I"$root/tests/model" -Iobjects -pthread -lm $blas
objects/threads 2 || fail "objects that share the runtime"

# Kernels and OpenBLAS are not watched, all else is.
export CC="$cc -g -O1 $flags" TFC_RUNTIME="$archive"
compile watched --gemm native
for threads in 1 2; do
    watched/threads $threads || fail "$threads threads, $flags"
done

# Params that are inside as panels (panels.sh says why the model is wider).
wide="--set vocab=64 --set layers=1 --set d_model=64 --set d_ff=128 --set heads=2"
compiled() { "$tfc" compile "$root/models/multi30k_small.tfg" -o libmulti30k_small.so --gemm native $wide "$@"; }
compiled
$CC "$root/tests/cli/compile_jit.c" -o initial -I. -L. -lmulti30k_small -Wl,-rpath,"$work"
./initial good.safetensors logits
compiled --function decode_step,train_step --weights good.safetensors
$CC "$root/tests/model/panels_threads.c" -o panels_threads -I. -L. -lmulti30k_small -Wl,-rpath,"$work" -pthread
./panels_threads saved.safetensors || fail "params are saved while sessions begin to decode"
echo "all is well"
