"""The LLaMA of 134 million params that bench/decode and bench/first_text measure: random weights, as
tfc reads them and as llama.cpp does.

Blocks of a GGUF: ggml-common.h. In llama.cpp's rows of q and k the two halves of a
head alternate, which Hugging Face's do not.
"""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "fixtures"))
from gguf_file import ARRAY, F32, I32, TEXT, U32, write_gguf  # pylint: disable=wrong-import-position

LAYERS, D_MODEL, HEADS, D_FF, VOCAB = 12, 768, 12, 2048, 32000
SETTINGS = {"layers": LAYERS, "d_model": D_MODEL, "heads": HEADS, "kv_heads": HEADS, "d_ff": D_FF, "vocab": VOCAB}
OPTIONS = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
SPECIAL = ["<s>", "</s>", "<unk>", "<pad>"]
WORDS = SPECIAL + [f"w{i}" for i in range(VOCAB - len(SPECIAL))]
EPSILON = 1e-5

# published name: llama.cpp's
OUTER = {"model.embed_tokens.weight": "token_embd", "model.norm.weight": "output_norm", "lm_head.weight": "output"}
INNER = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
         "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
SHAPES = {"token_embd": [VOCAB, D_MODEL], "output": [VOCAB, D_MODEL], "ffn_gate": [D_FF, D_MODEL],
          "ffn_up": [D_FF, D_MODEL], "ffn_down": [D_MODEL, D_FF]}


def tensors():
    """Published name, llama.cpp's name, shape."""
    names = dict(OUTER)
    for layer in range(LAYERS):
        names |= {f"model.layers.{layer}.{ours}.weight": f"blk.{layer}.{theirs}" for ours, theirs in INNER.items()}
    for ours, theirs in names.items():
        kind = theirs.rpartition(".")[2]
        yield ours, theirs, SHAPES.get(kind, [D_MODEL] if "norm" in kind else [D_MODEL, D_MODEL])


def count(shape):
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


def numbers(n):
    """bf16, 2^-6 to 2^-5 with either sign."""
    bits = int.from_bytes(os.urandom(2 * n), "little")
    return (bits & int.from_bytes(b"\x7f\x80" * n, "little")
            | int.from_bytes(b"\x80\x3c" * n, "little")).to_bytes(2 * n, "little")


def make_model(folder):
    """The weights and the words, as tfc reads them, unless they are there."""
    weights = os.path.join(folder, "weights.safetensors")
    if os.path.exists(weights):
        return
    header, at = {}, 0
    for name, _, shape in tensors():
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + 2 * count(shape)]}
        at += 2 * count(shape)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "words.txt"), "w", encoding="utf-8") as words:
        words.writelines(f"{word}\n" for word in WORDS)
    with open(weights + ".part", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, _, shape in tensors():
            file.write(numbers(count(shape)))
    os.rename(weights + ".part", weights)


# ---- GGUF ----

# name: number of the type, and of a matrix bytes a block, of 32 elements but for BF16
TYPES = {"f32": (0, 4, 1), "bf16": (30, 2, 1), "q8_0": (8, 34, 32), "q4_0": (2, 18, 32)}


def metadata():
    head = D_MODEL // HEADS
    yield "general.architecture", TEXT, "llama"
    for name, number in (("block_count", LAYERS), ("context_length", 4096), ("embedding_length", D_MODEL),
                         ("feed_forward_length", D_FF), ("attention.head_count", HEADS),
                         ("attention.head_count_kv", HEADS), ("rope.dimension_count", head), ("vocab_size", VOCAB)):
        yield "llama." + name, U32, number
    yield "llama.attention.layer_norm_rms_epsilon", F32, EPSILON
    yield "llama.rope.freq_base", F32, 10000.0
    yield "tokenizer.ggml.model", TEXT, "llama"
    byte = [f"<0x{i:02X}>" for i in range(256)]  # llama.cpp needs them, and has no other use for the words
    yield "tokenizer.ggml.tokens", ARRAY, (TEXT, SPECIAL + byte + WORDS[len(SPECIAL) + len(byte):])
    yield "tokenizer.ggml.scores", ARRAY, (F32, [0.0] * VOCAB)
    # 1: a word, 2: unknown, 3: control, 6: a byte
    kinds = [3, 3, 2, 3] + [6] * len(byte)
    yield "tokenizer.ggml.token_type", ARRAY, (I32, kinds + [1] * (VOCAB - len(kinds)))
    for name, number in (("bos", 0), ("eos", 1), ("unknown", 2), ("padding", 3)):
        yield f"tokenizer.ggml.{name}_token_id", U32, number


def alternate(data, row):
    """Of each head the rows 0, n/2, 1, n/2 + 1 … of `row` bytes."""
    head = D_MODEL // HEADS
    order = (h * head + half * head // 2 + i for h in range(HEADS) for i in range(head // 2) for half in (0, 1))
    return b"".join(data[r * row:(r + 1) * row] for r in order)


def as_gguf(data, name, shape, kind):
    """A tensor's bf16 in the type. Blocks are random: their speed is what is measured."""
    if len(shape) == 1:
        return b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
    if kind == "bf16":
        return alternate(data, 2 * shape[1]) if name.endswith((".attn_q", ".attn_k")) else data
    _, size, _ = TYPES[kind]
    blocks = count(shape) // 32
    noise = bytearray(os.urandom(blocks * size))
    noise[0::size] = struct.pack("<e", 2 ** -12)[0:1] * blocks
    noise[1::size] = struct.pack("<e", 2 ** -12)[1:2] * blocks
    return bytes(noise)


def make_gguf(folder, kind):
    """FOLDER/KIND.gguf of make_model's weights, unless it is there; its path."""
    path = os.path.join(folder, f"{kind}.gguf")
    if os.path.exists(path):
        return path
    with open(os.path.join(folder, "weights.safetensors"), "rb") as weights:
        weights.seek(8 + int.from_bytes(weights.read(8), "little"))
        parts = []
        for _, name, shape in tensors():
            number, size, block = TYPES["f32" if len(shape) == 1 else kind]
            parts.append((name + ".weight", shape, number, (
                count(shape) // block * size,
                lambda name=name, shape=shape: as_gguf(weights.read(2 * count(shape)), name, shape, kind))))
        write_gguf(path + ".part", metadata(), parts)
    os.rename(path + ".part", path)
    return path


if __name__ == "__main__":
    make_model(sys.argv[1])
