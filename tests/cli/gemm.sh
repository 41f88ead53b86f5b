#!/bin/sh
# --gemm: what checks find with native products and with both, and that programs hold
# them when they are asked for and not otherwise.
# Usage: gemm.sh TFC   (from the project's root)
set -u
tfc=$1
status=0
for gemm in native auto; do
    out=$("$tfc" check models/multi30k_tiny.tfg --samples 2 --set vocab=50 --gemm $gemm) || status=1
    if [ "$(echo "$out" | grep -c '^ok')" -ne 9 ]; then
        echo "check --gemm $gemm: $out"
        status=1
    fi
done
for gemm in blas native auto; do
    found=$("$tfc" dump models/gpt.tfg --stage llvm --gemm $gemm | grep -c '^@gemm.f32 = .*constant')
    wanted=$([ $gemm = blas ] && echo 0 || echo 1)
    if [ "$found" -ne "$wanted" ]; then
        echo "dump --gemm $gemm: $found native products, not $wanted"
        status=1
    fi
done
"$tfc" check models/gpt.tfg --gemm openblas >/dev/null 2>&1
if [ $? -ne 2 ]; then
    echo "--gemm openblas is not refused"
    status=1
fi
# OpenBLAS is not loaded where its initialiser would wait for address space for ever.
work=$(mktemp -d)
printf 'a b\nb a\n' >"$work/t"
train="$tfc train models/gpt.tfg --text $work/t --vocab chars:auto --steps 1 --gemm blas --threads 1 --set layers=1 --set d_model=8 --set d_ff=8 --set heads=2"
$train --out "$work/warm" >/dev/null 2>&1 || { echo "gemm.sh: $train fails" && status=1; } # the programs are in the cache now
(ulimit -v 160000 && timeout 30 $train --out "$work/run" 2>"$work/err")
code=$?
if [ $code -ne 1 ] || ! grep -q "OpenBLAS needs 200 MB of address space" "$work/err"; then
    echo "with 160 MB of address space: status $code, $(cat "$work/err")"
    status=1
fi
rm -rf "$work"
exit $status
