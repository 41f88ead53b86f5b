#!/usr/bin/python3
"""Seeds of fuzz_formats and fuzz_gguf beside those of tests/fixtures/formats: small files of each version and type.

    apt-get install python3-torch python3-numpy
    /usr/bin/python3 tests/fuzz/make_seeds.py
"""
import io
import os
import struct
import sys
from collections import OrderedDict

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from gguf_file import ARRAY, BOOL, F32, F64, I8, I16, I32, I64, TEXT, U8, U16, U32, U64, write_gguf  # noqa: E402

FORMATS = os.path.join(HERE, "seeds", "formats")
GGUF = os.path.join(HERE, "seeds", "gguf")


def write(name, content):
    with open(os.path.join(FORMATS, name), "wb") as file:
        file.write(content)


def make_torch():
    """Of each protocol that torch.save takes, in both forms."""
    small = torch.arange(6.0).reshape(2, 3)
    state = OrderedDict([("module.a", small), ("module.b", small.T.half()), ("module.c", small.bfloat16()[:, 1:]),
                         ("module.n", torch.tensor(3))])
    for protocol in (2, 3, 4, 5):
        for zipped in (True, False):
            out = io.BytesIO()
            torch.save({"state_dict": state, "more": (1, 2.5, None, True, 1 << 40, b"b", "\u00e4", [[]], {1})}, out,
                       pickle_protocol=protocol, _use_new_zipfile_serialization=zipped)
            write(f"protocol_{protocol}.{'pt' if zipped else 'bin'}", out.getvalue())


def make_npy():
    """Versions 1 to 3 of the header, both orders, both byte orders, each kind of number."""
    for version in (1, 2, 3):
        for kind in ("<f4", ">f4", "<f2", "<f8", "|i1", "|u1", "<i8", ">i2", "|b1")[:9 if version == 1 else 1]:
            out = io.BytesIO()
            array = np.asfortranarray(np.arange(6).reshape(2, 3).astype(kind))
            np.lib.format.write_array(out, array if version != 2 else np.ascontiguousarray(array), version=(version, 0))
            write(f"v{version}_{kind[1:]}{'_big' if kind[0] == '>' else ''}.npy", out.getvalue())


def make_ctranslate2():
    """Each version that is read, each type, scales and other names."""
    def text(string):
        return struct.pack("<H", len(string) + 1) + string.encode() + b"\0"

    variables = [("whole", 1, [2, 3], bytes(range(6))), ("whole_scale", 0, [2], struct.pack("<2f", 2, 3)),
                 ("wide", 2, [2, 2], struct.pack("<4h", 1, -2, 3, 4)), ("wide_scale", 0, [], struct.pack("<f", 1000)),
                 ("number", 3, [], struct.pack("<i", 8)), ("half", 4, [3], bytes(6)), ("short", 5, [3], bytes(6))]
    for version in (4, 5, 6):
        out = struct.pack("<I", version) + text("TransformerSpec") + struct.pack("<II", 7, len(variables))
        for name, kind, shape, content in variables:
            out += text(name) + struct.pack(f"<B{len(shape)}IBI", len(shape), *shape, kind, len(content)) + content
        write(f"version_{version}.model.bin", out + struct.pack("<I", 1) + text("other") + text("whole"))


def make_onnx():
    """Each field that holds numbers (onnx.proto, TensorProto), and a tensor whose data is in another file."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    def field(number, content):
        return (varint(number << 3) + varint(content) if isinstance(content, int)
                else varint(number << 3 | 2) + varint(len(content)) + content)

    tensors = [(1, 4, struct.pack("<2f", 1, 2)), (6, 5, b"\1\2"), (10, 5, b"\1\2"), (7, 7, b"\3\4"), (11, 10, struct.pack("<2d", 1, 2)),
               (13, 11, b"\5\6"), (3, 9, b"\1\2"), (16, 9, bytes(4)), (9, 9, b"\0\1")]
    graph = b"".join(field(5, field(1, 2) + field(2, kind) + field(place, data) + field(8, b"t%d" % i))
                     for i, (kind, place, data) in enumerate(tensors))
    graph += field(5, field(1, 1) + field(2, 1) + field(8, b"unpacked") + bytes([4 << 3 | 5]) + struct.pack("<f", 4))
    write("fields.onnx", field(1, 8) + field(7, graph) + field(8, field(2, 17)))
    outside = field(5, field(1, 2) + field(2, 1) + field(8, b"away") + field(13, field(1, b"location") + field(2, b"x.bin")) + field(14, 1))
    write("outside.onnx", field(1, 8) + field(7, outside) + field(8, field(2, 17)))


def make_gguf():
    """A model of pieces and one of merges, with metadata of each kind."""
    kinds = [("k.%d" % i, kind, 1) for i, kind in enumerate((U8, I8, U16, I16, U32, I32, F32, BOOL, U64, I64, F64))]
    sizes = [("block_count", U32, 1), ("embedding_length", U32, 8), ("feed_forward_length", U32, 8), ("attention.head_count", U32, 2),
             ("attention.head_count_kv", U32, 1), ("context_length", U32, 16), ("attention.layer_norm_rms_epsilon", F32, 1e-5),
             ("attention.layer_norm_epsilon", F32, 1e-5), ("rope.freq_base", F32, 1e4), ("rope.scaling.type", TEXT, "linear"),
             ("rope.scaling.factor", F32, 2)]
    ends = [("tokenizer.ggml.bos_token_id", U32, 1), ("tokenizer.ggml.eos_token_id", U32, 2),
            ("tokenizer.ggml.add_bos_token", BOOL, True), ("tokenizer.chat_template", TEXT, "{{ messages }}")]
    pieces = ["<unk>", "<s>", "</s>", "<0x0A>", "\u2581", "a", "b", "\u2581a", "ab"]
    merged = ["<unk>", "<s>", "</s>", "\u0120", "a", "b", "\u0120a", "ab", "!"]
    types = [2, 3, 3, 6] + [1] * 5
    ones = np.ones(64, np.float32)
    for arch in ("llama", "qwen2", "qwen3", "gpt2", "olmo2", "gemma", "gemma2", "gemma3", "phi3", "t5", "bert"):
        tensors = [("token_embd.weight", [9, 8], 0, np.ones(72, np.float32).tobytes()), ("blk.0.attn_q.weight", [8, 8], 0, ones.tobytes()),
                   ("blk.0.attn_k.weight", [4, 8], 0, ones[:32].tobytes()), ("blk.0.attn_norm.weight", [8], 0, ones[:8].tobytes()),
                   ("blk.0.ffn_up.weight", [8, 32], 8, bytes(34 * 8))]
        own = [("general.architecture", TEXT, arch)] + [(f"{arch}.{key}", kind, what) for key, kind, what in sizes]
        text = [("tokenizer.ggml.model", TEXT, "llama"), ("tokenizer.ggml.tokens", ARRAY, (TEXT, pieces)),
                ("tokenizer.ggml.scores", ARRAY, (F32, [-float(i) for i in range(9)])),
                ("tokenizer.ggml.token_type", ARRAY, (I32, types))]
        if arch == "llama":  # numbers that no integer holds
            wide = [("tokenizer.ggml.bos_token_id", U64, 2 ** 64 - 1), ("tokenizer.ggml.eos_token_id", F64, 1e300),
                    ("tokenizer.ggml.padding_token_id", F32, float("nan")), ("llama.vocab_size", F64, -1e300),
                    ("tokenizer.ggml.token_type", ARRAY, (F64, [float("nan"), 1e300, -1e300] + [1.0] * 6))]
            write_gguf(os.path.join(GGUF, "numbers.gguf"), own + text[:3] + wide, tensors)
        if arch == "t5":
            text[0] = ("tokenizer.ggml.model", TEXT, "t5")
        if arch == "bert":
            own.append(("bert.pooling_type", U32, 1))
            text = [("tokenizer.ggml.model", TEXT, "bert"), ("tokenizer.ggml.token_type_count", U32, 2),
                    ("tokenizer.ggml.tokens", ARRAY, (TEXT, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581a", "b", "\u2581c", "d", "e"])),
                    ("tokenizer.ggml.token_type", ARRAY, (I32, [3] * 4 + [1] * 5))]
        if arch in ("qwen2", "qwen3", "gpt2", "olmo2"):
            text = [("tokenizer.ggml.model", TEXT, "gpt2"), ("tokenizer.ggml.pre", TEXT, "gpt-2" if arch == "gpt2" else "qwen2"),
                    ("tokenizer.ggml.tokens", ARRAY, (TEXT, merged)), ("tokenizer.ggml.merges", ARRAY, (TEXT, ["\u0120 a", "a b"])),
                    ("tokenizer.ggml.token_type", ARRAY, (I32, types))]
        write_gguf(os.path.join(GGUF, arch + ".gguf"), own + text + ends + kinds, tensors, version=2 if arch == "gpt2" else 3)


if __name__ == "__main__":
    torch.set_default_dtype(torch.float32)
    os.makedirs(GGUF, exist_ok=True)
    for maker in (make_torch, make_npy, make_ctranslate2, make_onnx, make_gguf):
        maker()
