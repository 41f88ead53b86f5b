#!/bin/sh
# Starting is cheap: LLVM is loaded by what compiles, OpenBLAS by what multiplies with it, SentencePiece by what trains a
# vocabulary, and none by the rest, programs out of the cache included.
# Usage: start.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
unset OPENBLAS_CORETYPE

# loads COMMAND …: $loaded, which of them the dynamic linker mapped for the command
loads() {
    rm -f linker.*
    LD_DEBUG=files LD_DEBUG_OUTPUT=linker "$@" >out.txt 2>err.txt </dev/null || fail "$*: $(cat err.txt)"
    ls linker.* >/dev/null 2>&1 || { echo "skipped: the dynamic linker tells nothing"; exit 77; }
    loaded=$(cat linker.* | grep -o 'calling init: .*/lib\(LLVM\|openblas\|sentencepiece_train\)' | sed 's,.*/lib,,' | sort -u | tr '\n' ' ')
}
with() {
    libraries=$1
    shift
    loads "$@"
    [ "$loaded" = "$libraries" ] || fail "$*: loads '$loaded', not '$libraries'"
}

export TFC_CACHE="$work/cache"
for i in 1 2 3 4 5 6; do
    echo a b c d | cut -c 1-$i >>text.src
    echo d c b a | cut -c 1-$i >>text.tgt
done
cat >model.tfg <<'END'
model start
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
train { optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9); rate = constant(0.01) }
END
set -- "$tfc" train model.tfg --source text.src --target text.tgt --vocab words:auto --steps 2

# What the version says of the libraries and the processor is kept; then nothing asks them.
with "LLVM openblas " "$tfc" --version
cp out.txt version.txt
with "" "$tfc" --version
cmp out.txt version.txt || fail "another version the second time"
OPENBLAS_CORETYPE=Prescott with "openblas " "$tfc" --version # it would be another core

with "LLVM " "$@" --out run --gemm native
with "" "$@" --out again --gemm native
same_tensors run/last.safetensors again/last.safetensors "other params from the cache"
with "LLVM openblas " "$@" --out blas --gemm blas
with "openblas " "$@" --out blas.again --gemm blas
with "LLVM " "$tfc" translate run --input text.src --output cold.txt
with "" "$tfc" translate run --input text.src --output warm.txt
cmp cold.txt warm.txt || fail "another text from the cache"
with "" "$tfc" --help
with "" "$tfc" info run
with "" "$tfc" data --source text.src --target text.tgt
with "" "$tfc" report run -o report.html
printf 'PK\003\004 and no archive' >weights.npz
mkdir marian && mv weights.npz marian/model.npz && touch marian/vocab.yml
with "" sh -c '! "$0" import marian -o imported' "$tfc"
with "sentencepiece_train " "$tfc" prepare --source text.src --target text.tgt --vocab auto:12 -o prepared

# A general processor's name says all; another's is LLVM's to know.
if "$tfc" translate run --input text.src --cpu x86-64-v2 --output v2.txt 2>err.txt; then
    with "" "$tfc" translate run --input text.src --cpu x86-64-v2 --output v2.txt
    with "" "$tfc" translate run --input text.src --cpu native --output native.txt
fi
name=$(sed -n 's/^code for *\([^,]*\),.*/\1/p' version.txt)
"$tfc" translate run --input text.src --cpu "$name" --output host.txt || fail "this machine is not $name"
refuses 1 'no CPU is called "x86-64-v33"' "$tfc" translate run --input text.src --cpu x86-64-v33

# Little address space is enough where nothing is compiled.
sanitized || (ulimit -v 150000 && timeout 60 "$tfc" info run >out.txt) || fail "info in 150 MB"
