"""CTranslate2's folder for ctranslate2.sh, by its published specification and without tfc's code:

    python3 ctranslate2.py pad FOLDER             makes the row and the bias of <pad> zeros, which CTranslate2 has not
    python3 ctranslate2.py make FOLDER TO TYPE    a published Marian folder (config.json, vocab.json, safetensors of f32)
                                                  as CTranslate2's, of float32, float16, int8 or int16
    python3 ctranslate2.py near TYPE A B          both safetensors have the same tensors, within the rounding of TYPE
    python3 ctranslate2.py change FROM TO HOW     one that is refused

model_spec.py of CTranslate2 (_serialize, _quantize, _alias_variables), transformer_spec.py, attention_spec.py,
common_spec.py.
"""
import json
import os
import shutil
import struct
import sys

import numpy as np

TYPES = ["float32", "int8", "int16", "int32", "float16", "bfloat16"]


def read_safetensors(path):
    with open(path, "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: np.frombuffer(data[slice(*t["data_offsets"])], np.float32).reshape(t["shape"])
            for name, t in head.items() if name != "__metadata__"}


def pad(folder):
    path = os.path.join(folder, "model.safetensors")
    with open(path, "r+b") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        head = json.loads(file.read(length))
        for name, row in (("model.shared.weight", head["model.shared.weight"]["shape"][1]), ("final_logits_bias", 1)):
            file.seek(8 + length + head[name]["data_offsets"][1] - 4 * row)
            file.write(bytes(4 * row))


def sinusoids(rows, d):
    angle = np.arange(rows)[:, None] / 10000 ** (np.arange(d // 2) / (d // 2))
    return np.concatenate([np.sin(angle), np.cos(angle)], 1).astype(np.float32)


def quantised(name, value, kind):
    """A variable of a linear layer or a table, with its scales."""
    if kind == "int8":
        most = np.abs(value).max(1)
        scale = (127 / np.where(most == 0, 127, most)).astype(np.float32)
        return {name: np.rint(value * scale[:, None]).astype(np.int8), name + "_scale": scale}
    if kind == "int16":
        scale = np.float32(2 ** 10 / np.abs(value).max())
        return {name: np.rint(value * scale).astype(np.int16), name + "_scale": scale}
    return {name: value.astype(kind)}


def variables_of(folder, kind):
    """The variables, and other names of some: the table stands once."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    tensors = read_safetensors(os.path.join(folder, "model.safetensors"))
    plain = "float16" if kind == "float16" else "float32"
    table = tensors["model.shared.weight"][:-1]  # without <pad>
    out = quantised("decoder/embeddings/weight", table, kind)
    aliases = {other + end: "decoder/embeddings/weight" + end for other in ("decoder/projection/weight", "encoder/embeddings_0/weight")
               for end in (("", "_scale") if kind.startswith("int") else ("",))}
    out["decoder/projection/bias"] = tensors["final_logits_bias"].reshape(-1)[:-1].astype(plain)

    def linear(name, prefix, parts):
        out.update(quantised(name + "/weight", np.concatenate([tensors[prefix + p + ".weight"] for p in parts]), kind))
        out[name + "/bias"] = np.concatenate([tensors[prefix + p + ".bias"] for p in parts]).astype(plain)

    def norm(name, prefix):
        out[name + "/gamma"], out[name + "/beta"] = (tensors[prefix + end].astype(plain) for end in (".weight", ".bias"))

    for side in ("encoder", "decoder"):
        out |= {side + "/num_heads": np.int16(config[side + "_attention_heads"]), side + "/pre_norm": np.int8(0),
                side + "/activation": np.int8({"relu": 0, "swish": 2}[config["activation_function"]]),
                side + "/scale_embeddings": np.float32(config["d_model"] ** 0.5),
                side + "/position_encodings/encodings": sinusoids(64, config["d_model"]).astype(plain)}
        for i in range(config[side + "_layers"]):
            ours, theirs = f"model.{side}.layers.{i}.", f"{side}/layer_{i}/"
            linear(theirs + "self_attention/linear_0", ours + "self_attn.", ["q_proj", "k_proj", "v_proj"])
            linear(theirs + "self_attention/linear_1", ours + "self_attn.", ["out_proj"])
            norm(theirs + "self_attention/layer_norm", ours + "self_attn_layer_norm")
            if side == "decoder":
                linear(theirs + "attention/linear_0", ours + "encoder_attn.", ["q_proj"])
                linear(theirs + "attention/linear_1", ours + "encoder_attn.", ["k_proj", "v_proj"])
                linear(theirs + "attention/linear_2", ours + "encoder_attn.", ["out_proj"])
                norm(theirs + "attention/layer_norm", ours + "encoder_attn_layer_norm")
            linear(theirs + "ffn/linear_0", ours, ["fc1"])
            linear(theirs + "ffn/linear_1", ours, ["fc2"])
            norm(theirs + "ffn/layer_norm", ours + "final_layer_norm")
    out |= {"encoder/embeddings_merge": np.int8(0), "encoder/multi_query_attention": np.int8(0),
            "decoder/start_from_zero_embedding": np.int8(1), "decoder/alignment_layer": np.int16(-1),
            "decoder/alignment_heads": np.int16(1), "decoder/alibi": np.int8(0),
            "decoder/alibi_use_positive_positions": np.int8(0), "decoder/scale_alibi": np.int8(0)}
    return out, aliases


def write_model(path, variables, aliases):
    def text(string):
        return struct.pack("<H", len(string) + 1) + string.encode() + b"\0"

    with open(path, "wb") as file:
        file.write(struct.pack("<I", 6) + text("TransformerSpec") + struct.pack("<II", 7, len(variables)))
        for name, value in sorted(variables.items()):
            value = np.asarray(value)
            file.write(text(name) + struct.pack(f"<B{value.ndim}IBI", value.ndim, *value.shape, TYPES.index(str(value.dtype)),
                                                value.nbytes) + value.tobytes())
        file.write(struct.pack("<I", len(aliases)))
        for alias, name in sorted(aliases.items()):
            file.write(text(alias) + text(name))


def make(folder, to, kind, change=lambda variables, aliases, tokens: None):
    os.mkdir(to)
    variables, aliases = variables_of(folder, kind)
    with open(os.path.join(folder, "vocab.json"), encoding="utf-8") as file:
        ids = json.load(file)
    tokens = sorted((token for token in ids if token != "<pad>"), key=ids.get)
    change(variables, aliases, tokens)
    write_model(os.path.join(to, "model.bin"), variables, aliases)
    with open(os.path.join(to, "shared_vocabulary.json"), "w", encoding="utf-8") as file:
        json.dump(tokens, file, ensure_ascii=False, indent=2)
    with open(os.path.join(to, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"add_source_bos": False, "add_source_eos": False, "bos_token": "<s>", "decoder_start_token": "</s>",
                   "eos_token": "</s>", "layer_norm_epsilon": None, "unk_token": "<unk>"}, file, indent=2)
    for side in ("source.spm", "target.spm"):
        shutil.copy(os.path.join(folder, side), to)


def near(kind, one, other):
    a, b = read_safetensors(one), read_safetensors(other)
    assert a.keys() == b.keys(), a.keys() ^ b.keys()
    for name in a:
        x, y = a[name].reshape(-1), b[name].reshape(-1)
        most = {"float32": 0, "float16": 2 ** -11 * np.abs(x) + 2 ** -25, "int8": np.abs(x).max() / 127 * 0.5001,
                "int16": np.abs(x).max() / 1024 * 0.5001}[kind] if x.size else 0
        if kind.startswith("int") and name.endswith("bias") or "norm" in name and kind != "float16":
            most = 0
        if kind == "int16" and "proj" in name and name.endswith("weight"):
            most = max(np.abs(t).max() for n, t in a.items() if n.endswith("weight")) / 1024 * 0.5001  # parts share a scale
        assert (np.abs(x - y) <= most).all(), (name, np.abs(x - y).max())


def change(folder, to, how):
    def refused(variables, aliases, tokens):
        if how == "pre_norm":
            variables["encoder/pre_norm"] = np.int8(1)
        elif how == "start":
            variables["decoder/start_from_zero_embedding"] = np.int8(0)
        elif how == "unknown":
            variables["encoder/layer_0/self_attention/relative_attention_bias"] = np.zeros((2, 2), np.float32)
        elif how == "missing":
            del variables["decoder/layer_1/ffn/linear_1/bias"]
        elif how == "positions":
            table = variables["decoder/position_encodings/encodings"]
            variables["decoder/position_encodings/encodings"] = table[:, ::-1].copy()
        elif how == "untied":
            del aliases["decoder/projection/weight"]
            variables["decoder/projection/weight"] = variables["decoder/embeddings/weight"] + np.float32(1)
        elif how == "tokens":
            tokens.pop()
        elif how == "twice":
            tokens[-1] = tokens[-2]
        elif how == "part":
            variables["encoder/layer_0/self_attention/linear_0/bias"] = np.zeros(10, np.float32)
        else:
            raise SystemExit(how)
    make(folder, to, "float32", refused)


if __name__ == "__main__":
    {"pad": pad, "make": make, "near": near, "change": change}[sys.argv[1]](*sys.argv[2:])
