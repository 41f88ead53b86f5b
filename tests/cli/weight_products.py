"""Integers by their scales, as other programs store them, and their products, both by NumPy.

weight_products.py        writes int8.npz, int8.safetensors, lacks.safetensors, other.safetensors, in.safetensors
weight_products.py FILE   compares what `tfc run` wrote with the products
"""
import json
import struct
import sys

import numpy as np

random = np.random.default_rng(44)


def i8(*shape):
    return random.integers(-128, 128, shape, dtype=np.int8)


def u8(*shape):
    return random.integers(0, 256, shape, dtype=np.uint8)


def f32(*shape):
    return random.uniform(0.001, 0.1, shape).astype(np.float32)


t = {
    "0.w.weight_q": i8(24, 40), "0.w.scale": f32(24), "1.w.weight_q": i8(24, 40), "1.w.scale": f32(24),
    "qkv_q": u8(3 * 17, 40), "qkv_scale": f32(3 * 17, 1),
    "up_q": i8(16, 40), "up_scale": f32(16, 1), "down_q": i8(8, 40), "down_scale": f32(8),
    "table_q": i8(100, 8), "table_scale": f32(100, 1), "group": f32(1, 8),
    "half_q": i8(6, 8), "half_scale": f32(6, 1).astype(np.float16), "one": f32(1),
    "cube_q": i8(2, 3, 4), "cube_scale": f32(2, 1, 4),
}
ours = {
    "layer.0.held.values": t["0.w.weight_q"].T * t["0.w.scale"],
    "layer.1.held.values": t["1.w.weight_q"].T * t["1.w.scale"],
    "key_values": (t["qkv_q"] * t["qkv_scale"])[17:34].T,
    "value_values": t["qkv_q"][34:].T * t["qkv_scale"][34:].T,
    "both_values": np.concatenate([(t["up_q"] * t["up_scale"]).T, t["down_q"].T * t["down_scale"]], 1),
    "table_values": t["table_q"] * t["table_scale"] * t["group"],
    "half_values": t["half_q"] * (t["half_scale"].astype(np.float64) / 127).astype(np.float32) * t["one"],
    "cube_values": (t["cube_q"] * t["cube_scale"]).transpose(2, 0, 1),
}


def write(path, tensors):
    names = {"int8": "I8", "uint8": "U8", "float16": "F16", "float32": "F32"}
    header, data = {}, b""
    for name, x in tensors.items():
        header[name] = {"dtype": names[str(x.dtype)], "shape": x.shape, "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


if len(sys.argv) == 1:
    np.savez("int8.npz", **t)
    write("int8.safetensors", t)
    write("lacks.safetensors", {name: x for name, x in t.items() if name != "up_scale"})
    write("other.safetensors", {**t, "up_scale": f32(15, 1)})
    write("in.safetensors", {"x": np.zeros(1, np.float32)})
    sys.exit()
data = open(sys.argv[1], "rb").read()
at = 8 + struct.unpack_from("<Q", data)[0]
header = json.loads(data[8:at])
for name, x in ours.items():
    begin, end = header[name]["data_offsets"]
    got = np.frombuffer(data[at + begin:at + end], np.float32).reshape(header[name]["shape"])
    near = name == "half_values"  # a scale by a number is rounded with the product, not before
    if got.shape != x.shape or not (np.allclose(got, x, 3e-7, 0) if near else np.array_equal(got, x)):
        sys.exit(f"{name} is\n{got}\nnot\n{x}")
