#!/bin/sh
# Texts of lines and their lengths, with models whose next token is read off a table: line breaks that tokens
# write, a vocabulary without an end, prompts that fit and prompts that do not, positions past a table.
# Usage: text_lines.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# table SIZE FROM:TO …: a safetensors file of `table` [SIZE, SIZE], 9 at the places and 0 elsewhere
table() {
    size=$1
    shift
    header="{\"table\":{\"dtype\":\"F32\",\"shape\":[$size,$size],\"data_offsets\":[0,$((4 * size * size))]}}"
    while [ $((${#header} % 8)) != 0 ]; do header="$header "; done
    printf "$(printf '\\%03o' ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header"
    awk -v size="$size" -v places="$*" 'BEGIN {
        n = split(places, p, " ")
        for (i = 1; i <= n; i++) { split(p[i], at, ":"); is[at[1], at[2]] = 1 }
        for (i = 0; i < size; i++) for (j = 0; j < size; j++) print (is[i, j] ? "\\000\\000\\020\\101" : "\\000\\000\\000\\000") }' |
        while read -r bytes; do printf "$bytes"; done
}

# ---- line breaks within answers ----

cat >bytes.json <<'END_JSON'
{"added_tokens": [
  {"id": 3, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
  {"id": 4, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
 "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
 "post_processor": null, "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
 "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
           "fuse_unk": false, "byte_fallback": false, "vocab": {"a": 0, "b": 1, "\u010a": 2}, "merges": []}}
END_JSON
cat >say.tfg <<'END_MODEL'
model say
const vocab = 5
dim B, S, T
input src : token[B, S~]
input tgt : token[B, T~]
param table : [vocab, vocab] = normal(0, 1)
output logits = table[tgt] + 0 * mean(table[src], 1)
loss = cross_entropy(logits, next(tgt))
END_MODEL
cat >next.tfg <<'END_MODEL'
model next
const vocab = 5
dim B, T
input tokens : token[B, T~]
param table : [vocab, vocab] = normal(0, 1)
output logits = table[tokens]
loss = cross_entropy(logits, next(tokens))
END_MODEL
table 5 4:0 0:2 2:1 1:3 3:0 >w.safetensors # <s> a, a line break, b, </s>
printf 'a\nb\n' >two.txt
"$tfc" translate say.tfg --weights w.safetensors --vocab bytes.json --input two.txt >out.txt || fail "translate"
printf 'a\\nb\na\\nb\n' | cmp - out.txt || fail "translate: $(cat out.txt)"
"$tfc" translate say.tfg --weights w.safetensors --vocab bytes.json --input two.txt --nbest 2 >out.txt
[ "$(wc -l <out.txt)" = 4 ] && grep -q '^0 ||| a\\nb ||| ' out.txt || fail "--nbest: $(cat out.txt)"
"$tfc" translate say.tfg --weights w.safetensors --vocab bytes.json --input two.txt --json >out.txt
[ "$(grep -c '"text": "a\\nb"' out.txt)" = 2 ] || fail "--json: $(cat out.txt)"
generate() { "$tfc" generate next.tfg --weights w.safetensors --vocab bytes.json --temperature 0 "$@"; }
generate --input two.txt --tokens 3 >out.txt || fail "generate"
printf 'a\\nb\\n\nb\\na\\n\n' | cmp - out.txt || fail "generate --input: $(cat out.txt)"
generate --input two.txt --tokens 3 --json >out.txt
[ "$(grep -c '"text": "\\n' out.txt)" = 2 ] || fail "generate --json: $(cat out.txt)"
[ "$(generate --prompt a --tokens 2 | wc -l)" = 2 ] || fail "one prompt is printed as it is"
[ "$(generate --prompt a --tokens 9 --stop b)" = a ] || fail "--stop: $(generate --prompt a --tokens 9 --stop b)"
"$tfc" compile say.tfg --weights w.safetensors --vocab bytes.json -o say 2>err.txt || fail "$(cat err.txt)"
./say <two.txt >out.txt
printf 'a\\nb\na\\nb\n' | cmp - out.txt || fail "a program of its own: $(cat out.txt)"
"$tfc" compile say.tfg --weights w.safetensors --vocab bytes.json -o libsay.so 2>err.txt || fail "$(cat err.txt)"
python=$(python_with_numpy)
if [ -n "$python" ]; then
    $python -c 'import sys; sys.path.insert(0, "."); import say
model = say.Model()
assert model.translate_text(["a", "b"]) == ["a\nb", "a\nb"], model.translate_text(["a", "b"])
assert model.translate_text("a\nb\n") == "a\\nb\na\\nb\n", model.translate_text("a\nb\n")' || fail "Python's answers"
fi

# ---- no end ----

sed 's|</s>|</x>|; s|"<s>"|"<x>"|' bytes.json >endless.json
table 5 0:1 1:0 >round.safetensors
got=$("$tfc" generate next.tfg --weights round.safetensors --vocab endless.json --prompt a --tokens 7 --temperature 0) || fail "a vocabulary without an end"
[ "$got" = abababab ] || fail "without an end: $got"
refuses 1 "no token that ends a text" "$tfc" translate say.tfg --weights w.safetensors --vocab endless.json --input two.txt

# ---- prompts ----

cat >count.tfg <<'END_MODEL'
# Says the word that the text has most of.
model count
const vocab = 8
dim B, T
input tokens : token[B, T~]
param table : [vocab, vocab] = normal(0, 1)
x = table[tokens]
weights = softmax(mask(x @ transpose(x) * 0, causal(T)))
output logits = weights @ x
loss = cross_entropy(logits, next(tokens))
train { max_length = 100 }
END_MODEL
printf '%s\n' a b c d >words.txt
table 8 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 >count.safetensors
prompt=$(awk 'BEGIN { for (i = 0; i < 70; i++) printf "%s ", i < 40 ? "a" : "b" }')
got=$("$tfc" generate count.tfg --weights count.safetensors --vocab words.txt --prompt "$prompt" --tokens 1 --temperature 0)
[ "$got" = "${prompt}a" ] || fail "a prompt that fits is not seen whole: $got"

# ---- positions ----

cat >lm.tfg <<'END_MODEL'
model lm
use language_model
const vocab = 40, layers = 1, d_model = 8, heads = 2, context = 16, p_drop = 0
train { rate = constant(0.003); batch = tokens(512) }
END_MODEL
for i in 1 2 3; do echo "the cat sat on the mat and the dog sat on the log"; done >text.txt
"$tfc" train lm.tfg --text text.txt --vocab chars:auto --steps 1 --out lm 2>err.txt || fail "$(cat err.txt)"
grep -q '"max_length": "16"' lm/run.json || fail "windows of another length: $(grep max_length lm/run.json)"
refuses 1 "max_length is 128, but the model's table 'positions.weight' has 16 positions" \
    "$tfc" train lm.tfg --text text.txt --vocab chars:auto --steps 1 --out other --max-length 128
"$tfc" generate lm --prompt "the cat sat on the mat" --tokens 1 >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "the prompt has 22 tokens, and the model takes 16" err.txt || fail "a prompt past the positions: $(cat err.txt)"
