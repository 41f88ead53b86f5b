"""A failing model made small: while it fails, outputs are left out, statements become inputs and params with
the values that they had, rows of the batch go, and numbers become simple."""
import copy
import re

import torch

from meaning import V
from model import Value


def copied(m):
    c = copy.copy(m)
    c.leaves, c.statements = list(m.leaves), list(m.statements)
    c.outputs, c.terms = list(m.outputs), list(m.terms)
    c.lengths, c.made, c.consts = dict(m.lengths), dict(m.made), dict(m.consts)
    c.params = dict(m.params)
    return c


def fewer_outputs(m):
    """With one output, or one term of the loss, alone; with one of them left out."""
    for kind, other in (("outputs", "terms"), ("terms", "outputs")):
        for e in getattr(m, kind):
            c = copied(m)
            setattr(c, kind, [e])
            setattr(c, other, [])
            if len(m.outputs) + len(m.terms) > 1:
                yield c
    for kind in ("outputs", "terms"):
        for i in range(len(getattr(m, kind))):
            c = copied(m)
            del getattr(c, kind)[i]
            if c.outputs or c.terms:
                yield c


def cut_statements(m):
    """A statement that others read becomes an input or a param with its values."""
    for s in reversed(m.reached()):
        at = m.statements.index(s)
        if s.name in m.outputs or s.kind != "float":
            continue
        ragged = any(isinstance(n, str) for n in s.shape)
        if ragged and (s.shape[:1] != ("B",) or any(isinstance(n, str) for n in s.shape[2:])):
            continue
        if any(isinstance(n, str) and n in m.made for n in s.shape):
            continue
        c = copied(m)
        del c.statements[at]
        content = V([r.detach() for r in s.content.rows], s.content.batched)
        c.leaves.append(Value(s.name, s.shape, "float", content=content, is_param=not ragged))
        if not ragged:
            c.params[s.name] = content.rows[0].clone()
        yield c


def fewer_rows(m):
    n = len(m.lengths["B"])
    for b in range(n):
        if n > 1:
            c = copied(m)
            c.lengths = {d: l[:b] + l[b + 1:] for d, l in m.lengths.items()}
            c.leaves = [without_row(v, b) for v in m.leaves]
            yield c


def without_row(v, b):
    if v.is_param or not v.content.batched:
        return v
    rows = v.content.rows[:b] + v.content.rows[b + 1:]
    return Value(v.name, v.shape, v.kind, content=V(rows, True), small=v.small)


def simpler_numbers(m):
    for name in m.params:
        for simple in (torch.zeros_like, torch.ones_like, lambda t: t.round()):
            t = simple(m.params[name].detach())
            if not torch.equal(t, m.params[name].detach()):
                c = copied(m)
                c.params[name] = t
                yield c


def kind_of(said):
    """Of a complaint its words, of a difference nothing but that it is one."""
    if "exit status" not in said:
        return ""
    return re.sub(r"`.*?`|[^a-z ]", "", said.split("error:", 1)[-1].split("\n")[0])


def make_small(m, said, judge, most=150):
    """The smallest model that still fails in the same way, and what is said of it."""
    def is_alike(other):
        return other and kind_of(said) == kind_of(other)
    tries = 0
    again = True
    while again and tries < most:
        again = False
        for ways in (fewer_outputs, cut_statements, fewer_rows, simpler_numbers):
            found = True
            while found and tries < most:
                found = False
                for c in ways(m):
                    tries += 1
                    try:
                        other = judge(c)
                    except (RuntimeError, StopIteration, IndexError):
                        continue
                    if is_alike(other):
                        m, said, found, again = c, other, True, True
                        break
                    if tries >= most:
                        break
    return m, said
