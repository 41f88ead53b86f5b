"""Inputs of rounding.sh, and whether the outputs are right: rounding.py inputs | rounding.py check OUT …"""
import json
import struct
import sys

VALUES = [0.1, 0.3, 0.7, 1.1, 3.3, 0.9]
INPUTS = {
    "a": ([6], VALUES), "b": ([6], VALUES), "x": ([6, 4], [v for v in VALUES for _ in range(4)]),
    "s": ([1, 5], [-5.0, -3.0, -4.0, -3.5, -9.0]),
}
EXPECTED = {"difference": [0] * 6, "variance": [0] * 6, "normal": [0] * 24, "scaled": [0, 1, 0, 0, 0]}


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
    return {name: struct.unpack(f"<{(t['data_offsets'][1] - t['data_offsets'][0]) // 4}f", data[slice(*t["data_offsets"])])
            for name, t in header.items() if name != "__metadata__"}


def check(path):
    found = load(path)
    wrong = [f"{name}: {values} instead of {EXPECTED[name]}" for name, values in found.items()
             if len(values) != len(EXPECTED[name]) or list(values) != EXPECTED[name]]
    if wrong or not found:
        sys.exit(f"{path}: " + ("; ".join(wrong) or "nothing to compare"))
    print(*sorted(found))


if sys.argv[1] == "inputs":
    save("in.safetensors", INPUTS)
else:
    check(sys.argv[2])
