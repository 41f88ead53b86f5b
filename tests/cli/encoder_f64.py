"""The forward pass of BERT, RoBERTa, DistilBERT and ALBERT in f64, and tiny folders of them, for tests/cli/pairs.py and
tests/cli/pooling.py, which check it against what transformers gave (tests/fixtures/make_published.py)."""
import json
import math
import os
import re
import struct

SPECIAL = {0: "</s>", 1: "<s>", 39: "<pad>"}


def read_tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    end = 8 + struct.unpack_from("<Q", data)[0]
    tensors = {}
    for name, about in json.loads(data[8:end]).items():
        if name == "__metadata__" or about["dtype"] not in ("F32", "I32"):
            continue
        a, b = about["data_offsets"]
        values = list(struct.unpack("<%d%s" % ((b - a) // 4, "f" if about["dtype"] == "F32" else "i"), data[end + a:end + b]))
        for size in reversed(about["shape"][1:]):
            values = [values[i:i + size] for i in range(0, len(values), size)]
        tensors[name] = values
    return tensors


def linear(x, w, bias):
    return [sum(a * b for a, b in zip(x, row)) + c for row, c in zip(w, bias)]


def norm(x, gain, bias, eps):
    mean = sum(x) / len(x)
    scale = (sum((v - mean) ** 2 for v in x) / len(x) + eps) ** -0.5
    return [(v - mean) * scale * g + b for v, g, b in zip(x, gain, bias)]


def gelu(x):
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def softmax(x):
    top = max(x)
    e = [math.exp(v - top) for v in x]
    return [v / sum(e) for v in e]


BERT_LAYER = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
              "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")
LAYERS = {"bert": ("encoder.layer.%d.", BERT_LAYER), "roberta": ("encoder.layer.%d.", BERT_LAYER),
          "distilbert": ("transformer.layer.%d.", ("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                                                   "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm")),
          "albert": ("encoder.albert_layer_groups.0.albert_layers.0.",
                     ("attention.query", "attention.key", "attention.value", "attention.dense", "attention.LayerNorm", "ffn",
                      "ffn_output", "full_layer_layer_norm"))}


class Encoder:
    """An encoder of transformers, and the head of its …ForSequenceClassification."""

    def __init__(self, config, tensors):
        self.kind, self.config, self.tensors = config["model_type"], config, tensors
        self.eps = config.get("layer_norm_eps", 1e-12)
        self.front = self.kind + "." if any(name.startswith(self.kind + ".") for name in tensors) else ""

    def get(self, name):
        return self.tensors[name]

    def dense(self, name, x):
        return linear(x, self.get(name + ".weight"), self.get(name + ".bias"))

    def norm(self, name, x):
        return norm(x, self.get(name + ".weight"), self.get(name + ".bias"), self.eps)

    def layer(self, x, i):
        front, parts = LAYERS[self.kind]
        q, k, v, out, after, inner, outer, last = (self.front + (front % i if "%" in front else front) + part for part in parts)
        heads = self.config.get("num_attention_heads") or self.config["n_heads"]
        act = gelu_tanh if self.config.get("hidden_act") == "gelu_new" else gelu
        qs, ks, vs = ([self.dense(name, row) for row in x] for name in (q, k, v))
        width, mixed = len(qs[0]) // heads, []
        for row in qs:
            joined = []
            for h in range(0, len(row), width):
                weights = softmax([sum(a * b for a, b in zip(row[h:h + width], key[h:h + width])) * width ** -0.5 for key in ks])
                joined += [sum(w * value[h + d] for w, value in zip(weights, vs)) for d in range(width)]
            mixed.append(joined)
        x = [self.norm(after, [a + b for a, b in zip(row, self.dense(out, m))]) for row, m in zip(x, mixed)]
        return [self.norm(last, [a + b for a, b in zip(row, self.dense(outer, [act(u) for u in self.dense(inner, row)]))]) for row in x]

    def states(self, ids, segments):
        """What the last layer gives for each token."""
        front, first = self.front + "embeddings.", self.config["pad_token_id"] + 1 if self.kind == "roberta" else 0
        x = []
        for i, (token, segment) in enumerate(zip(ids, segments)):
            rows = [self.get(front + "word_embeddings.weight")[token], self.get(front + "position_embeddings.weight")[i + first]]
            if self.kind != "distilbert":
                rows.append(self.get(front + "token_type_embeddings.weight")[segment])
            x.append(self.norm(front + "LayerNorm", [sum(v) for v in zip(*rows)]))
        if self.kind == "albert":
            x = [self.dense(self.front + "encoder.embedding_hidden_mapping_in", row) for row in x]
        for i in range(self.config.get("num_hidden_layers") or self.config["n_layers"]):
            x = self.layer(x, i)
        return x

    def logits(self, ids, segments):
        x = self.states(ids, segments)
        pooled = {"bert": "bert.pooler.dense", "albert": "albert.pooler", "distilbert": "pre_classifier", "roberta": "classifier.dense"}
        h = [max(v, 0) if self.kind == "distilbert" else math.tanh(v) for v in self.dense(pooled[self.kind], x[0])]
        return self.dense("classifier.out_proj" if self.kind == "roberta" else "classifier", h)


def words(kind):
    """A tokenizer.json of whole words, with the template of its kind."""
    vocab = {SPECIAL.get(i, f"t{i}"): i for i in range(40)}
    one = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    segment = int(kind != "roberta")
    two = one + [one[2]] * (1 - segment) + [{"Sequence": {"id": "B", "type_id": segment}}, {"SpecialToken": {"id": "</s>", "type_id": segment}}]
    special = {text: {"id": text, "ids": [i], "tokens": [text]} for i, text in ((0, "</s>"), (1, "<s>"))}
    return {"version": "1.0", "added_tokens": [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
                                                "normalized": False, "special": True} for i, text in ((0, "</s>"), (1, "<s>"))],
            "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": None,
            "post_processor": {"type": "TemplateProcessing", "single": one, "pair": two, "special_tokens": special},
            "model": {"type": "WordLevel", "unk_token": "t2", "vocab": vocab}}


def write(value, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        json.dump(value, file)


def write_weights(fixture, *path):
    """The params of a fixture as a file of weights."""
    with open(fixture, "rb") as file:
        data = file.read()
    end = 8 + struct.unpack_from("<Q", data)[0]
    header = {key: about for key, about in json.loads(data[8:end]).items()
              if not re.match(r"\d\.", key) and key not in ("__metadata__", "logits", "losses", "vector")}
    kept, at = [], 0
    for about in header.values():
        a, b = about["data_offsets"]
        kept.append(data[end + a:end + b])
        about["data_offsets"] = [at, at + b - a]
        at += b - a
    text = json.dumps(header).encode()
    with open(os.path.join(*path), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(kept))
