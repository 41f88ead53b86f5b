#!/bin/sh
# What is written is what the file's ending says, or the ending is refused with the command or option to type.
# Usage: tests/cli/endings.sh TFC
set -eu
. tests/common.sh
enter_work
cat >m.tfg <<'M'
model m
const n = 4
dim B
input x : float[B, n]
param w : [n, n] = normal(0, 1)
output y = x @ w
M
compile="$tfc compile m.tfg --function forward -o"
export="$tfc export m.tfg --weights w.safetensors -o"

# shellcheck disable=SC2086
{
refuses 2 "compile: -o m.onnx: tfc export writes .onnx, tfc compile .so, .o, .c, .ll, .s, .bc, .html, .wasm; --emit" $compile m.onnx
refuses 2 "compile: -o m.dll: there is no .dll to write, but .so" $compile m.dll
refuses 2 "compile: -o n.tfg: there is no .tfg" $compile n.tfg
refuses 2 "compile: -o a.b/m.so.gz: there is no .gz" $compile a.b/m.so.gz
refuses 2 "export: -o m.ggml: there is no .ggml to write, but .safetensors, .onnx, .npz, .gguf; --format writes any" $export m.ggml
refuses 2 "export: -o m.pt: there is no .pt" $export m.pt
refuses 2 "export: -o m.so: tfc compile writes .so" $export m.so
refuses 2 "draw: -o m.png: there is no .png to write, but .svg" "$tfc" draw m.tfg --what graph -o m.png
refuses 2 "attend: -o m.svg: tfc draw writes .svg, tfc attend .html" "$tfc" attend m.tfg -o m.svg
refuses 2 "report: -o m.pdf: there is no .pdf to write, but .html, .svg" "$tfc" report m -o m.pdf
refuses 2 "report: -o m.svg: --svg PLOT says which" "$tfc" report m -o m.svg
[ "$(ls)" = "$(printf 'err.txt\nm.tfg\nout.txt')" ] || fail "something was written: $(ls)"

# begins FILE BYTES: the file is what its ending says
begins() { [ "$(head -c ${#2} "$1")" = "$2" ] || fail "$1 does not begin with $2"; }
$compile m.ll
begins m.ll "; ModuleID"
$compile m.bc
begins m.bc "BC"
$compile v1.2 --emit llvm
begins v1.2 "; ModuleID"
$compile any.name --emit bc
begins any.name "BC"
"$tfc" dump m.tfg -o m.html
begins m.html "<!DOCTYPE html>"
"$tfc" dump m.tfg -o m.dot
begins m.dot "digraph"
"$tfc" dump m.tfg -o m.txt
grep -q matmul m.txt || grep -q dot m.txt || fail "the text is none: $(cat m.txt)"
}
# The params of a model: something to export.
printf '\100\0\0\0\0\0\0\0%-64s' '{"w":{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]}}' >w.safetensors
head -c 64 /dev/zero >>w.safetensors
"$tfc" export m.tfg --weights w.safetensors -o m.onnx
"$tfc" export m.tfg --weights w.safetensors -o m.safetensors
strings m.onnx 2>/dev/null | grep -q MatMul || grep -qa MatMul m.onnx || fail "m.onnx is no ONNX"
grep -qa '"format":"pt"' m.safetensors || fail "m.safetensors is none"
