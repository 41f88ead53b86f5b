#!/bin/sh
# tfc run: numbers are values, whatever they are, and ids only where a table is looked up.
# Usage: values.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77

# tensors NAME:TYPE:SHAPE:VALUES … >in.safetensors; shows NAME: a tensor of out.safetensors
tensors() {
    python3 - "$@" >in.safetensors <<'END'
import json, struct, sys
header, data = {}, b""
for word in sys.argv[1:]:
    name, kind, shape, values = word.split(":")
    numbers = [float(v) if kind[0] == "F" else int(v) for v in values.split(",")]
    part = struct.pack("<%d%s" % (len(numbers), {"F32": "f", "F64": "d", "I32": "i", "I64": "q"}[kind]), *numbers)
    header[name] = {"dtype": kind, "shape": [int(n) for n in shape.split("x")],
                    "data_offsets": [len(data), len(data) + len(part)]}
    data += part
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
sys.stdout.buffer.write(struct.pack("<Q", len(text)) + text + data)
END
}
shows() {
    python3 - "$1" <<'END'
import json, struct, sys
whole = open("out.safetensors", "rb").read()
n = struct.unpack("<Q", whole[:8])[0]
entry = json.loads(whole[8:8 + n])[sys.argv[1]]
a, b = entry["data_offsets"]
print(*struct.unpack("<%df" % ((b - a) // 4), whole[8 + n + a:8 + n + b]))
END
}
run() { "$tfc" run "$1.tfg" --in in.safetensors --out out.safetensors; }

printf 'model twice\ninput x : float[7]\noutput y = x * 2\n' >twice.tfg
tensors x:F32:7:-inf,inf,nan,-1e30,1e18,1e19,1e38
run twice || fail "floats are refused"
[ "$(shows y)" = "-inf inf nan -2.0000000300949324e+30 1.999999968613499e+18 1.9999999961012896e+19 1.9999999360571385e+38" ] ||
    fail "twice the floats is $(shows y)"

# ONNX's NegativeLogLikelihoodLoss with ignore_index = 10: labels 2 and 0 of three.
cat >ignore.tfg <<'END'
model ignore
dim B
input x : float[B, 3]
input y : int[B]
here = reshape(y, [B, 1]) == position(3)
output total = sum(select(here, -x, 0))
END
tensors x:F32:3x3:1,2,4,8,16,32,64,128,256 y:I32:3:2,10,0
run ignore || fail "a label that is to be ignored"
[ "$(shows total)" = "-68.0" ] || fail "the loss is $(shows total), not -4 - 64"
tensors x:F32:3x3:1,2,4,8,16,32,64,128,256 y:I32:3:2,-2147483648,0
run ignore || fail "the least number"
tensors x:F32:3x3:1,2,4,8,16,32,64,128,256 y:I64:3:2,4294967298,0
refuses 1 "'y' \[1\] is 4294967298, which is no whole number of 32 bits" run ignore

# What a table is looked up by is an id.
cat >look.tfg <<'END'
model look
input y : int[2]
param table : [3] = ones
output z = table[y]
END
tensors y:I32:2:0,3
refuses 1 "'y' \[1\] is 3; ids go from 0 to 2" run look
echo "values are values, and ids are ids"
