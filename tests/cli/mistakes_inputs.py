"""Files and folders of other programs that are damaged, or of a kind that tfc does not read: what rows of
tests/mistakes.txt name. mistakes_inputs.py   (in a folder that has minilm, whole and run)"""
import io
import json
import os
import pickle
import shutil
import struct
import sys
import tarfile
import types
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from npz import SETTINGS, npy  # noqa: E402


# ---- folders of published models -----------------------------------------------------

def folder(name, base=None, **files):
    """A copy of `base` with other texts: a name's __ is a dot, and a text None takes the file away."""
    if base:
        shutil.copytree(base, name, symlinks=True)
    else:
        os.mkdir(name)
    for file, text in files.items():
        path = os.path.join(name, file.replace("__", ".").replace("10", "1_Pooling/config.json"))
        if text is None:
            os.remove(path)
        else:
            with open(path, "w") as out:
                out.write(text if isinstance(text, str) else json.dumps(text))


folder("escape", config__json='{"model_type": "be\\qrt"}')
folder("dash", config__json='{"vocab_size": -}')
folder("comma", config__json='{"vocab_size": 3 "model_type": "bert"}')
folder("list", "minilm", tokenizer_config__json="[]")
folder("pools", "minilm", **{"10": {"word_embedding_dimension": 32}})
folder("added", "minilm", tokenizer_config__json={"added_tokens_decoder": {"5": "a"}})
folder("added_text", "minilm", tokenizer_config__json={"added_tokens_decoder": "a"})
folder("added_empty", "minilm", tokenizer_config__json={"added_tokens_decoder": {"": {"content": "a"}}})
folder("worded_length", "minilm", sentence_bert_config__json={"max_seq_length": "100"})
folder("counted_pools", "minilm", **{"10": {"pooling_mode_cls_token": 1, "pooling_mode_mean_tokens": True}})
folder("lists_kind", "minilm", tokenizer__json=None, vocab__txt="[UNK]\n[SEP]\n[PAD]\n[CLS]\n[MASK]\na\n",
       tokenizer_config__json={"do_lower_case": "false"})
folder("no_type", config__json={"model_type": "llama", "rope_scaling": {"factor": 3.0}})
folder("no_factor", config__json={"model_type": "llama", "rope_scaling": {"type": "linear"}})
folder("few_layers", config__json={"model_type": "gemma2", "num_hidden_layers": 2, "layer_types": ["sliding_attention"]})
LLAMA3 = {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1,
          "original_max_position_embeddings": 8192}
folder("moved", config__json={"model_type": "llama", "rope_theta": 10000, "rope_parameters": {"rope_theta": 5}})
folder("low_above_high", config__json={"model_type": "llama", "rope_scaling": LLAMA3})
folder("two_begins", config__json={"model_type": "llama", "bos_token_id": [1, 2]})
folder("class_text", config__json={"model_type": "llama", "architectures": "LlamaForQuestionAnswering"})
folder("added_old", "minilm", added_tokens__json={"<x>": "9"})
with open("minilm/tokenizer.json") as file:
    cased = json.load(file)
cased["normalizer"]["lowercase"] = False
folder("cased", "minilm", tokenizer__json=cased)
folder("flags", "minilm", tokenizer_config__json={"do_lower_case": False, "strip_accents": False})
folder("nul_list", "minilm", tokenizer__json=None, vocab__txt="[UNK]\n[SEP]\n[PAD]\n[CLS]\n[MASK]\na\0b\n")
cased["normalizer"].update(lowercase=True, handle_chinese_chars=False)
folder("hanzi", "minilm", tokenizer__json=cased)
cased["normalizer"].update(handle_chinese_chars=True)
folder("frameless", "minilm", tokenizer__json={**cased, "post_processor": None})
folder("uncut", "minilm", tokenizer__json={**cased, "pre_tokenizer": None})
folder("short_words", "minilm", tokenizer__json={**cased, "model": {**cased["model"], "max_input_chars_per_word": 3}})

# ---- Marian's folders ----------------------------------------------------------------

SIZES = {"decoder_layers": 1, "encoder_layers": 1, "d_model": 4, "tokens": 3, "encoder_ffn_dim": 4, "dropout": 0,
         "activation_function": "relu", "encoder_attention_heads": 1}


def marian(name, models=1, vocab='"</s>": 0\n"<unk>": 1\n"a": 2\n', settings=SETTINGS % SIZES, **more):
    os.mkdir(name)
    settings = settings.encode() + b"\0"
    for i in range(models):
        with zipfile.ZipFile("%s/model%d.npz" % (name, i), "w") as out:
            out.writestr("special:model.yml.npy", npy([len(settings)], settings, "|i1"))
            out.writestr("Wemb.npy", npy([3, 4], bytes(48)))
    for i in range(more.get("lists", 1)):
        with open("%s/%d.vocab.yml" % (name, i), "w") as out:
            out.write(vocab)


marian("models", models=2)
marian("lists", lists=3)
marian("padded", vocab='"</s>": 0\n"<unk>": 1\n"<pad>": 2\n')
marian("worded", vocab='"</s>": 0\n"<unk>": 1\n"a": two\n')
marian("keyed", settings="[a]: 1\n")
marian("deep", settings="a: " + "[" * 200 + "]" * 200 + "\n")

# ---- files of weights ----------------------------------------------------------------

with zipfile.ZipFile("script.pt", "w") as out:
    out.writestr("m/data.pkl", pickle.dumps({}, 2))
    out.writestr("m/constants.pkl", pickle.dumps((), 2))
    out.writestr("m/code/__torch__.py", "")
with zipfile.ZipFile("nothing.pt", "w") as out:
    out.writestr("m/version", "3\n")


def torch_archive(name, rows, stored, *metadata):
    """PyTorch's archive of one tensor w : [rows, 4] with these bytes as its storage; None: the archive lacks it."""
    def function(module, name):
        made = type(name, (), {}) if name[0].isupper() else lambda *arguments: None
        made.__module__, made.__name__, made.__qualname__ = module, name, name
        setattr(sys.modules.setdefault(module, types.ModuleType(module)), name, made)
        return made

    rebuild, floats = function("torch._utils", "_rebuild_tensor_v2"), function("torch", "FloatStorage")

    storage = object()

    class Tensor:
        def __reduce__(self):
            return rebuild, (storage, 0, (rows, 4), (4, 1), False, {}, *metadata)

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            return ("storage", floats, "0", "cpu", 4) if value is storage else None

    pickled = io.BytesIO()
    Pickler(pickled, 2).dump({"w": Tensor()})
    with zipfile.ZipFile(name, "w") as out:
        out.writestr("m/data.pkl", pickled.getvalue())
        if stored is not None:
            out.writestr("m/data/0", stored)


torch_archive("unstored.pt", 1, None)
torch_archive("beyond.pt", 3, bytes(16))
torch_archive("negated.pt", 1, bytes(16), {"neg": True})
sizes = json.dumps({"e": {"dtype": "F32", "shape": [9, 4], "data_offsets": [0, 144]},
                    "tokens.lengths": {"dtype": "F32", "shape": [4], "data_offsets": [144, 160]}}).encode()
with open("lengths.safetensors", "wb") as out:
    out.write(struct.pack("<Q", len(sizes)) + sizes + bytes(160))
torch_archive("folders.pt", 1, bytes(16))
with zipfile.ZipFile("folders.pt", "a") as out:
    out.writestr("n/data.pkl", pickle.dumps({}, 2))
with tarfile.open("old.pt", "w") as out:
    out.add("t.txt")
with open("two.bin", "wb") as out:
    out.write(struct.pack("<IH16sII", 2, 16, b"TransformerSpec\0", 1, 0) + bytes(40))
with open("nine.gguf", "wb") as out:
    out.write(b"GGUF" + struct.pack("<IQQ", 9, 0, 0) + bytes(64))


def patched(name, change):
    """An archive of one stored file with some bytes of its directory changed: change(BYTES, its place, its end's)."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        out.writestr("w.npy", npy([3, 4], bytes(48)))
    data = bytearray(made.getvalue())
    change(data, data.rfind(b"PK\1\2"), data.rfind(b"PK\5\6"))
    marian(name, models=0)
    with open(name + "/model.npz", "wb") as file:
        file.write(data)


def set_at(offset, form, value):
    return lambda data, entry, end: struct.pack_into(form, data, entry + offset, value)


def with_locator(data, entry, end):
    data[end:end] = struct.pack("<4sIQI", b"PK\6\7", 0, 1 << 40, 1)


patched("locator", with_locator)
patched("named", set_at(28, "<H", 60000))
patched("marked", set_at(0, "<I", 0))
patched("sizes", set_at(20, "<I", 5))


def extra_64(data, entry, end):
    struct.pack_into("<I", data, entry + 24, 0xffffffff)   # the size stands in an extra field, which is empty
    struct.pack_into("<H", data, entry + 30, 4)
    data[end:end] = struct.pack("<HH", 1, 0)
    struct.pack_into("<I", data, end + 4 + 12, end + 4 - entry)


def cut(data, entry, end):
    struct.pack_into("<II", data, entry + 20, 4000, 4000)


def twice(data, entry, end):
    data[:0] = bytes(data)


patched("twice", twice)
patched("uncounted", lambda data, entry, end: struct.pack_into("<HH", data, end + 8, 0, 0))
patched("extra", extra_64)
patched("cut", cut)


def safetensors(name, **tensors):
    header, data = {}, b""
    for key, (shape, values) in tensors.items():
        part = struct.pack("<%di" % len(values), *values)
        header[key] = {"dtype": "I32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    with open(name, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


safetensors("square.safetensors", label=([1, 1], [0]))
safetensors("long.safetensors", **{"tokens": ([3], [0, 0, 0]), "tokens.lengths": ([2], [1 << 30, 3])})
safetensors("rows.safetensors", tokens=([1 << 28, 0], []))
safetensors("uneven.safetensors", **{"tokens": ([3], [0, 0, 0]), "tokens.lengths": ([2], [1, 1])})

# ---- prepared data -------------------------------------------------------------------

for name, text in [("no_record", "[]"), ("bare_record", '{"prepared": 2}')]:
    folder(name, prepared__json=text)
