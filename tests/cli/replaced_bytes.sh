#!/bin/sh
# Tokens of single bytes that make no UTF-8 stand as U+FFFD in answers, and the end tells in how many.
# Usage: replaced_bytes.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >m.tfg <<'M'
model bytes
use language_model
const vocab = 8, layers = 1, d_model = 8, heads = 1, context = 16
train { rate = constant(0.01); batch = tokens(300); max_length = context }
M
# A tokenizer whose letters are "a" and the byte C3, which begins a character that never comes.
cat >bytes.json <<'J'
{"version": "1.0", "added_tokens": [{"id": 0, "content": "<s>", "special": true}], "normalizer": null,
 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}, "post_processor": null,
 "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"<s>": 0, "a": 1, "\u00c3": 2, "\u00a9": 3, "\u010a": 4}, "merges": []}}
J
for i in 1 2 3 4 5 6 7 8; do printf 'aéaéaéaéaéaé\n'; done >text
"$tfc" train m.tfg --text text --vocab bytes.json --steps 1 --out run 2>err || fail "$(cat err)"
printf 'a\na\na\n' >prompts
"$tfc" generate run --input prompts --tokens 12 --temperature 50 >out 2>err || fail "$(cat err)"
answers=$(grep -c "$(printf '\357\277\275')" out)
[ "$answers" -ge 1 ] || fail "no such answer: $(cat out)"
grep -qE "note: $answers answers? (has|have) U\+FFFD: it stands for tokens that make no valid UTF-8 together" err || fail "not told: $(cat err)"
"$tfc" generate run --prompt a --tokens 12 --temperature 50 >out 2>err || fail "$(cat err)"
grep -q "$(printf '\357\277\275')" out || fail "no such answer: $(cat out)"
grep -q "note: 1 answer has U+FFFD" err || fail "not told: $(cat err)"

# A window of several answers counts each of them; one on several lines counts once.
cat >pairs.tfg <<'M'
model pairs
use transformer_pre_norm
const vocab = 8, layers = 1, d_model = 8, d_ff = 8, heads = 1
train { rate = constant(0.01); batch = tokens(300); max_length = 30 }
M
"$tfc" train pairs.tfg --source text --target text --vocab bytes.json --token begin='<s>' --token end='<s>' --steps 1 --out pairs 2>err || fail "$(cat err)"
for i in 1 2 3 4 5 6 7 8 9; do echo aéa; done >lines
"$tfc" translate pairs --input lines --sample --temperature 50 --max-tokens 12 >out 2>err || fail "$(cat err)"
answers=$(grep -c "$(printf '\357\277\275')" out)
[ "$answers" -ge 2 ] || fail "too few such answers: $(cat out)"
grep -q "note: $answers answers have U+FFFD" err || fail "not $answers: $(cat err)"
