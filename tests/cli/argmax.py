# What was decoded greedily of the lines of prompts, beside the argmax of tfc run of the same tokens; prints how many
# different tokens were chosen.
# Usage: argmax.py TFC RUN DECODED   (JSON of tfc generate, or of tfc translate --token-scores)
import json, struct, subprocess, sys
tfc, run, decoded = sys.argv[1:]
words = open(run + "/vocab.txt").read().split("\n")
number = {word: i for i, word in enumerate(words)}
BEGIN, END = 2, 3
def logits(inputs):
    header, data = {}, b""
    for name, ids in inputs.items():
        part = struct.pack("<%di" % len(ids), *ids)
        header[name] = {"dtype": "I32", "shape": [1, len(ids)], "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open("in", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    subprocess.run([tfc, "run", run, "--in", "in", "--out", "out", "--function", "forward"], check=True, stderr=subprocess.DEVNULL)
    whole = open("out", "rb").read()
    n = struct.unpack("<Q", whole[:8])[0]
    entry = json.loads(whole[8:8 + n])["logits"]
    a, b = entry["data_offsets"]
    values = struct.unpack("<%df" % ((b - a) // 4), whole[8 + n + a:8 + n + b])
    width = entry["shape"][-1]
    return [values[i:i + width] for i in range(0, len(values), width)]
chosen = set()
for prompt, line in zip(open("prompts"), open(decoded)):
    prompt, answer = [number[word] for word in prompt.split()], json.loads(line)
    if "ids" in answer: # a stream: a text stands behind the end of another
        ids, before = answer["ids"], [END] + prompt
        rows = logits({"tokens": before + ids})
    else:
        ids, before = [number[word] for word, _ in answer["tokens"]], [BEGIN]
        rows = logits({"src": prompt + [END], "tgt": before + ids})
    assert len(ids) > 1
    chosen.update(ids)
    for i, token in enumerate(ids):
        row = rows[len(before) - 1 + i]
        if token == END and len(ids) > 16: # the longest translation ends
            continue
        # A translation has no padding, unknown or beginning.
        assert row[token] >= max(row if "ids" in answer else row[END:]) - 1e-4, (run, i, token, row)
print(len(chosen))
