"""A random model: grown statement by statement while PyTorch computes it, written as .tfg text and as the
same program in Python, whose functions are those of meaning.py and layers.py.

The text of a statement is that of the language; `in_python` only respells it: `f as a(x)` is f("a", x).
"""
import random
import re

import torch

import layers
import meaning
from meaning import Dim, V
from rows import ROWS

LARGEST = 1e9          # a value beyond it is drawn again, but for a few
NAMES = {k: v for m in (meaning, layers) for k, v in vars(m).items() if not k.startswith("_")}
SPELLING = [(r"(\w+) as (\w+)\(", r'\1("\2", '), (r"\^", "**"), (r"\btrue\b", "True"), (r"\bfalse\b", "False"),
            (r"\b(float|int|slice)\(", r"\1_("), (r"\band\b", "&"), (r"\bor\b", "|"), (r"\bnot (?=\()", "~"),
            (r"\bnot ", "~")]


def in_python(text):
    for pattern, spelled in SPELLING:
        text = re.sub(pattern, spelled, text)
    return text


class Value:
    """A named value: an input or param, or what a statement gives."""

    def __init__(self, name, shape, kind, text=None, content=None, is_param=False, small=False):
        self.name, self.shape, self.kind, self.text, self.content = name, tuple(shape), kind, text, content
        self.is_param, self.small = is_param, small

    def __str__(self):
        return self.name


# ---- numbers ------------------------------------------------------------------------

def draw_number(rng, mode):
    """Numbers that f32 holds."""
    if mode == "zeros":
        return 0.0
    if mode == "ties":
        return rng.choice([-1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 1.0])
    if mode == "large":
        return rng.choice([1e3, -1e4, 3e4, 0.5, 1.0]) * round(rng.gauss(0, 1), 3)
    if mode == "cancelling":
        return rng.choice([4096.0, -4096.0, 4096.125, 0.125]) + round(rng.gauss(0, 1e-3), 6)
    return round(rng.gauss(0, 1), 4)


def draw_tensor(rng, mode, shape):
    count = 1
    for n in shape:
        count *= n
    numbers = [draw_number(rng, mode) for _ in range(count)]
    return torch.tensor(numbers, dtype=torch.float64).reshape(shape).float().double()


class Model:
    """`lengths`: of each row of the batch, for each dimension. `params`: what the program asked for."""

    def __init__(self, seed):
        self.seed, self.rng = seed, random.Random(seed)
        self.leaves, self.statements, self.params, self.consts = [], [], {}, {}
        self.lengths, self.made, self.outputs, self.terms = {}, {}, [], []
        self.training = False

    # -- what the program computes --

    def fresh_param(self, name, shape):
        """Gains are near 1 and variances above 0, as they are where they begin; others as drawn."""
        mode, part = self.mode, name.rsplit(".", 1)[-1]
        if part == "running_variance":
            return draw_tensor(self.rng, "normal", shape).abs() + 0.5
        if part == "gain" and mode == "zeros":
            return torch.ones(shape)
        return draw_tensor(self.rng, mode if self.rng.random() < 0.8 else self.rng.choice(["normal", "ties"]), shape)

    def ask_param(self, name, shape):
        if name not in self.params:
            self.params[name] = self.fresh_param(name, shape)
        if name not in self.used:
            self.used[name] = self.params[name].clone().requires_grad_(not is_state(name))
        return V([meaning.noisy(self.used[name])], False)

    def begin(self):
        """The names of a program at its start."""
        self.used = {}
        meaning.state["param"] = self.ask_param
        layers.CONSTS.update(self.consts)
        scope = dict(NAMES, **{d: Dim(n) for d, n in self.lengths.items()})
        for leaf in self.leaves:
            if leaf.is_param:
                scope[leaf.name] = self.ask_param(leaf.name, leaf.shape)
            else:
                scope[leaf.name] = leaf.content
        return scope

    def run(self, noise=None):
        """Outputs and gradients, as tensors or lists of rows, by name."""
        meaning.noise(noise)
        scope = self.begin()
        for s in self.reached():
            scope[s.name] = eval(in_python(s.text), scope)
        found = {"o_" + v: scope[v] for v in self.outputs}
        if self.terms:
            loss = eval(in_python(self.loss_text()), scope)
            if loss.rows[0].requires_grad:      # else it reads inputs alone
                loss.rows[0].reshape(()).backward()
            found["loss"] = loss
            for name, p in self.used.items():
                if not is_state(name):
                    found["grad." + name] = V([torch.zeros_like(p) if p.grad is None else p.grad], False)
        return {k: V([r.detach() for r in v.rows], v.batched) for k, v in found.items()}

    # -- text --

    def loss_text(self):
        return " + ".join("sum(%s)" % t for t in self.terms)

    def words_of(self, texts):
        return set(re.findall(r"\b[A-Za-z_]\w*\b", " ".join(texts)))

    def reached(self):
        needed, kept = self.words_of(self.terms + self.outputs), []
        for s in reversed(self.statements):
            if s.name in needed:
                kept.append(s)
                needed |= self.words_of([s.text])
        return kept[::-1]

    def text(self):
        statements = self.reached()
        words = self.words_of([s.text for s in statements] + self.terms + self.outputs)
        out = ["model judged"]
        if self.consts:
            out += ["use attention", "const " + ", ".join("%s = %s" % (k, v) for k, v in self.consts.items() if k != "activation"),
                    "block activation(x) { return %s(x) }" % self.consts["activation"]]
        leaves = [v for v in self.leaves if v.name in words or v.is_param is None]
        inputs = [v for v in leaves if not v.is_param]
        needed = {d for v in inputs for d in v.shape if isinstance(d, str)} | (words & set(self.lengths))
        needed |= {d for s in statements for d in s.shape if isinstance(d, str)}
        needed |= {d for m in needed & set(self.made) for d in re.findall(r"[A-Z]", self.made[m])}
        for d in sorted(needed - {"B"} - set(self.made)):      # an input gives each dimension its length
            if not any(d in v.shape for v in inputs):
                inputs.append(next(v for v in self.leaves if d in v.shape))
        if inputs or "B" in needed:
            out.append("dim " + ", ".join(["B"] + ["%s = %s" % (d, self.made[d]) if d in self.made else d
                                                   for d in self.lengths if d != "B" and d in needed]))
        self.written = inputs
        for v in inputs:
            dims = ", ".join("%s~" % d if isinstance(d, str) and d != "B" else str(d) for d in v.shape)
            out.append("input %s : %s[%s]" % (v, v.kind, dims))
        for v in leaves:
            if v.is_param:
                out.append("param %s : [%s] = zeros" % (v, ", ".join(map(str, v.shape))))
        out += ["%s = %s" % (s.name, s.text) for s in statements]
        out += ["output o_%s = %s" % (v, v) for v in self.outputs]
        if self.terms:
            out.append("loss = " + self.loss_text())
        return "\n".join(out) + "\n"

    def python(self):
        """The program, as it is computed beside tfc."""
        lines = ["%s = %s" % (s.name, in_python(s.text)) for s in self.reached()]
        return "\n".join(lines + ["loss = " + in_python(self.loss_text())] if self.terms else lines) + "\n"


def is_state(name):
    return name.rsplit(".", 1)[-1] in ("running_mean", "running_variance")


# ---- growing ------------------------------------------------------------------------

class Growth:
    """What rows ask for: operands, dimensions, labels of calls."""

    def __init__(self, model):
        self.model, self.rng, self.pool, self.count = model, model.rng, list(model.leaves), 0
        self.dims, self.consts, self.at_ties = model.lengths, model.consts, model.mode in ("zeros", "ties")
        self.labels = next((v.name for v in model.leaves if v.name == "labels"), None)

    def float(self, fits=None, scalars=False):
        """A value of floats; later ones are likelier. `fits` is not asked of scalars."""
        found = [v for v in self.pool if v.kind == "float" and (fits is None or (scalars if v.shape == () else fits(v)))]
        if not found:
            return None
        return found[builtin_max(self.rng.randrange(len(found)) for _ in range(2))]

    def int(self, fits=lambda v: True):
        found = [v for v in self.pool if v.kind == "int" and v.name != "labels" and fits(v)]
        return self.rng.choice(found) if found else None

    def same(self, x):
        return self.float(lambda v: v.shape == x.shape)

    def like(self, x, also=lambda v: True):
        """What broadcasts to x: of its shape, with dimensions of 1, or a vector of its last axis."""
        def fits(v):
            if not also(v):
                return False
            if v.shape == x.shape or (x.shape and len(v.shape) == 1 and v.shape[0] in (1, x.shape[-1])
                                                       and v.shape != ("B",)):
                return True
            return len(v.shape) == len(x.shape) and all(a in (1, b) for a, b in zip(v.shape, x.shape))
        return self.float(fits, scalars=True)

    def axis(self, x, batch):
        """An axis from the last, not the batch's."""
        first = 1 if x.shape[:1] == ("B",) and not batch else 0
        n = len(x.shape) - first
        return -self.rng.randint(1, n) if n > 0 else None

    def loose(self, v):
        """Whether it has rows of the batch without an axis of it."""
        return v.content is not None and v.content.batched and v.shape[:1] != ("B",)

    def ragged(self):
        return self.rng.choice([d for d in self.dims if d in "ST"])

    def leaf_of(self, dim):
        return next((v for v in self.pool if v.kind == "int" and v.shape == ("B", dim) and v.text is None), None)

    def label(self):
        self.count += 1
        return "a%d" % self.count

    def width(self):
        return self.rng.choice([1, 2, 3, 4, 5, 7, 9, 16, 17])

    def new_param(self, shape):
        v = Value("p%d" % len(self.model.leaves), shape, "float", is_param=True)
        self.model.leaves.append(v)
        self.pool.append(v)
        v.content = self.scope[v.name] = self.model.ask_param(v.name, v.shape)
        return v

    def use_attention(self):
        if not self.consts:
            heads = self.rng.choice([1, 2, 3])
            self.consts.update(heads=heads, d_model=heads * self.rng.choice([1, 2, 3]), d_ff=self.rng.choice([1, 4, 5]),
                               activation=self.rng.choice(list(layers.ACTIVATIONS)))
            layers.CONSTS.update(self.consts)

    def text_of(self, shape):
        return "[%s]" % ", ".join(map(str, shape))

    def is_fit(self, content, shape):
        """Of its shape, in the range of most; a few may have infinities and NaN."""
        for b, r in enumerate(content.rows):
            want = [1 if n == "B" else self.dims[n][b] if isinstance(n, str) else n for n in shape]
            assert list(r.shape) == want, "the generator takes %s for %s" % (list(r.shape), want)
            if r.numel() > 2000:
                return False
            if r.is_floating_point() and not bool((r.abs() < LARGEST).all()) and self.rng.random() > 0.03:
                return False
        return True

    def step(self):
        weights = [w for w, _, _ in ROWS]
        at = self.rng.choices(range(len(ROWS)), weights)[0]
        kept = (len(self.model.leaves), len(self.pool), set(self.model.params))
        drawn = ROWS[at][2](self)
        if drawn:
            text, shape, kind = drawn
            name = "v%d" % len(self.model.statements)
            content = eval(in_python(text), self.scope)
            if self.is_fit(content, shape):
                v = Value(name, shape, kind, text, content)
                self.model.statements.append(v)
                self.pool.append(v)
                self.scope[name] = content
                return
        del self.model.leaves[kept[0]:], self.pool[kept[1]:]
        for name in set(self.model.params) - kept[2]:
            del self.model.params[name], self.model.used[name]


def builtin_max(numbers):
    return sorted(numbers)[-1]


def draw_leaves(m):
    rng = m.rng
    rows = rng.randint(1, 4)
    def ragged(most=5):
        return [rng.choice([0, 1, rng.randint(2, most)]) for _ in range(rows)]
    m.lengths = {"B": [1] * rows, "S": ragged()}
    if rng.random() < 0.4:
        m.lengths["T"] = ragged()
    if rng.random() < 0.3:
        m.lengths["C"], m.made["C"] = [1 + n for n in m.lengths["S"]], "1 + S"
    if rng.random() < 0.15:
        m.lengths["L"] = [rng.randint(0, (n + 1) // 2) for n in m.lengths["S"]]

    def add(name, kind, shape, small=False):
        content = []
        for b in range(rows):
            size = [1 if n == "B" else m.lengths[n][b] if isinstance(n, str) else n for n in shape]
            if kind == "float":
                content.append(draw_tensor(rng, m.mode if rng.random() < 0.5 else "normal", size))
            else:
                low = 1 if name == "labels" else 0
                content.append(torch.tensor([rng.randint(low, 2 + (low == 0)) for _ in range(size[-1])], dtype=torch.int64).reshape(size))
        m.leaves.append(Value(name, shape, kind, content=V(content, True), small=small))

    widths = [1, 2, 3, 4, 5, 6, 7, 9]
    d, e = rng.choice(widths), rng.choice(widths)
    add("x", "float", ("B", "S", d))
    add("tokens", "int", ("B", "S"), True)
    if rng.random() < 0.5:
        add("z", "float", ("B", rng.choice([d, e])))
    if "T" in m.lengths:
        add("y", "float", ("B", "T", rng.choice([d, e])))
    if "L" in m.lengths:
        add("labels", "int", ("B", "L"))
    for k, shape in enumerate([(d,), (d, e), (4, d), (1,), (4, d, e)]):
        if rng.random() < 0.7:
            m.leaves.append(Value("p%d" % len(m.leaves), shape, "float", is_param=True))


# Of model N that of N % 12: a third begins at zeros and at ties.
MODES = ["zeros", "normal", "ties", "normal", "large", "cancelling", "ties", "normal", "zeros", "normal", "normal", "normal"]


def grow(seed):
    m = Model(seed)
    m.mode = MODES[seed % 12]
    draw_leaves(m)
    meaning.noise(None)
    g = Growth(m)
    g.scope = m.begin()
    for leaf in m.leaves:
        leaf.content = leaf.content or g.scope[leaf.name]
    for _ in range(m.rng.randint(4, 16)):
        g.step()
    finish(m, g)
    return m


def finish(m, g):
    """Outputs: what no statement reads. The loss: each of these times numbers that tell its elements apart, and
    are not 0 as params may be: gradients reach all that is read."""
    for v in [v for v in m.leaves if v.kind == "int" and v.name != "labels"] + [v for v in m.leaves if v.name == "y"]:
        # An input gives each dimension its length, so one of each is read.
        text = "float(%s)" % v
        s = Value("v%d" % len(m.statements), v.shape, "float", text, eval(in_python(text), g.scope))
        m.statements.append(s)
        g.scope[s.name] = s.content
    read = m.words_of([s.text for s in m.statements])
    ends = [s for s in m.statements if s.name not in read and not g.loose(s)]
    for s in ends:
        m.outputs.append(s.name)
        if s.kind != "float" or not all(bool(torch.isfinite(r).all()) for r in s.content.rows):
            continue
        if s.shape and s.shape != ("B",):
            m.terms.append("%s * (position(%s) + 0.5)" % (s, s.shape[-1]))
        else:
            m.terms.append("%s * 0.75" % s)
