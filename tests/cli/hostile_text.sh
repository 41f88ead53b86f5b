#!/bin/sh
# Text that is too much for a tokenizer's patterns: the line and the pattern are named, other lines are answered.
# Usage: hostile_text.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

tokenizer() {
    printf '{"added_tokens": [{"id": 0, "content": "<unk>", "special": true}, {"id": 4, "content": "</s>", "special": true}],
  "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "%s"}, "behavior": "Isolated"},
  "model": {"type": "BPE", "unk_token": "<unk>", "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3}, "merges": ["a b"]}}\n' "$1"
}
tokenizer '(?:[a-z]|\\p{M})+' >plain.json
tokenizer '(a+)+$' >catastrophic.json
bad=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab
takes="the tokenizer's pattern '(a+)+\$' takes too long on it"

# A long word is one word.
awk 'BEGIN { for (i = 0; i < 1500; i++) printf "ab"; print "" }' >long.txt
"$tfc" prepare --text long.txt --lines --vocab plain.json -o long 2>err.txt || fail "$(cat err.txt)"
"$tfc" info long | grep -q "1500 tokens" || fail "a long word: $(cat err.txt)"

printf 'ab\n%s\nbb\n' $bad >texts.txt
refuses 1 "texts.txt:2: $takes: shorten the line" "$tfc" prepare --text texts.txt --lines --vocab catastrophic.json -o never

printf 'model small\nuse transformer\nconst layers = 1, d_model = 8, d_ff = 8, heads = 2\n' >model.tfg
"$tfc" train model.tfg --source texts.txt --target texts.txt --vocab catastrophic.json --token 'begin=</s>' --token 'pad=</s>' \
    --token 'end=</s>' --steps 1 --batch-tokens 100 --out run 2>err.txt || fail "$(cat err.txt)"
grep -q "texts.txt:2:1: warning: $takes; 1 of 3 lines are left out" err.txt || fail "$(cat err.txt)"
refuses 1 "texts.txt:2:1: error: $takes" "$tfc" translate run --input texts.txt
[ "$(wc -l <out.txt)" = 1 ] || fail "the line before is not answered"
"$tfc" translate run --input texts.txt --keep-going >out.txt 2>err.txt || true
grep -q "texts.txt:2:1: warning: $takes" err.txt || fail "$(cat err.txt)"
[ "$(wc -l <out.txt)" = 3 ] || fail "other lines are not answered: $(cat out.txt)"
refuses 1 "$takes: shorten the line" "$tfc" eval run --source texts.txt --target texts.txt

# What a tokenizer makes of a line, and how long it looks at it, follow from the line's length, whatever its steps replace by
# and however long its tokens are.
cat >make.py <<'P'
import base64, json, struct
vocab = [["<unk>", 0], ["</s>", 0], ["a", -1.0], ["b", -2.0]]
def write(name, model=None, **more):
    model = model or {"type": "Unigram", "unk_id": 0, "vocab": vocab}
    json.dump({"model": model, **more}, open(name, "w"))
# A map of characters: the units of a trie with the key "a" alone, and what replaces it.
units = [0] * 1024
units[0], units[256 ^ 97], units[256 ^ 97 ^ 512] = 256 << 10, 97 | 1 << 8 | 512 << 10, 1 << 31
units = struct.pack("<1024I", *units)
rules = lambda by: struct.pack("<I", len(units)) + units + by + b"\0"
many = base64.b64encode(rules(b"b" * 500000)).decode()
write("map.json", normalizer={"type": "Precompiled", "precompiled_charsmap": many})
write("mark.json", pre_tokenizer={"type": "Metaspace", "replacement": "a" * 500000, "prepend_scheme": "never", "split": False})
long = "a" * 300000 + "b"
write("piece.json", {"type": "Unigram", "unk_id": 0, "vocab": vocab + [[long, -3.0]]})
write("added.json", added_tokens=[{"id": 4, "content": long, "normalized": False}])
words = {"<unk>": 0, "</s>": 1, "a": 2, "c" * 300000 + "a": 3}
write("words.json", {"type": "WordPiece", "vocab": words, "continuing_subword_prefix": "c" * 300000, "unk_token": "<unk>",
                     "max_input_chars_per_word": 1000000})
# SentencePiece's
def number(n): return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])
def field(at, of): return number(at << 3 | 2) + number(len(of)) + of
def sentences(name, more, tail=b""):
    pieces = [(b"<unk>", 0, 2), (b"</s>", 0, 3), (b"a", -1, 1), (b"b", -2, 1)] + more
    made = [field(1, field(1, text) + b"\x15" + struct.pack("<f", score) + b"\x18" + number(kind)) for text, score, kind in pieces]
    open(name, "wb").write(b"".join(made) + tail)
sentences("rules.model", [], field(3, field(2, rules(b"b" * 500000))))
sentences("long.model", [(long.encode(), -3, 1)])
sentences("user.model", [(long.encode(), 0, 4)])
open("letters.txt", "w").write("a" * 600000 + "\n")
open("blanks.txt", "w").write("a" + " " * 50000 + "a\n")
P
python3 make.py
gives_up() { # gives_up VOCABULARY TEXT PROBLEM
    rm -rf never
    (
        sanitized || ulimit -v 4000000
        refuses 1 "$2:1: the tokenizer's $3: shorten the line" timeout 100 "$tfc" prepare --text "$2" --lines --vocab "$1" \
            --token 'begin=</s>' --token 'pad=</s>' --token 'end=</s>' -o never
    )
}
gives_up map.json letters.txt "steps make it more than 32 times as long"
gives_up mark.json blanks.txt "steps make it more than 32 times as long"
gives_up rules.model letters.txt "steps make it more than 32 times as long"
for vocab in piece.json added.json words.json long.model user.model; do
    gives_up $vocab letters.txt "long tokens take too long on it"
done
