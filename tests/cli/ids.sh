#!/bin/sh
# Token ids given to tfc run: outside the vocabulary, negative, floats; and what is right.
# Usage: ids.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77

cat >model.tfg <<'END'
model reads
use transformer
const layers = 1, d_model = 8, d_ff = 8, heads = 1, vocab = 12
END

# tensors NAME:TYPE:VALUES … > file: i32 or f32, one row of given ids, or several split by /; =VALUES is packed
tensors() {
    python3 - "$@" <<'END'
import json, struct, sys
header, data = {}, b""
for word in sys.argv[1:]:
    name, kind, values = word.split(":")
    is_packed, values = name.endswith(".lengths") or values[0] == "=", values.lstrip("=")
    rows = [[float(v) for v in row.split(",")] for row in values.split("/")]
    flat = [v for row in rows for v in row]
    code = {"I32": "i", "I64": "q", "F32": "f"}[kind]
    part = struct.pack("<%d%s" % (len(flat), code), *[v if code == "f" else int(v) for v in flat])
    shape = [len(flat)] if is_packed else [len(rows), len(rows[0])]
    header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
    data += part
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
sys.stdout.buffer.write(struct.pack("<Q", len(text)) + text + data)
END
}
run() { "$tfc" run model.tfg --in in.safetensors --out out.safetensors "$@"; }

tensors src:I32:4,5,6/7,8,3 tgt:I32:1,5/1,6 >in.safetensors
run || fail "ids that are right"
cp out.safetensors right.safetensors
tensors src:I64:4,5,6/7,8,3 tgt:I64:1,5/1,6 >in.safetensors
run || fail "ids of 64 bits"
cmp out.safetensors right.safetensors || fail "64 bits make a difference"
# Past its length a row holds anything; labels below 0 are none.
tensors src:I32:4,5,99/7,8,3 src.lengths:I32:2,3 tgt:I32:1,5/1,6 tgt.next:I32:5,-100/6,-1 >in.safetensors
run || fail "ids past a length"

tensors src:I32:4,5,6/7,12,3 tgt:I32:1,5/1,6 >in.safetensors
refuses 1 "in.safetensors: 'src' \[1, 1\] is 12; ids go from 0 to 11" run
tensors src:I32:4,5,6/7,8,3 tgt:I32:1,5/1,-1 >in.safetensors
refuses 1 "in.safetensors: 'tgt' \[1, 1\] is -1; ids go from 0 to 11" run
refuses 1 "'tgt' \[1, 1\] is -1" run --grad
tensors src:I32:4,5,6/7,8,3 tgt:I32:1,5/1,6 tgt.next:I32:5,12/6,3 >in.safetensors
refuses 1 "in.safetensors: 'tgt.next' \[0, 1\] is 12; ids go from 0 to 11" run
tensors src:F32:4,5,6/7,8,3 tgt:I32:1,5/1,6 >in.safetensors
refuses 1 "in.safetensors: 'src' is F32, and the model reads it as integers (I32 or I64)" run
# Lengths that are none, of which the ids that follow are made.
for lengths in -100000,100005 2147483647,3 -1,6; do
    tensors src:I32:4,5,6/7,8,3 tgt:I32:=1,5,1,6,2 tgt.lengths:I32:$lengths >in.safetensors
    refuses 1 "'tgt.lengths' \[0\] is .*, which does not fit 'tgt'" run --function loss
done
echo "all is well"
