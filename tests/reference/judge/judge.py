#!/usr/bin/python3
"""A judge beside tfc: random models, each computed in f64 by `tfc run --grad` and by PyTorch.

    judge.py TFC                      a thousand models
    judge.py TFC --seed N --count 1   model N alone; --print shows its text
    judge.py TFC --first N --count K  models N to N + K - 1

Compared are all outputs and the gradients of all params. How far a number may be off follows from the
model itself: PyTorch computes it again with noise (meaning.py), and rounding may move it as far as that
noise does, on its scale. A number that does not come nearer when the noise becomes smaller stands at a jump, and
is left open, as is a gradient that is not finite in PyTorch; these are counted.

A model whose results differ is made small (shrink.py) and written to build/judge: SEED.tfg, the files of its
inputs and params, and SEED.py, the same program. At the end stands which ops and blocks were reached.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

import torch

from model import MODES, grow
from shrink import make_small
from whole import draw_whole
import reached

SMALL, LARGE = 2.0 ** -36, 2.0 ** -30
NOISES = [(1, SMALL), (2, SMALL), (1, LARGE)]
UNIT = 2.0 ** -53 / SMALL * 256  # of what the small noise moves: 64 roundings, and a draw may be four times too small
FLOOR = 2.0 ** -46               # of a number itself, and of the greatest beside it
TYPES = {torch.float64: ("F64", "d"), torch.int64: ("I64", "q")}


# ---- files --------------------------------------------------------------------------

def write_tensors(path, tensors):
    head, data = {}, b""
    for name, t in tensors.items():
        kind, letter = TYPES[t.dtype]
        flat = t.flatten().tolist()
        packed = struct.pack("<%d%s" % (len(flat), letter), *flat)
        head[name] = {"dtype": kind, "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    with open(path, "rb") as f:
        raw = f.read()
    size = struct.unpack("<Q", raw[:8])[0]
    found = {}
    for name, t in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            letter, width = {"F64": ("d", 8), "F32": ("f", 4), "I32": ("i", 4), "I64": ("q", 8)}[t["dtype"]]
            begin, end = t["data_offsets"]
            flat = struct.unpack("<%d%s" % ((end - begin) // width, letter), raw[8 + size + begin:8 + size + end])
            found[name] = torch.tensor(flat, dtype=torch.float64).reshape(t["shape"])
    return found


def padded(v, lengths):
    """Rows as one tensor with zeros behind them."""
    shape = [max(r.shape[a] for r in v.rows) for a in range(v.rows[0].dim())]
    y = torch.zeros([len(v.rows)] + shape[1:], dtype=v.rows[0].dtype)
    for b, r in enumerate(v.rows):
        y[b][tuple(slice(n) for n in r.shape[1:])] = r[0]
    return y


def write_model(m, folder):
    text = m.text()
    with open(folder + "/model.tfg", "w") as f:
        f.write(text)
    tensors = {}
    for v in m.written:
        tensors[v.name] = padded(v.content, m.lengths)
        for d in v.shape[1:2]:
            if isinstance(d, str):
                tensors[v.name + ".lengths"] = torch.tensor(m.lengths[d])
    write_tensors(folder + "/in.safetensors", tensors)
    write_tensors(folder + "/params.safetensors", {n: t.detach() for n, t in m.params.items() if n in m.used})


# ---- running and comparing ----------------------------------------------------------

def run_tfc(tfc, m, folder):
    """What tfc gives by name, or the text of its complaint."""
    out = folder + "/out.safetensors"
    command = [tfc, "run", folder + "/model.tfg", "--in", folder + "/in.safetensors", "--out", out, "--dtype", "f64",
               "--threads", "1", "-O2" if m.seed % 4 else "-O0"]
    if m.used:
        command += ["--weights", folder + "/params.safetensors"]
    if m.used and m.terms:
        command.append("--grad")
    if os.path.exists(out):
        os.remove(out)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    except subprocess.TimeoutExpired:
        return "no answer within 300 s"
    if done.returncode:
        return "exit status %d: %s" % (done.returncode, done.stdout.decode(errors="replace"))
    return read_tensors(out)


def flat_rows(v, ours):
    """Ours, padded, in the order of v's elements."""
    if not v.batched:
        return ours.flatten()
    rows = [ours[b][tuple(slice(n) for n in r.shape[1:])].flatten() for b, r in enumerate(v.rows)]
    return torch.cat(rows)


def flat(v):
    return torch.cat([r.flatten().double() for r in v.rows])


def differences(m, ours, count):
    """The first thing that is wrong, or None. `count` counts numbers by how they were decided."""
    if isinstance(ours, str):
        return ours
    theirs = m.run()
    noisy = [m.run(noise) for noise in NOISES]
    for name, v in theirs.items():
        if name not in ours:
            if name.startswith("grad.") and not bool(flat(v).any()):
                continue
            return "no %s" % name
        a, b = flat_rows(v, ours[name]), flat(v)
        if a.shape != b.shape:
            return "%s has the shape %s" % (name, list(ours[name].shape))
        if not a.numel():
            continue
        off = [(flat(n[name]) - b).abs() for n in noisy]
        moved = torch.maximum(off[0], off[1])
        finite = torch.isfinite(b) & torch.isfinite(moved) & torch.isfinite(off[2])
        size = torch.where(finite, b.abs(), torch.zeros_like(b))
        loose = ~finite | (moved > off[2] / 4) & (moved > 2.0 ** -30 * size)
        far = torch.where(loose, torch.zeros_like(b), moved)
        allowed = UNIT * (far + far.max() / 16) + FLOOR * (size + size.max() / 16) + 1e-300
        same = (a == b) | (torch.isnan(a) & torch.isnan(b))
        exact = ~torch.isfinite(b) & torch.stack([torch.isnan(flat(n[name])) == torch.isnan(b) for n in noisy]).all(0)
        if name.startswith("grad."):
            exact &= False          # of infinities in a gradient the documentation says nothing
        wrong = torch.where(exact, ~same, ~loose & ~((a - b).abs() <= allowed))
        count["decided"] += int((exact | ~loose).sum())
        count["open"] += int((~exact & loose).sum())
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0])
            return "%s: element %d is %.17g, not %.17g; rounding moves it by %.2g at most" % (
                name, at, a[at], b[at], allowed[at])
    return None


def judge(tfc, m, folder, count):
    m.run()                       # which params there are
    write_model(m, folder)
    return differences(m, run_tfc(tfc, m, folder), count)


def keep(m, folder, said):
    """A failing model, in build/judge."""
    place = "build/judge"
    os.makedirs(place, exist_ok=True)
    base = "%s/%d" % (place, m.seed)
    text = m.text()
    with open(base + ".tfg", "w") as f:
        f.write("# %s\n%s" % (said.strip().replace("\n", "\n# "), text))
    with open(base + ".py", "w") as f:
        f.write('"""%s"""\n%s' % (said.strip(), m.python()))
    for part in ("in", "params"):
        os.replace("%s/%s.safetensors" % (folder, part), "%s.%s.safetensors" % (base, part))
    print("%s\nis in %s.tfg; tfc run %s.tfg --in %s.in.safetensors --weights %s.params.safetensors --grad --dtype f64 --out OUT" %
          (text, base, base, base, base))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("tfc")
    options.add_argument("--seed", "--first", dest="first", type=int, default=0)
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seconds", type=float, default=1e9, help="begin no model after this time")
    options.add_argument("--print", action="store_true")
    options.add_argument("--whole", action="store_true", help="keep a failing model as it is")
    options = options.parse_args()
    end = time.monotonic() + options.seconds
    count, failed, coverage = {"decided": 0, "open": 0}, [], reached.Coverage(options.tfc)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.count):
            if time.monotonic() > end:
                options.count = seed - options.first
                break
            m = draw_whole(seed, MODES[seed // 10 % 12]) if seed % 10 == 7 else grow(seed)
            if options.print:
                print(m.text())
            said = judge(options.tfc, m, folder, count)
            coverage.add(m, folder)
            if said:
                failed.append(seed)
                print("model %d: %s" % (seed, said))
                if not options.whole:
                    m, said = make_small(m, said, lambda m: judge(options.tfc, m, folder, {"decided": 0, "open": 0}))
                    judge(options.tfc, m, folder, dict(count))
                keep(m, folder, said)
            if (seed - options.first) % 100 == 99:
                print("%d models, %d failed" % (seed - options.first + 1, len(failed)))
            sys.stdout.flush()
    coverage.show()
    spent = os.times()
    print("processor time: %.0f s here, %.0f s in tfc" % (spent.user + spent.system, spent.children_user + spent.children_system))
    print("%d models from %d on, %d failed%s; %d numbers decided, %d open" % (
        options.count, options.first, len(failed), " (%s)" % ", ".join(map(str, failed)) if failed else "", count["decided"], count["open"]))
    return 1 if failed or coverage.missing() and options.count >= 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
