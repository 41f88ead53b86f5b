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
