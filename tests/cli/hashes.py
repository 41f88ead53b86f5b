# What tfc train --hashes and tfc info --json say, by hashlib and XXH64 as its specification has it (xxhash_spec.md).
# Usage: hashes.py all CHECKPOINT INFO.json LINES.jsonl
#        hashes.py row VOCAB.txt SOURCE TARGET OUT     one row of text as the inputs of a translator
#        hashes.py gradients INFO.json LINES.jsonl     those of the first line beside tensors grad.NAME
import hashlib
import json
import struct
import sys

P = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)
M = (1 << 64) - 1


def rotl(x, n):
    return ((x << n) | (x >> (64 - n))) & M


def lane(acc, value):
    return rotl((acc + value * P[1]) & M, 31) * P[0] & M


def xxh64(data):
    n, at = len(data), 0
    if n >= 32:
        acc = [(P[0] + P[1]) & M, P[1], 0, -P[0] & M]
        while at + 32 <= n:
            acc = [lane(a, v) for a, v in zip(acc, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotl(a, r) for a, r in zip(acc, (1, 7, 12, 18))) & M
        for a in acc:
            h = ((h ^ lane(0, a)) * P[0] + P[3]) & M
    else:
        h = P[4]
    h = (h + n) & M
    while at + 8 <= n:
        h = (rotl(h ^ lane(0, struct.unpack_from("<Q", data, at)[0]), 27) * P[0] + P[3]) & M
        at += 8
    if at + 4 <= n:
        h = (rotl(h ^ struct.unpack_from("<I", data, at)[0] * P[0] & M, 23) * P[1] + P[2]) & M
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * P[4] & M, 11) * P[0] & M
    for shift, factor in ((33, P[1]), (29, P[2]), (32, 1)):
        h = (h ^ h >> shift) * factor & M
    return "%016x" % h


assert xxh64(b"") == "ef46db3751d8e999"


def check_all(checkpoint, info, lines):
    data = open(checkpoint, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    whole, params = hashlib.sha256(), []
    for name in sorted((n for n in header if not n.startswith("optimizer.")), key=str.encode):
        tensor = header[name]
        begin, end = tensor["data_offsets"]
        element = data[8 + size + begin : 8 + size + end]
        dims = ",".join(map(str, tensor["shape"]))
        params.append({"name": name, "type": tensor["dtype"].lower(), "dims": dims, "xxh64": xxh64(element)})
        whole.update(b"\0".join((name.encode(), tensor["dtype"].lower().encode(), dims.encode(), element)))
    said = json.load(open(info))
    assert said["hash"] == whole.hexdigest(), (said["hash"], whole.hexdigest())
    assert said["params"] == params, (said["params"], params)
    steps = [json.loads(line) for line in open(lines)]
    assert [s["step"] for s in steps] == list(range(1, len(steps) + 1))
    assert steps[-1]["params"] == {p["name"]: p["xxh64"] for p in params}
    assert all(set(s["gradients"]) == set(steps[0]["params"]) for s in steps)


def write_row(vocabulary, source, target, out):
    ids = {word: i for i, word in enumerate(open(vocabulary).read().split())}
    source, target = ([ids[word] for word in open(file).read().split()] for file in (source, target))
    end = [ids["</s>"]]
    rows = {"src": source + end, "tgt": [ids["<s>"]] + target, "tgt.next": target + end}
    header, data = {}, b""
    for name, row in rows.items():
        begin = len(data)
        data += struct.pack("<%di" % len(row), *row)
        header[name] = {"dtype": "I32", "shape": [1, len(row)], "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    open(out, "wb").write(struct.pack("<Q", len(text)) + text + data)


def check_gradients(info, lines):
    computed = {p["name"]: p["xxh64"] for p in json.load(open(info))["params"]}
    hashes = json.loads(open(lines).readline())["gradients"]
    assert hashes and all(computed["grad." + name] == value for name, value in hashes.items()), (computed, hashes)


{"all": check_all, "row": write_row, "gradients": check_gradients}[sys.argv[1]](*sys.argv[2:])
