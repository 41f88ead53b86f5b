"""What random models are made of: a row for each op and block, which draws its operands among the
values there are and gives the text, the shape and the type of a new one, or None where none fits.

A shape is a tuple of numbers and of names of dimensions; B comes first in all that the batch has.
`row(weight, names)`: how often it is drawn, and the functions and blocks of docs/language.md that it writes.
"""
ROWS = []


def row(weight, names):
    def add(draw):
        ROWS.append((weight, names.split(), draw))
        return draw
    return add


def is_sequence(v):
    return len(v.shape) == 3 and v.shape[0] == "B" and isinstance(v.shape[1], str) and isinstance(v.shape[2], int)


def with_last(shape, *dims):
    return shape[:-1] + dims


# ---- element by element -------------------------------------------------------------

@row(10, "abs exp expm1 tanh erf sigmoid sin cos floor relu stop_gradient gelu gelu_tanh silu softplus leaky_relu elu neg")
def unary(g):
    x = g.float()
    f = g.rng.choice("abs exp expm1 tanh erf sigmoid sin cos floor relu stop_gradient gelu gelu_tanh silu "
                     "softplus leaky_relu elu".split() + ["-"])
    more = {"leaky_relu": g.rng.choice(["", ", 0.25"]), "elu": g.rng.choice(["", ", 1.5"])}.get(f, "")
    return "%s(%s%s)" % (f, x, more), x.shape, "float"


@row(4, "log log1p sqrt rsqrt abs")
def positive(g):
    x = g.float()
    f = g.rng.choice(["log", "log1p", "sqrt", "rsqrt"])
    return f + g.rng.choice(["(%s)", "(abs(%s) + 0.5)", "(%s * %s + 1e-3)"]).replace("%s", str(x)), x.shape, "float"


@row(2, "clamp float int stop")
def bounded(g):
    x = g.float()
    text = g.rng.choice(["clamp(%s, -1, 1)", "clamp(%s, 0, 0.5)", "float(int(%s * 2))", "%s - floor(%s)", "stop(%s) * %s"])
    return text.replace("%s", str(x)), x.shape, "float"


@row(5, "pow")
def powers(g):
    x = g.float()
    y = g.like(x)
    text = g.rng.choice(["%s ^ 2", "%s ^ 3", "%s ^ 0", "%s ^ 1", "(%s * %s + 0.25) ^ 0.5", "(abs(%s) + 1) ^ -1.5",
                         "2 ^ %s", "abs(%s) ^ Y", "abs(%s) ^ abs(Y)", "relu(%s) ^ 2", "relu(%s) ^ Y", "%s ^ -1"])
    return text.replace("%s", str(x)).replace("Y", str(y)), x.shape, "float"


@row(12, "relu abs softplus elu leaky_relu clamp maximum minimum pow max min")
def kinks(g):
    """Of a model that begins at zeros or ties: functions at their kinks, of params and inputs themselves."""
    if not g.at_ties:
        return None
    x = g.float(lambda v: v.text is None)
    y = g.like(x, lambda v: v.text is None)
    if g.rng.random() < 0.2 and len(x.shape) > 1:
        kept = with_last(x.shape, 1)
        return "%s(%s, -1)" % (g.rng.choice(["max", "min"]), x), kept, "float"
    text = g.rng.choice(["relu(X)", "abs(X)", "softplus(X)", "elu(X)", "elu(X, 1.5)", "leaky_relu(X)", "clamp(X, -0.5, 0.5)",
                         "clamp(X, 0, 1)", "maximum(X, Y)", "minimum(X, Y)", "maximum(X, 0)", "minimum(X, 1)", "X ^ abs(Y)",
                         "abs(X) ^ Y", "abs(X) ^ abs(Y)", "X ^ 2", "relu(X - Y)", "abs(X - Y)", "gelu(X)", "softplus(X - Y)",
                         "elu(X - Y)", "X ^ 0", "X ^ 1"])
    return text.replace("X", str(x)).replace("Y", str(y)), x.shape, "float"


@row(10, "add sub mul div maximum minimum mod")
def binary(g):
    x = g.float()
    y = g.like(x)
    text = g.rng.choice(["X + Y", "X - Y", "X * Y", "Y - X", "maximum(X, Y)", "minimum(X, Y)", "X / (abs(Y) + 1)",
                         "X / Y", "X * 0.5", "1 - X", "maximum(X, 0)", "minimum(X, 1)"])
    return text.replace("X", str(x)).replace("Y", str(y)), x.shape, "float"


@row(4, "select lt le eq and or not")
def choice(g):
    x = g.float()
    y, z = g.like(x), g.like(x)
    c = g.rng.choice(["X < Y", "X <= Y", "X > Z", "X >= 0", "X == Y", "X != 0", "(X < Y) and (Y < Z)",
                      "(X < 0) or (X == Y)", "not (X < Y)"])
    text = "select(%s, %s)" % (c, g.rng.choice(["X, Y", "Y, X", "X, 0", "X * X, Z", "1, X"]))
    return text.replace("X", str(x)).replace("Y", str(y)).replace("Z", str(z)), x.shape, "float"


@row(2, "int mod div float")
def whole(g):
    x = g.int()
    text = x and g.rng.choice(["%s + 1", "%s * 2 - 3", "(%s * %s) % 3", "float(%s) / 4", "%s / 2", "maximum(%s, 1)", "abs(%s - 2)"])
    return x and (text.replace("%s", str(x)), x.shape, "float" if "/" in text else "int")


@row(1, "lengths size")
def counted(g):
    x = g.float(lambda v: v.shape[0] == "B" and len(v.shape) == 3)
    if not x:
        return None
    d = g.ragged()
    return g.rng.choice(["%s * reshape(lengths(%s), [B, 1, 1])" % (x, d), "%s / (size(%s) + 1)" % (x, d),
                         "%s / size(B)" % x, "%s * (reshape(lengths(%s), [B, 1, 1]) + 1) ^ -0.5" % (x, d)]), x.shape, "float"


# ---- along axes ---------------------------------------------------------------------

@row(8, "sum mean max min variance")
def along(g):
    x = g.float()
    f, axis = g.rng.choice(["sum", "mean", "max", "min", "variance"]), g.axis(x, batch=False)
    if axis is None:
        return None
    kept = tuple(1 if i == axis % len(x.shape) else n for i, n in enumerate(x.shape))
    return "%s(%s, %d)" % (f, x, axis), kept, "float"


@row(2, "sum mean max min")
def along_all(g):
    x = g.float(lambda v: not g.loose(v), scalars=True)
    f = g.rng.choice(["sum", "mean", "max", "min"])
    if g.rng.random() < 0.5 or len(x.shape) < 3 or x.shape[0] != "B":
        return "%s(%s)" % (f, x), (), "float"
    kept = tuple(1 if i < 2 else n for i, n in enumerate(x.shape))
    return ("%s(%s, [0, 1])" % (f, x), kept, "float") if not any(isinstance(n, str) for n in x.shape[2:]) else None


@row(6, "softmax logsumexp log_softmax mask causal window")
def normalised(g):
    x = g.float(lambda v: v.shape[-1] not in (1, "B"))
    if not x:
        return None
    f = g.rng.choice(["softmax", "logsumexp", "log_softmax", "softmax"])
    text, n, axis = str(x), x.shape[-1], ""
    if g.rng.random() < 0.2 and len(x.shape) > 1 and f != "logsumexp":
        other = g.axis(x, batch=False)
        return "%s(%s, %d)" % (f, x, other), x.shape, "float"
    if g.rng.random() < 0.4 and f == "softmax":
        allowed = ["%s > 0" % x, "%s <= %s" % (x, g.like(x))]
        if len(x.shape) > 2 and isinstance(n, str) and x.shape[-2] == n:
            allowed += ["causal(%s)" % n, "window(1, %s)" % n] * 2
        text = "mask(%s, %s)" % (text, g.rng.choice(allowed))
    return "%s(%s)" % (f, text), with_last(x.shape, 1) if f == "logsumexp" else x.shape, "float"


# ---- shapes -------------------------------------------------------------------------

@row(3, "reshape")
def reshaped(g):
    x = g.float(lambda v: isinstance(v.shape[-1], int))
    if not x:
        return None
    n, front = x.shape[-1], x.shape[:-1]
    if len(x.shape) > 2 and isinstance(x.shape[-2], int) and g.rng.random() < 0.5:
        shape = x.shape[:-2] + (n * x.shape[-2],)
    else:
        divisors = [k for k in range(1, n + 1) if n % k == 0]
        k = g.rng.choice(divisors)
        shape = front + (k, n // k)
    return "reshape(%s, %s)" % (x, g.text_of(shape)), shape, "float"


@row(3, "transpose permute")
def transposed(g):
    x = g.float(lambda v: len(v.shape) > 2)
    if not x:
        return None
    order = list(range(1, len(x.shape)))
    g.rng.shuffle(order)
    order = [0] + order
    shape = tuple(x.shape[i] for i in order)
    if g.rng.random() < 0.5:
        return "transpose(%s)" % x, x.shape[:-2] + (x.shape[-1], x.shape[-2]), "float"
    return "permute(%s, %s)" % (x, order), shape, "float"


@row(2, "broadcast full")
def stretched(g):
    x = g.float(lambda v: len(v.shape) == 1)
    y = g.float(lambda v: len(v.shape) > 1 and x and v.shape[-1] == x.shape[0])
    if not y:
        return None
    return g.rng.choice(["broadcast(%s, %s)" % (x, g.text_of(y.shape)),
                         "full(%s, 0.5) * %s" % (g.text_of(y.shape), y)]), y.shape, "float"


@row(4, "slice pad flip concat split")
def pieces(g):
    x = g.float(lambda v: isinstance(v.shape[-1], int) and v.shape[-1] > 1)
    if not x:
        return None
    n, kind = x.shape[-1], g.rng.choice(["slice", "pad", "flip", "concat", "split", "flip_axis", "concat_axis"])
    if kind == "slice":
        at = g.rng.randrange(n)
        width = g.rng.randint(1, n - at)
        return "slice(%s, -1, %d, %d)" % (x, at, width), with_last(x.shape, width), "float"
    if kind == "pad":
        a, b = g.rng.randrange(3), g.rng.randrange(3)
        return "pad(%s, -1, %d, %d)" % (x, a, b), with_last(x.shape, n + a + b), "float"
    if kind == "concat":
        y = g.float(lambda v: v.shape[:-1] == x.shape[:-1] and isinstance(v.shape[-1], int)) or x
        return "concat([%s, %s])" % (x, y), with_last(x.shape, n + y.shape[-1]), "float"
    if kind == "split":
        k = g.rng.randint(1, n - 1)
        part, width = g.rng.choice([(0, k), (1, n - k)])
        return "split(%s, [%d, %d])[%d]" % (x, k, n - k, part), with_last(x.shape, width), "float"
    if kind == "flip_axis":
        axis = g.axis(x, batch=False)
        return "flip(%s, %d)" % (x, axis), x.shape, "float"
    if kind == "concat_axis" and len(x.shape) > 2 and isinstance(x.shape[-2], int):
        return "concat([%s, %s], -2)" % (x, g.same(x)), x.shape[:-2] + (2 * x.shape[-2], n), "float"
    return "flip(%s)" % x, x.shape, "float"


# ---- products -----------------------------------------------------------------------

@row(4, "matmul")
def matrix_product(g):
    x = g.float(lambda v: len(v.shape) > 1 and isinstance(v.shape[-1], int))
    if not x:
        return None
    w = g.float(lambda v: len(v.shape) in (1, 2) and v.shape[0] == x.shape[-1] and v.shape[0] != "B"
                and isinstance(v.shape[-1], int))
    if not w:
        w = g.new_param((x.shape[-1], g.width()))
    if len(w.shape) == 1:
        return "%s @ %s" % (x, w), x.shape[:-1], "float"
    return "%s @ %s" % (x, w), with_last(x.shape, w.shape[-1]), "float"


@row(5, "matmul transpose")
def pair_product(g):
    x = g.float(lambda v: len(v.shape) > 2 and v.shape[0] == "B")
    if not x:
        return None
    y = g.float(lambda v: v.shape[:-2] == x.shape[:-2] and len(v.shape) == len(x.shape) and v.shape[-1] == x.shape[-1])
    scale = g.rng.choice(["", " * 0.5"])
    ways = [("%s @ transpose(%s)%s" % (x, y, scale), with_last(x.shape, y.shape[-2]))]
    z = g.float(lambda v: v.shape[:-2] == x.shape[:-2] and len(v.shape) == len(x.shape) and v.shape[-2] == x.shape[-2])
    ways.append(("transpose(%s) @ %s%s" % (x, z, scale), x.shape[:-2] + (x.shape[-1], z.shape[-1])))
    u = g.float(lambda v: v.shape[:-2] == x.shape[:-2] and len(v.shape) == len(x.shape) and v.shape[-2] == x.shape[-1])
    if u:
        ways += [("%s @ %s%s" % (x, u, scale), with_last(x.shape, u.shape[-1]))] * 2
    text, shape = g.rng.choice(ways)
    return text, shape, "float"


# ---- lookups ------------------------------------------------------------------------

@row(3, "gather one_hot")
def embedded(g):
    index = g.int(lambda v: v.small or v.text)
    if not index:
        return None
    if g.rng.random() < 0.2:
        return "one_hot(%s, 4)" % index, index.shape + (4,), "float"
    table = g.float(lambda v: len(v.shape) in (2, 3) and v.is_param and v.shape[0] >= 4) or g.new_param((4, g.width()))
    return "%s[%s]" % (table, index), index.shape + table.shape[1:], "float"


@row(3, "top_k argmax pick")
def chosen(g):
    x = g.float(lambda v: isinstance(v.shape[-1], int) and len(v.shape) > 1)
    if not x:
        return None
    k = g.rng.randint(1, x.shape[-1])
    return g.rng.choice([("top_k(%s, %d)" % (x, k), with_last(x.shape, k), "int"),
                         ("pick(%s, top_k(%s, %d))" % (x, x, k), with_last(x.shape, k), "float"),
                         ("argmax(%s)" % x, x.shape[:-1], "int"),
                         ("pick(%s, argmax(%s) - 1)" % (x, x), x.shape[:-1], "float")])


@row(4, "shift first last lookup scatter flip position")
def by_position(g):
    x = g.float(is_sequence)
    if not x:
        return None
    s = x.shape[1]
    k = g.rng.randint(-2, 2)
    whole_ways = ["shift(%s, %s)" % (x, s), "shift(%s, %s, %d)" % (x, s, k), "shift(%s, -2, %d)" % (x, k), "flip(%s, 1)" % x,
                  "lookup(%s, %s, position(%s) + %d)" % (x, s, s, k), "lookup(%s, %s, position(%s) * 2)" % (x, s, s),
                  "scatter(%s, %s, broadcast(reshape(position(%s) + %d, [1, %s]), [B, %s]))" % (x, s, s, k, s, s),
                  "scatter(%s, %s, broadcast(reshape((position(%s) * 2) %% 3, [1, %s]), [B, %s]))" % (x, s, s, s, s)]
    if g.rng.random() < 0.3:
        return g.rng.choice(["first(%s, %s)" % (x, s), "last(%s, %s)" % (x, s)]), ("B", x.shape[2]), "float"
    return g.rng.choice(whole_ways), x.shape, "float"


@row(2, "slice concat split")
def made_dims(g):
    if "C" not in g.dims:
        return None
    x = g.float(lambda v: len(v.shape) == 3 and v.shape[:2] == ("B", "C") and isinstance(v.shape[2], int))
    if x and g.rng.random() < 0.6:
        return g.rng.choice(["slice(%s, 1, 1, S)" % x, "split(%s, [1, S], 1)[1]" % x, "slice(%s, 1, 0, S)" % x]), ("B", "S", x.shape[2]), "float"
    x = g.float(lambda v: len(v.shape) == 3 and v.shape[:2] == ("B", "S") and isinstance(v.shape[2], int))
    if not x:
        return None
    v = g.float(lambda v: v.shape == (x.shape[2],)) or g.new_param((x.shape[2],))
    front = "reshape(%s, [1, 1, %d])" % (v, x.shape[2])
    return "concat([%s, %s], 1)" % ((front, x) if g.rng.random() < 0.7 else (x, front)), ("B", "C", x.shape[2]), "float"


# ---- layers -------------------------------------------------------------------------

@row(8, "linear layer_norm rms_norm batch_norm token_shift glu conv learned_positions sinusoid rotary")
def layer(g):
    x = g.float(lambda v: isinstance(v.shape[-1], int) and len(v.shape) > 1 and not g.loose(v))
    if not x:
        return None
    n, a = x.shape[-1], g.label()
    ways = [("linear as %s(%s, W)" % (a, x), True), ("linear as %s(%s, W, bias = false)" % (a, x), True),
            ("layer_norm as %s(%s)" % (a, x), False), ("rms_norm as %s(%s)" % (a, x), False),
            ("layer_norm as %s(%s, 1e-3)" % (a, x), False), ("rms_norm as %s(%s, eps = 0.01)" % (a, x), False)]
    if len(x.shape) < 5:
        ways.append(("batch_norm as %s(%s)" % (a, x), False))
    if len(x.shape) > 2:
        taps = g.rng.randint(1, 4)
        s = x.shape[-2]
        ways += [("token_shift as %s(%s)" % (a, x), False), ("conv as %s(%s, %d)" % (a, x, taps), False),
                 ("conv as %s(%s, %d, causal = false, bias = false)" % (a, x, taps), False),
                 ("conv as %s(%s, %d, n = W)" % (a, x, taps), True),
                 ("conv as %s(%s, %d, n = W, causal = false)" % (a, x, taps), True),
                 ("%s + learned_positions as %s(%s, %d, 9)" % (x, a, s, n), False)]
        if n % 2 == 0:
            ways += [("%s + sinusoid(%s, %d)" % (x, s, n), False), ("%s * sinusoid(%s, %d, halved = true)" % (x, s, n), False),
                     ("rotary(%s)" % x, False), ("rotary(%s, base = 100, halved = true)" % x, False)]
    if n % 2 == 0 and len(x.shape) > 2 and g.rng.random() < 0.2:
        return g.rng.choice(["rotary(%s)", "rotary(%s, base = 100, halved = true)"]) % x, x.shape, "float"
    if n % 2 == 0 and g.rng.random() < 0.2:
        return "glu(%s)" % x, with_last(x.shape, n // 2), "float"
    text, widens = g.rng.choice(ways)
    width = g.width() if widens else n
    return text.replace("W", str(width)), with_last(x.shape, width), "float"


@row(3, "heads_of join_heads alibi relative_bias causal mask softmax")
def heads(g):
    x = g.float(lambda v: is_sequence(v) and v.shape[2] % 2 == 0)
    if not x:
        return None
    s, a, h = x.shape[1], g.label(), "heads_of(%s, 2)" % x
    scores = "%s @ transpose(%s)" % (h, h)
    scores = g.rng.choice([scores, scores + " + alibi(2, %s)" % s, scores + " + relative_bias as %s(2, 1, %s)" % (a, s),
                           "mask(%s, causal(%s))" % (scores, s), "mask(%s, window(1, %s))" % (scores, s),
                           "mask(%s, causal(%s) and window(2, %s))" % (scores, s, s),
                           "mask(%s, not causal(%s))" % (scores, s), "mask(%s, false)" % scores])
    return "join_heads(softmax(%s) @ %s)" % (scores, h), x.shape, "float"


@row(4, "attention feed_forward scores activation padding")
def sublayers(g):
    x = g.float(is_sequence)
    y = g.float(is_sequence)
    if not x:
        return None
    g.use_attention()
    a, s, t = g.label(), x.shape[1], y.shape[1]
    shape = with_last(x.shape, g.consts["d_model"])
    token = g.leaf_of(s)
    return g.rng.choice(["attention as %s(%s, %s, true)" % (a, x, x), "attention as %s(%s, %s, causal(%s))" % (a, x, x, s),
                         "attention as %s(%s, %s, true)" % (a, x, y), "attention as %s(%s, %s, window(1, %s, %s))" % (a, x, y, s, t),
                         "attention as %s(%s, %s, causal(%s, %s), 1)" % (a, x, y, s, t),
                         "attention as %s(%s, %s, padding(%s) and causal(%s))" % (a, x, x, token, s) if token else
                         "feed_forward as %s(%s)" % (a, x),
                         "feed_forward as %s(%s)" % (a, x), "feed_forward as %s(%s, 5)" % (a, x)]), shape, "float"


@row(2, "mixture_of_experts experts by_expert balance_loss times_chosen expert_activation")
def mixtures(g):
    x = g.float(is_sequence)
    if not x:
        return None
    a, n, d = g.label(), g.rng.randint(2, 4), x.shape[2]
    k = g.rng.randint(1, n)
    kind = g.rng.random()
    if kind < 0.6:
        more = g.rng.choice(["", ", shared = 1", ", score = \"sigmoid\"", ", normalised = false, scale = 2", ", gated = false",
                             ", shared = 2, gated = false"])
        return "mixture_of_experts as %s(%s, %d, %d, 3%s)" % (a, x, n, k, more), x.shape, "float"
    p = g.float(lambda v: v.shape == x.shape[:2] + (n,))
    p = "softmax(%s)" % p if p else "softmax(linear as %sr(%s, %d))" % (a, x, n)
    if kind < 0.75:
        return "balance_loss(%s, top_k(%s, %d)%s)" % (p, p.replace(a + "r", a + "s"), k, g.rng.choice(["", ", whole = true"])), (), "float"
    if kind < 0.85:
        return "times_chosen(top_k(%s, %d), %d)" % (p, k, n), x.shape[:2] + (n,), "float"
    w = g.new_param((n, d, g.width()))
    return "by_expert(reshape(%s, [B, %s, 1, %d]), %s, top_k(%s, %d))" % (x, x.shape[1], d, w, p, k), \
        x.shape[:2] + (k, w.shape[2]), "float"


# ---- losses -------------------------------------------------------------------------

@row(3, "cross_entropy ctc ctc_loss")
def losses(g):
    x = g.float(lambda v: len(v.shape) == 3 and v.shape[:2] == ("B", "S") and isinstance(v.shape[2], int))
    if not x:
        return None
    n, a = x.shape[2], g.label()
    if "L" in g.dims and g.rng.random() < 0.5:
        labels = g.labels
        logits = x if n == 3 else "linear as %s(%s, 3)" % (a, x)
        if g.rng.random() < 0.5:
            return "ctc_loss(%s, %s)" % (logits, labels), (), "float"
        return "ctc(log_softmax(%s), %s)" % (logits, labels), ("B",), "float"
    y = g.int(lambda v: v.shape == ("B", "S") and v.small)
    if not y:
        return None
    logits = x if n >= 4 else "linear as %s(%s, 4)" % (a, x)
    label = "%s - 1" % y if g.rng.random() < 0.5 else str(y)
    more = g.rng.choice(["", ", label_smoothing = 0.1", ", label_smoothing = 0.5"])
    return "cross_entropy(%s, %s%s)" % (logits, label, more), (), "float"
