#!/bin/sh
# Keys that other programs write into a GGUF or a config.json: those that change what is computed are read or refused by
# name, those that nobody computes by are left unread with a warning; and the tokens that a GGUF's texts get.
# Usage: foreign_keys.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"
folder() { python3 "$root/tests/cli/llama_cpp.py" "$1" "$1"; }
export_of() { "$tfc" import "$1" -o "$1.run" 2>err.txt && "$tfc" export "$1.run" -o "$1.gguf" 2>err.txt || fail "$1: $(cat err.txt)"; }
with() { python3 "$root/tests/cli/foreign_keys.py" "$@"; } # with FROM TO KEY=VALUE …
# reads FILE: it is imported as `read`, and nothing is said
reads() { rm -rf read && "$tfc" import "$1" -o read 2>err.txt && [ ! -s err.txt ] || fail "$1: $(cat err.txt)"; }
# warns FILE PATTERN: the same with one line, which has the pattern
warns() {
    rm -rf read
    "$tfc" import "$1" -o read 2>err.txt || fail "$1: $(cat err.txt)"
    [ "$(grep -c . err.txt)" = 1 ] && grep -q -- "warning: .*$2" err.txt || fail "$1: no '$2' in: $(cat err.txt)"
}
ids() { "$tfc" generate "$1" --prompt "the hen is on the sea" --temperature 0 --tokens 8 --json 2>err.txt | grep -o '"ids": [^]]*'; }
# tokens RUN TEXT …: of a text, with what follows
tokens() {
    printf '%s\n' "$2" >text.txt
    "$tfc" score "$1" --text text.txt --token-scores ${3:-} | grep -o '\["[^"]*"' | tr -d '["' | tr '\n' ' '
}

# The first two lines of a list are enough to guard a change.
some() { if [ -n "$short" ]; then head -n 2; else cat; fi; }

# ---- positions ----
folder linear && export_of linear
folder llama && export_of llama
scaled=$(ids linear.run)
[ "$(ids llama.run)" != "$scaled" ] || fail "scaled positions change nothing"
for key in rope.scale_linear rope.scaling.factor; do
    with llama.gguf one.gguf llama.$key=3.0
    reads one.gguf
    python3 - linear/model.safetensors llama/model.safetensors <<'END' || fail "the two folders have other weights"
import sys
sys.exit(open(sys.argv[1], "rb").read() != open(sys.argv[2], "rb").read())
END
    [ "$(ids read)" = "$scaled" ] || fail "$key without a type is not linear"
done
with llama.gguf one.gguf llama.rope.scaling.type="'none'" llama.rope.scaling.factor=3.0
reads one.gguf
[ "$(ids read)" = "$(ids llama.run)" ] || fail "positions of no scaling are scaled"

# Pieces that pad a vocabulary have the type of the unknown one in files of 2024; the metadata says which that is.
"$tfc" import "$root/tests/fixtures/padded.gguf" -o pieces24 2>err.txt || fail "$(cat err.txt)"
"$tfc" generate pieces24 --prompt "a b" --tokens 8 --temperature 0 >out.txt 2>err.txt || fail "$(cat err.txt)"
if grep -q PAD out.txt; then fail "a piece that pads is generated: $(cat out.txt)"; fi

# ---- what llama.cpp computes by, and tfc does not ----
some <<'END' |
attention.causal False is false, which llama.cpp reads, and tfc's model of llama does not compute
attn_logit_softcapping 30.0 is 30, which
final_logit_softcapping 30.0 is 30, which
logit_scale 0.5 is 0.5, which
embedding_scale 12.0 is 12, which
attention.scale 0.5 is 0.5, which
expert_count 8 is 8, which
expert_used_count 2 is 2, which
pooling_type 3 is 3, which
hidden_activation 'gelu' is 'gelu', which
rope.dimension_sections [0,4] is a list, which
feed_forward_length [96,48] differs from layer to layer
attention.head_count 'four' is no number
rope.scaling.factor '3' is no number
rope.scaling.type 3 is no text
END
while read -r key value said; do
    with llama.gguf one.gguf "llama.$key=$value"
    refuses 1 "one.gguf: .*llama.$key $said" "$tfc" import one.gguf -o no
    [ ! -e no ] || fail "$key: a folder is left"
done
with llama.gguf one.gguf general.type="'adapter'"
refuses 1 "general.type is 'adapter', which" "$tfc" import one.gguf -o no
with linear.gguf one.gguf llama.rope.scaling.attn_factor=2.0
refuses 1 "rope.scaling.attn_factor is not 1" "$tfc" import one.gguf -o no
size=$(sed -n 's/.*"vocab_size": \([0-9]*\).*/\1/p' llama/config.json)
with llama.gguf one.gguf tokenizer.ggml.token_type="$(python3 -c "print([6] * ($size - 1) + [99])")"
refuses 1 "its tokenizer.ggml.token_type has 99 for token $((size - 1)); expected 0 to 6, llama.cpp's kinds of tokens" "$tfc" import one.gguf -o no
with llama.gguf one.gguf llama.vocab_size=7
warns one.gguf "its llama.vocab_size is 7, and tokenizer.ggml.tokens has $size tokens, which are taken, as llama.cpp takes them"
[ "$(ids read)" = "$(ids llama.run)" ] || fail "a count of tokens changes something"

# ---- what says nothing ----
with llama.gguf one.gguf llama.attention.causal=True llama.attn_logit_softcapping=0.0 llama.logit_scale=1.0 \
    llama.expert_count=0 llama.tensor_data_layout="'Meta AI original pth'" llama.feed_forward_length='[96,96]' \
    general.author="'x'" quantize.imatrix.file="'y'" llama.hidden_activation="'silu'" llama.rope.scaling.finetuned=False
reads one.gguf
[ "$(ids read)" = "$(ids llama.run)" ] || fail "keys that say nothing change something"
with llama.gguf one.gguf llama.new_trick=3 someone.note="'x'"
warns one.gguf "llama.new_trick, someone.note are left unread: llama.cpp is not known to compute by them"

# ---- config.json ----
folder gpt2
cp gpt2/config.json plain.json
config() { sed "s/^{/{$1, /" plain.json >gpt2/config.json; }
config '"is_decoder": true'
warns gpt2 '"is_decoder" is left unread: no class of gpt2 in transformers is known to compute by it'
config '"eos_token_ids": 0, "uniem_embedding_strategy": "last_mean", "rope_scaling": {"type": "linear"}'
warns gpt2 '"eos_token_ids", "uniem_embedding_strategy", "rope_scaling" are left unread: .* by them'
config '"num_hidden_layers": 2, "hidden_size": 64, "auto_map": {"AutoModel": "x.Y"}, "architectures": ["GPT2LMHeadModel"], "is_decoder": false'
reads gpt2
some <<'END' |
"add_cross_attention": true|"add_cross_attention" is true: gpt2 in transformers computes by it, and models/gpt2.tfg does not
"quantization_config": {"bits": 4}|"quantization_config" says that some method has packed the weights
"pruned_heads": {"1": [0]}|"pruned_heads" is
"hidden_size": 32|"hidden_size" is 32: models/gpt2.tfg is written for 64, as "n_embd" is, alone
"num_hidden_layers": 24|"num_hidden_layers" is 24: models/gpt2.tfg is written for 2, as "n_layer" is, alone
"new_trick": 1, "auto_map": {"AutoModel": "x.Y"}|"new_trick" may change what the model's own class computes
"new_trick": 1, "architectures": ["JinaGPT2Model"]|"new_trick" may change what the model's own class computes
END
while IFS='|' read -r key said; do
    config "$key"
    refuses 1 "config.json: error: $said" "$tfc" import gpt2 -o no
done
mkdir scaled
cp llama/tokenizer.model llama/model.safetensors scaled
sed 's/^{/{"rope_scaling": {"type": "yarn", "factor": 2.0, "partial_rotary_factor": 0.5}, /' llama/config.json >scaled/config.json
refuses 1 '"rope_scaling.partial_rotary_factor" is 0.5: llama in transformers computes by it' "$tfc" import scaled -o no
sed 's/^{/{"rope_scaling": {"type": "linear", "factor": 2.0, "finetuned": true}, /' llama/config.json >scaled/config.json
warns scaled '"rope_scaling.finetuned" is left unread'
sed 's/^{/{"rope_scaling": 2.0, /' llama/config.json >scaled/config.json
refuses 1 '"rope_scaling" is 2: expected an object' "$tfc" import scaled -o no

# ---- how texts are cut ----
folder olmo2
sed 's/"se"/"34"/; s/"s e"/"3 4"/' olmo2/tokenizer.json >t.json && cp t.json olmo2/tokenizer.json
export_of olmo2
[ "$(tokens olmo2.run x1234)" = "1 2 34 " ] || fail "GPT-2 cuts digits: $(tokens olmo2.run x1234)"
with olmo2.gguf one.gguf tokenizer.ggml.pre="'default'"
reads one.gguf
[ "$(tokens read x1234)" = "1 2 3 4 " ] || fail "'default' is cut as $(tokens read x1234)"
"$tfc" export read -o again.gguf && grep -qa 'tokenizer.ggml.pre.\{12\}default' again.gguf || fail "'default' is written otherwise"
# Those of other models: how digits are cut, and whether the name comes back ("-": that of an earlier row).
while read -r name cut back; do
    with olmo2.gguf one.gguf tokenizer.ggml.pre="'$name'"
    reads one.gguf
    [ "$(tokens read x1234)" = "$(echo "$cut" | tr , ' ') " ] || fail "'$name' is cut as $(tokens read x1234)"
    [ -z "$back" ] || { "$tfc" export read -o again.gguf && grep -qa "tokenizer.ggml.pre.\{12\}$name" again.gguf || fail "'$name' is written otherwise"; }
done <<'END'
mpt 1,2,34
starcoder 1,2,3,4
refact 1,2,3,4
falcon 1,2,3,4 back
deepseek-llm 1,2,34 back
deepseek-coder 1,2,3,4 back
deepseek-v3 1,2,3,4 back
END
with olmo2.gguf one.gguf tokenizer.ggml.pre=None
warns one.gguf "tokenizer.ggml.pre is absent, which says how texts are cut: they are cut as 'default', as llama.cpp does then"
[ "$(tokens read x1234)" = "1 2 3 4 " ] || fail "without a name texts are cut as $(tokens read x1234)"
cp plain.json gpt2/config.json
export_of gpt2
with gpt2.gguf one.gguf tokenizer.ggml.pre=None
warns one.gguf "they are cut as 'gpt-2'. "

# Qwen's NFC: by the name of its cut.
qwen() { # qwen NORMALIZER [DIGITS]: the tokenizer of olmo2, cut and normalized so
    python3 - olmo2/tokenizer.json "$1" "${2:-}" <<'END'
import json, sys
with open(sys.argv[1]) as file:
    tokenizer = json.load(file)
pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
pattern = pattern.replace(r"|\p{N}|", r"|\p{N}" + sys.argv[3] + "|")
tokenizer["normalizer"] = {"type": sys.argv[2]} if sys.argv[2] else None
tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
    {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}]}
with open(sys.argv[1], "w") as file:
    json.dump(tokenizer, file)
END
    rm -rf olmo2.run
    "$tfc" import olmo2 -o olmo2.run
}
apart=$(printf 'xe\314\201')
qwen NFC
export_of() { "$tfc" export "$1.run" -o "$1.gguf" 2>err.txt || fail "$1: $(cat err.txt)"; }
export_of olmo2
[ ! -s err.txt ] || fail "$(cat err.txt)"
reads olmo2.gguf
[ "$(tokens read "$apart")" = "$(tokens olmo2.run "$apart")" ] || fail "letters apart: $(tokens read "$apart")"
[ "$(tokens read "$apart" | wc -w)" = 2 ] || fail "letters stay apart: $(tokens read "$apart")"
qwen ''
export_of olmo2
grep -q "the tokenizer leaves accents as they are, but readers of a GGUF whose tokenizer.ggml.pre is 'qwen2' compose them (NFC)" err.txt || fail "$(cat err.txt)"
qwen '' '{1,5}'
refuses 1 "tfc knows no tokenizer.ggml.pre of llama.cpp that cuts texts as its pre_tokenizer does (--format hf writes it as it is): .*1,5" \
    "$tfc" export olmo2.run -o no.gguf
qwen Lowercase
refuses 1 "its normalizer is 'Lowercase', and llama.cpp changes no text before it is cut" "$tfc" export olmo2.run -o no.gguf

# ---- control tokens of SentencePiece's vocabularies are read from texts, unless told otherwise ----
folder padded
echo '{"added_tokens_decoder": {"297": {"content": "<|user|>", "special": true}}}' >padded/tokenizer_config.json
"$tfc" import padded -o padded.run
export_of padded
reads padded.gguf
for run in padded.run read; do
    [ "$(tokens $run '<|user|>the<|user|>')" = '<|user|> ▁the <|user|> ' ] || fail "$run: $(tokens $run '<|user|>the<|user|>')"
    tokens $run '<|user|>the' '--special text' | grep -q '<|user|>' && fail "$run: a text's letters are a token"
    [ "$(tokens $run 'the hen')" = "$(tokens llama.run 'the hen')" ] || fail "$run: a text without control tokens has others"
done

# ---- bytes, which no tokenizer of a GGUF has ----
folder t5
rm t5/tokenizer.model
echo '{"tokenizer_class": "ByT5Tokenizer"}' >t5/tokenizer_config.json
"$tfc" import t5 -o t5.run 2>err.txt || fail "$(cat err.txt)"
refuses 1 "t5.run/published has no tokenizer.model and no tokenizer.json: a GGUF has one of these" "$tfc" export t5.run -o no.gguf

# ---- the token before a text, which transformers takes of tokenizer_config.json; and back ----
set_config() { printf '{"add_bos_token": true, "bos_token": %s}' "$1" >llama/tokenizer_config.json; }
begins() { sed -n 's/.*"text-begin=\(.*\)".*/\1/p' "$1/run.json"; }
set_config '{"content": "</s>", "lstrip": false}'
reads llama
[ "$(begins read)" = "</s>" ] || fail "a text begins with '$(begins read)'"
"$tfc" export read --format hf -o back 2>err.txt || fail "$(cat err.txt)"
reads back
[ "$(begins read)" = "</s>" ] || fail "back, a text begins with '$(begins read)'"
set_config '"<nothing>"'
warns llama "tokenizer_config.json: \"bos_token\" is '<nothing>', which is no token of the tokenizer: it is left unread"
[ "$(begins read)" = "<s>" ] || fail "a text begins with '$(begins read)'"
rm -r llama/tokenizer_config.json read back
"$tfc" import llama -o read --token 'text-begin=</s>' 2>err.txt || fail "$(cat err.txt)"
"$tfc" export read --format hf -o back 2>err.txt || fail "$(cat err.txt)"
reads back
[ "$(begins read)" = "</s>" ] || fail "of a run that begins otherwise, a text begins with '$(begins read)'"
rm -r t5 t5.run
folder t5
echo '{"eos_token": "<s>"}' >t5/tokenizer_config.json
reads t5
grep -q '"source-end=<s>"' read/run.json || fail "a source ends otherwise: $(cat read/run.json)"
echo "foreign keys: read, refused by name, or left with a warning"
