#!/bin/sh
# Models of many dimensions, of kernels that ask about many, that draw many random numbers, of tensors of eight dimensions:
# their results and gradients; more than a model may have is refused.
# Usage: many_dims.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
checks() { "$tfc" check "$1.tfg" >checked 2>&1 || fail "$1: $(cat checked)"; }

# One kernel that asks for the lengths of 60 dimensions.
awk 'BEGIN { n = 60; print "dim B"
             for (i = 0; i < n; i++) printf "dim D%d\ninput x%d : float[B, D%d~]\noutput o%d = x%d\n", i, i, i, i, i
             print "y = lengths(D0)"
             for (i = 1; i < n; i++) printf "y = y * 0.5 + lengths(D%d)\n", i
             print "output y" }' >asks.tfg
checks asks

# One kernel that draws 40 masks, and its gradient.
awk 'BEGIN { print "dim B\ninput x : float[B, 4]\nparam p : [4]\ny = x * p"
             for (i = 1; i <= 40; i++) printf "y = y + dropout(x * %d, 0.1) * p\n", i
             print "loss = mean(y * y)" }' >draws.tfg
checks draws

# A file has at most 512 dimensions.
many() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "dim D" i; print "input x : float[D0]\noutput y = x" }'; }
many 512 >many.tfg
"$tfc" info many.tfg >out.txt 2>err.txt || fail "512 dimensions: $(cat err.txt)"
many 513 >many.tfg
refuses 1 "many.tfg:513:.* error: the model is too large: more than 512 dimensions" "$tfc" info many.tfg

command -v python3 >/dev/null || exit 77
# 200 dimensions, each of another length, and a tensor of eight.
cat >lengths.py <<'END_PYTHON'
import json, struct, sys
N, EIGHT = 200, [2, 3, 2, 1, 2, 3, 2, 3]
def model():
    print("dim A, C, E, F, G, H, I, J\ninput z : float[A, C, E, F, G, H, I, J]")
    print("output t = permute(z, [7, 6, 5, 4, 3, 2, 1, 0]) + 1\noutput s = sum(z)")
    for i in range(N):
        print("dim D%d\ninput x%d : float[D%d, 2]\noutput o%d = x%d * 2\noutput s%d = sum(x%d)" % ((i,) * 7))
def values():
    count = 1
    for n in EIGHT:
        count *= n
    yield "z", EIGHT, [float(i % 17) for i in range(count)]
    for i in range(N):
        yield "x%d" % i, [1 + i * 7 % 31, 2], [float(i + k) for k in range(2 * (1 + i * 7 % 31))]
def write(path):
    header, data = {}, b""
    for name, shape, floats in values():
        part = struct.pack("<%df" % len(floats), *floats)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
def compare(path):
    whole = open(path, "rb").read()
    n = struct.unpack("<Q", whole[:8])[0]
    entries = json.loads(whole[8:8 + n])
    def read(name):
        a, b = entries[name]["data_offsets"]
        return entries[name]["shape"], list(struct.unpack("<%df" % ((b - a) // 4), whole[8 + n + a:8 + n + b]))
    for name, shape, floats in values():
        if name == "z":
            assert read("s") == ([], [sum(floats)]), read("s")
            turned = read("t")
            assert turned[0] == shape[::-1] and sum(turned[1]) == sum(floats) + len(floats), turned
            assert turned[1][1] == 1 + floats[len(floats) // shape[0]], turned
            continue
        assert read("o" + name[1:]) == (shape, [2 * x for x in floats]), name
        assert read("s" + name[1:]) == ([], [sum(floats)]), name
{"model": model, "write": lambda: write("in.safetensors"), "compare": lambda: compare("out.safetensors")}[sys.argv[1]]()
END_PYTHON
python3 lengths.py model >lengths.tfg
python3 lengths.py write
"$tfc" run lengths.tfg --in in.safetensors --out out.safetensors 2>err.txt || fail "$(cat err.txt)"
python3 lengths.py compare || fail "tensors of many dimensions"
