"""What integers add to what a GGUF of mixed blocks has lost.

    mixed_blocks.py TFC FOLDER WORK [TEXT]

Makes a Q4_K_M (tests/fixtures/k_quants.py) of a published LLaMA in f32, and prints the KL divergence from the logits in
f32 of those of the file's values, computed in f32, and of those of the run that tfc import makes of the file: on rows of
TEXT, or of ids drawn at random. Fails if a tensor has another type than its blocks ask for, or if tfc reads other values
than were rounded. Needs numpy.
"""
import json
import os
import re
import struct
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from k_quants import F32_TYPE, Q4_K, Q6_K, mixed_type, read_gguf, write_mixed

TFC, FOLDER, WORK = sys.argv[1:4]
TEXT = sys.argv[4] if len(sys.argv) > 4 else None
ROWS, LENGTH = (40, 128) if TEXT else (8, 32)
COMPUTED = {F32_TYPE: "f32", Q4_K: "q4_1", Q6_K: "q8_0"}
LOST = {F32_TYPE: 0, Q4_K: 0.09, Q6_K: 0.025}  # at most, as a share of the root mean square


def place(name):
    return os.path.join(WORK, name)


def tfc(*words):
    return subprocess.run([TFC, *words], check=True, capture_output=True, text=True).stdout


def write_safetensors(path, name, array):
    head = json.dumps({name: {"dtype": "I32", "shape": array.shape, "data_offsets": [0, array.nbytes]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + array.tobytes())


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 8 + struct.unpack_from("<Q", data)[0]
    heads = json.loads(data[8:start])
    heads.pop("__metadata__", None)
    return {name: np.frombuffer(data, "<f4", int(np.prod(head["shape"])), start + head["data_offsets"][0]).reshape(head["shape"])
            for name, head in heads.items() if head["dtype"] == "F32"}


def params(run):
    tfc("export", place(run), "-o", place("params.safetensors"), "--format", "safetensors")
    return read_safetensors(place("params.safetensors"))


# Of a published name the one in models/llama.tfg, and the one in a GGUF.
NAMES = {"self_attn.q_proj": ("self.query", "attn_q"), "self_attn.k_proj": ("self.key", "attn_k"),
         "self_attn.v_proj": ("self.value", "attn_v"), "self_attn.o_proj": ("self.output", "attn_output"),
         "mlp.gate_proj": ("feed_forward.gate", "ffn_gate"), "mlp.up_proj": ("feed_forward.up", "ffn_up"),
         "mlp.down_proj": ("feed_forward.down", "ffn_down")}
OTHERS = {"model.embed_tokens.weight": ("embedding", "token_embd.weight"), "lm_head.weight": ("head.weight", "output.weight")}


def names_of(published):
    layer = re.fullmatch(r"model\.layers\.(\d+)\.(.*)\.weight", published)
    if not layer:
        return OTHERS[published]
    ours, theirs = NAMES[layer[2]]
    return f"layer.{layer[1]}.{ours}.weight", f"blk.{layer[1]}.{theirs}.weight"


def check_types(layers, is_tied):
    """The type in which each matrix is computed, and that the file's values were read as they were rounded."""
    exact, read, seen = params("exact"), params("mixed"), set()
    with open(place("mixed/run.json"), encoding="utf-8") as file:
        record = json.load(file)
    own = dict(word.split("=") for word in record["keep"])
    for name, values in exact.items():
        ours, theirs = names_of(name) if values.ndim > 1 else (name, name)
        number = mixed_type(theirs, values.ndim, layers, is_tied)
        lost = np.sqrt(((read[name] - values) ** 2).mean() / (values ** 2).mean())
        assert lost <= LOST[number], f"{name}: {lost} of it is lost"
        computed = own.get(ours, record["quantised"]) if values.ndim > 1 else "f32"
        assert computed == COMPUTED[number], f"{name} is computed in {computed}, not {COMPUTED[number]}"
        seen.add(number)
    assert seen == set(COMPUTED), seen


def draw_rows(tokens):
    if not TEXT:
        return np.random.default_rng(3).integers(0, len(tokens), (ROWS, LENGTH)).astype(np.int32)
    ids = {token: i for i, token in enumerate(tokens)}
    lines = tfc("score", place("exact"), "--text", TEXT, "--token-scores").splitlines()
    stream = [ids[token] for line in lines for token, _ in json.loads(line)["tokens"] if token in ids]
    return np.array(stream[:ROWS * LENGTH], np.int32).reshape(ROWS, LENGTH)


def log_probabilities(run, *more):
    tfc("run", place(run), "--in", place("in.safetensors"), "--out", place("out.safetensors"), "--function", "forward", *more)
    logits = read_safetensors(place("out.safetensors"))["logits"].astype(float)
    logits -= logits.max(-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def main():
    tfc("import", FOLDER, "-o", place("exact"))
    tfc("export", place("exact"), "-o", place("f32.gguf"), "--type", "f32")
    write_mixed(place("f32.gguf"), place("mixed.gguf"))
    tfc("import", place("mixed.gguf"), "-o", place("mixed"))
    metadata, tensors = read_gguf(place("f32.gguf"))
    check_types(next(value for key, _, value in metadata if key.endswith(".block_count")),
                not any(name == "output.weight" for name, *_ in tensors))
    tokens = next(value[1] for key, _, value in metadata if key == "tokenizer.ggml.tokens")
    write_safetensors(place("in.safetensors"), "tokens", draw_rows(tokens))
    exact = log_probabilities("exact")

    def divergence(run, *more):
        return (np.exp(exact) * (exact - log_probabilities(run, *more))).sum(-1).mean()

    file, run = divergence("mixed", "--dtype", "f32"), divergence("mixed")
    print(f"Q4_K_M: KL from f32 {file:.6f} nats of the file's values, {run:.6f} in integers: {run / file:.3f} times")


main()
