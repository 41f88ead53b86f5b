"""What the functions and blocks of docs/language.md mean, in plain PyTorch and f64: an implementation
that shares nothing with tfc.

A value `V` holds one tensor, or one for each row of the batch, without padding: a ragged value of row b
has shape [1, length of b, ...]. Functions are written for one row, and `rowwise` applies them to all.

Noise: with `noise((seed, size))` each result is off by up to that share of itself, and so is each gradient
on its way back, so that a second run tells how far rounding can move a result. Equal values get equal noise,
and numbers of at most 24 bits none, so that ties stay ties.
"""
import builtins
import functools
import math

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
inf, pi = math.inf, math.pi
state = {"seed": None, "size": 0.0, "param": None}


def noise(kind):
    """A seed and a size; None: no noise."""
    state["seed"], state["size"] = kind or (None, 0.0)


def jitter(x):
    """Numbers in [-size, size) that follow from the seed and from x to some 14 bits, as do those of other sizes."""
    bits = (x.detach().float().contiguous().view(torch.int32).long() + 256) >> 9
    for factor in (0x2545F4914F6CDD1D, 0x5851F42D4C957F2D):
        bits = (bits ^ ((bits >> 29) & 0x7FFFFFFFF)) * factor + state["seed"] * 0x9E3779B1
    return state["size"] * (((bits >> 33) & 0x3FFFFFF).double() / 2 ** 25 - 1)


def is_short(x):
    return (x == x.float().double()) | ~torch.isfinite(x)


class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, size):
        return torch.where(is_short(x) & is_short(size), x, x + jitter(x) * size)

    @staticmethod
    def backward(ctx, g):
        return torch.where(torch.isfinite(g), g * (1 + jitter(g)), g), None


class Heard(torch.autograd.Function):
    """x, whose gradient is off: of each use of x by itself, since these may cancel."""
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return torch.where(torch.isfinite(g), g * (1 + jitter(g)), g)


def noisy(x, size=None):
    """x with noise in proportion to `size`, by default to itself: of a sum, to that of its terms' sizes."""
    if state["seed"] is None or x.dtype != torch.float64:
        return x
    return Noisy.apply(x, x.detach().abs() if size is None else size.detach())


class V:
    """A value: `rows`, one tensor for each row of the batch if `batched`, else one for all."""

    def __init__(self, rows, batched):
        self.rows, self.batched = rows, batched


class Dim:
    """A dimension: its length in each row of the batch. The batch itself has 1 in each."""

    def __init__(self, lengths):
        self.lengths = lengths


def width_of(args):
    for a in args:
        if isinstance(a, V) and a.batched:
            return len(a.rows)
        if isinstance(a, Dim):
            return len(a.lengths)
        if isinstance(a, (list, tuple)) and width_of(a) is not None:
            return width_of(a)
    return None


def of_row(a, b):
    if isinstance(a, V):
        x = a.rows[b if a.batched else 0]
        return Heard.apply(x) if state["seed"] is not None and x.requires_grad else x
    if isinstance(a, Dim):
        return a.lengths[b]
    return [of_row(e, b) for e in a] if isinstance(a, (list, tuple)) else a


def rowwise(function):
    @functools.wraps(function)
    def apply(*args, **named):
        n = width_of(list(args) + list(named.values()))
        rows = [function(*(of_row(a, b) for a in args), **{k: of_row(a, b) for k, a in named.items()})
                for b in range(1 if n is None else n)]
        if isinstance(rows[0], (list, tuple)):
            return [V([noisy(r[i]) for r in rows], n is not None) for i in range(len(rows[0]))]
        return V([noisy(r) for r in rows], n is not None)
    return apply


def tensor(x):
    return x if isinstance(x, torch.Tensor) else torch.tensor(x)


def as_float(x):
    return tensor(x).double()


def alike(a, b):
    """Operands of different kinds: whole numbers become floats, truth values 0 and 1."""
    a, b = tensor(a), tensor(b)
    if a.dtype == b.dtype:
        return a, b
    kind = torch.float64 if torch.float64 in (a.dtype, b.dtype) else torch.int64
    return a.to(kind), b.to(kind)


# ---- operators ----------------------------------------------------------------------

def power(a, b):
    if not isinstance(b, torch.Tensor):
        return as_float(a) ** b
    return torch.pow(as_float(a), as_float(b))


def product(a, b):
    if b.dim() == 1:
        return noisy(a @ b, a.abs() @ b.abs())
    if a.shape[-1] == 0:
        return (a @ b) + 0
    return noisy(a @ b, a.abs() @ b.abs())


def summed(a, b, sign):
    a, b = alike(a, b)
    return noisy(a + sign * b, a.abs() + b.abs()) if a.dtype == torch.float64 else a + sign * b


def by_number(table, index):
    """Rows of a table; a number outside gives zeros."""
    there = (index >= 0) & (index < table.shape[0])
    rows = table[torch.where(there, index, torch.zeros_like(index))]
    return torch.where(there.reshape(there.shape + (1,) * (table.dim() - 1)), rows, torch.zeros_like(rows))


OPERATORS = {
    "add": lambda a, b: summed(a, b, 1), "sub": lambda a, b: summed(a, b, -1),
    "mul": lambda a, b: torch.mul(*alike(a, b)), "truediv": lambda a, b: as_float(a) / as_float(b),
    "mod": lambda a, b: torch.remainder(*alike(a, b)), "pow": power, "matmul": product,
    "lt": lambda a, b: torch.lt(*alike(a, b)), "le": lambda a, b: torch.le(*alike(a, b)),
    "gt": lambda a, b: torch.gt(*alike(a, b)), "ge": lambda a, b: torch.ge(*alike(a, b)),
    "eq": lambda a, b: torch.eq(*alike(a, b)), "ne": lambda a, b: torch.ne(*alike(a, b)),
    "and": lambda a, b: tensor(a) & tensor(b), "or": lambda a, b: tensor(a) | tensor(b),
    "getitem": by_number,
}
for _name, _function in OPERATORS.items():
    setattr(V, "__%s__" % _name, rowwise(_function))
    setattr(V, "__r%s__" % _name, rowwise(lambda a, b, f=_function: f(b, a)))
V.__neg__ = rowwise(lambda a: -a)
V.__invert__ = rowwise(lambda a: ~a)

# ---- functions, element by element --------------------------------------------------

class Squashed(torch.autograd.Function):
    """tanh or sigmoid, whose slope follows from the rounded result y: near 1 little is left of 1 - y."""
    @staticmethod
    def forward(ctx, x, function):
        y = function(x)
        ctx.rounded, ctx.is_tanh = (y if state["seed"] is None else y * (1 + jitter(y))), function is torch.tanh
        return y

    @staticmethod
    def backward(ctx, g):
        y = ctx.rounded
        return g * ((1 + y) * (1 - y) if ctx.is_tanh else y * (1 - y)), None


tanh = rowwise(lambda x: Squashed.apply(as_float(x), torch.tanh))
sigmoid = rowwise(lambda x: Squashed.apply(as_float(x), torch.sigmoid))
for _name in "abs exp log expm1 log1p sqrt rsqrt erf sin cos floor relu".split():
    globals()[_name] = rowwise(lambda x, f=getattr(torch, _name): f(x if x.dtype == torch.int64 else as_float(x)))
maximum = rowwise(lambda x, y: torch.maximum(*alike(x, y)))
minimum = rowwise(lambda x, y: torch.minimum(*alike(x, y)))
float_ = rowwise(as_float)
int_ = rowwise(lambda x: x.trunc().long())
stop_gradient = stop = rowwise(lambda x: x.detach())
dropout = rowwise(lambda x, rate: x)          # outside of training
select = rowwise(lambda c, x, y: torch.where(c, *alike(x, y)))
mask = rowwise(lambda x, allowed: torch.where(tensor(allowed), x, tensor(-inf)))
gelu = rowwise(lambda x: 0.5 * x * noisy(1 + noisy(torch.erf(x / math.sqrt(2)))))
silu = rowwise(lambda x: x * Squashed.apply(x, torch.sigmoid))
softplus = rowwise(lambda x: torch.logaddexp(x, torch.zeros_like(x)))
leaky_relu = rowwise(lambda x, slope=0.01: torch.nn.functional.leaky_relu(x, slope))
elu = rowwise(lambda x, alpha=1.0: torch.nn.functional.elu(x, alpha))
clamp = rowwise(lambda x, low, high: torch.clamp(x, low, high))


@rowwise
def gelu_tanh(x):
    return 0.5 * x * noisy(1 + noisy(Squashed.apply(noisy(math.sqrt(2 / pi) * (x + 0.044715 * x ** 3)), torch.tanh)))


@rowwise
def glu(x):
    value, gate = x.chunk(2, -1)
    return value * Squashed.apply(gate, torch.sigmoid)


# ---- along axes ---------------------------------------------------------------------

def add_up(x, axes):
    return noisy(x.sum(axes, keepdim=True), x.abs().sum(axes, keepdim=True))


def greatest(x, axes):
    """Of nothing -inf."""
    axes = [a % x.dim() for a in axes]
    if any(x.shape[a] == 0 for a in axes):
        return torch.full([1 if a in axes else n for a, n in enumerate(x.shape)], -inf)
    return x.amax(axes, keepdim=True)


def reduce(x, axis, along, combine):
    """`along` reduces axes of a row, `combine` a list of rows."""
    rank = x.rows[0].dim()
    axes = list(range(rank)) if axis is None else [a % rank for a in (axis if isinstance(axis, list) else [axis])]
    rows = [along(r, axes) for r in x.rows]
    if x.batched and 0 in axes:
        rows = [combine(rows)]
    if axis is None:
        rows = [r.reshape(()) for r in rows]
    return V([noisy(r) for r in rows], x.batched and 0 not in axes)


def sum(x, axis=None):
    return reduce(x, axis, add_up, lambda rows: add_up(torch.cat(rows), [0]))


def max(x, axis=None):
    """Over rows, too, it is one maximum: its gradient is shared by all equals alike."""
    rank = x.rows[0].dim()
    axes = range(rank) if axis is None else [a % rank for a in (axis if isinstance(axis, list) else [axis])]
    if not x.batched or 0 not in axes:
        return reduce(x, axis, greatest, None)
    kept = [a for a in range(rank) if a not in axes]
    rows = [r.permute(*axes, *kept).flatten(0, len(axes) - 1) for r in x.rows]
    shape = [] if axis is None else [1 if a in axes else x.rows[0].shape[a] for a in range(rank)]
    return V([noisy(greatest(torch.cat(rows), [0]).reshape(shape))], False)


def min(x, axis=None):
    return -max(-x, axis)


def mean(x, axis=None):
    count = reduce(V([torch.ones_like(r) for r in x.rows], x.batched), axis, add_up,
                   lambda rows: add_up(torch.cat(rows), [0]))
    return sum(x, axis) / count


def variance(x, axis):
    return mean((x - mean(x, axis)) ** 2, axis)


@rowwise
def logsumexp(x, axis=-1):
    top = greatest(x, [axis])
    top = torch.where(torch.isfinite(top), top, torch.zeros_like(top)).detach()
    y = torch.log(add_up(torch.exp(noisy(x - top, x.abs() + top.abs())), [axis])) + top
    # The gradient is exp(x - y), which may be formed of the rounded y, as PyTorch's is.
    finite = torch.where(torch.isfinite(x), x, torch.zeros_like(x))
    slip = torch.nan_to_num(torch.softmax(x, axis)) * noisy(torch.zeros_like(x), finite.abs() + top.abs())
    return y + ((finite - finite.detach()) * slip.detach()).sum(axis, keepdim=True)


@rowwise
def softmax(x, axis=-1):
    """Of a row that is all -inf zeros."""
    nothing = (x == -inf).all(axis, keepdim=True)
    x = torch.where(nothing, torch.zeros_like(x), x)
    top = greatest(x, [axis]).detach()
    y = torch.exp(noisy(x - top, x.abs() + top.abs()))
    return torch.where(nothing, torch.zeros_like(x), y / add_up(y, [axis]))


def log_softmax(x, axis=-1):
    return x - logsumexp(x, axis)


# ---- shapes -------------------------------------------------------------------------

reshape = rowwise(lambda x, shape: x.reshape(shape))
permute = rowwise(lambda x, order: x.permute(order))
transpose = rowwise(lambda x, a=-1, b=-2: x.transpose(a, b))
broadcast = rowwise(lambda x, shape: x.expand(shape) + 0)
flip = rowwise(lambda x, axis=-1: x.flip(axis))
full = rowwise(lambda shape, value: torch.full(shape, value, dtype=torch.bool if value is True else torch.float64))
one_hot = rowwise(lambda index, n: (index[..., None] == torch.arange(n)).double())
position = rowwise(lambda n: torch.arange(n))


def moved(x, axis, positions):
    """The elements of x at positions along an axis, zeros outside: positions is a list."""
    there = [p for p in positions if 0 <= p < x.shape[axis]]
    if not there:
        shape = list(x.shape)
        shape[axis] = len(positions)
        return torch.zeros(shape, dtype=x.dtype)
    zeros = torch.zeros_like(x.narrow(axis, 0, 1))
    parts = [x.narrow(axis, p, 1) if 0 <= p < x.shape[axis] else zeros for p in positions]
    return torch.cat(parts, axis)


slice_ = rowwise(lambda x, axis, start, size: moved(x, axis, list(range(start, start + size))))
pad = rowwise(lambda x, axis, before, after: moved(x, axis, list(range(-before, x.shape[axis] + after))))
shift_along = rowwise(lambda x, axis, n: moved(x, axis, list(range(-n, x.shape[axis] - n))))
first_of = rowwise(lambda x, axis: moved(x, axis, [0]).squeeze(axis))
last_of = rowwise(lambda x, axis: moved(x, axis, [x.shape[axis] - 1]).squeeze(axis))


@rowwise
def concat(parts, axis=-1):
    axis %= parts[0].dim()
    shape = [builtins.max([p.shape[a] for p in parts], key=lambda n: (n != 1, n)) for a in range(parts[0].dim())]
    return torch.cat([p.expand([p.shape[a] if a == axis else n for a, n in enumerate(shape)]) for p in parts], axis)


@rowwise
def split(x, parts, axis=-1):
    if isinstance(parts, list):
        return x.split(parts, axis)
    return x.chunk(parts, axis)


def size(dim):
    return V([torch.tensor(float(builtins.sum(dim.lengths)))], False)


def lengths(dim):
    return V([torch.tensor([float(n)]) for n in dim.lengths], True)
