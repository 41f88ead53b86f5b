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
refuses 2 '--lengths is for --mode train or forward without --shapes: leave it out' "$tfc" bench $small --lengths "$work/equal" --mode decode

# --ranks: by hand, from the figures that it prints.
ranks="$small --batch 8 --source-length 8 --target-length 8 --steps 3 --threads 1 --ranks"
for dtype in f32 bf16; do
    "$tfc" bench $ranks --network 0.5,100 --rank-tokens 4000 --shards 4 --dtype $dtype --json >"$work/out"
    awk -v dtype=$dtype '
        function number(name) { match($0, "\"" name "\": [0-9.e+-]*"); return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) + 0 }
        function near(a, b) { return a > 0.9999 * b && a < 1.0001 * b }
        function first(n, way,   part, at) {
            at = index($0, "\"ranks\": " n ","); part = substr($0, at); at = index(part, "\"" way "\": ")
            return substr(part, at + length(way) + 4) + 0
        }
        function max(a, b) { return a > b ? a : b }
        {
            G = 4 * number("params"); P = number("bytes_given"); c = 4000 * number("seconds_per_token"); u = number("seconds_per_update")
            b = 0.5e9 / 8; l = 100e-6
            if (!near(number("gbit_per_second"), 0.5) || !near(number("microseconds"), 100)) exit 1
            if (!near(first(1, "halving"), 4000 / (c + u))) exit 2
            # in bf16 weights of products go as bf16, and the embeddings, of which rows are looked up, and what is small as f32
            if (dtype == "f32" ? P != G : P <= G / 2 || P > 0.7 * G) exit 6
            # far more time to send than to compute meanwhile: the shards are short
            n = 2; part = G * (1 - 1 / n) / b; other = P * (1 - 1 / n) / b
            sum = max(0, l + part - c / 2 * 2 / 3); give = max(0, l + other - c / 2 / 3); handles = 2 * (G + P) * (1 - 1 / n) / 1.5e9
            least = n * 4000 / (c + u / n + (2 * l + part + other) + handles)
            most = n * 4000 / (c + u / n + sum + give + handles)
            if (first(2, "halving") < 0.9999 * least || first(2, "halving") > 1.0001 * most) exit 3
            if (first(8, "tree") >= first(8, "halving") || first(8, "ring") > first(8, "halving")) exit 4
            if (!near(first(8, "machines"), first(8, "halving"))) exit 5
        }' "$work/out" || fail "bench --ranks --dtype $dtype: $? $(cat "$work/out")"
done
"$tfc" bench $ranks --network 0.5,100 >"$work/out"
grep -q "network    0.5 Gbit/s each way, 100 µs until a message arrives, as --network says" "$work/out" || fail "$(cat "$work/out")"
grep -Eq "^ *1024( +[0-9]+ \( *[0-9]+ %\)){4}$" "$work/out" || fail "$(cat "$work/out")"
refuses 2 'start it with mpirun -np 2, or say --network' "$tfc" bench $ranks
refuses 1 "network '1;5'" "$tfc" bench $ranks --network '1;5'
refuses 1 "network '0,5'" "$tfc" bench $ranks --network 0,5
refuses 2 '--network is for --ranks: add that' "$tfc" bench $small --network 1,50
refuses 2 'leave --mode' "$tfc" bench $ranks --network 1,50 --mode decode
