"""What the blocks of the libraries that have params mean, and lookups, losses and experts: docs/language.md
in plain PyTorch, in terms of meaning.py. A param has the name under which the call stands."""
import itertools
import math

import torch

from meaning import (V, add_up, by_number, clamp, elu, gelu, gelu_tanh, inf, log_softmax,
                     mask, mean, moved, noisy, permute, position, relu, rowwise, sigmoid, silu,
                     softmax, softplus, state, sum, tanh, transpose)

ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu, "tanh": tanh,
               "softplus": softplus, "elu": elu, "sigmoid": sigmoid}
CONSTS = {"d_model": 4, "d_ff": 6, "heads": 2, "activation": "relu"}


def param(name, *shape):
    return state["param"](name, shape)


def last_dim(x):
    return x.rows[0].shape[-1]


# ---- layers with params -------------------------------------------------------------

def linear(name, x, n, bias=True):
    y = x @ param(name + ".weight", last_dim(x), n)
    if CONSTS.get("lora"):      # Hu et al. 2021
        y = y + x @ param(name + ".lora_a", last_dim(x), 2) @ param(name + ".lora_b", 2, n) * 1.5
    return y + param(name + ".bias", n) if bias else y


def layer_norm(name, x, eps=1e-5):
    n, centred = last_dim(x), x - mean(x, -1)
    scaled = centred / (mean(centred * centred, -1) + eps) ** 0.5
    return scaled * param(name + ".gain", n) + param(name + ".bias", n)


def rms_norm(name, x, eps=1e-5):
    return x / (mean(x * x, -1) + eps) ** 0.5 * param(name + ".gain", last_dim(x))


def batch_norm(name, x, momentum=0.1, eps=1e-5):
    """Outside of training: by the running statistics."""
    n = last_dim(x)
    centred = x - param(name + ".running_mean", n)
    scaled = centred / (param(name + ".running_variance", n) + eps) ** 0.5
    return scaled * param(name + ".gain", n) + param(name + ".bias", n)


def token_shift(name, x):
    share, before = param(name + ".share", last_dim(x)), shift(x, -2)
    return x * share + before * (1 - share)


def conv(name, x, taps, n=0, causal=True, bias=True):
    d = last_dim(x)
    weight = param(name + ".weight", *((taps, d, n) if n else (taps, d)))
    reach = taps - 1 if causal else (taps - 1) // 2
    y = 0
    for tap in range(taps):
        row = shift(x, -2, reach - tap)
        w = V([weight.rows[0][tap]], False)
        y = y + (row @ w if n else row * w)
    return y + param(name + ".bias", n or d) if bias else y


def learned_positions(name, length, d, longest):
    return param(name + ".weight", longest, d)[position(length)]


def relative_bias(name, h, r, queries, keys=None):
    weight = param(name + ".weight", 2 * r + 1, h)
    distance = clamp(position(keys or queries) - column_of(queries), -r, r) + r
    return permute(weight[distance], [2, 0, 1])


# ---- positions and masks ------------------------------------------------------------

column_of = rowwise(lambda n: torch.arange(n)[:, None])
causal = rowwise(lambda queries, keys=None: torch.arange(queries)[:, None] >=
                 torch.arange(queries if keys is None else keys))
window = rowwise(lambda r, queries, keys=None: (torch.arange(queries)[:, None] -
                                                torch.arange(queries if keys is None else keys)).abs() <= r)
heads_of = rowwise(lambda x, h: x.reshape(*x.shape[:-1], h, x.shape[-1] // h).transpose(-3, -2))
join_heads = rowwise(lambda x: x.transpose(-3, -2).flatten(-2))


def padding(tokens, pad=0):
    return V([torch.tensor(True)], False)     # of ragged tokens


@rowwise
def sinusoid(length, d, halved=False, base=10000.0):
    angle = torch.arange(length).double()[:, None] / base ** (torch.arange(0, d, 2).double() / d)
    angle = noisy(angle)
    pair = [noisy(torch.sin(angle)), noisy(torch.cos(angle))]
    return torch.cat(pair, -1) if halved else torch.stack(pair, -1).reshape(length, d)


@rowwise
def rotary(x, base=10000.0, halved=False):
    n, half = x.shape[-2], x.shape[-1] // 2
    angle = noisy(torch.arange(n).double()[:, None] * base ** (-torch.arange(half).double() / half))
    c, s = noisy(torch.cos(angle)), noisy(torch.sin(angle))
    a, b = (x[..., :half], x[..., half:]) if halved else (x[..., 0::2], x[..., 1::2])
    turned = [noisy(a * c - b * s, (a * c).abs() + (b * s).abs()), noisy(b * c + a * s, (b * c).abs() + (a * s).abs())]
    return torch.cat(turned, -1) if halved else torch.stack(turned, -1).reshape(x.shape)


@rowwise
def alibi(h, queries, keys=None):
    distance = (torch.arange(queries)[:, None] - torch.arange(queries if keys is None else keys)).abs()
    slope = 2.0 ** (-8 * (torch.arange(h) + 1.0) / h)
    return -slope[:, None, None] * distance


# ---- rows by position ---------------------------------------------------------------

@rowwise
def shift_rows(x, axis, n):
    return moved(x, axis, list(range(-n, x.shape[axis] - n)))


def shift(x, axis, n=1):
    return shift_rows(x, axis if isinstance(axis, int) else 1, n)


first = rowwise(lambda x, along: moved(x, 1, [0]).squeeze(1))
last = rowwise(lambda x, along: moved(x, 1, [along - 1]).squeeze(1))


@rowwise
def lookup(x, along, index):
    """Along axis 1; index [X] or, with a row of the batch's own positions, [1, X]."""
    return moved(x, 1, index.flatten().tolist())


@rowwise
def scatter(rows, along, index):
    y = torch.zeros((1, along) + rows.shape[2:])
    for k, at in enumerate(index.flatten().tolist()):
        if 0 <= at < along:
            y = y + torch.nn.functional.pad(rows[:, k:k + 1].transpose(1, -1), (at, along - 1 - at)).transpose(1, -1)
    return noisy(y)


@rowwise
def top_k(x, k):
    """Falling, the lower position first among equals; NaN counts as inf; -1 where there are fewer."""
    x = torch.where(torch.isnan(x), torch.full_like(x, inf), x)
    order = torch.sort(x, dim=-1, descending=True, stable=True)[1][..., :k]
    return torch.nn.functional.pad(order, (0, k - order.shape[-1]), value=-1)


@rowwise
def pick(x, index):
    one = index.dim() < x.dim()
    at = index[..., None] if one else index
    there = (at >= 0) & (at < x.shape[-1])
    y = torch.gather(x, -1, torch.where(there, at, torch.zeros_like(at))) if x.shape[-1] else torch.zeros(at.shape)
    y = torch.where(there, y, torch.zeros_like(y))
    return y.squeeze(-1) if one else y


def argmax(x):
    return V([r.squeeze(-1) for r in top_k(x, 1).rows], x.batched)


# ---- losses -------------------------------------------------------------------------

def cross_entropy(logits, labels, label_smoothing=0.0):
    """Mean over the labels that are not negative: of all rows together; 0 where there is none."""
    lines = log_softmax(logits).rows
    labels = labels.rows
    terms, count = [], 0
    for line, label in zip(lines, labels):
        n = line.shape[-1]
        line, label = line.reshape(-1, n), label.reshape(-1)
        line, label = line[label >= 0], label[label >= 0]
        count += len(label)
        chosen = line[torch.arange(len(label)), label]
        terms += [-(1 - label_smoothing) * chosen - label_smoothing / n * add_up(line, [-1])[:, 0]]
    total = torch.cat(terms)
    return V([noisy(add_up(total, [0])[0] / (count or 1))], False)


@rowwise
def ctc(scores, labels):
    """Graves et al. 2006, by its definition: the sum over all paths that are the labels once repeated
    classes are merged and blanks, class 0, dropped."""
    scores, labels = scores[0], labels[0].tolist()
    paths = []
    for path in itertools.product(range(scores.shape[1]), repeat=scores.shape[0]):
        if [c for c, _ in itertools.groupby(path) if c] == labels:
            paths.append(add_up(scores[torch.arange(len(path)), torch.tensor(path, dtype=torch.int64)], [0])[0])
    return -torch.logsumexp(torch.stack(paths), 0, keepdim=True) if paths else torch.full((1,), inf)


def ctc_loss(logits, labels):
    return mean(ctc(log_softmax(logits), labels))


# ---- experts ------------------------------------------------------------------------

@rowwise
def by_expert(x, w, chosen):
    """x [.., 1 or k, d], w [n, d, f], chosen [.., k]: [.., k, f]; one outside gives zeros."""
    matrices = by_number(w, chosen)
    rows = x.expand(*chosen.shape, x.shape[-1])[..., None, :]
    return noisy(rows @ matrices, rows.abs() @ matrices.abs()).squeeze(-2)


def experts(name, x, chosen, weights, n, d_ff, gated=True, activation=silu):
    d, row = last_dim(x), unsqueeze(x, -2)
    inner = by_expert(row, param(name + ".up", n, d, d_ff), chosen)
    if gated:
        inner = activation(by_expert(row, param(name + ".gate", n, d, d_ff), chosen)) * inner
    else:
        inner = activation(inner)
    each = by_expert(inner, param(name + ".down", n, d_ff, d), chosen)
    return squeeze(sum(each * unsqueeze(weights, -1), -2), -2)


unsqueeze = rowwise(lambda x, axis: x.unsqueeze(axis))
squeeze = rowwise(lambda x, axis: x.squeeze(axis))
times_chosen = rowwise(lambda chosen, n: (chosen[..., None] == torch.arange(n)).double().sum(-2))


def balance_loss(scores, chosen, whole=False):
    """n times the sum of f P, in each text and then the mean of the texts; or of all rows."""
    n, k = last_dim(scores), last_dim(chosen)
    f = times_chosen(chosen, n) / k
    p = scores / sum(scores, -1)
    axes = [0, 1] if whole else [1]
    if whole:
        return n * sum(mean(f, axes) * mean(p, axes))
    rows = [torch.tensor([[float(r.shape[1])]]) if r.shape[1] else torch.ones(1, 1) for r in scores.rows]
    count = V(rows, True)
    return n * mean(sum(squeeze(sum(f, axes), 1) / count * squeeze(sum(p, axes), 1) / count, -1))


def mixture_of_experts(name, x, n, k, d_ff, shared=0, score="softmax", normalised=True, scale=1.0, gated=True):
    logits = linear(name + ".router", x, n, bias=False)
    scores = softmax(logits) if score == "softmax" else sigmoid(logits)
    chosen = top_k(scores, k)
    weights = pick(scores, chosen)
    if normalised:
        weights = weights / sum(weights, -1)
    y = experts(name + ".expert", x, chosen, scale * weights, n, d_ff, gated)
    if shared:
        inner = linear(name + ".shared_up", x, shared * d_ff, bias=False)
        if gated:
            inner = silu(linear(name + ".shared_gate", x, shared * d_ff, bias=False)) * inner
        else:
            inner = silu(inner)
        y = y + linear(name + ".shared_down", inner, last_dim(x), bias=False)
    return y


# ---- the libraries attention, transformer, language_model ---------------------------

def attention(name, x, memory, allowed, n_heads=None):
    h = n_heads or CONSTS["heads"]
    q, k, v = (heads_of(linear(name + "." + part, rows, CONSTS["d_model"]), h)
               for part, rows in (("query", x), ("key", memory), ("value", memory)))
    scores = q @ transpose(k) / math.sqrt(CONSTS["d_model"] // h)
    return linear(name + ".output", join_heads(softmax(mask(scores, allowed)) @ v), CONSTS["d_model"])


def feed_forward(name, x, width=None):
    activation = ACTIVATIONS[CONSTS["activation"]]
    return linear(name + ".outer", activation(linear(name + ".inner", x, width or CONSTS["d_ff"])), CONSTS["d_model"])
