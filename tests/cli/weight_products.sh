#!/bin/sh
# Params that are products of a file's tensors: integers by their scales, in files that NumPy writes. The params are NumPy's
# products, in every bit.
# Usage: weight_products.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
python=$(python_with_numpy)
[ -n "$python" ] || { echo "skipped: no Python has numpy"; exit 77; }
numpy() { "$python" "$root/tests/cli/weight_products.py" "$@"; }
numpy

cat >model.tfg <<'END'
model products
input x : f32[1]
block matrix() {
  param w : [40, 24] = normal(0, 0.02)
  values = w + x
  return sum(values)
}
repeat 2 as layer { matrix as held() }
param key : [40, 17] = zeros
param value : [40, 17] = zeros
param both : [40, 24] = zeros
param table : [100, 8] = zeros
param half : [6, 8] = zeros
param cube : [4, 2, 3] = zeros
output layer.*.held.values
output key_values = key + x
output value_values = value + x
output both_values = both + x
output table_values = table + x
output half_values = half + x
output cube_values = cube + x
weights {
  layer.*.held.w = transpose("*.w.weight_q") * "*.w.scale"      # [in, out] by [out]
  key   = transpose(slice("qkv_q" * "qkv_scale", 0, 17, 17))    # [out, in] by [out, 1]
  value = transpose(slice("qkv_q", 0, 34, 17)) * transpose(slice("qkv_scale", 0, 34, 17))
  both  = concat([transpose("up_q" * "up_scale"), transpose("down_q") * "down_scale"], 1, [16, 8])
  table = "table_q" * "table_scale" * "group"
  half  = "half_q" * ("half_scale" * "one") / 127
  cube  = permute("cube_q" * "cube_scale", [2, 0, 1])
}
END
for file in int8.npz int8.safetensors; do
    "$tfc" run model.tfg --weights $file --in in.safetensors --out out.safetensors 2>err.txt || fail "$(cat err.txt)"
    numpy out.safetensors || fail "$file: other products than NumPy's"
done
run="run model.tfg --in in.safetensors --out out.safetensors"
# shellcheck disable=SC2086  # a command and its options
refuses 1 "a tensor is missing:" "$tfc" $run --weights lacks.safetensors
grep -q "'up_scale' (for the param 'both')" err.txt || fail "$(cat err.txt)"
# shellcheck disable=SC2086
refuses 1 "the tensor 'up_scale' is .15, 1., but the param 'both' takes .16, 40., or axes of 1" "$tfc" $run --weights other.safetensors
refuses 1 "the weights block makes the param 'layer.0.held.w' a product with '0.w.scale'" \
    "$tfc" export model.tfg --weights int8.npz -o back.safetensors
grep -q 'model.tfg:23:3: error' err.txt || fail "no place in: $(cat err.txt)"
echo "params are the products of tensors"
