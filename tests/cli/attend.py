"""The weights of a run's first layers, computed anew in f64 from its params, against tfc attend's.

Usage: attend.py RUN.safetensors WEIGHTS.npz LINE HEADS VOCAB SOURCE TARGET
       attend.py RUN.safetensors WEIGHTS.npz LINE HEADS VOCAB SCOPE=TEXT…    encoders of tables, with a norm before
"""
import json
import struct
import sys

import numpy

params, weights, line, heads, vocab, *texts = sys.argv[1:]
heads = int(heads)


def tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: numpy.frombuffer(data[slice(*info["data_offsets"])], "<f4").reshape(info["shape"]).astype("f8")
            for name, info in header.items() if name != "__metadata__" and info["dtype"] == "F32"}


def attention(p, scope, x, memory, causal=False):
    def rows(name, value):
        value = value @ p[f"{scope}.{name}.weight"] + p[f"{scope}.{name}.bias"]
        return value.reshape(len(value), heads, -1).transpose(1, 0, 2)
    q, k = rows("query", x), rows("key", memory)
    scores = q @ k.transpose(0, 2, 1) / numpy.sqrt(q.shape[2])
    if causal:
        scores = numpy.where(numpy.tri(len(x)), scores, -numpy.inf)
    scores = numpy.exp(scores - scores.max(-1, keepdims=True))
    return scores / scores.sum(-1, keepdims=True)


def embed(p, ids, scaled=True):
    table = p["embedding"]
    d = table.shape[1]
    angle = numpy.arange(len(ids))[:, None] / 10000 ** (numpy.arange(d) // 2 * 2 / d)
    return table[ids] * (numpy.sqrt(d) if scaled else 1) + numpy.where(numpy.arange(d) % 2, numpy.cos(angle), numpy.sin(angle))


p = tensors(params)
words = [word.rstrip("\n") for word in open(vocab)]
given = numpy.load(weights)
ids = lambda text: [words.index(word) for word in text.split()]
def normed(name, x):
    x = x - x.mean(-1, keepdims=True)
    return x / numpy.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5) * p[name + ".gain"] + p[name + ".bias"]


def tabled(scope, text, again):
    norm = next(name for name in (scope + ".n1", scope + ".self_norm") if name + ".gain" in p)
    x = normed(norm, embed(p, ids(text), scaled=False))
    return {scope + ".self" + again: attention(p, scope + ".self", x, x)}


own = {}
if "=" in texts[0]:
    for i, text in enumerate(texts):
        scope, text = text.split("=", 1)
        own |= tabled(scope, text, f".{i + 1}" if i else "")
else:
    own = {"encoder.layer.0.self": attention(p, "encoder.layer.0.self", *[embed(p, ids(texts[0]))] * 2),
           "decoder.layer.0.self": attention(p, "decoder.layer.0.self", *[embed(p, ids(texts[1]))] * 2, causal=True)}
for name, want in own.items():
    got = given[f"{line}.{name}"]
    assert got.shape == want.shape, (name, got.shape, want.shape)
    apart = abs(got - want).max()
    assert apart < 1e-5, (name, apart)
    print(f"{name}: {apart:.1g} apart")
for name in given.files:
    assert abs(given[name].sum(-1) - 1).max() < 1e-5, name
