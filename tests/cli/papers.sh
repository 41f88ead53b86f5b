#!/bin/sh
# The models of docs/papers.md: each is checked and trained for some steps; what decodes chooses, greedily, the argmax of
# a run over the whole text, and the classifier learns and predicts.
# Usage: papers.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
awk '/^```tfg$/ { name = ""; inside = 1; next }
     /^```$/ { inside = 0 }
     inside && !name { name = $2; print name >"names" }
     inside { print >(name ".tfg") }' "$root/docs/papers.md"
[ "$(wc -l <names)" = 8 ] || fail "the page has other models than eight: $(cat names)"
awk 'BEGIN { srand(5); for (i = 0; i < 600; i++) { at = int(rand() * 8); step = 1 + int(rand() * 3); s = t = "";
     for (n = 3 + int(rand() * 6); n > 0; n--) { w = substr("abcdefgh", 1 + at % 8, 1); at += step;
     s = s (s ? " " : "") w; t = w (t ? " " : "") t }
     print s >"train.src"; print t >"train.tgt" } }' # letters in steps of 1 to 3, and backwards
printf 'a b\nh\nc e g a c e\nb b b\n' >prompts
awk '{ print "{\"text\": \"" $0 "\", \"label\": \"" (/a/ ? "yes" : "no") "\"}" }' train.src >rows.jsonl
printf 'no\nyes\n' >labels.txt

cat >argmax.py <<'END_PYTHON'
# argmax.py TFC RUN DECODED: what was decoded of the lines of prompts, beside tfc run of the same tokens
import json, os, struct, subprocess, sys
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
        if token == END and len(ids) > 30: continue # the longest translation ends
        assert row[token] >= max(row) - 1e-4, (run, i, token, row)
assert len(chosen) > 4, ("few tokens show nothing", chosen)
END_PYTHON

while read -r name; do
    [ "$name" = longformer ] || "$tfc" dump "$name.tfg" --function decode_step --stage graph >/dev/null 2>err || fail "$name: $(cat err)"
    [ -z "$short" ] || case $name in retnet | canon | longformer) ;; *) continue ;; esac
    case $name in
    conformer) set -- --source train.src --target train.tgt ;;
    longformer) set -- --data rows.jsonl --valid-data rows.jsonl ;;
    *) set -- --text train.src ;;
    esac
    "$tfc" train "$name.tfg" "$@" --vocab words:auto --steps 60 --out "$name" 2>err ||
        fail "$name does not train: $(cat err)"
    case $name in
    conformer) "$tfc" translate conformer --input prompts --beam 1 --token-scores >decoded 2>err ;;
    longformer) "$tfc" eval longformer --data rows.jsonl >evaluated 2>err ;;
    *) "$tfc" generate "$name" --input prompts --temperature 0 --tokens 12 --json >decoded 2>err ;;
    esac || fail "$name: $(cat err)"
    [ "$name" = longformer ] || python3 argmax.py "$tfc" "$name" decoded || fail "$name: other tokens than the argmax: $(cat decoded)"
    [ -z "$short" ] || continue
    "$tfc" check "$name.tfg" --samples 1 >out 2>&1 || fail "$name: $(cat out)"
    [ "$name" = longformer ] || grep -q '^ok  *token by token' out || fail "$name is not decoded: $(cat out)"
done <names
awk '$1 == "accuracy" { good = $2 > 95 } END { exit !good }' evaluated || fail "the classifier does not learn: $(cat evaluated)"
echo "eight papers: checked, trained, decoded by argmax"
