#!/usr/bin/env python3
"""The models T, S, B in PyTorch: the other side of bench/compare, which tells of the options.

The same sizes, dropout, loss and optimizer as models/multi30k_tiny, multi30k_small and
transformer_base; query, key and value as one product; PyTorch's fused attention and fused
Adam where it has them. Served as serve.py says.
"""
import argparse
import contextlib
import json
import math

import torch
from torch import nn
from torch.nn import functional as F

from serve import serve

DROPOUT = 0.1
SMOOTHING = 0.1
NONE = -100  # what follows the padding


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(d, 3 * d)
        self.output = nn.Linear(d, d)

    def forward(self, x, memory, mask, causal):
        d = x.shape[-1]
        if memory is x:
            q, k, v = self.query_key_value(x).chunk(3, dim=-1)
        else:
            weight, bias = self.query_key_value.weight, self.query_key_value.bias
            q = F.linear(x, weight[:d], bias[:d])
            k, v = F.linear(memory, weight[d:], bias[d:]).chunk(2, dim=-1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            if causal:
                mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            y = scores.softmax(-1) @ v
        return self.output(y.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Residual sublayers, normalised before each (Xiong et al. 2020) or after it."""

    def __init__(self, d, ff, heads, decoder, norm_first):
        super().__init__()
        self.self_attention = Attention(d, heads)
        self.cross_attention = Attention(d, heads) if decoder else None
        self.inner, self.outer = nn.Linear(d, ff), nn.Linear(ff, d)
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(3 if decoder else 2))
        self.norm_first = norm_first

    def sublayer(self, x, norm, f):
        drop = lambda t: F.dropout(t, DROPOUT, self.training)
        return x + drop(f(norm(x))) if self.norm_first else norm(x + drop(f(x)))

    def forward(self, x, mask, memory=None):
        """`mask`: which tokens of the source there are, or None for all of them."""
        decoder = self.cross_attention is not None
        own = None if decoder else mask  # what follows a token, padding too, is hidden by causality
        x = self.sublayer(x, self.norms[0], lambda t: self.self_attention(t, t, own, decoder))
        if decoder:
            x = self.sublayer(x, self.norms[2],
                              lambda t: self.cross_attention(t, memory, mask, False))
        return self.sublayer(x, self.norms[1], lambda t: self.outer(F.relu(self.inner(t))))


class Transformer(nn.Module):
    def __init__(self, layers, d, ff, heads, vocab, norm_first, longest):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(vocab, d) * d ** -0.5)
        stack = lambda decoder: nn.ModuleList(
            Layer(d, ff, heads, decoder, norm_first) for _ in range(layers))
        self.encoder, self.decoder = stack(False), stack(True)
        last = lambda: nn.LayerNorm(d) if norm_first else nn.Identity()
        self.encoder_norm, self.decoder_norm = last(), last()
        angles = torch.arange(longest)[:, None] * 10000 ** (-torch.arange(0, d, 2) / d)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))

    def embed(self, tokens):
        x = F.embedding(tokens, self.embedding) * self.embedding.shape[1] ** 0.5
        return F.dropout(x + self.positions[:tokens.shape[1]], DROPOUT, self.training)

    def forward(self, source, target, mask=None):
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask)
        x = self.encoder_norm(x)
        y = self.embed(target)
        for layer in self.decoder:
            y = layer(y, mask, x)
        return self.decoder_norm(y) @ self.embedding.t()


# ---- batches: (source, target, what follows, mask, tokens of the target) ----

def uniform_batch(size, vocab):
    source = torch.randint(4, vocab, (size["batch"], size["source_length"]))
    target, following = (
        torch.randint(4, vocab, (size["batch"], size["target_length"])) for _ in range(2))
    return source, target, following, None, target.numel()


def ragged_batches(path, vocab):
    """Padded to the longest; lines as `tfc bench --lengths` reads them."""
    def pad(lengths, value):
        there = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
        return there, torch.randint(4, vocab, there.shape).masked_fill(~there, value)

    for line in open(path):
        sources, targets = zip(*(map(int, pair.split(":")) for pair in line.split()))
        mask, source = pad(sources, 0)
        yield (source, pad(targets, 0)[1], pad(targets, NONE)[1], mask[:, None, None, :],
               sum(targets))


# ---- steps ----

def make_optimizer(model):
    options = dict(lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    try:
        return torch.optim.Adam(model.parameters(), fused=True, **options), "fused Adam"
    except (TypeError, RuntimeError):  # before 2.4
        return torch.optim.Adam(model.parameters(), **options), "Adam"


def make_step(model, batches, arguments):
    narrow = arguments.dtype == "bf16"
    precision = lambda: (torch.autocast("cpu", dtype=torch.bfloat16) if narrow
                         else contextlib.nullcontext())
    compiled = lambda f: (torch.compile(f, dynamic=len(batches) > 1) if arguments.compile else f)

    def loss_of(source, target, following, mask):
        logits = model(source, target, mask)
        return F.cross_entropy(logits.flatten(0, 1), following.flatten(), ignore_index=NONE,
                               label_smoothing=SMOOTHING)

    if arguments.mode == "forward":
        model.eval()
        run = compiled(model)

        def forward(i):
            with torch.no_grad(), precision():
                run(*batches[i][:2], batches[i][3])
        return forward, []

    optimizer, name = make_optimizer(model)
    loss = compiled(loss_of)

    def train(i):
        optimizer.zero_grad(set_to_none=True)
        with precision():
            value = loss(*batches[i][:4])
        value.backward()
        optimizer.step()
    return train, [name]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=json.loads, required=True)
    parser.add_argument("--mode", choices=["train", "forward"], default="train")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--lengths")
    parser.add_argument("--export")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    size = arguments.size
    model = Transformer(size["layers"], size["d_model"], size["d_ff"], size["heads"],
                        size["vocab"], size["norm_first"], 256)
    batches = (list(ragged_batches(arguments.lengths, size["vocab"])) if arguments.lengths
               else [uniform_batch(size, size["vocab"])])
    if arguments.export:
        torch.onnx.export(model.eval(), batches[0][:2], arguments.export, opset_version=17,
                          input_names=["source", "target"], output_names=["logits"])
        return
    step, flags = make_step(model, batches, arguments)
    if hasattr(F, "scaled_dot_product_attention"):
        flags.append("scaled_dot_product_attention")
    serve(step, [batch[4] for batch in batches], version=torch.__version__, flags=flags)


if __name__ == "__main__":
    main()
