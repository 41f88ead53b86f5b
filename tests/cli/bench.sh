#!/bin/sh
# tfc bench --shapes: no batch's shape makes the JIT compile again, in any mode, cold or
# with programs from the cache; --lengths: batches of given lengths.
# Usage: bench.sh TFC   (from the project's root)
set -eu
. tests/common.sh
export TFC_CACHE="$work/cache"

# says NAME VALUE: the last result has this field
says() { grep -q "\"$1\": $2[,}]" "$work/out" || fail "no \"$1\": $2 in $(cat "$work/out")"; }

shapes() {
    "$tfc" bench "$@" --shapes 200 --threads 1 --json >"$work/out" || fail "bench $*"
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
shapes models/gpt.tfg $small --batch 20 --target-length 10

"$tfc" bench models/transformer_base.tfg $small --batch 2 --source-length 3 --target-length 3 --steps 2 \
    --json >"$work/out"
says shapes 1
refuses 1 'only 18 shapes' \
    "$tfc" bench models/transformer_base.tfg $small --batch 2 --source-length 3 --target-length 3 --shapes 19

# --lengths: batches as they are given, in turn; the slab has room for the largest.
small="models/transformer_base.tfg $small"
planned() { number planned_peak_bytes <"$work/out"; }
echo "4:5 4:5 4:5" >"$work/equal"
"$tfc" bench $small --lengths "$work/equal" --steps 1 --json >"$work/out"
given=$(planned)
"$tfc" bench $small --batch 3 --source-length 4 --target-length 5 --steps 1 --json >"$work/out"
[ "$given" = "$(planned)" ] || fail "3 x 4 -> 5 tokens: $given bytes as lengths, $(planned) as a shape"
printf '2:3\n4:5  1:9 4:5 \n6:2 6:2\n' >"$work/ragged"
"$tfc" bench $small --lengths "$work/ragged" --steps 7 --warm-up 0 --json >"$work/out"
says shapes 3
says batch 3
says source_length 6
says target_length 9
given=$(planned)
sort -r "$work/ragged" >"$work/sorted"
"$tfc" bench $small --lengths "$work/sorted" --steps 1 --warm-up 0 --json >"$work/out"
[ "$given" = "$(planned)" ] || fail "$given bytes for batches in one order, $(planned) in another"

refused() { # FILE's text, what is said
    printf "$1" >"$work/wrong"
    refuses 1 "$2" "$tfc" bench $small --lengths "$work/wrong"
}
refused '4:5\n4:0' 'wrong:2:.*sentence 1 is not SOURCE:TARGET'
refused '4:5 45\n' 'sentence 2 is not SOURCE:TARGET'
refused '4:99999999999\n' 'sentence 1 is not SOURCE:TARGET'
refused '4:5\n\n' 'wrong:2:.*without a sentence'
refused '' 'no batch in it'
refuses 2 'goes with --mode train or forward' "$tfc" bench $small --lengths "$work/equal" --mode decode
