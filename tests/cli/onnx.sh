#!/bin/sh
# Exported ONNX models in ONNX Runtime: logits of forward, and of encode and decode_step token by
# token, are those of tfc run within 1e-4, on ragged batches whose padding holds anything.
# Usage: onnx.sh TFC   (from the project's root)
set -eu
. tests/common.sh

# What ONNX cannot hold is said, with or without a runtime.
refuses 2 "export: --function is for --format onnx" \
    "$tfc" export models/gpt.tfg -o "$work/a.onnx" --function encode
refuses 2 "without --merge and --only" "$tfc" export models/gpt.tfg -o "$work/a.onnx" --format onnx --merge
[ ! -e "$work/a.onnx" ] || fail "a refused export left a file"

if ! command -v node >/dev/null || [ ! -e build/npm/node_modules/onnxruntime-node ]; then
    echo "skipped: no onnxruntime-node in build/npm (scripts/setup --tests)"
    exit 77
fi

ort() { node tests/cli/onnx.mjs "$@" 2>"$work/err.txt" || fail "$name: $(cat "$work/err.txt")"; }

# check NAME MODEL WEIGHTS ENCODE DECODE [--set …]: whether it has these functions
check() {
    name=$1 model=$2 weights=$3 encode=$4 decode=$5
    shift 5
    at=$work/$name
    "$tfc" export "$model" "$@" --weights "$weights" --format onnx -o "$at.onnx"
    ort inputs "$at.onnx" "$at.in"
    "$tfc" run "$model" "$@" --weights "$weights" --in "$at.in" --out "$at.out" 2>"$work/err.txt" ||
        fail "$name: $(cat "$work/err.txt")"
    ort forward "$at.onnx" "$at.in" "$at.out"
    [ "$decode" = yes ] || return 0
    encoder=-
    if [ "$encode" = yes ]; then
        encoder=$at.encode.onnx
        "$tfc" export "$model" "$@" --weights "$weights" --format onnx --function encode -o "$encoder"
    fi
    "$tfc" export "$model" "$@" --weights "$weights" --format onnx --function decode_step -o "$at.step.onnx"
    ort steps "$encoder" "$at.step.onnx" "$at.in" "$at.out"
}

fixture() { check "$1" "tests/fixtures/$1_published.tfg" "tests/fixtures/$1_published.safetensors" "$2" "$3"; }
fixture gpt2 no yes
fixture llama no yes
fixture bert no no
fixture bart yes yes
fixture marian yes yes
fixture t5 yes yes
sizes="--set vocab=50 --set d_model=16 --set d_ff=32 --set heads=2 --set layers=2"
# shellcheck disable=SC2086  # a list of words
check transformer models/transformer_base.tfg tests/fixtures/transformer_small.safetensors yes yes $sizes
