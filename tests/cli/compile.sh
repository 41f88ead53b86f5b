#!/bin/sh
# tfc compile: libraries, objects and programs; the same numbers as the JIT's, bit for
# bit; the examples; mistakes.
set -eu
. tests/common.sh
model=$root/models/multi30k_small.tfg

cd "$work"
cp "$root"/examples/translate.c "$root"/examples/fine_tune.c .
"$tfc" compile "$model" -o libmulti30k_small.so $small
[ -f multi30k_small.h ] || fail "no header"
! ldd libmulti30k_small.so | grep -E 'LLVM|stdc\+\+' || fail "the library needs too much"
nm -D --defined-only libmulti30k_small.so | grep -v ' multi30k_small_' && fail "other names are exported"
export LD_LIBRARY_PATH="$work"

# The whole model, with its training step, takes less than a mebibyte: programs share their names, and kernels their
# functions.
mkdir whole
"$tfc" compile "$model" --cpu x86-64-v4 -o whole/m.so
bytes=$(stat -c %s whole/m.so)
[ "$bytes" -lt 1048576 ] || fail "the library has $bytes bytes"

# Examples: the line of the manual is all that is needed.
cc fine_tune.c -o fine_tune -L. -lmulti30k_small -I.
cc translate.c -o translate -L. -lmulti30k_small -I.
cc "$root"/tests/cli/compile_jit.c -o aot -L. -lmulti30k_small -I.
./aot initial.safetensors forward.aot
./fine_tune initial.safetensors trained.safetensors 20 >losses.txt
[ "$(wc -l <losses.txt)" -eq 20 ] || fail "20 steps print 20 losses"
awk 'NR == 1 { first = $2 } { last = $2 } END { exit !(last < first) }' losses.txt || fail "nothing learned"

# The JIT on the same weights and tensors.
"$tfc" run "$model" $small --weights initial.safetensors --in tensors.safetensors \
    --out jit.safetensors --function forward
tail -c "$(wc -c <forward.aot)" jit.safetensors >forward.jit
cmp forward.aot forward.jit || fail "forward differs from the JIT's"

# Weights inside, used in place; translations are those of the weights from a file.
"$tfc" compile "$model" -o inside/libmulti30k_small.so $small 2>/dev/null && fail "no such folder"
mkdir inside
"$tfc" compile "$model" -o inside/libmulti30k_small.so $small --weights trained.safetensors
cc translate.c -o inside/translate -Linside -lmulti30k_small -Iinside
for beam in 1 4; do
    WEIGHTS=trained.safetensors ./translate 1 2 $beam 5 6 7 >from_file.txt
    LD_LIBRARY_PATH="$work/inside" inside/translate 1 2 $beam 5 6 7 >from_inside.txt
    cmp from_file.txt from_inside.txt || fail "weights inside translate otherwise"
done

# A program of its own; an object.
"$tfc" compile "$model" -o translator $small --weights trained.safetensors
echo 5 6 7 | ./translator --beam 4 --bos 1 --eos 2 >from_program.txt
head -n 1 from_file.txt | cmp - from_program.txt || fail "the program translates otherwise"
echo 5 x | ./translator --bos 1 --eos 2 2>/dev/null && fail "x is no token id"
"$tfc" compile "$model" -o model.o $small
cc translate.c model.o "$(dirname "$tfc")"/libtfc_runtime.a -I. -pthread -lm -o from_object \
    $(ldd libmulti30k_small.so | sed -n 's/.*=> \(.*openblas[^ ]*\).*/\1/p')
WEIGHTS=trained.safetensors ./from_object 1 2 4 5 6 7 | cmp - from_file.txt || fail "the object differs"

# Several instruction sets in one file, each taken.
mkdir levels
"$tfc" compile "$model" -o levels/libmulti30k_small.so $small --cpu x86-64-v2,x86-64-v3,x86-64-v4 \
    --weights trained.safetensors
cc translate.c -o levels/translate -Llevels -lmulti30k_small -Ilevels
for level in 2 3 4; do
    TFC_CPU_LEVEL=$level LD_LIBRARY_PATH="$work/levels" levels/translate 1 2 4 5 6 7 | head -n 1 >level.txt
    head -n 1 from_file.txt | cmp - level.txt || fail "x86-64-v$level translates otherwise"
done
status=0
TFC_CPU_LEVEL=1 LD_LIBRARY_PATH="$work/levels" levels/translate 1 2 4 5 2>err.txt || status=$?
[ $status -eq 1 ] && grep -q 'needs x86-64-v2' err.txt || fail "a machine that is too old is told"

# A run's model.tfg is called what it declares; without a name it is "model".
mkdir run
sed 's/^model .*//' "$model" >run/model.tfg
cp -r "$root/models/lib" run/lib
"$tfc" compile run/model.tfg -o run/libmodel.so $small --function forward
grep -q model_forward run/model.h || fail "no model_forward in model.h"
sed 's/^model .*/model tfc_model/' "$model" >run/own.tfg
refuses 1 'names that begin with tfc_' "$tfc" compile run/own.tfg -o a.so $small

# Mistakes.
refuses 1 'there is no function .forwad.*forward' "$tfc" compile "$model" -o a.so --function forwad
refuses 1 'no CPU to compile for is called "x86-64-v9"' "$tfc" compile "$model" -o a.so --cpu x86-64-v9
refuses 1 'is \[32\]\|gives \[' "$tfc" compile "$model" -o a.so --weights initial.safetensors
refuses 1 'cannot write nowhere/a.so' "$tfc" compile "$model" -o nowhere/a.so $small
refuses 1 'no C compiler' env CC=no-such-cc "$tfc" compile "$model" -o a.so $small
refuses 2 '-o FILE is missing' "$tfc" compile "$model"
refuses 1 'no weights are inside' ./translate 1 2 4 5 6 7
# Interrupted while it links: the program ends by the signal and leaves nothing.
printf '#!/bin/sh\ntouch "%s/linking"\nexec sleep 60\n' "$work" >slow-cc
chmod +x slow-cc
CC=$work/slow-cc setsid "$tfc" compile "$model" -o a.so $small --function forward &
compiling=$!
while [ ! -e linking ]; do
    kill -0 $compiling 2>/dev/null || fail "it ended before linking"
    sleep 0.1
done
kill -TERM -$compiling
wait $compiling && fail "interrupted, but well"
mkdir other
"$tfc" compile "$model" -o other/libmulti30k_small.so $small --set vocab=41
refuses 1 'the header is not the one' env LD_LIBRARY_PATH="$work/other" ./translate 1 2 4 5
# OpenBLAS only where it is asked for.
! ldd libmulti30k_small.so | grep openblas || fail "native products need OpenBLAS"
for gemm in blas auto; do
    mkdir $gemm
    "$tfc" compile "$model" -o $gemm/libmulti30k_small.so $small --gemm $gemm --weights trained.safetensors
    # auto: where this machine's choice is native, it does without
    [ $gemm = auto ] || ldd $gemm/libmulti30k_small.so | grep -q openblas || fail "$gemm does without OpenBLAS"
    LD_LIBRARY_PATH="$work/$gemm" ./translate 1 2 4 5 6 7 | head -n 1 >$gemm.txt
    head -n 1 from_file.txt | cmp - $gemm.txt || fail "$gemm translates otherwise"
done
"$tfc" compile "$model" -o text.s $small --function forward
grep -q '\.text' text.s || fail "no assembly"
# Bitcode: the whole programs, products included, as LLVM's tools read it.
"$tfc" compile "$model" -o whole.bc $small --cpu x86-64-v3
[ "$(od -An -N4 -tx1 whole.bc)" = " 42 43 c0 de" ] || fail "whole.bc is no bitcode"
refuses 1 'bitcode is for one CPU' "$tfc" compile "$model" -o a.bc $small --cpu x86-64-v2,x86-64-v3
if command -v llvm-dis-19 >/dev/null; then
    llvm-dis-19 whole.bc -o whole.ll # verifies, too
    for symbol in multi30k_small_forward multi30k_small_train_step multi30k_small_gemm.f32; do
        grep -q "^\(@\|define.*@\)$symbol[ (]" whole.ll || fail "no $symbol in the bitcode"
    done
fi
ls -d -- a.so* *.tmp-* 2>/dev/null && fail "something is left behind"
exit 0
