#!/bin/sh
# tfc bench --shapes: no batch's shape makes the JIT compile again, in any mode, cold or
# with programs from the cache.
# Usage: bench.sh TFC   (from the project's root)
set -eu
tfc=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TFC_CACHE="$work/cache"
small="--set vocab=40 --set layers=1 --set d_model=32 --set d_ff=64 --set heads=2"

fail() { echo "FAILED: $*" >&2; exit 1; }
# says NAME VALUE: the last result has this field
says() { grep -q "\"$1\": $2[,}]" "$work/out" || fail "no \"$1\": $2 in $(cat "$work/out")"; }

shapes() {
    "$tfc" bench "$@" --shapes 200 --json >"$work/out" || fail "bench $*"
    says shapes 200
    says steps 200
    says compiled_after_first 0
}
for mode in train forward decode; do
    lengths="--batch 6 --source-length 8 --target-length 7"
    shapes models/transformer_base.tfg $small --mode $mode $lengths
    ! grep -q '"compiled_kernels": 0,' "$work/out" || fail "$mode: nothing was compiled: what was counted?"
    shapes models/transformer_base.tfg $small --mode $mode $lengths --warm-up 0
    says compiled_kernels 0
    ! grep -q '"cached_kernels": 0,' "$work/out" || fail "$mode: nothing came from the cache"
done
shapes models/gpt.tfg --set vocab=40 --set layers=1 --set d_model=32 --set d_ff=64 --set heads=2 \
    --batch 20 --target-length 10

"$tfc" bench models/transformer_base.tfg $small --batch 2 --source-length 3 --target-length 3 --steps 2 \
    --json >"$work/out"
says shapes 1
if "$tfc" bench models/transformer_base.tfg $small --batch 2 --source-length 3 --target-length 3 --shapes 19 \
    2>"$work/err"; then
    fail "18 shapes are 19"
fi
grep -q 'only 18 shapes' "$work/err" || fail "$(cat "$work/err")"
