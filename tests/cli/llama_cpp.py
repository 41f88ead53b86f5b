"""A small published model of random weights, with a tokenizer that llama.cpp reads, too.

    llama_cpp.py llama|qwen2|gpt2 FOLDER
"""
import json
import os
import random
import struct
import sys

D, LAYERS, HEADS, KEYS, INNER, CONTEXT = 64, 2, 4, 2, 96, 128
WORDS = ["\u2581t", "he", "in", "an", "\u2581a", "\u2581the", "er", "re", "on", "\u2581s", "\u2581"]
MERGES = [("t", "h"), ("\u0120", "t"), ("h", "e"), ("\u0120t", "he"), ("i", "n"), ("\u0120", "a"), ("e", "r"), ("s", "e")]


def field(number, content):
    """A field of a protocol buffer."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    if isinstance(content, float):
        return varint(number << 3 | 5) + struct.pack("<f", content)
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def write_pieces(folder):
    """tokenizer.model: three special tokens, all bytes, pieces; its number of tokens."""
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)] + [(f"<0x{i:02X}>", 0.0, 6) for i in range(256)]
    pieces += [(word, -float(i), 1) for i, word in enumerate(WORDS + [chr(97 + i) for i in range(26)])]
    model = b"".join(field(1, field(1, piece.encode()) + field(2, score) + field(3, kind)) for piece, score, kind in pieces)
    model += field(2, field(3, 2) + field(35, 1) + field(40, 0) + field(41, 1) + field(42, 2))
    with open(os.path.join(folder, "tokenizer.model"), "wb") as file:
        file.write(model + field(3, field(3, 1) + field(4, 0) + field(5, 1)))
    return len(pieces)


def write_bytes(folder):
    """tokenizer.json: the letters that stand for bytes, merges, and the end of a text; its number of tokens."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    vocab = [chr(b if b in shown else next(others)) for b in range(256)] + [a + b for a, b in MERGES] + ["<|endoftext|>"]
    end = len(vocab) - 1
    cut = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = {"id": end, "content": vocab[-1], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
             "special": True}
    model = {"type": "BPE", "vocab": {t: i for i, t in enumerate(vocab)}, "merges": [f"{a} {b}" for a, b in MERGES]}
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump({"version": "1.0", "added_tokens": [added], "normalizer": None, "pre_tokenizer": cut, "post_processor": None,
                   "decoder": cut, "model": model}, file)
    return len(vocab)


def shapes_of(kind, vocab):
    """Name: shape."""
    if kind == "gpt2":
        shapes = {"transformer.wte.weight": [vocab, D], "transformer.wpe.weight": [CONTEXT, D]}
        norms = ["transformer.ln_f"] + [f"transformer.h.{i}.{n}" for i in range(LAYERS) for n in ("ln_1", "ln_2")]
        shapes |= {f"{norm}.{part}": [D] for norm in norms for part in ("weight", "bias")}
        for i in range(LAYERS):
            for name, a, b in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, 4 * D), ("mlp.c_proj", 4 * D, D)):
                shapes |= {f"transformer.h.{i}.{name}.weight": [a, b], f"transformer.h.{i}.{name}.bias": [b]}
        return shapes
    shapes = {"model.embed_tokens.weight": [vocab, D], "model.norm.weight": [D], "lm_head.weight": [vocab, D]}
    narrow = D // HEADS * KEYS
    for i in range(LAYERS):
        front = f"model.layers.{i}."
        for name, out, into in (("self_attn.q_proj", D, D), ("self_attn.k_proj", narrow, D), ("self_attn.v_proj", narrow, D),
                                ("self_attn.o_proj", D, D), ("mlp.gate_proj", INNER, D), ("mlp.up_proj", INNER, D),
                                ("mlp.down_proj", D, INNER)):
            shapes[front + name + ".weight"] = [out, into]
            if kind == "qwen2" and name[-6] in "qkv":
                shapes[front + name + ".bias"] = [out]
        shapes |= {front + name + ".weight": [D] for name in ("input_layernorm", "post_attention_layernorm")}
    return shapes


def write_weights(folder, shapes):
    numbers = random.Random(len(shapes))
    header, data = {}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        wide = 1 if "embed" in name or "wte" in name else 0.25
        mean = 1 if len(shape) == 1 and name.endswith("weight") else 0
        content = struct.pack(f"<{count}f", *(numbers.gauss(mean, wide) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


kind, folder = sys.argv[1:]
os.makedirs(folder)
if kind == "gpt2":
    vocab = write_bytes(folder)
    config = {"n_positions": CONTEXT, "n_embd": D, "n_layer": LAYERS, "n_head": HEADS, "activation_function": "gelu_new",
              "layer_norm_epsilon": 1e-5, "bos_token_id": vocab - 1, "eos_token_id": vocab - 1}
else:
    vocab = write_pieces(folder)
    config = {"hidden_size": D, "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
              "num_key_value_heads": KEYS, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
              "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": False, "max_position_embeddings": CONTEXT}
with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
    json.dump({"model_type": kind, "vocab_size": vocab} | config, file)
write_weights(folder, shapes_of(kind, vocab))
