#!/bin/sh
# tfc import: a published folder as a run that every command takes; what cannot be read is told,
# and nothing is left. Logits are compared in tests/reference/published.c.
# Usage: import.sh TFC   (from the project's root)
set -eu
. tests/common.sh
. tests/published.sh
enter_work

words_backwards
published_marian published
mv made w
mv made.tfg w.tfg

"$tfc" import published -o run 2>err.txt || fail "$(cat err.txt)"
! grep -q warning err.txt || fail "$(cat err.txt)"
cat run/model.tfg >model.txt
grep -q '^use "marian.tfg"' model.txt || fail "$(cat model.txt)"
[ "$(wc -l <model.txt)" -lt 20 ] || fail "the model is not a few lines"
[ -L run/weights ] || fail "the weights were copied"
grep -q '"begin=<pad>"' run/run.json || fail "targets begin otherwise"
"$tfc" score run --source valid.src --target valid.tgt >scores.txt
"$tfc" score w --source valid.src --target valid.tgt | cmp -s - scores.txt || fail "the run scores otherwise than its model"

# Fine-tuned, translated, exported.
"$tfc" train run --out tuned --source train.src --target train.tgt --steps 20 --batch-tokens 400 2>err.txt || fail "$(cat err.txt)"
grep -q '"begin=<pad>"' tuned/run.json || fail "the new run's targets begin otherwise"
"$tfc" translate tuned --input valid.src >out.txt
[ "$(wc -l <out.txt)" = 100 ] || fail "100 lines became $(wc -l <out.txt)"
# As a program with both vocabularies inside; the imported weights are those of the folder.
for folder in tuned run; do
    "$tfc" compile $folder -o translator
    head -n 20 valid.src | "$tfc" translate $folder >expected.txt
    head -n 20 valid.src | ./translator | cmp - expected.txt || fail "$folder: the program translates otherwise"
done
"$tfc" export tuned -o back.safetensors
"$tfc" info back.safetensors | grep -q 'model.decoder.layers.1.fc2.weight' || fail "other names came back"

# The whole folder goes back: what it came with, and the new weights.
"$tfc" export tuned --format hf -o given
cmp published/config.json given/config.json
cmp published/vocab.json given/vocab.json
cmp back.safetensors given/model.safetensors
"$tfc" import given -o again 2>err.txt || fail "$(cat err.txt)"
"$tfc" score tuned --source valid.src --target valid.tgt >tuned.txt
"$tfc" score again --source valid.src --target valid.tgt | cmp -s - tuned.txt || fail "it came back otherwise"
refuses 1 "w has no config.json of a published model" "$tfc" export w --format hf -o no
{ cat w.tfg; echo 'use lora'; } >wl.tfg
"$tfc" train wl.tfg --weights tuned --vocab tuned --new '**.lora_*' --only '**.lora_*' --source train.src --target train.tgt \
    --token 'begin=<pad>' --steps 3 --out adapted 2>err.txt || fail "$(cat err.txt)"
refuses 1 "lora_a' has no name in the model's weights block.*--merge" "$tfc" export adapted --format hf -o no
"$tfc" export adapted --format hf --merge -o merged
"$tfc" info given/model.safetensors | grep f32 >given.txt
"$tfc" info merged/model.safetensors | grep f32 | cmp -s - given.txt || fail "merged it has other tensors"

# A copy is whole, wherever it goes.
"$tfc" import published -o whole --copy 2>err.txt || fail "$(cat err.txt)"
mkdir elsewhere
mv whole elsewhere/there
mv published hidden
"$tfc" score elsewhere/there --source valid.src --target valid.tgt | cmp -s - scores.txt || fail "the moved run scores otherwise"
refuses 1 "put the weights back, or import them again, with --copy" "$tfc" score run --source valid.src --target valid.tgt
mv hidden published

refuses 1 "run is there already" "$tfc" import published -o run
refuses 2 "-o RUN is needed" "$tfc" import published
refuses 1 "has no config.json" "$tfc" import tuned -o no
cannot() { # cannot PATTERN SED: another config.json
    rm -rf changed
    cp -r published changed
    sed "$2" published/config.json >changed/config.json
    refuses 1 "$1" "$tfc" import changed -o no
    [ ! -e no ] || fail "a folder is left"
}
cannot "those that are read are marian, bart" 's/"marian"/"rwkv"/'
cannot "'decoder.layer.0.feed_forward.inner.weight'.*25" 's/"decoder_ffn_dim": 24/"decoder_ffn_dim": 25/'
cannot '"activation_function" is "mish"' 's/swish/mish/'
cannot 'the vocabulary has 20 tokens, but config.json.s vocab_size is 19' 's/"vocab_size": 20/"vocab_size": 19/'
cannot '"eos_token_id" is 77, but the vocabulary has 20 tokens' 's/"eos_token_id": 0/"eos_token_id": 77/'
cannot 'model.decoder.layers.2.fc1.weight' 's/"decoder_layers": 2/"decoder_layers": 3/'
cannot '/changed: .* missing' 's/"decoder_layers": 2/"decoder_layers": 3/'
cannot '"eos_token_id" is \[\], but the vocabulary' 's/"eos_token_id": 0/"eos_token_id": []/'
cannot '"d_model" is 16, 16: expected a whole number' 's/"d_model": 16/"d_model": [16, 16]/'
cannot 'config.json: error: no key at byte 1' 's/^{/{,/'
mkdir long
sed 's/llama3/ropes/' "$root/tests/fixtures/published/llama31.json" >long/config.json
refuses 1 '"rope_scaling.rope_type" is "ropes": models/llama.tfg is written for null, "default", "linear", "dynamic", "yarn", "llama3", "longrope" alone' \
    "$tfc" import long -o no
# A key by which transformers computes is refused by name, also within an object, unless it says nothing.
sed 's/"factor"/"partial_rotary_factor": 0.5, "off": false, "factor"/; s/{/{"nothing": [], "quantization_config": {"bits": 4}, /' \
    "$root/tests/fixtures/published/yarn.json" >long/config.json
refuses 1 '"rope_scaling.partial_rotary_factor" is 0.5: llama in transformers computes by it, and models/llama.tfg does not' "$tfc" import long -o no
refuses 1 '"quantization_config" says that some method has packed the weights' "$tfc" import long -o no
"$tfc" import long -o no 2>&1 | grep -q '"nothing"\|off' && fail "what says nothing is refused"
cannot '"new_trick" may change what the model.s own class computes, and models/marian.tfg does not read it' \
    's/"d_model"/"new_trick": 3, "architectures": ["OwnModel"], "d_model"/'
# Layers whose windows do not repeat.
for layers in '"full_attention", "sliding_attention"' '"sliding_attention", "chunked_attention"'; do
    tr '\n' ' ' <"$root/tests/fixtures/published/gemma3.json" | sed "s/\"layer_types\": [[][^]]*]/\"layer_types\": [$layers]/" >long/config.json
    cp published/model.safetensors long
    cp "$root/tests/hf/cases/llama.json" long/tokenizer.json
    refuses 1 'expected "sliding_attention" for all layers, or "full_attention" for each n-th one' "$tfc" import long -o no
done
from() { # from SED FIXTURE: its config.json, changed, beside other weights
    sed "$1" "$root/tests/fixtures/published/$2.json" >long/config.json
}
from 's/"max_window_layers": 1/"layer_types": ["sliding_attention", "full_attention"]/' qwen2_window
refuses 1 'expected "sliding_attention" for all layers, or "full_attention" for the first ones' "$tfc" import long -o no
tr '\n' ' ' <"$root/tests/fixtures/published/smollm3.json" | sed 's/"no_rope_layers": [[][^]]*]/"no_rope_layers": [0, 1]/' >long/config.json
refuses 1 '"no_rope_layers": expected 1 for all layers, or 0 for each n-th one, as models/llama.tfg has them' "$tfc" import long -o no
from 's/1.25/"a"/' longrope
refuses 1 '"rope_scaling.short_factor": expected a list of numbers from 0.001 to 1000' "$tfc" import long -o no
sed 's/"decoder_layers": 2/"decoder_layers": 1/' published/config.json >changed/config.json
"$tfc" import changed -o less 2>err.txt || fail "$(cat err.txt)"
grep -q "tensors of changed are used by nothing in models/marian.tfg: 'model.decoder.layers.1" err.txt ||
    fail "nothing is said of tensors that are not used: $(cat err.txt)"
rm changed/model.safetensors
: >changed/pytorch_model.bin
refuses 1 "changed/pytorch_model.bin is an empty file, not a file of weights" "$tfc" import changed -o no
rm changed/pytorch_model.bin
refuses 1 "the folder has no weights: none of model.safetensors, " "$tfc" import changed -o no
rm changed/source.spm
cp published/model.safetensors changed
refuses 1 "has no tokenizer that is read" "$tfc" import changed -o no
cp published/target.spm changed/sentencepiece.bpe.model
refuses 1 "sentencepiece.bpe.model has other ids than the model" "$tfc" import changed -o no
[ ! -e no ] || fail "a folder is left"
# As PyTorch saves it: the same scores, and no second copy of the weights.
if /usr/bin/python3 -c 'import torch' 2>err.txt; then
    cp -r published pickled
    rm pickled/model.safetensors
    /usr/bin/python3 - published/model.safetensors pickled/pytorch_model.bin <<'END'
import json, sys, torch
data = open(sys.argv[1], "rb").read()
size = int.from_bytes(data[:8], "little")
header, body = json.loads(data[8:8 + size]), bytearray(data[8 + size:])
header.pop("__metadata__", None)
torch.save({name: torch.frombuffer(body, dtype=torch.float32)[at["data_offsets"][0] // 4:at["data_offsets"][1] // 4]
            .reshape(at["shape"]) for name, at in header.items()}, sys.argv[2])
END
    "$tfc" import pickled -o of_torch 2>err.txt || fail "$(cat err.txt)"
    [ -L of_torch/weights ] || fail "the weights of PyTorch were copied"
    "$tfc" score of_torch --source valid.src --target valid.tgt | cmp - scores.txt ||
        fail "weights of PyTorch score otherwise"
    "$tfc" import pickled -o of_torch_copied --copy 2>err.txt || fail "$(cat err.txt)"
    "$tfc" score of_torch_copied --source valid.src --target valid.tgt | cmp - scores.txt ||
        fail "copied weights of PyTorch score otherwise"
fi
echo "import: a run like any other"
