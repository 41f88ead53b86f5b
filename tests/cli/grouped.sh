#!/bin/sh
# Products by matrices that are looked up, in every form: a language model of experts writes the same text as a program and
# as C; it is quantised, rounded to bf16, and multiplied beside OpenBLAS; the report names its products.
# Usage: grouped.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export OMP_NUM_THREADS=1
letters_in_steps
cat >experts.tfg <<'END'
model experts
use language_model
const vocab = 30, layers = 2, d_model = 36, heads = 2, context = 64, p_drop = 0
block feed_forward(x) { return mixture_of_experts as _(x, 6, 2, 70) }
train { rate = constant(0.01); batch = tokens(300) }
END
"$tfc" train experts.tfg --text train.src --vocab words:auto --steps 60 --out run 2>err || fail "$(cat err)"
printf 'a b\nc\nf h b\nd e f\n' >prompts
say() { "$tfc" generate run --input prompts --tokens 20 --temperature 0 "$@"; }
say >here
[ "$(wc -l <here)" = 4 ] || fail "four prompts: $(cat here)"

# The same text by a program, and by C.
"$tfc" compile run -o program
./program --tokens 20 --temperature 0 <prompts | cmp - here || fail "a program writes other texts"
"$tfc" compile run --emit c -o experts.c
generate_program experts -O1 -fopenmp-simd -ffp-contract=off -march=native experts.c -pthread -lm
"$tfc" generate run --prompt "a b" --tokens 20 --temperature 0 >one
./experts_says "a b" 20 | cmp - one || fail "C writes another text"

# A library makes its params again from panels of experts.
"$tfc" compile run -o libexperts.so
python3 - <<'END' || fail "the library's params are others"
import experts
experts.Model().save("saved.safetensors")
END
"$tfc" export run -o kept.safetensors
cat >tensors.py <<'END'
import json, struct, sys
def tensors(path):
    data = open(path, "rb").read()
    n, = struct.unpack("<Q", data[:8])
    head = json.loads(data[8:8 + n])
    return {name: data[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]] for name, t in head.items() if "data_offsets" in t}
saved, kept = tensors("saved.safetensors"), tensors("kept.safetensors")
experts = [name for name in kept if "expert" in name]
if len(experts) != 6 or any(saved[name] != kept[name] for name in experts):
    sys.exit("the experts that a library saves are others")
END
python3 tensors.py 2>notes || fail "$(cat notes)"

# Balance within each text does not depend on how a batch is cut; over the whole batch it does, which a note says.
for whole in false true; do
    sed "s/_(x, 6, 2, 70)/_(x, 6, 2, 70, balance = 0.5, whole = $whole)/" experts.tfg >balanced.tfg
    for shards in 1 3; do
        "$tfc" train balanced.tfg --text train.src --lines --vocab words:auto --steps 3 --shards $shards --json-summary $shards.json \
            --out "run_$whole$shards" 2>notes || fail "$(cat notes)"
        sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p' $shards.json | tail -n 1
    done | paste -sd ' ' - >losses
    awk -v whole=$whole '{ d = $1 - $2; near = d < 1e-5 && d > -1e-5; exit !(NF == 2 && (whole == "true" || near)) }' losses ||
        fail "balance in each text, whole $whole: $(cat losses)"
done
grep -q "the loss is no sum over the rows of a batch because of this" notes || fail "no note: $(cat notes)"

# In other types: a loss near that in f32, but not the same.
loss() { "$tfc" eval run --text train.src --json "$@" | sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p' | head -n 1; }
wide=$(loss)
for dtype in bf16 int8 int4; do
    narrow=$(loss --dtype $dtype)
    echo "$wide $narrow" | awk '{ d = $1 - $2; exit !(NF == 2 && d != 0 && d < 0.05 && d > -0.05) }' ||
        fail "losses in f32 and $dtype: $wide $narrow"
done

# Training beside OpenBLAS is training by tiles, but for roundings.
for gemm in native blas; do
    "$tfc" train experts.tfg --text train.src --vocab words:auto --steps 5 --gemm $gemm --json-summary $gemm.json --out "run_$gemm" \
        2>err || fail "--gemm $gemm: $(cat err)"
    sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p' $gemm.json | tail -n 1
done | paste -sd ' ' - | awk '{ d = $1 - $2; exit !(NF == 2 && d < 1e-4 && d > -1e-4) }' || fail "losses by tiles and OpenBLAS"

"$tfc" dump experts.tfg --stage fused --function train_step --report >report
for line in "grouped_dot: each row by the one of 6 matrices" "grouped_outer: of each of 6 matrices the sum"; do
    grep -q "$line" report || fail "the report does not say: $line"
done
refuses 1 "products by looked-up matrices have no kernel for an OpenCL device yet" "$tfc" dump experts.tfg --stage opencl
echo "grouped: a program, C, other types, OpenBLAS, the report"
