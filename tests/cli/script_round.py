# Rounds a checkpoint's f32 to bf16 and back, to nearest and ties to even, without its checksums.
# Usage: script_round.py IN.safetensors OUT.safetensors
import json, struct, sys
import numpy as np

data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header, body = json.loads(data[8:8 + size]), bytearray(data[8 + size:])
header.get("__metadata__", {}).pop("xxh64_blocks", None)
for name, tensor in header.items():
    if name != "__metadata__" and tensor["dtype"] == "F32":
        begin, end = tensor["data_offsets"]
        bits = np.frombuffer(bytes(body[begin:end]), "<u4").astype(np.uint64)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
        body[begin:end] = rounded.astype("<u4").tobytes()
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + body)
