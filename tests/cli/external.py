"""ONNX models whose tensors lie in other files beside them, for tests/cli/external.sh.

    external.py TFC FIXTURES    in an empty folder
"""
import json
import os
import re
import struct
import subprocess
import sys

from encoder_f64 import read_tensors, words, write as write_json, write_weights

tfc, fixtures = sys.argv[1:]
MODEL = """model m
dim B
input x : float[B, 2]
param w : [2, 3] = zeros
param v : [3] = zeros
output y = x @ w + v
"""
W, V = [1.5, -2, 3, 4, 5, 6], [7, 8, 9]
DATA = b"head" + struct.pack("<6f", *W) + struct.pack("<3f", *V)


def fail(name, text):
    sys.exit(f"FAILED: {name}: {text}")


def run(*command):
    return subprocess.run([tfc, *command], capture_output=True, text=True, encoding="utf-8", errors="replace")


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, content):
    return (varint(number << 3) + varint(content) if isinstance(content, int)
            else varint(number << 3 | 2) + varint(len(content)) + content)


def tensor(name, shape, entries, more=b""):
    """A TensorProto of floats with its data elsewhere (onnx.proto: external_data, data_location)."""
    places = b"".join(field(13, field(1, key.encode()) + field(2, value if isinstance(value, bytes) else value.encode()))
                      for key, value in entries.items())
    return field(5, b"".join(field(1, n) for n in shape) + field(2, 1) + field(8, name.encode()) + places + field(14, 1) + more)


def write(path, w, v={"location": "data.bin", "offset": "28", "length": "12"}, more=b""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(field(1, 8) + field(7, tensor("w", [2, 3], w, more) + tensor("v", [3], v)) + field(8, field(2, 17)))


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    end = 8 + struct.unpack_from("<Q", data)[0]
    return {name: list(struct.unpack("<%df" % ((b - a) // 4), data[end + a:end + b]))
            for name, about in json.loads(data[8:end]).items() if name != "__metadata__" for a, b in [about["data_offsets"]]}


def taken(name, path):
    done = run("export", "m.tfg", "--weights", path, "-o", "out.safetensors")
    if done.returncode or read("out.safetensors") != {"w": W, "v": V}:
        fail(name, done.stderr)


def refused(name, pattern, *entries, **more):
    write("a/bad.onnx", *entries, **more)
    done = run("info", "a/bad.onnx")
    if done.returncode != 1 or not re.search(pattern, done.stderr):
        fail(name, f"{done.returncode}, no '{pattern}' in: {done.stderr}")


with open("m.tfg", "w", encoding="utf-8") as file:
    file.write(MODEL)
os.mkdir("a")
for path, content in (("a/data.bin", DATA), ("a/rest.bin", DATA[4:28]), ("a/other.bin", DATA[28:]), ("secret.bin", DATA)):
    with open(path, "wb") as file:
        file.write(content)
GOOD = {"location": "data.bin", "offset": "4", "length": "24"}
write("a/model.onnx", GOOD)
taken("one file", "a/model.onnx")
write("a/files.onnx", {"location": "rest.bin"}, {"location": "other.bin", "checksum": "0"})
taken("a file each", "a/files.onnx")
os.symlink("a/model.onnx", "link.onnx")
taken("a link to the model", "link.onnx")
# What was kept of a file is not taken for another one's.
changed = bytearray(DATA)
changed[28:32] = struct.pack("<f", 70)
with open("a/data.bin", "wb") as file:
    file.write(changed)
done = run("export", "m.tfg", "--weights", "a/model.onnx", "-o", "out.safetensors")
if done.returncode or read("out.safetensors")["v"] != [70, 8, 9]:
    fail("changed", done.stderr)
with open("a/data.bin", "wb") as file:
    file.write(DATA)

LIES = "expected the name of one that lies beside the model"
refused("above", "tensor 'w': its data is in the file '../secret.bin': " + LIES, GOOD | {"location": "../secret.bin"})
refused("absolute", "in the file '/etc/passwd': " + LIES, GOOD | {"location": "/etc/passwd"})
refused("deeper", "in the file 'b/data.bin': " + LIES, GOOD | {"location": "b/data.bin"})
refused("dots", "in the file '..': " + LIES, GOOD | {"location": ".."})
refused("none", "in the file '': " + LIES, {"offset": "4"})
refused("nul", LIES, GOOD | {"location": b"data.bin\0x"})
os.symlink("../secret.bin", "a/away.bin")
refused("a link that leads out", "tensor 'w': its data is in .*away.bin, which is missing, is no regular file, or leads out of the folder", GOOD | {"location": "away.bin"})
os.mkfifo("a/pipe.bin")
refused("a pipe", "tensor 'w': its data is in .*pipe.bin, which is missing, is no regular file, or leads out of the folder", GOOD | {"location": "pipe.bin"})
refused("absent", "tensor 'w': its data is in .*absent.bin, which is missing, is no regular file, or leads out of the folder", GOOD | {"location": "absent.bin"})
refused("the end", "tensor 'w': its data are 24 bytes from byte 20 on of a/data.bin, which has 40|tensor 'w': its data are 24 bytes from byte 20 on of .*data.bin, which has 40", GOOD | {"offset": "20"})
refused("behind", "its data are 24 bytes from byte 41 on of", GOOD | {"offset": "41"})
refused("far", "is no number of bytes|its data are 24 bytes from byte", GOOD | {"offset": "18446744073709551612"})
refused("minus", "the offset or the length of its data in another file is no number of bytes", GOOD | {"offset": "-4"})
refused("long", "is no number of bytes", GOOD | {"length": "99999999999999999999999"})
refused("word", "is no number of bytes", GOOD | {"length": "x"})
refused("less", "tensor 'w': ", GOOD | {"length": "20"})
refused("more", "it has more data than its shape says", GOOD | {"length": "28"})
refused("all", "it has more data than its shape says", {"location": "data.bin", "offset": "4"})
refused("twice", "its numbers are here and in another file, too", GOOD, more=field(9, DATA[4:28]))
# A run links to the model, whose data it finds there; a copy of the model would not have it.
os.makedirs("minilm")
with open(os.path.join(fixtures, "published/minilm.json"), encoding="utf-8") as file:
    write_json(json.load(file), "minilm", "config.json")
write_json(words("bert"), "minilm", "tokenizer.json")
write_weights(os.path.join(fixtures, "minilm_published.safetensors"), "minilm", "model.safetensors")
graph, data = b"", b""
for name, values in read_tensors("minilm/model.safetensors").items():
    rows = values if isinstance(values[0], list) else [values]
    part = b"".join(struct.pack("<%df" % len(row), *row) for row in rows)
    shape = [len(rows), len(rows[0])] if isinstance(values[0], list) else [len(values)]
    graph += tensor(name, shape, {"location": "all.bin", "offset": str(len(data)), "length": str(len(part))})
    data += part
os.mkdir("far")
with open("far/all.bin", "wb") as file:
    file.write(data)
with open("far/model.onnx", "wb") as file:
    file.write(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
with open("lines", "w", encoding="utf-8") as file:
    file.write("t3 t4\nt5\n")
answers = []
for command in (["import", "minilm", "-o", "one.run"], ["import", "far/model.onnx", "--config", "minilm", "-o", "far.run"]):
    done = run(*command)
    if done.returncode:
        fail("import", done.stderr)
    answers.append(run("predict", command[-1], "--input", "lines").stdout)
if answers[0] != answers[1] or len(answers[0].splitlines()) != 2:
    fail("import", answers)
done = run("import", "far/model.onnx", "--config", "minilm", "--copy", "-o", "no")
if done.returncode != 1 or "far/model.onnx has data in other files, and --copy copies one: leave it out" not in done.stderr or os.path.exists("no"):
    fail("--copy", done.stderr)
print("external: read beside the model alone")
