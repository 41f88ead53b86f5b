#!/bin/sh
# A GGUF of mixed blocks, Q4_K_M: its values are read as they were rounded, each matrix is computed in the type that keeps
# what its blocks have, and the run lies within 5 % of the file's own KL divergence from f32.
# Usage: mixed_blocks.sh TFC   (from the project's root)
set -eu
. tests/common.sh
python=$(python_with_numpy)
[ -n "$python" ] || { echo "skipped: no Python with numpy"; exit 77; }
enter_work
"$python" "$root/tests/cli/published_tokens.py" llama folder '{"hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 4, "tie_word_embeddings": false}'
"$python" - <<'EOF'
import json, struct
import numpy as np
draw, d, inner = np.random.default_rng(1), 256, 256
shapes = {"model.embed_tokens.weight": [258, d], "model.norm.weight": [d], "lm_head.weight": [258, d]}
for i in range(3):
    front = f"model.layers.{i}."
    shapes |= {front + f"self_attn.{part}_proj.weight": [d, d] for part in "qkvo"}
    shapes |= {front + f"mlp.{part}_proj.weight": [inner, d] for part in ("gate", "up")}
    shapes |= {front + "mlp.down_proj.weight": [d, inner]}
    shapes |= {front + f"{name}_layernorm.weight": [d] for name in ("input", "post_attention")}
head, data, at = {}, [], 0
for name, shape in shapes.items():
    array = (draw.standard_normal(shape) * shape[-1] ** -0.5 if len(shape) > 1 else np.ones(shape)).astype("<f4")
    head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + array.nbytes]}
    data.append(array.tobytes())
    at += array.nbytes
text = json.dumps(head).encode()
open("folder/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + b"".join(data))
EOF
mkdir made
"$python" "$root/tests/cli/mixed_blocks.py" "$tfc" folder made >told || fail "no Q4_K_M"
cat told
awk '{ found = 1; if (!($(NF - 1) < 1.05)) exit 1 } END { exit !found }' told || fail "more than 5 % beyond the file's own"
