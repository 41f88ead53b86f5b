"""Whole models of models/lib with random sizes, beside the same in PyTorch: the papers' formulas in terms of
layers.py. Their params are asked for by the names of checkpoints."""
import torch

import layers
import meaning
from layers import attention, causal, cross_entropy, feed_forward, layer_norm, linear, param, rotary, sinusoid, window
from meaning import V, mask, softmax, transpose
from model import Model, Value, is_state

OPEN = V([torch.tensor(True)], False)


def following(tokens, ends):
    """For each token the one after it: of the last token the given one."""
    return V([torch.cat([r[:, 1:], e], 1) if r.shape[1] else r for r, e in zip(tokens.rows, ends)], True)


def add_norm(name, x, y):
    return layer_norm(name, x + y)


def transformer(m, scope, pre):
    """Vaswani et al. 2017; `pre`: Xiong et al. 2020, with norms before sublayers and at the ends."""
    d, table = m.consts["d_model"], param("embedding", m.consts["vocab"], m.consts["d_model"])
    def sublayer(name, norm, x, run):
        if pre:
            return x + run(layer_norm("%s.%s" % (name, norm), x))
        return layer_norm("%s.%s" % (name, norm), x + run(x))
    def embed(tokens, length):
        if m.own_source and tokens is scope["src"]:
            rows = param("source_embedding", m.consts["source_vocab"], d)[tokens]
        else:
            rows = table[tokens]
        return rows * d ** 0.5 + sinusoid(length, d)
    x = embed(scope["src"], scope["S"])
    for i in range(m.consts["layers"]):
        name = "encoder.layer.%d" % i
        x = sublayer(name, "self_norm", x, lambda n: attention(name + ".self", n, n, OPEN))
        x = sublayer(name, "feed_norm", x, lambda n: feed_forward(name + ".feed_forward", n))
    x = layer_norm("encoder.norm", x) if pre else x
    y = embed(scope["tgt"], scope["T"])
    for i in range(m.consts["layers"]):
        name = "decoder.layer.%d" % i
        y = sublayer(name, "self_norm", y, lambda n: attention(name + ".self", n, n, causal(scope["T"])))
        y = sublayer(name, "cross_norm", y, lambda n: attention(name + ".cross", n, x, OPEN))
        y = sublayer(name, "feed_norm", y, lambda n: feed_forward(name + ".feed_forward", n))
    y = layer_norm("decoder.norm", y) if pre else y
    return y @ transpose(table)


def language_model(m, scope):
    """Radford et al. 2019."""
    d, table = m.consts["d_model"], param("embedding", m.consts["vocab"], m.consts["d_model"])
    x = table[scope["tokens"]] + layers.learned_positions("positions", scope["T"], d, m.consts["context"])
    for i in range(m.consts["layers"]):
        name = "layer.%d" % i
        n = layer_norm(name + ".self_norm", x)
        x = x + attention(name + ".self", n, n, causal(scope["T"]))
        x = x + feed_forward(name + ".feed_forward", layer_norm(name + ".feed_norm", x))
    x = layer_norm("norm", x)
    return x @ transpose(table) if m.consts["tied"] == "true" else linear("head", x, m.consts["vocab"], bias=False)


def bert_encoder(m, scope):
    """Devlin et al. 2018; one_layer and narrow embeddings: Lan et al. 2020."""
    c, tokens = m.consts, scope["tokens"]
    x = param("embedding", c["vocab"], c["d_embedding"])[tokens]
    at = meaning.position(scope["T"]) + c["first_position"]
    x = x + param("encoder.positions.weight", c["context"], c["d_embedding"])[at]
    if c["segments"]:
        x = x + V([param("encoder.segment_embedding", c["segments"], c["d_embedding"]).rows[0][0]], False)
    x = layer_norm("encoder.embedding_norm", x, c["norm_eps"])
    if c["d_embedding"] != c["d_model"]:
        x = linear("encoder.widened", x, c["d_model"])
    for i in range(c["layers"]):
        name = "encoder.layer" if c["one_layer"] == "true" else "encoder.layer.%d" % i
        x = layer_norm(name + ".self_norm", x + attention(name + ".self", x, x, OPEN), c["norm_eps"])
        x = layer_norm(name + ".feed_norm", x + feed_forward(name + ".feed_forward", x), c["norm_eps"])
    return x


def text_head(m, scope):
    """What the first token's row gives through one layer of tanh."""
    pooled = meaning.tanh(linear("pooled", layers.first(bert_encoder(m, scope), scope["T"]), m.consts["d_model"]))
    return linear("decision", pooled, 3)


def modern_encoder(m, scope):
    """Warner et al. 2024."""
    c = m.consts
    d, h = c["d_model"], c["heads"]
    def norm(name, x):
        centred = x - meaning.mean(x, -1)
        return centred / (meaning.mean(centred * centred, -1) + c["norm_eps"]) ** 0.5 * param(name + ".gain", d)
    def part(name, x, n):
        return linear(name, x, n, bias=False)
    x = norm("encoder.embedding_norm", param("embedding", c["vocab"], d)[scope["tokens"]])
    for i in range(c["layers"]):
        name, whole = "encoder.layer.%d" % i, i % c["full_every"] == 0
        n = norm(name + ".self_norm", x) if i else x
        q, k, v = (layers.heads_of(part("%s.self.%s" % (name, w), n, d), h) for w in ("query", "key", "value"))
        base = c["rotary_base"] if whole else c["window_base"]
        scores = rotary(q, float(base), True) @ transpose(rotary(k, float(base), True)) / (d // h) ** 0.5
        scores = scores if whole else mask(scores, window(c["window"], scope["T"]))
        x = x + part(name + ".self.output", layers.join_heads(softmax(scores) @ v), d)
        n = norm(name + ".feed_norm", x)
        inner = meaning.gelu(part(name + ".feed_forward.inner", n, c["d_ff"])) * part(name + ".feed_forward.gate", n, c["d_ff"])
        x = x + part(name + ".feed_forward.outer", inner, d)
    return norm("encoder.norm", x)


KINDS = ["transformer", "transformer_pre_norm", "language_model", "bert_encoder", "text_head", "modern_encoder"]


class Whole(Model):
    """A model of a library. `kind`: which."""

    def draw(self):
        rng = self.rng
        self.kind = rng.choice(KINDS)
        heads = rng.choice([1, 2, 3])
        c = self.consts = {"vocab": rng.choice([5, 9]), "layers": rng.choice([1, 2]), "heads": heads, "p_drop": 0,
                           "d_model": 2 * heads * rng.choice([1, 2]), "d_ff": rng.choice([1, 3, 6])}
        self.own_source = self.lora = False
        rows = rng.randint(1, 3)
        lengths = {d: [rng.choice([0, 1, rng.randint(2, 4)]) for _ in range(rows)] for d in "ST"}
        if self.kind.startswith("transformer"):
            c["smoothing"] = rng.choice([0, 0.1])
            self.own_source = rng.random() < 0.3
            if self.own_source:
                c["source_vocab"] = 6
            self.inputs = {"src": "S", "tgt": "T"}
        else:
            c["context"] = rng.choice([7, 9])
            self.inputs = {"tokens": "T"}
        if self.kind == "language_model":
            c.update(tied=rng.choice(["true", "false"]), smoothing=rng.choice([0, 0.1]))
        if self.kind in ("bert_encoder", "text_head"):
            c.update(first_position=rng.choice([0, 2]), segments=rng.choice([0, 2]), norm_eps=1e-5,
                     one_layer=rng.choice(["true", "false"]), d_embedding=rng.choice([c["d_model"], 3]))
        if self.kind == "modern_encoder":
            c.update(window=2, full_every=2, rotary_base=1000, window_base=100, norm_eps=1e-5)
        self.lengths = dict({"B": [1] * rows}, **{d: lengths[d] for d in self.inputs.values()})
        self.lora = self.kind != "modern_encoder" and rng.random() < 0.3
        for name, d in self.inputs.items():
            content = V([torch.tensor([[rng.randrange(4) for _ in range(n)]], dtype=torch.int64).reshape(1, n)
                         for n in self.lengths[d]], True)
            self.leaves.append(Value(name, ("B", d), "int", content=content))
        target = self.leaves[-1]
        if "smoothing" in c:
            ends = [torch.tensor([[3]])] * rows
            self.leaves.append(Value(target.name + ".next", target.shape, "int", content=following(target.content, ends)))
        self.written = self.leaves
        self.terms, self.outputs = ["loss"], ["logits"]
        self.activation = {"transformer": "relu", "transformer_pre_norm": "relu", "language_model": "gelu_tanh"}.get(self.kind, "gelu")

    def text(self):
        c = dict(self.consts)
        out = ["use %s" % self.kind] + ["use source_embedding"] * self.own_source + ["use lora"] * self.lora
        if self.lora:
            out.append("const lora_rank = 2, lora_alpha = 3")
        out.append("const " + ", ".join("%s = %s" % e for e in c.items()))
        if "smoothing" not in c:
            out += ["dim T", "input tokens : token[B, T~]"]
            out.append("output logits = " + ("classify as _(first(encoder(tokens), T), 3)" if self.kind == "text_head" else "encoder(tokens)"))
            out.append("loss = sum(logits * logits * 0.5) + sum(logits * (position(%s) + 0.5))" %
                       (3 if self.kind == "text_head" else c["d_model"]))
        return "\n".join(out) + "\n"

    def begin(self):
        scope = Model.begin(self)
        layers.CONSTS.update(activation=self.activation, lora=self.lora)
        return scope

    def run(self, noise=None):
        meaning.noise(noise)
        scope = self.begin()
        kind = {"transformer": lambda *a: transformer(*a, False), "transformer_pre_norm": lambda *a: transformer(*a, True)}
        y = kind.get(self.kind, globals().get(self.kind))(self, scope)
        layers.CONSTS["lora"] = False
        if "smoothing" in self.consts:
            loss = cross_entropy(y, self.leaves[-1].content, self.consts["smoothing"])
        else:
            width = y.rows[0].shape[-1]
            loss = meaning.sum(y * y * 0.5) + meaning.sum(y * (meaning.position(width) + 0.5))
        loss.rows[0].reshape(()).backward()
        found = {"logits": y, "loss": loss}
        for name, p in self.used.items():
            frozen = self.lora and name.endswith(".weight") and name[:-6] + "lora_a" in self.used
            if not is_state(name) and not frozen:
                found["grad." + name] = V([torch.zeros_like(p) if p.grad is None else p.grad], False)
        return {k: V([r.detach() for r in v.rows], v.batched) for k, v in found.items()}

    def python(self):
        return "# %s(%s) of whole.py\n" % (self.kind, self.consts)


def draw_whole(seed, mode):
    m = Whole(seed)
    m.mode = mode
    m.draw()
    return m
