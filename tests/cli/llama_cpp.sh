#!/bin/sh
# The GGUF that tfc export writes, in llama.cpp: the same greedy text, from the same file by both programs. Skipped unless
# TFC_LLAMA_CPP names a folder where npm install node-llama-cpp was run.
# Usage: llama_cpp.sh TFC   (from the project's root)
set -eu
. tests/common.sh
[ -n "${TFC_LLAMA_CPP:-}" ] || { echo "TFC_LLAMA_CPP is not set" >&2; exit 77; }
prompt="the hen is on the sea"
cd "$work"
for kind in llama qwen2 gpt2; do
    python3 "$root/tests/cli/llama_cpp.py" $kind $kind
    "$tfc" import $kind -o $kind.run
    "$tfc" export $kind.run -o $kind.gguf
    "$tfc" import $kind.gguf -o $kind.back
    theirs=$(node "$root/tests/cli/llama_cpp.mjs" "$TFC_LLAMA_CPP" $kind.gguf "$prompt" 24)
    [ "$(echo "$theirs" | tr ',' '\n' | sort -u | wc -l)" -gt 2 ] || fail "$kind: the text is one token: $theirs"
    for run in run back; do
        "$tfc" generate $kind.$run --prompt "$prompt" --tokens 24 --temperature 0 --json >ours.txt 2>err.txt
        grep -qF "\"ids\": [$theirs]" ours.txt || fail "$kind.$run: llama.cpp says $theirs: $(cat ours.txt)"
    done
done
echo "llama.cpp: the same texts"
