#!/bin/sh
# What the files of a published model say of tokens and of generation, in each way in which they say it: the first token
# of a translation, several ends, in a GGUF, too, and settings that are the run's own defaults; and what is said of a run
# that an earlier tfc imported.
# Usage: published_tokens.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"
folder() { rm -rf "$2" && python3 "$root/tests/cli/published_tokens.py" "$@"; }
rules() { sed -n '/"tokens"/,/]/p' "$1/run.json" | grep -o '"[a-z-]*=[^"]*"' | tr -d '"' | tr '\n' ' '; }
imported() { # imported FOLDER RUN
    cp weights.safetensors "$1/model.safetensors"
    rm -rf "$2"
    "$tfc" import "$1" --copy -o "$2" 2>err.txt || fail "$(cat err.txt)"
}
sampled() { # sampled RUN: its settings
    sed -n '/"generation"/,/]/p' "$1/run.json" | grep -o '"[a-z_]*=[^"]*"' | tr -d '"' | tr '\n' ' '
}
expect_rules() { # expect_rules RUN RULES: those that begin so are these
    [ "$(rules "$1" | tr ' ' '\n' | grep -E "^($3)=" | tr '\n' ' ')" = "$2" ] || fail "$1: $(rules "$1"), not $2"
}

# The first token of a translation.
make_weights() { # make_weights KIND CONSTS STEPS OPTION…: of a model that has learnt three pairs; as the run made, too
    kind=$1 consts=$2 steps=$3
    shift 3
    printf 'model made\nuse "%s/models/%s.tfg"\nconst %s\ntrain {\n  optimizer = adam(0.9, 0.98, 1e-9)\n  rate = constant(0.01)\n}\n' \
        "$root" "$kind" "$consts" >made.tfg
    rm -rf made
    "$tfc" train made.tfg --steps "$steps" --out made "$@" 2>err.txt || fail "$(cat err.txt)"
    "$tfc" export made -o weights.safetensors 2>err.txt || fail "$(cat err.txt)"
}
sizes='d_model = 16, d_ff = 24, heads = 2, encoder_layers = 1, decoder_layers = 1, context = 20, p_drop = 0'
printf 'w5 w6\tw7 w8\nw9 w5\tw8 w7\nw4\tw10 w11\n' >pairs.tsv
cut -f 1 pairs.tsv >in.txt
folder mbart hf
make_weights mbart "vocab = 40, $sizes" 1 --data pairs.tsv --vocab hf/tokenizer.json
forced='{"forced_bos_token_id": 39}'
folder mbart hf "$forced"
imported hf old
folder mbart hf '{}' "$forced"
imported hf new
expect_rules old "first=de_DE " first
expect_rules new "first=de_DE " first
folder mbart hf "$forced" '{"forced_bos_token_id": 38}'
imported hf both
expect_rules both "first=en_XX " first
folder mbart hf "$forced" '{"forced_bos_token_id": null}'
imported hf none
expect_rules none "" first
folder mbart hf '{}' '{"forced_bos_token_id": 40}'
cp weights.safetensors hf/model.safetensors
refuses 1 'generation_config.json: "forced_bos_token_id" is 40, but the vocabulary has 40 tokens' "$tfc" import hf -o no

# BART's, where begin and end are one token.
folder bart hf
make_weights bart "vocab = 20, $sizes" 120 --data pairs.tsv --vocab hf/tokenizer.json --token 'begin=</s>' --token 'source-end=</s>'
"$tfc" translate made --input in.txt >made.txt
[ "$(cut -c 1 made.txt | tr -d '\n')" = www ] || fail "the model has learnt nothing: $(cat made.txt)"
imported hf bart
expect_rules bart "" 'first|source-begin'
"$tfc" translate bart --input in.txt | cmp - made.txt || fail "BART begins with a token that nothing forces"
folder bart searched '{"is_encoder_decoder": true}' '{"num_beams": 2, "length_penalty": 2.0, "no_repeat_ngram_size": 3, "do_sample": false, "temperature": 2}'
imported searched search
[ "$(sampled search)" = "no_repeat_ngram=3 beam=2 length_penalty=2 " ] || fail "$(sampled search)"
"$tfc" translate search --input in.txt --json >got.txt
"$tfc" translate bart --input in.txt --json --beam 2 --length-penalty 2 --no-repeat-ngram 3 >wanted.txt
cmp wanted.txt got.txt || fail "a search does not take the settings of the run: $(cat wanted.txt got.txt)"
if "$tfc" translate bart --input in.txt --json | cmp -s - got.txt; then fail "the settings decide nothing"; fi
folder bart hf '{"forced_bos_token_id": 6}'
imported hf bart
expect_rules bart "first=w6 " 'first|source-begin'
for forces in true false; do
    folder bart hf "{\"force_bos_token_to_be_generated\": $forces, \"bos_token_id\": 5}"
    imported hf bart
    expect_rules bart "$([ $forces = false ] || echo 'first=w5 ')" first
done

# Ends of a GGUF, both ways; more than it can name are named.
text() { yes "$1" | head -n 4 >text.txt; }
text "the hen is on the sea"
folder llama hf
make_weights llama 'vocab = 258, d_model = 32, d_ff = 40, heads = 4, kv_heads = 2, layers = 1, context = 64, tied = true' 1 \
    --text text.txt --vocab hf/tokenizer.json
folder llama hf '{}' '{"eos_token_id": [33, 257]}'
imported hf a
expect_rules a "stop=! stop=</s> " stop
"$tfc" export a -o two.gguf 2>err.txt || fail "$(cat err.txt)"
[ ! -s err.txt ] || fail "$(cat err.txt)"
"$tfc" import two.gguf -o b 2>err.txt || fail "$(cat err.txt)"
expect_rules b "stop=</s> stop=! " stop
"$tfc" export b --format hf -o given 2>err.txt || fail "$(cat err.txt)"
"$tfc" import given -o c
expect_rules c "stop=</s> stop=! " stop
"$tfc" import hf -o many --token 'stop=</s>' --token stop=a --token stop=b --token stop=c --token stop=a
"$tfc" export many -o many.gguf 2>err.txt || fail "$(cat err.txt)"
[ "$(grep -c "a text ends at 'c', too, which is left out: a GGUF names 3 ends" err.txt)" = 1 ] || fail "$(cat err.txt)"
"$tfc" import many.gguf -o d
expect_rules d "stop=</s> stop=a stop=b " stop
"$tfc" import hf -o other --token stop=a
"$tfc" export other -o other.gguf
"$tfc" import other.gguf -o e
expect_rules e "stop=a " stop

# Settings of generation.
folder llama hf '{}' '{"do_sample": true, "temperature": 0, "top_k": 40, "top_p": 1.0, "repetition_penalty": 1.3, "max_length": 20}'
imported hf drawn
grep -q "generation_config.json: where no option says, the run generates with temperature=0, top_k=40, repetition_penalty=1.3" err.txt ||
    fail "nothing says what is taken: $(cat err.txt)"
grep -q 'warning: generation_config.json: "max_length" is left out: give it as --max-tokens' err.txt || fail "$(cat err.txt)"
folder llama unread '{"pad_token_id": 1}' '{"pad_token_id": 1, "bad_words_ids": [[1]], "suppress_tokens": [3], "no_repeat_ngram_size": 2, "min_p": null, "num_beams": 4}'
imported unread left_out
[ "$(grep -o '"[a-z_]*" is left out' err.txt | tr '\n' ' ')" = '"suppress_tokens" is left out "num_beams" is left out ' ] ||
    fail "settings that are left out: $(cat err.txt)"
[ "$(sampled left_out)" = "no_repeat_ngram=2 " ] || fail "$(sampled left_out)"
"$tfc" export left_out -o left_out.gguf 2>err.txt || fail "$(cat err.txt)"
grep -q "left_out generates with no_repeat_ngram=2 where no option says, which is left out: a GGUF has no place" err.txt || fail "$(cat err.txt)"
[ "$(sampled drawn)" = "temperature=0 top_k=40 repetition_penalty=1.3 " ] || fail "$(sampled drawn)"
"$tfc" info drawn >info.txt
grep -q -- "--repetition-penalty 1.3 where it is not given" info.txt || fail "$(cat info.txt)"
folder llama hf '{}' '{"do_sample": false, "temperature": 0, "top_k": 40}'
imported hf plain
[ -z "$(sampled plain)" ] || fail "do_sample is false: $(sampled plain)"
folder llama hf '{}' '{"temperature": -1, "top_k": 0.5, "top_p": 0.9}'
imported hf odd
for problem in '"temperature" is -1, and is left out: tfc takes a number from 0' '"top_k" is 0.5, and is left out'; do
    grep -q "$problem" err.txt || fail "$(cat err.txt)"
done
[ "$(sampled odd)" = "top_p=0.9 " ] || fail "$(sampled odd)"
goes() { "$tfc" generate "$@" --prompt "the hen" --tokens 12 2>/dev/null; }
goes plain --temperature 0 --repetition-penalty 1.3 >wanted.txt
goes drawn >got.txt
cmp got.txt wanted.txt || fail "the run's settings are not taken"
goes drawn --repetition-penalty 1 >got.txt
goes plain --temperature 0 | cmp - got.txt || fail "an option does not replace the run's setting"
"$tfc" train drawn --out tuned --text text.txt --steps 1 2>err.txt || fail "$(cat err.txt)"
[ "$(sampled tuned)" = "$(sampled drawn)" ] || fail "training loses them: $(sampled tuned)"
[ "$(rules tuned)" = "$(rules drawn)" ] || fail "of $(rules drawn)training makes $(rules tuned)"
"$tfc" quantize drawn -o small --dtype q8_0 >out.txt 2>err.txt || fail "$(cat err.txt)"
[ "$(sampled small)" = "$(sampled drawn)" ] || fail "quantize loses them: $(sampled small)"
"$tfc" compile drawn --emit exe -o says 2>err.txt || fail "$(cat err.txt)"
printf 'the hen\n' | ./says --tokens 12 >got.txt
cmp got.txt wanted.txt || fail "a program does not take the run's settings: $(cat got.txt)"
sed 's/"temperature=0"/"beams=3"/' drawn/run.json >run.txt && cp run.txt tuned/run.json
refuses 1 "run.json: \"generation\": no run brings along 'beams=3'" "$tfc" generate tuned --prompt a
sed 's/"temperature=0"/"temperature=-3"/' drawn/run.json >run.txt && cp run.txt tuned/run.json
refuses 1 "'temperature=-3': expected a number from 0" "$tfc" generate tuned --prompt a

# An earlier tfc's run: what import would do now is said once, and nothing else changes.
before() { # before RUN: as if the earlier one had made it
    python3 - "$1/run.json" <<'END2'
import json, sys
record = json.load(open(sys.argv[1]))
del record["generation"]
record["tokens"] = [token for token in record["tokens"] if not token.startswith(("first=", "stop=!"))]
json.dump(record, open(sys.argv[1], "w"))
END2
}
before new
"$tfc" translate new --input in.txt >first.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "new was imported by an earlier tfc, and stays as it is; imported now it would have first=de_DE (tfc import .*/hf -o NEW)" err.txt ||
    fail "nothing is said: $(cat err.txt)"
"$tfc" translate new --input in.txt 2>err.txt | cmp - first.txt
[ ! -s err.txt ] || fail "it is said again: $(cat err.txt)"
before drawn
"$tfc" score drawn --text text.txt >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "would have temperature=0, top_k=40, repetition_penalty=1.3" err.txt || fail "$(cat err.txt)"
before other
"$tfc" score other --text text.txt >out.txt 2>err.txt || fail "$(cat err.txt)"
[ ! -s err.txt ] || fail "what --token said is taken for another reading: $(cat err.txt)"
