#!/usr/bin/env python3
"""The same training step or forward in PyTorch: what `tfc bench` is compared with.

Usage: torch_step.py --model T|S|B --mode train|forward [--steps N] [--threads N]

Uniform lengths, dropout 0.1, label smoothing 0.1, Adam, query-key-value as one
product, PyTorch's fused attention where it has one. Prints one JSON object with
the names of `tfc bench --json`. Sizes T, S, B are those of models/multi30k_tiny,
multi30k_small and transformer_base.
"""
import argparse
import json
import math
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SIZES = {  # layers, d_model, d_ff, heads, vocabulary, norms before the sublayers, batch, length
    "T": (4, 128, 256, 4, 10000, True, 256, 16),
    "S": (3, 256, 1024, 8, 8000, False, 128, 16),
    "B": (6, 512, 2048, 8, 37000, False, 64, 32),
}
DROPOUT = 0.1


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(d, 3 * d)
        self.output = nn.Linear(d, d)

    def forward(self, x, memory, mask):
        d = x.shape[-1]
        if memory is x:
            q, k, v = self.query_key_value(x).chunk(3, dim=-1)
        else:
            weight, bias = self.query_key_value.weight, self.query_key_value.bias
            q = F.linear(x, weight[:d], bias[:d])
            k, v = F.linear(memory, weight[d:], bias[d:]).chunk(2, dim=-1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
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

    def forward(self, x, mask=None, memory=None):
        x = self.sublayer(x, self.norms[0], lambda t: self.self_attention(t, t, mask))
        if self.cross_attention is not None:
            x = self.sublayer(x, self.norms[2], lambda t: self.cross_attention(t, memory, None))
        return self.sublayer(x, self.norms[1], lambda t: self.outer(F.relu(self.inner(t))))


class Transformer(nn.Module):
    def __init__(self, layers, d, ff, heads, vocab, norm_first, length):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(vocab, d) * d ** -0.5)
        stack = lambda decoder: nn.ModuleList(
            Layer(d, ff, heads, decoder, norm_first) for _ in range(layers))
        self.encoder, self.decoder = stack(False), stack(True)
        last = lambda: nn.LayerNorm(d) if norm_first else nn.Identity()
        self.encoder_norm, self.decoder_norm = last(), last()
        angles = torch.arange(length)[:, None] * 10000 ** (-torch.arange(0, d, 2) / d)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))
        self.register_buffer("causal", torch.ones(length, length, dtype=torch.bool).tril())

    def embed(self, tokens):
        x = F.embedding(tokens, self.embedding) * self.embedding.shape[1] ** 0.5
        return F.dropout(x + self.positions, DROPOUT, self.training)

    def forward(self, source, target):
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x)
        x = self.encoder_norm(x)
        y = self.embed(target)
        for layer in self.decoder:
            y = layer(y, self.causal, x)
        return self.decoder_norm(y) @ self.embedding.t()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=SIZES, required=True)
    parser.add_argument("--mode", choices=["train", "forward"], default="train")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--vocab", type=int)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    layers, d, ff, heads, vocab, norm_first, batch, length = SIZES[arguments.model]
    vocab = arguments.vocab or vocab
    model = Transformer(layers, d, ff, heads, vocab, norm_first, length)
    source, target, following = (torch.randint(4, vocab, (batch, length)) for _ in range(3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def train():
        model.train()
        optimizer.zero_grad(set_to_none=True)
        logits = model(source, target)
        loss = F.cross_entropy(logits.flatten(0, 1), following.flatten(), label_smoothing=0.1)
        loss.backward()
        optimizer.step()

    def forward():
        model.eval()
        with torch.no_grad():
            model(source, target)

    step = train if arguments.mode == "train" else forward
    for _ in range(2):
        step()
    seconds = []
    for _ in range(arguments.steps):
        begin = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begin)
    median = statistics.median(seconds)
    print(json.dumps({
        "model": arguments.model, "mode": arguments.mode, "dtype": "f32",
        "threads": arguments.threads, "batch": batch, "source_length": length,
        "target_length": length, "steps": arguments.steps, "step_seconds_median": median,
        "step_seconds_min": min(seconds), "tokens_per_second": batch * length / median,
        "torch": torch.__version__,
    }))


if __name__ == "__main__":
    main()
