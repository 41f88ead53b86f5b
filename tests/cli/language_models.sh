#!/bin/sh
# Imported language models by the published rule of their texts: what generate, score, eval, and a library
# from C and Python make of prompts is what the formulas of the papers give (tests/fixtures/generations.txt; every
# family's greedy text is in tests/reference/published.c).
# Usage: language_models.sh TFC   (from the project's root)
set -eu
. tests/common.sh
fixtures=$root/tests/fixtures
enter_work

# folder NAME TEMPLATE: as it is published, with words t2 … t39
folder() {
    mkdir -p "published/$1"
    cp "$fixtures/published/$1.json" "published/$1/config.json"
    cp "$fixtures/$1_published.safetensors" "published/$1/model.safetensors"
    awk -v template="$2" 'BEGIN {
        printf "{\"added_tokens\": ["
        for (i = 0; i < 2; i++)
            printf "%s{\"id\": %d, \"content\": \"%s\", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": true}", i ? ", " : "", i, i ? "<s>" : "</s>"
        printf "], \"normalizer\": null, \"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"post_processor\": %s, \"decoder\": null, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"t2\", \"vocab\": {\"t2\": 2", template
        for (i = 3; i < 40; i++) printf ", \"t%d\": %d", i, i
        print "}}}" }' >"published/$1/tokenizer.json"
    "$tfc" import "published/$1" -o "$1" 2>err.txt || fail "$1: $(cat err.txt)"
}
folder gpt2 null
template='{"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}'
folder llama "$template"
tokens() { sed -n '/"tokens"/,/]/p' "$1/run.json" | grep -o '"[a-z-]*=[^"]*"' | tr -d '"' | tr '\n' ' '; }
[ "$(tokens gpt2)" = "begin=</s> end=</s> text-begin=none text-end=none newline=none stop=</s> " ] || fail "GPT-2's rule: $(tokens gpt2)"
[ "$(tokens llama)" = "begin=<s> end=</s> text-begin=<s> text-end=none newline=none stop=</s> stop=t2 " ] || fail "LLaMA's rule: $(tokens llama)"

# README's three lines, of a published language model, which has no token for the words of the prompt but t2.
sed -n '/^## A published model/,/^## /p' "$root/README.md" | sed -n '/^```$/,/^```$/p' | grep '^tfc ' >lines.txt
[ "$(wc -l <lines.txt)" = 3 ] || fail "README's lines: $(cat lines.txt)"
cp -r published/llama SmolLM2-135M
while read -r line; do
    PATH=$(dirname "$tfc"):$PATH sh -c "$line" >out.txt 2>err.txt || fail "$line: $(cat err.txt)"
    [ "${line#tfc generate}" = "$line" ] || grep -q '^t2 t2 t2 t2 t' out.txt || fail "$line prints: $(cat out.txt)"
done <lines.txt
[ -s libsmol.so ] && [ -s SmolLM2_135M.py ] || fail "no library: $(ls)"

# Each line: model, prompt, what comes, -log p a token of the prompt, what ends it.
count() { echo "$1" | wc -w; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 1e-4 && b - a < 1e-4) }'; }
grep -E '^(gpt2|llama)\|' "$fixtures/generations.txt" >generations.txt
while IFS='|' read -r model prompt new loss end; do
    n=$(count "$new")
    [ "$end" = length ] || n=30
    got=$("$tfc" generate "$model" --prompt "$prompt" --temperature 0 --tokens "$n")
    [ "$got" = "$prompt $new" ] || fail "$model goes on with $prompt as $got, not $prompt $new"
    echo "$prompt" | "$tfc" generate "$model" --input - --temperature 0 --tokens "$n" --json >json.txt
    grep -q "\"text\": \" $new\", .*\"end\": \"$end\"" json.txt || fail "$model: $(cat json.txt)"
    grep -q "\"prompt\": \"$prompt\"" json.txt || fail "$model: another prompt: $(cat json.txt)"
    echo "$prompt" >text.txt
    case $model in gpt2) predicted=$(($(count "$prompt") - 1)) ;; *) predicted=$(count "$prompt") ;; esac
    sum=$("$tfc" score "$model" --text text.txt)
    near "$(awk -v s="$sum" -v n=$predicted 'BEGIN { print n ? -s / n : 0 }')" "$loss" || fail "$model scores $prompt as $sum, $loss a token"
    [ $predicted = 0 ] && continue
    "$tfc" eval "$model" --text text.txt --json >eval.txt
    near "$(number loss <eval.txt)" "$loss" || fail "$model: eval of $prompt: $(cat eval.txt), not $loss"
    [ "$(number tokens <eval.txt)" = "$predicted" ] || fail "$model: eval of $prompt: $(cat eval.txt), not $predicted tokens"
done <generations.txt

# A translation ends before any of several tokens, the begin token among them: mT5's goes on as t26 t19 t14 t19.
folder mt5 null
sed 's/"eos_token_id": [0-9]*/"eos_token_id": [0, 14]/' published/mt5/config.json >config.txt
mkdir published/ends
cp published/mt5/* published/ends
cp config.txt published/ends/config.json
"$tfc" import published/ends -o ends 2>err.txt || fail "$(cat err.txt)"
"$tfc" compile ends --emit exe -o say_ends 2>err.txt || fail "$(cat err.txt)"
echo '{"eos_token_id": [39, 0]}' >published/ends/generation_config.json
"$tfc" import published/ends -o generated 2>err.txt || fail "$(cat err.txt)"
"$tfc" import published/ends -o named --token stop=t19 --token source-end=none 2>err.txt || fail "$(cat err.txt)"
[ "$(tokens ends)" = "begin=t39 end=</s> pad=t39 stop=</s> stop=t14 " ] || fail "mT5's ends: $(tokens ends)"
[ "$(tokens generated)" = "begin=t39 end=</s> pad=t39 stop=t39 stop=</s> " ] || fail "mT5's ends: $(tokens generated)"
[ "$(tokens named)" = "begin=t39 end=</s> pad=t39 stop=t19 source-end=none " ] || fail "ends by --token: $(tokens named)"
echo "t4 t31" >source.txt
[ "$("$tfc" translate ends --beam 1 <source.txt)" = "t26 t19" ] || fail "an end of a list is passed over"
[ "$(./say_ends --beam 1 <source.txt)" = "t26 t19" ] || fail "a program passes an end of a list over"
[ "$("$tfc" translate mt5 --beam 1 --token stop=t19 <source.txt)" = t26 ] || fail "translate --token stop"
refuses 1 "no token 'none such'" "$tfc" import published/ends -o other --token 'end=none such'

# The same from C and Python.
grep -v '|length' "$fixtures/generations.txt" | grep '^llama|' >stops.txt
grep '^gpt2' "$fixtures/generations.txt" | head -n 2 >lengths.txt
python=$(python_with_numpy)
for model in llama gpt2; do
    "$tfc" compile $model -o lib$model.so 2>err.txt || fail "$(cat err.txt)"
    generate_program $model -L. -l$model -Wl,-rpath,"$work"
done
cat lengths.txt stops.txt >both.txt
while IFS='|' read -r model prompt new loss end; do
    n=$(count "$new")
    [ "$end" = length ] || n=30
    got=$(./${model}_says "$prompt" "$n")
    [ "$got" = "$prompt $new" ] || fail "C: $model goes on with $prompt as $got, not $new"
    [ -n "$python" ] || continue
    got=$($python -c "
import sys
sys.path.insert(0, '.')
import $model
print($model.Model().generate_text('$prompt', temperature=0, length_extra=$n))")
    [ "$got" = "$prompt $new" ] || fail "Python: $model goes on with $prompt as $got, not $new"
done <both.txt

if [ -n "$python" ]; then
    $python - <<'END' || fail "Python: a prompt of no token"
import sys
sys.path.insert(0, ".")
import llama
try:
    llama.Model().generate([[5, 9], []], bos=-1)
except llama.Error as error:
    assert "lengths[1] is 0, and bos is -1: nothing begins the text" in str(error), error
else:
    raise AssertionError("a prompt of no token")
END
fi

# Other ends: one by its name, one by its number, none.
first=$("$tfc" generate llama --prompt "t5 t9 t12" --temperature 0 --tokens 30 --token stop=t29)
[ "$first" = "t5 t9 t12 t5 t15" ] || fail "stop=t29: $first"
first=$("$tfc" generate llama --prompt "t5 t9 t12" --temperature 0 --tokens 30 --token stop='#13' --token stop=t39)
[ "$first" = "t5 t9 t12 t5 t15 t29" ] || fail "stop=#13: $first"
"$tfc" generate llama --prompt "<s>t5 t9" --tokens 2 --json >json.txt 2>err.txt
grep -q "the prompt begins with <s>, which stands before every text: the model sees it twice" err.txt || fail "a doubled begin token: $(cat err.txt)"
grep -q '"prompt": "<s>t5 t9"' json.txt || fail "a prompt with a special token: $(cat json.txt)"
all=$("$tfc" generate llama --prompt "t5 t9 t12" --temperature 0 --tokens 30 --token stop=none --json)
[ "$(echo "$all" | sed 's/.*"ids": \[\([^]]*\)\].*/\1/' | wc -w)" = 30 ] || fail "stop=none: $all"
first=$("$tfc" generate llama --prompt "t5 t9 t12" --temperature 0 --tokens 30 --stop "29 t1")
[ "$first" = "t5 t9 t12 t5 t15 t" ] || fail "--stop: $first"
# A stop deep in a long text, of a part of a token or of several: the text ends where it first is.
long=$("$tfc" generate llama --prompt "t5 t9" --seed 3 --tokens 300 --token stop=none)
for at in 150 500 900; do
    for n in 4 5 14; do
        stop=$(printf '%s' "$long" | cut -c $at-$((at + n - 1)))
        want=$(TEXT=$long STOP=$stop awk 'BEGIN { t = ENVIRON["TEXT"]; printf("%s", substr(t, 1, 4 + index(substr(t, 6), ENVIRON["STOP"]))) }')
        got=$("$tfc" generate llama --prompt "t5 t9" --seed 3 --tokens 300 --token stop=none --stop "$stop")
        [ "$got" = "$want" ] || fail "--stop '$stop' at $at: '$got', not '$want'"
    done
done
refuses 1 "no token 'none such'; #N names one by its number" "$tfc" generate llama --token 'stop=none such'

# A special token that a text names is one, or is text.
printf '</s> t5\n' >special.txt
"$tfc" score llama --text special.txt --token-scores >json.txt
grep -q '"tokens": \[\["</s>", [^]]*\], \["t5", ' json.txt || fail "special tokens: $(cat json.txt)"
"$tfc" score llama --text special.txt --token-scores --special text >json.txt
grep -q '"tokens": \[\["t2", [^]]*\], \["t5", ' json.txt || fail "special tokens as text: $(cat json.txt)"

# A prompt of the model's length is seen whole; a longer one is cut, which is told, or refused.
whole="t5 t9 t12 t20 t21 t22 t23 t24 t25 t26 t27 t28"
"$tfc" generate gpt2 --prompt "$whole" --tokens 1 --temperature 0 >out.txt 2>err.txt && ! grep -q 'the model takes' err.txt ||
    fail "a prompt that fits: $(cat err.txt)"
"$tfc" generate gpt2 --prompt "$whole t3" --tokens 1 --temperature 0 >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "the prompt has 13 tokens, and the model takes 12: it sees the last 6" err.txt || fail "a cut prompt: $(cat err.txt)"
refuses 1 "the prompt has 13 tokens, and the model takes 12" \
    "$tfc" generate gpt2 --prompt "$whole t3" --tokens 1 --long-prompt refuse
printf '%s\n%s t3\n' "$whole" "$whole" >long.txt
refuses 1 "line 2 has 13 tokens" "$tfc" generate gpt2 --input long.txt --tokens 1 --long-prompt refuse
[ "$(wc -l <out.txt)" = 1 ] || fail "the answer before a prompt that is refused: $(cat out.txt)"
./gpt2_says "$whole t3" 1 refuse >out.txt && fail "the library takes a prompt that is too long"
grep -q "the prompt has 13 tokens, the model takes 12" out.txt || fail "the library: $(cat out.txt)"

# config.json's other files: an end of its own, a template that is switched off, a length.
sed 's/"vocab_size"/"max_position_embeddings": 9, "vocab_size"/' published/llama/config.json >config.txt
mv config.txt published/llama/config.json
echo '{"eos_token_id": 29}' >published/llama/generation_config.json
echo '{"add_bos_token": false}' >published/llama/tokenizer_config.json
"$tfc" import published/llama -o other 2>err.txt || fail "$(cat err.txt)"
[ "$(tokens other)" = "begin=<s> end=</s> text-begin=none text-end=none newline=none stop=t29 " ] || fail "another rule: $(tokens other)"
"$tfc" generate other --prompt "$whole" --tokens 1 2>err.txt >out.txt
grep -q "the model takes 9" err.txt || fail "max_position_embeddings: $(cat err.txt)"

# A head that is not there, and one beside a tied embedding.
sed 's/"tie_word_embeddings": false/"tie_word_embeddings": true/' published/llama/config.json >config.txt
mkdir published/tied
cp config.txt published/tied/config.json
cp published/llama/model.safetensors published/llama/tokenizer.json published/tied
"$tfc" import published/tied -o tied 2>err.txt || fail "$(cat err.txt)"
grep -q "tie_word_embeddings is true, but 'lm_head.weight' is another than the embedding" err.txt || fail "a tied head: $(cat err.txt)"
sed 's/"tie_word_embeddings": true/"tie_word_embeddings": false/' config.txt >published/tied/config.json
cp published/gpt2/tokenizer.json published/tied/tokenizer.json
"$tfc" export tied -o published/tied/model.safetensors 2>err.txt || fail "$(cat err.txt)"
"$tfc" import published/tied -o headless 2>err.txt || fail "$(cat err.txt)"
grep -q "tie_word_embeddings is false, but there is no 'lm_head.weight'" err.txt || fail "no head: $(cat err.txt)"
