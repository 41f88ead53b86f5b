#!/bin/sh
# The compiled library of multi30k_small, in its full size, against the JIT: logits,
# greedy and beam search, the losses of twenty training steps with dropout and every
# parameter after them, bit for bit; one thread as two.
# Usage: equal.sh TFC MODEL_JIT   (from the project's root)
set -eu
. tests/common.sh
jit=$(realpath "$2")
model=$root/models/multi30k_small.tfg

# same A B WHAT: every file of the two folders
same() {
    for file in logits beams losses trained.safetensors; do
        [ -s "$1/$file" ] || fail "$1: no $file"
        cmp "$1/$file" "$2/$file" || fail "$3: $file differs"
    done
}

cd "$work"
for gemm in blas native; do
    mkdir $gemm
    "$tfc" compile "$model" -o $gemm/libmulti30k_small.so --gemm $gemm
    cc "$root/tests/model/library.c" -o $gemm/library -I"$root/tests/model" -I$gemm -L$gemm -lmulti30k_small \
        -Wl,-rpath,"$work/$gemm"
    for threads in 1 2; do
        mkdir $gemm/aot$threads $gemm/jit$threads
        $gemm/library $gemm/aot$threads 11 $threads
        "$jit" "$model" $gemm/jit$threads 11 $threads $gemm
        same $gemm/aot$threads $gemm/jit$threads "$gemm, $threads threads, library and JIT"
    done
    same $gemm/aot1 $gemm/aot2 "$gemm, one thread and two"
    [ "$(stat -c %s $gemm/libmulti30k_small.so)" -le 1160000 ] || fail "$gemm: the library is over 1.16 MB"
done

# Another seed gives other losses: dropout is on.
mkdir other
blas/library other 12 2
! cmp -s blas/aot2/losses other/losses || fail "the seed changes nothing"
# Training changed what comes out: both halves of these files were compared.
[ "$(wc -l <blas/aot1/losses)" -eq 20 ] || fail "20 steps"
half=$(($(stat -c %s blas/aot1/logits) / 2))
head -c $half blas/aot1/logits >before
tail -c $half blas/aot1/logits >after
! cmp -s before after || fail "training changes no logits"
echo "all is well"
