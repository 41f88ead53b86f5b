#!/bin/sh
# The GGUF that tfc export writes, in llama.cpp: the same greedy text, from the same file by both programs. Skipped unless
# TFC_LLAMA_CPP names a folder where npm install node-llama-cpp was run.
# Usage: llama_cpp.sh TFC   (from the project's root)
set -eu
. tests/common.sh
[ -n "${TFC_LLAMA_CPP:-}" ] || { echo "TFC_LLAMA_CPP is not set" >&2; exit 77; }
prompt="the hen is on the sea"
cd "$work"

# kind KIND: imported, exported, imported from that
kind() {
    python3 "$root/tests/cli/llama_cpp.py" "$1" "$1"
    "$tfc" import "$1" -o "$1.run" 2>err.txt || fail "$1: $(cat err.txt)"
    "$tfc" export "$1.run" -o "$1.gguf" 2>err.txt || fail "$1: $(cat err.txt)"
    "$tfc" import "$1.gguf" -o "$1.back" 2>err.txt || fail "$1: $(cat err.txt)"
}
theirs() { node "$root/tests/cli/llama_cpp.mjs" "$TFC_LLAMA_CPP" "$@"; }

for kind in llama llama31 llama_biased smollm3 linear yarn qwen2 qwen3 phi3 olmo2 gemma gemma2 gemma3_text gpt2; do
    kind $kind
    theirs=$(theirs text $kind.gguf "$prompt" 24)
    [ "$(echo "$theirs" | tr ',' '\n' | sort -u | wc -l)" -gt 2 ] || fail "$kind: the text is one token: $theirs"
    for run in run back; do
        "$tfc" generate $kind.$run --prompt "$prompt" --tokens 24 --temperature 0 --json >ours.txt 2>err.txt
        grep -qF "\"ids\": [$theirs]" ours.txt || fail "$kind.$run: llama.cpp says $theirs: $(cat ours.txt)"
    done
done

# An encoder's vectors. llama.cpp computes GELU by its approximation with tanh.
kind bert
for run in run back; do
    echo "the hens on a sea" | "$tfc" predict bert.$run | tr -d '[]' >ours.txt
    theirs vector bert.gguf "the hens on a sea" >theirs.txt
    python3 - ours.txt theirs.txt <<'END' || fail "bert.$run: $(cat ours.txt theirs.txt)"
import math, re, sys
a, b = ([float(x) for x in re.split(r"[\s,]+", open(name).read().strip())] for name in sys.argv[1:])
cosine = sum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)
sys.exit(len(a) != len(b) or cosine < 0.99999)
END
done

# T5 is read, with all its tensors; npm's program computes no encoder-decoders.
kind t5
[ "$(theirs open t5.gguf)" = 1 ] || fail "llama.cpp does not open T5"
echo "$prompt" | "$tfc" translate t5.run --beam 1 >ours.txt
echo "$prompt" | "$tfc" translate t5.back --beam 1 | cmp - ours.txt || fail "T5 translates otherwise"
echo "llama.cpp: the same texts"
