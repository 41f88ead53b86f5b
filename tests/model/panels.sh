#!/bin/sh
# Params that are inside a compiled model as panels: what reads them otherwise gets the values that a file has; which
# params are panels; the size.
# Usage: panels.sh TFC   (from the project's root)
set -eu
. tests/common.sh
model=$root/models/multi30k_small.tfg
# Panels have a multiple of 64 columns: in a smaller model they would take too much.
sizes="--set vocab=64 --set layers=1 --set d_model=64 --set d_ff=128 --set heads=2"
compile() { "$tfc" compile "$model" $sizes "$@"; }
cd "$work"
export LD_LIBRARY_PATH="$work"
compile -o libmulti30k_small.so
$CC "$root/tests/cli/compile_jit.c" -o initial -I. -L. -lmulti30k_small
./initial good.safetensors logits

printf '#include <stdio.h>\n#include "runtime/exec/panels.h"\nint main(void) { printf("%%zu\\n", sizeof(TfcPanels)); }\n' >size.c
$CC -I"$root" size.c -o size
size=$(./size)
# inside FILE OPTION …: the bytes of weights inside, how many lists of panels, and how many panels these have
inside() {
    file=$1
    shift
    compile --emit obj --weights good.safetensors -o "$file" "$@"
    nm -S "$file" | awk '$NF == "multi30k_small_weights_inside" { print $2 }' | sed 's/^0*/0x/' >bytes
    bytes=$(($(cat bytes))) lists=$(nm "$file" | grep -c 'weights_panels$' || true)
    panels=$(nm -S "$file" | awk '/weights_panels$/ { print "0x" $2 }')
    panels=$((${panels:-0} / size))
}
inside whole.o
whole=$bytes
[ "$lists" = 0 ] || fail "forward reads params as they are"
inside decoding.o --function decode_step
[ "$lists" = 1 ] || fail "no panels"
[ $panels = 16 ] || fail "$panels panels: all matrices that products read alone, and the embedding, which lookups read, too"
[ "$bytes" -le $((whole + whole / 20)) ] || fail "$bytes bytes of weights, $whole as they are"
inside integers.o --function decode_step --dtype int8
[ "$lists" = 1 ] && [ $((bytes * 2)) -lt "$whole" ] || fail "$bytes bytes of weights as integers, $whole as they are"
inside levels.o --function decode_step --cpu x86-64-v3,x86-64-v2
[ "$lists" = 0 ] || fail "the two have panels of their own"
inside blas.o --function decode_step --gemm blas
[ "$lists" = 0 ] || fail "OpenBLAS reads no panels"

for dtype in f32 bf16 int8 int4 q4_1; do
    compile --weights good.safetensors --dtype $dtype -o program
    printf '3 4 5\n7 8\n9 10 11 12 13\n' >lines
    ./program --bos 1 --eos 2 --max-tokens 9 <lines >answers
    ./program --bos 1 --eos 2 --max-tokens 9 --weights good.safetensors <lines | cmp - answers ||
        fail "$dtype: other answers with the same weights as a file"
done

compile -o libmulti30k_small.so --weights good.safetensors --function decode_step,train_step
$CC "$root/tests/model/panels.c" -o panels -I. -L. -lmulti30k_small
./panels good.safetensors inside.safetensors beside.safetensors fresh.safetensors || fail "panels"
cmp inside.safetensors beside.safetensors || fail "other params were trained"
cmp good.safetensors fresh.safetensors || fail "other params were saved"

# A param that only the loss has.
sed -e '/^loss = /s/$/ + 0.01 * mean(extra * extra)/' -e 's/^dim B, S, T$/&\nparam extra : [64, 3] = normal(0, 1)/' \
    "$root/models/lib/transformer.tfg" >extra.tfg
sed -i '1i model multi30k_small' extra.tfg
export TFC_LIBRARY="$root/models/lib"
model=extra.tfg
compile -o libmulti30k_small.so
$CC "$root/tests/cli/compile_jit.c" -o initial -I. -L. -lmulti30k_small
./initial good.safetensors logits
grep -q '"extra"' good.safetensors || fail "a param of the loss alone is not saved"
compile -o libmulti30k_small.so --weights good.safetensors --function decode_step,train_step
$CC "$root/tests/model/panels.c" -o panels -I. -L. -lmulti30k_small
./panels good.safetensors inside.safetensors beside.safetensors fresh.safetensors || fail "a param of the loss alone"
cmp inside.safetensors beside.safetensors || fail "other params were trained, with one of the loss alone"
grep -q '"extra"' fresh.safetensors || fail "a param of the loss alone is lost"
echo "all is well"
