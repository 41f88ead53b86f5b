#!/bin/sh
# The table of docs/published.md, "Files of each family": what it says is tried with the small model of each family
# (tests/fixtures/published). A file is read if the run that it becomes has the params of the published folder's, bit by bit;
# it is written if it is read again so, a GGUF if that becomes the same file again, an ONNX model if ONNX Runtime computes
# from it what tfc run does, and it is read if its run is exported as the same file. TFC_UPDATE=1 writes the table.
# Usage: bring.sh TFC   (from the project's root)
set -eu
. tests/common.sh
fixtures=$root/tests/fixtures
enter_work
python=
for name in /usr/bin/python3 python3; do
    if [ -z "$python" ] && $name -c 'import torch, numpy' 2>/dev/null; then python=$name; fi
done
[ -n "$python" ] || { echo "skipped: no Python has torch and numpy"; exit 77; }
[ -e "$root/build/npm/node_modules/onnxruntime-node" ] ||
    { echo "skipped: there is no onnxruntime-node in build/npm (scripts/setup --tests)"; exit 77; }
ort() { (cd "$root" && node tests/cli/onnx.mjs "$@") >ort.txt 2>&1; }

# A published folder with words as its tokens.
publish() {
    mkdir "$1"
    cp "$fixtures/published/$1.json" "$1/config.json"
    cp "$fixtures/$1_published.safetensors" "$1/model.safetensors"
    awk 'BEGIN {
        split("</s> <s>", special, " ")
        printf "{\"added_tokens\": ["
        for (i = 0; i < 2; i++)
            printf "%s{\"id\": %d, \"content\": \"%s\", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": true}", i ? ", " : "", i, special[i + 1]
        printf "], \"normalizer\": null, \"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"post_processor\": null, \"decoder\": null, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"t2\", \"vocab\": {\"t2\": 2"
        for (i = 3; i < 38; i++) printf ", \"t%d\": %d", i, i
        print ", \"[MASK]\": 38, \"<mask>\": 39}}}" }' >"$1/tokenizer.json"
    [ "$1" != byt5 ] || rm "$1/tokenizer.json"
}
# The kind of tests/cli/llama_cpp.py, whose tokenizers a GGUF can hold, for a model of published/; none: a GGUF has no such
# architecture.
kind_of() {
    case $1 in
    llama | llama31 | llama_biased | yarn | mistral | phi3 | qwen2 | qwen3 | smollm3 | olmo2 | gemma | gemma2 | gpt2 | t5 | flan | mt5) echo "$1" ;;
    gemma3) echo gemma3_text ;;
    minilm | bge) echo bert ;;
    esac
}
cat >convert.py <<'END'
import sys
import numpy, torch
sys.path.insert(0, sys.argv[1])
from blocks import read_safetensors
for name in sys.argv[2:]:
    tensors, _ = read_safetensors(name + "/model.safetensors")
    tensors = {key: value.float() for key, value in tensors.items()}
    torch.save(tensors, name + "/weights.bin")
    numpy.savez(name + "/weights.npz", **{key: value.numpy() for key, value in tensors.items()})
END
# params RUN: the file of its params
params() { "$tfc" export "$1" -o "$1.params.safetensors" 2>/dev/null; }
# same A B: both runs have the same params
same() { params "$2" && cmp -s "$1.params.safetensors" "$2.params.safetensors"; }

models=$(cd "$fixtures/published" && ls ./*.json | sed 's|^./||; s/.json$//')
for model in $models; do
    [ ! -e "$fixtures/${model}_published.safetensors" ] || publish "$model"
done
# shellcheck disable=SC2046,SC2035  # names of folders
"$python" convert.py "$fixtures" $(ls -d */ | tr -d /)
{
    echo '| family | safetensors | `.bin`, `.pt` | `.npz` | `.gguf` | `.onnx` |'
    echo '| --- | --- | --- | --- | --- | --- |'
} >table
for folder in */; do
    model=${folder%/}
    "$tfc" import "$model" -o "$model.run" 2>err.txt || fail "$model: $(cat err.txt)"
    params "$model.run" || fail "$model has no params"
    row="| $model ($(sed -n 's/.*"model_type": *"\([^"]*\)".*/\1/p' "$model/config.json" | head -n 1))"
    if "$tfc" export "$model.run" --format hf -o "$model.hf" 2>err.txt && "$tfc" import "$model.hf" -o "$model.back" 2>err.txt; then
        same "$model.run" "$model.back" || fail "$model: another model comes back in Hugging Face's folder"
        row="$row | read, written"
    else
        row="$row | read"
    fi
    for file in bin npz; do
        if "$tfc" import "$model/weights.$file" --config "$model" -o "$model.$file.run" 2>err.txt; then
            same "$model.run" "$model.$file.run" || fail "$model: other params in .$file"
            row="$row | read"
        else
            row="$row | no"
        fi
    done
    kind=$(kind_of "$model")
    if [ -n "$kind" ]; then
        "$python" "$root/tests/cli/llama_cpp.py" "$kind" "$model.folder"
        mkdir "$model.again"
        "$tfc" import "$model.folder" -o "$model.first" 2>err.txt && "$tfc" export "$model.first" -o "$model.gguf" 2>err.txt &&
            "$tfc" import "$model.gguf" -o "$model.again/$model.first" 2>err.txt &&
            "$tfc" export "$model.again/$model.first" -o "$model.second.gguf" 2>err.txt || fail "$model: $(cat err.txt)"
        cmp "$model.gguf" "$model.second.gguf" || fail "$model: another GGUF"
        row="$row | read, written"
    else
        ! "$tfc" export "$model.run" -o "$model.gguf" 2>err.txt && grep -q "a GGUF " err.txt || fail "$model in a GGUF: $(cat err.txt)"
        row="$row | —"
    fi
    if "$tfc" export "$model.run" -o "$model.onnx" 2>err.txt; then
        mkdir -p "$model.again"
        "$tfc" import "$model.onnx" --config "$model" -o "$model.again/$model.run" 2>err.txt && ! grep -q "warning:" err.txt &&
            "$tfc" export "$model.again/$model.run" -o "$model.second.onnx" 2>err.txt || fail "$model: $(cat err.txt)"
        cmp "$model.onnx" "$model.second.onnx" || fail "$model: another ONNX model"
        ort inputs "$work/$model.onnx" "$work/$model.in" 40 || fail "$model: $(cat ort.txt)"
        "$tfc" run "$model.run" --in "$model.in" --out "$model.out" 2>err.txt || fail "$model: $(cat err.txt)"
        ort forward "$work/$model.onnx" "$work/$model.in" "$work/$model.out" || fail "$model: $(cat ort.txt)"
        row="$row | read, written"
    else
        row="$row | no"
    fi
    echo "$row |" >>table
    rm -rf "$model".*
done
page=$root/docs/published.md
sed -n '/^| family | safetensors |/,/^$/p' "$page" | sed '/^$/d' >told
if [ -n "${TFC_UPDATE:-}" ]; then
    awk 'FNR == NR { table = table $0 "\n"; next } /^\| family \| safetensors \|/ { printf "%s", table; skip = 1 } skip && /^$/ { skip = 0 } !skip' \
        table "$page" >page && cat page >"$page"
else
    diff told table || fail "docs/published.md says otherwise: TFC_UPDATE=1 writes what is so"
fi
echo "bring: $(wc -l <table) lines"
