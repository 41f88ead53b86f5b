#!/bin/sh
# Experts in training: two shards are one, and the bias that balances moves against each expert's load, once a step.
# Usage: experts.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77
export OMP_NUM_THREADS=1
letters_in_steps
cat >experts.tfg <<'END'
model experts
use language_model
const vocab = 30, layers = 2, d_model = 16, heads = 2, context = 64, p_drop = 0, speed = 0.125
block feed_forward(x) {
  return mixture_of_experts as _(x, 6, 2, 16, shared = 1, score = "sigmoid", balance = 1, bias_speed = speed)
}
train { rate = constant(0.01); batch = tokens(300) }
END
for shards in 1 2; do
    "$tfc" train experts.tfg --text train.src --vocab words:auto --steps 9 --shards $shards --out "run$shards" 2>err || fail "$(cat err)"
    ! grep -E 'warning|pieces|depends on' err || fail "$shards shards: $(cat err)"
done
python3 - <<'END' || fail "experts.tfg"
import json, struct

def tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    for name, info in header.items():
        if name != "__metadata__" and info["dtype"] == "F32":
            begin, end = info["data_offsets"]
            yield name, struct.unpack("<%df" % ((end - begin) // 4), data[begin:end])

one, two = (dict(tensors("run%d/last.safetensors" % n)) for n in (1, 2))
for name, values in one.items():
    worst = max(abs(a - b) for a, b in zip(values, two[name]))
    assert worst < 1e-3 or name.endswith("key.bias"), (name, worst)  # its gradient is 0 but for rounding
biases = [v for n, v in one.items() if n.endswith("feed_forward.bias")]
assert len(biases) == 2
for bias in biases:  # nine steps, each by a speed up or down, or not at all where the load is just even
    assert all(abs(b) <= 9 * 0.125 and b * 8 == int(b * 8) for b in bias), bias
    assert max(bias) > 0 > min(bias), bias
END
echo "experts: one shard and two, balanced by their bias"
