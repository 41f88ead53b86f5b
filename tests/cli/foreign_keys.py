"""Another GGUF, whose metadata have one key more, less or otherwise.

    foreign_keys.py FROM TO KEY=VALUE …    VALUE in Python; None leaves the key out
"""
import ast
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures"))
from gguf_file import ARRAY, BOOL, F32, PACKED, TEXT, U32, gguf_text, gguf_value


def behind(data, at, kind):
    """The place behind a value."""
    if kind == TEXT:
        return at + 8 + struct.unpack_from("<Q", data, at)[0]
    if kind != ARRAY:
        return at + struct.calcsize("<" + PACKED[kind])
    of, n = struct.unpack_from("<IQ", data, at)
    at += 12
    for _ in range(n):
        at = behind(data, at, of)
    return at


def typed(value):
    if isinstance(value, list):
        return ARRAY, (typed(value[0])[0], value)
    return {bool: BOOL, int: U32, float: F32, str: TEXT}[type(value)], value


source, to, *changes = sys.argv[1:]
changes = {key: ast.literal_eval(value) for key, value in (change.split("=", 1) for change in changes)}
data = open(source, "rb").read()
n_tensors, n_keys = struct.unpack_from("<QQ", data, 8)
kept, at = [], 24
for _ in range(n_keys):
    size = struct.unpack_from("<Q", data, at)[0]
    key = data[at + 8:at + 8 + size].decode()
    end = behind(data, at + 12 + size, struct.unpack_from("<I", data, at + 8 + size)[0])
    if key not in changes:
        kept.append(data[at:end])
    at = end
first = at
for _ in range(n_tensors):
    at = behind(data, at, TEXT)
    at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 4 + 8
for key, value in changes.items():
    if value is not None:
        kind, value = typed(value)
        kept.append(gguf_text(key) + struct.pack("<I", kind) + gguf_value(kind, value))
head = data[:8] + struct.pack("<QQ", n_tensors, len(kept)) + b"".join(kept) + data[first:at]
with open(to, "wb") as file:
    file.write(head + b"\0" * (-len(head) % 32) + data[(at + 31) // 32 * 32:])
