"""CTranslate2's folder for ctranslate2.sh, by its published specification and without tfc's code:

    python3 ctranslate2.py pad FOLDER             makes the row and the bias of <pad> zeros, which CTranslate2 has not
    python3 ctranslate2.py make FOLDER TO TYPE    a published folder (config.json, vocab.json or tokenizer.json, safetensors of
                                                  f32) of Marian, BART, mBART or M2M-100 as CTranslate2's, of float32,
                                                  float16, bfloat16, int8 or int16
    python3 ctranslate2.py near TYPE A B          both safetensors have the same tensors, within the rounding of TYPE
    python3 ctranslate2.py change FROM TO HOW     one that is refused
    python3 ctranslate2.py words CONFIG WEIGHTS TO     a published folder of a model of 40 tokens, which are words
    python3 ctranslate2.py pieces CONFIG WEIGHTS SPM TO    the same with the pieces of a SentencePiece model in its order,
                                                  which becomes one of BPE

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

    def values(t):
        content = data[slice(*t["data_offsets"])]
        if t["dtype"] == "BF16":
            return (np.frombuffer(content, np.uint16).astype(np.uint32) << 16).view(np.float32)
        return np.frombuffer(content, {"F32": np.float32, "F16": np.float16}[t["dtype"]]).astype(np.float32)
    return {name: values(t).reshape(t["shape"]) for name, t in head.items() if name != "__metadata__"}


def pad(folder):
    path = os.path.join(folder, "model.safetensors")
    with open(path, "r+b") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        head = json.loads(file.read(length))
        for name, row in (("model.shared.weight", head["model.shared.weight"]["shape"][1]), ("final_logits_bias", 1)):
            file.seek(8 + length + head[name]["data_offsets"][1] - 4 * row)
            file.write(bytes(4 * row))


def sinusoids(rows, d, first, turns):
    """Of Hugging Face's Marian, or of fairseq: from position `first` on, down to 1 / 10000 after so many turns."""
    angle = (np.arange(rows) + first)[:, None] / 10000 ** (np.arange(d // 2) / turns)
    return np.concatenate([np.sin(angle), np.cos(angle)], 1).astype(np.float32)


def as_type(value, kind):
    """Of bfloat16 as items of two bytes, which NumPy has no name for; the nearest, the even one of two."""
    if kind != "bfloat16":
        return value.astype(kind)
    bits = np.ascontiguousarray(value, np.float32).view(np.uint32).astype(np.uint64)
    return (bits + 0x7fff + (bits >> 16 & 1) >> 16).astype(np.uint16).view("V2")


def quantised(name, value, kind):
    """A variable of a linear layer or a table, with its scales."""
    if kind == "int8":
        most = np.abs(value).max(1)
        scale = (127 / np.where(most == 0, 127, most)).astype(np.float32)
        return {name: np.rint(value * scale[:, None]).astype(np.int8), name + "_scale": scale}
    if kind == "int16":
        scale = np.float32(2 ** 10 / np.abs(value).max())
        return {name: np.rint(value * scale).astype(np.int16), name + "_scale": scale}
    return {name: as_type(value, kind)}


ACTIVATIONS = {"relu": 0, "gelu_new": 1, "swish": 2, "gelu": 3}


def variables_of(folder, kind):
    """The variables, and other names of some: the table stands once."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    tensors = read_safetensors(os.path.join(folder, "model.safetensors"))
    family, d = config["model_type"], config["d_model"]
    pre_norm, norms_embedding = family in ("mbart", "m2m_100"), family in ("bart", "mbart")
    plain = kind if kind.endswith("float16") else "float32"
    rows = slice(-1) if family == "marian" else slice(None)  # without <pad>
    out = quantised("decoder/embeddings/weight", tensors["model.shared.weight"][rows], kind)
    aliases = {other + end: "decoder/embeddings/weight" + end for other in ("decoder/projection/weight", "encoder/embeddings_0/weight")
               for end in (("", "_scale") if kind.startswith("int") else ("",))}
    if tensors.get("final_logits_bias", np.zeros(1)).any():
        out["decoder/projection/bias"] = as_type(tensors["final_logits_bias"].reshape(-1)[rows], plain)
    out["decoder/projection/keep_in_float32"] = np.int8(0)

    def linear(name, prefix, parts):
        out.update(quantised(name + "/weight", np.concatenate([tensors[prefix + p + ".weight"] for p in parts]), kind))
        out[name + "/bias"] = as_type(np.concatenate([tensors[prefix + p + ".bias"] for p in parts]), plain)
        out[name + "/keep_in_float32"] = np.int8(0)

    def norm(name, prefix):
        out[name + "/gamma"], out[name + "/beta"] = (as_type(tensors[prefix + end], plain) for end in (".weight", ".bias"))

    for side in ("encoder", "decoder"):
        positions = (tensors[f"model.{side}.embed_positions.weight"][2:] if norms_embedding else
                     sinusoids(64, d, 2, d // 2 - 1) if pre_norm else sinusoids(64, d, 0, d // 2))
        out |= {side + "/num_heads": np.int16(config[side + "_attention_heads"]), side + "/pre_norm": np.int8(pre_norm),
                side + "/activation": np.int8(ACTIVATIONS[config["activation_function"]]),
                side + "/scale_embeddings": np.float32(d ** 0.5 if config.get("scale_embedding") else 1),
                side + "/position_encodings/encodings": as_type(positions, plain)}
        if pre_norm:
            norm(side + "/layer_norm", f"model.{side}.layer_norm")
        if norms_embedding:
            norm(side + "/layernorm_embedding", f"model.{side}.layernorm_embedding")
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
            "decoder/start_from_zero_embedding": np.int8(family == "marian"), "decoder/alignment_layer": np.int16(-1),
            "decoder/alignment_heads": np.int16(1), "decoder/alibi": np.int8(0),
            "decoder/alibi_use_positive_positions": np.int8(0), "decoder/scale_alibi": np.int8(0)}
    return out, aliases


def named_tokens(folder, config):
    """In the order of their ids; those that the tokenizer lacks are called as its converter calls them."""
    with open(os.path.join(folder, "vocab.json"), encoding="utf-8") as file:
        ids = json.load(file)
    if config["model_type"] == "marian":
        return sorted((token for token in ids if token != "<pad>"), key=ids.get)
    names = {i: token for token, i in ids.items()}
    return [names.get(i, f"madeupword{i}") for i in range(config["vocab_size"])]


def write_model(path, variables, aliases):
    def text(string):
        return struct.pack("<H", len(string) + 1) + string.encode() + b"\0"

    with open(path, "wb") as file:
        file.write(struct.pack("<I", 6) + text("TransformerSpec") + struct.pack("<II", 7, len(variables)))
        for name, value in sorted(variables.items()):
            value = np.asarray(value)
            file.write(text(name) + struct.pack(f"<B{value.ndim}IBI", value.ndim, *value.shape, TYPES.index("bfloat16" if value.dtype.kind == "V" else str(value.dtype)),
                                                value.nbytes) + value.tobytes())
        file.write(struct.pack("<I", len(aliases)))
        for alias, name in sorted(aliases.items()):
            file.write(text(alias) + text(name))


def make(folder, to, kind, change=lambda variables, aliases, tokens, settings: None):
    os.mkdir(to)
    variables, aliases = variables_of(folder, kind)
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    tokens = named_tokens(folder, config)
    settings = {"add_source_bos": False, "add_source_eos": False, "bos_token": "<s>", "decoder_start_token": "</s>",
                "eos_token": "</s>", "layer_norm_epsilon": None, "multi_query_attention": False, "unk_token": "<unk>"}
    change(variables, aliases, tokens, settings)
    write_model(os.path.join(to, "model.bin"), variables, aliases)
    with open(os.path.join(to, "shared_vocabulary.json"), "w", encoding="utf-8") as file:
        json.dump(tokens, file, ensure_ascii=False, indent=2)
    with open(os.path.join(to, "config.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=2)
    for name, theirs in (("source.spm",) * 2, ("target.spm",) * 2, ("tokenizer.json",) * 2, ("tokenizer.model", "sentencepiece.bpe.model")):
        if os.path.exists(os.path.join(folder, name)):
            shutil.copy(os.path.join(folder, name), os.path.join(to, theirs))


def words(config, weights, to):
    special = {0: "</s>", 1: "<s>", 39: "<pad>"}
    publish(config, weights, to, {special.get(i, f"t{i}"): i for i in range(40)})
    added = [{"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, token in special.items()]
    with open(os.path.join(to, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump({"version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
                   "post_processor": None, "decoder": None,
                   "model": {"type": "WordLevel", "unk_token": "t2", "vocab": {f"t{i}": i for i in range(2, 38)}}}, file)


def copy_weights(path, to):
    """Without the batches and results that a fixture has; what CTranslate2 has not is zeros."""
    with open(path, "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    kept, out = {}, b""
    for name, t in head.items():
        if name.startswith("model.") or name == "final_logits_bias":
            content = data[slice(*t["data_offsets"])]
            if "embed_positions" in name:  # the first two rows are never read
                unread = 2 * 4 * t["shape"][1]
                content = bytes(unread) + content[unread:]
            kept[name] = t | {"data_offsets": [len(out), len(out) + len(content)]}
            out += content
    text = json.dumps(kept).encode()
    with open(to, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + out)


def publish(config, weights, to, ids):
    os.mkdir(to)
    with open(config, encoding="utf-8") as file:
        config = json.load(file)
    config.pop("forced_bos_token_id", None)  # which CTranslate2's folder does not have
    config |= {"eos_token_id": ids["</s>"], "decoder_start_token_id": ids["</s>"], "bos_token_id": ids["<s>"],
               "pad_token_id": ids["<pad>"]}
    with open(os.path.join(to, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    copy_weights(weights, os.path.join(to, "model.safetensors"))
    with open(os.path.join(to, "vocab.json"), "w", encoding="utf-8") as file:
        json.dump(ids, file)


def fields(data):
    """The fields of a Protocol Buffers message: number, kind, content, and the bytes of all of it."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < len(data):
        start, key = at, varint()
        number, kind = key >> 3, key & 7
        if kind == 0:
            content = varint()
        else:
            length = varint() if kind == 2 else 4 if kind == 5 else 8
            content = data[at:at + length]
            at += length
        yield number, kind, content, data[start:at]


def pieces(config, weights, spm, to):
    """sentencepiece_model.proto: pieces are field 1 with their text in 1; the trainer's settings field 2, its model_type 3."""
    with open(spm, "rb") as file:
        model = list(fields(file.read()))
    texts = [content.decode() for number, _, piece, _ in model if number == 1
             for inner, _, content, _ in fields(piece) if inner == 1]
    names = (texts + ["<pad>"] * ("<pad>" not in texts) + ["xx_Latn", "yy_Latn"] + [f"madeupword{i}" for i in range(40)])[:40]
    publish(config, weights, to, {token: i for i, token in enumerate(names)})
    with open(os.path.join(to, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump({"added_tokens_decoder": {str(i): {"content": names[i], "special": True}
                                            for i in range(len(texts), 40) if not names[i].startswith("madeup")}}, file)

    def length(content):
        return bytes([len(content) & 127 | 128, len(content) >> 7]) + content  # of up to 16383 bytes
    out = b""
    for number, _, content, whole in model:
        if number == 2:
            settings = b"".join(all_of for inner, _, _, all_of in fields(content) if inner != 3) + b"\x18\x02"
            whole = b"\x12" + length(settings)
        out += whole
    with open(os.path.join(to, "tokenizer.model"), "wb") as file:
        file.write(out)


def near(kind, one, other):
    a, b = read_safetensors(one), read_safetensors(other)
    assert a.keys() == b.keys(), a.keys() ^ b.keys()
    for name in a:
        x, y = a[name].reshape(-1), b[name].reshape(-1)
        most = {"float32": 0, "float16": 2 ** -11 * np.abs(x) + 2 ** -25, "bfloat16": 2 ** -8 * np.abs(x), "int8": np.abs(x).max() / 127 * 0.5001,
                "int16": np.abs(x).max() / 1024 * 0.5001}[kind] if x.size else 0
        if kind.startswith("int") and name.endswith("bias") or "norm" in name and not kind.endswith("float16"):
            most = 0
        if kind == "int16" and "proj" in name and name.endswith("weight"):
            most = max(np.abs(t).max() for n, t in a.items() if n.endswith("weight")) / 1024 * 0.5001  # parts share a scale
        assert (np.abs(x - y) <= most).all(), (name, np.abs(x - y).max())


def change(folder, to, how):
    def refused(variables, aliases, tokens, settings):
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
        elif how == "scale":
            variables["encoder/scale_embeddings"] = np.float32(3)
        elif how == "decoder":
            for name in [name for name in variables if name.startswith("encoder/")]:
                del variables[name]
            aliases.pop("encoder/embeddings_0/weight")
        elif how == "two_heads":
            variables["encoder/num_heads"] = np.array([2, 2], np.int16)
        elif how == "half_heads":
            variables["decoder/num_heads"] = np.float32(2.5)
        elif how == "no_scale":
            name = "encoder/layer_0/ffn/linear_0/weight"
            variables[name] = np.zeros(variables[name].shape, np.int8)
        elif how == "row":
            variables["decoder/position_encodings/encodings"][9] = 0
        elif how == "epsilon_text":
            settings["layer_norm_epsilon"] = "1"
        elif how == "epsilon":
            settings["layer_norm_epsilon"] = 1e-6
        elif how == "begins":
            settings["add_source_bos"] = True
        elif how == "no_start":
            settings["decoder_start_token"] = None
        elif how == "no_pad":
            tokens[tokens.index("<pad>")] = "other"
        elif how == "grown":
            inner = "encoder/layer_0/ffn/linear_"
            variables |= {inner + "0/weight": np.zeros((2048, 16), np.float32), inner + "0/bias": np.zeros(2048, np.float32),
                          inner + "1/weight": np.zeros((16, 2048), np.float32)}
            for name in [name for name in variables if name.startswith("encoder/layer_0/")]:
                aliases |= {name.replace("layer_0", f"layer_{n}", 1): name for n in range(1, 41)}
        else:
            raise SystemExit(how)
    make(folder, to, "float32", refused)


if __name__ == "__main__":
    {"pad": pad, "make": make, "near": near, "change": change, "words": words, "pieces": pieces}[sys.argv[1]](*sys.argv[2:])
