"""Inputs of rounding.sh, and whether the outputs are right: rounding.py inputs | rounding.py check OUT …"""
import json
import math
import struct
import sys

VALUES = [0.1, 0.3, 0.7, 1.1, 3.3, 0.9]
SCORES = [[-1e30, -1e30, -1e30, -1e30], [-2e38, -2e38, -2e38, -2e38], [-3e30, -3e30, -math.inf, -math.inf],
          [-math.inf] * 4, [-math.inf, -3e38, -math.inf, -math.inf], [3e38, 3e38, -3e38, 3e38]]
HALF, THIRD = 0.5, 1 / 3
WEIGHTS = [[0.25] * 4, [0.25] * 4, [HALF, HALF, 0, 0], [0] * 4, [0, 1, 0, 0], [THIRD, THIRD, 0, THIRD]]
GREATEST = [max(row) for row in SCORES]
LOGSUMEXP = [float(struct.unpack("<f", struct.pack("<f", x))[0]) for x in GREATEST]
NEAR_ZERO = [-20.0, -30.0, -80.0, -1e-9, 1e-9, 0.5, 40.0, -0.75]
SOFTPLUS = [max(x, 0) + math.log1p(math.exp(-abs(x))) for x in NEAR_ZERO]
ELU = [x if x > 0 else math.expm1(x) for x in NEAR_ZERO]
NAN = math.nan
COLUMNS = [[5, 5, 9], [1, NAN, 1], [NAN, 1, 2], [2, 2, 3], [3, 3, NAN]]  # in each a NaN elsewhere
ROWS = [NAN if any(map(math.isnan, row)) else max(row) for row in COLUMNS]
SLOPES = [1 / (1 + math.exp(-x)) for x in NEAR_ZERO]
INPUTS = {
    "a": ([6], VALUES), "b": ([6], VALUES), "x": ([6, 4], [v for v in VALUES for _ in range(4)]),
    "s": ([1, 5], [-5.0, -3.0, -4.0, -3.5, -9.0]), "scores": ([6, 4], sum(SCORES, [])), "n": ([8], NEAR_ZERO),
    "holes": ([1, 5, 3], sum(COLUMNS, [])),
}
EXPECTED = {
    "difference": [0] * 6, "variance": [0] * 6, "normal": [0] * 24, "scaled": [0, 1, 0, 0, 0],
    "weights": sum(WEIGHTS, []), "levels": LOGSUMEXP, "softplus": SOFTPLUS, "elu": ELU, "grad.p": SLOPES,
    "sizes": [abs(x) for x in NEAR_ZERO], "less": [-abs(x) for x in NEAR_ZERO], "turned": [max(-x, 0) for x in NEAR_ZERO],
    "zeros": [0] * 8, "clipped": [max(abs(x), 1) for x in NEAR_ZERO],
    "down_max": [NAN] * 3, "down_min": [NAN] * 3, "last_max": ROWS,
}


def save(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        part = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: struct.unpack("<%d%s" % (math.prod(t["shape"]), {"F32": "f", "F64": "d"}[t["dtype"]]),
                                data[slice(*t["data_offsets"])])
            for name, t in header.items() if name != "__metadata__"}


def right(got, want):
    return got == want or (math.isnan(got) and math.isnan(want)) or abs(got - want) <= 5e-7 * abs(want)


def check(path):
    found = {name: values for name, values in load(path).items() if name in EXPECTED}
    wrong = [f"{name}: {values} instead of {EXPECTED[name]}" for name, values in found.items()
             if len(values) != len(EXPECTED[name]) or not all(map(right, values, EXPECTED[name]))]
    if wrong or not found:
        sys.exit(f"{path}: " + ("; ".join(wrong) or "nothing to compare"))
    print(*sorted(found))


if sys.argv[1] == "inputs":
    save("in.safetensors", INPUTS)
    save("params.safetensors", {"p": INPUTS["n"]})
else:
    check(sys.argv[2])
