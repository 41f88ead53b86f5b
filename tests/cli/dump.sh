#!/bin/sh
# `tfc dump`: every stage of every model; what is printed of a graph parses back to the
# same graph; dot's braces close; the report. Usage: dump.sh TFC   (from the project's root)
set -u
. tests/common.sh
status=0
small="--set layers=1 --set d_model=16 --set heads=2"
fail() { # and goes on
    echo "FAILED: $*"
    status=1
}

# round_trip MODEL ARGUMENTS…: printed, parsed and printed again.
round_trip() {
    "$tfc" dump "$@" >"$work/a.tir" 2>"$work/errors" || { fail "dump $*"; cat "$work/errors"; return; }
    "$tfc" opt "$work/a.tir" >"$work/b.tir" 2>"$work/errors" && cmp -s "$work/a.tir" "$work/b.tir" ||
        { fail "$* does not parse back"; head -5 "$work/errors"; }
}

# Two layers, where a model has layers, show all that more of them would.
passes=$("$tfc" opt --list | sed '/^$/,$d' | cut -d' ' -f1)
set -- models/*.tfg
[ -z "$short" ] || set -- models/multi30k_tiny.tfg
for model in "$@"; do
    few="--set layers=2"
    "$tfc" dump "$model" $few >/dev/null 2>&1 || few=
    for stage in tokens ast plan llvm asm; do
        "$tfc" dump "$model" $few --stage $stage >"$work/out" 2>&1 && test -s "$work/out" || fail "$model --stage $stage"
    done
    for stage in graph grad fused; do
        round_trip "$model" $few --stage $stage
    done
    case $model in */multi30k_tiny.tfg | */llama.tfg | */bert.tfg | */restricted.tfg) ;; *) continue ;; esac
    for pass in $passes; do # of each kind one
        round_trip "$model" $few --after "$pass"
    done
done

# A vocabulary's logits go by chunks of rows, and do not where that is left out.
wide="models/multi30k_tiny.tfg $small --set vocab=5000 --function train_step --stage plan"
"$tfc" dump $wide | grep -q 'for each 1024 of ΣT' || fail "logits are stored for all rows"
"$tfc" dump $wide --passes -chunk_rows | grep -q 'for each' && fail "--passes -chunk_rows changes nothing"

# Attention of one head is fused as that of several is: no scores are stored.
for heads in 1 2; do
    "$tfc" dump models/multi30k_tiny.tfg --set layers=1 --set d_model=16 --set heads=$heads --function train_step --stage fused |
        grep -o ' = attention(.*' | sed 's/%[0-9]*/%/g; s/ : .*//' >"$work/heads.$heads"
done
test -s "$work/heads.1" && diff "$work/heads.2" "$work/heads.1" || fail "attention of one head is not fused"

# Kernels for a device are OpenCL C; what there is none for is named.
cl="models/multi30k_tiny.tfg $small --stage opencl"
"$tfc" dump $cl --function train_step >"$work/out" 2>"$work/errors" || fail "OpenCL: $(head -1 "$work/errors")"
sed -n '/^kernel void product_f32(/,/^}/p' "$work/out" >"$work/product"
want=tests/golden/codegen/product.cl
[ -z "${TFC_UPDATE:-}" ] || cp "$work/product" $want
diff $want "$work/product" || fail "another product in OpenCL C (TFC_UPDATE=1 writes $want)"
"$tfc" dump $cl --function forward --passes= >/dev/null 2>"$work/errors" && fail "OpenCL with attention"
grep -q 'attention has no kernel for an OpenCL device yet; --passes=-fuse_attention' "$work/errors" ||
    fail "OpenCL with attention: $(head -1 "$work/errors")"

# The model of the tests below: small, with everything.
model=models/multi30k_tiny.tfg
for stage in graph grad fused plan; do
    "$tfc" dump $model $small --stage $stage --format dot >"$work/out" || fail "dot of $stage"
    test "$(grep -c '{$' "$work/out")" = "$(grep -c '^ *}$' "$work/out")" || fail "braces in dot of $stage"
    if command -v nop >/dev/null; then # Graphviz reads it: to lay out a training step takes minutes
        nop -p "$work/out" 2>"$work/errors" || fail "Graphviz refuses $stage: $(head -1 "$work/errors")"
    fi
done
if command -v dot >/dev/null; then
    for drawn in models/gpt.tfg models/bert.tfg models/llama.tfg $model; do
        for stage in graph fused plan; do
            "$tfc" dump $drawn --set layers=1 --function forward --stage $stage --format dot >"$work/out"
            dot -Tsvg "$work/out" >"$work/svg" 2>"$work/errors" && grep -q '</svg>' "$work/svg" &&
                ! test -s "$work/errors" || fail "dot -Tsvg of $drawn, $stage: $(head -1 "$work/errors")"
        done
    done
else
    echo "no dot: nothing was drawn"
fi
"$tfc" dump $model $small --stage llvm --format dot >/dev/null 2>&1 && fail "LLVM IR as dot is accepted"

# -o writes what would be printed, whatever it is, and nothing where there are errors.
for what in "--stage tokens" "--stage ast" "--stage graph" "--stage fused --format dot" "--stage plan" \
    "--stage llvm" "--stage asm" "--after simplify" "--report" "--format html"; do
    "$tfc" dump $model $small $what >"$work/printed" || fail "dump $what"
    "$tfc" dump $model $small $what -o "$work/written" >"$work/out" || fail "dump $what -o"
    test -s "$work/out" && fail "dump $what -o prints"
    cmp -s "$work/printed" "$work/written" || fail "dump $what -o writes something else"
done
"$tfc" dump $model --set heads=3 -o "$work/written" 2>/dev/null && fail "three heads are accepted"
cmp -s "$work/printed" "$work/written" || fail "a failed dump -o writes"
"$tfc" dump $model $small -o "$work/absent/out" 2>"$work/errors" && fail "dump -o into no folder"
grep -q "cannot write .*absent/out" "$work/errors" || fail "dump -o into no folder: $(cat "$work/errors")"

# What models say of their data stays in the text of every stage; training computes no prediction that the loss does
# not read.
for columns in tests/fixtures/columns/*.tfg; do
    for stage in graph grad fused; do
        round_trip "$columns" --stage $stage
    done
done
for columns in tagger speech_ctc vit classifier; do
    said=tests/fixtures/columns/$columns.tfg
    sed '/^predict/d; s/^logits = /output &/' $said >"$work/plain.tfg"
    "$tfc" dump $said --function forward --stage graph | grep -q 'output .*, predict = "classes"}' || fail "$columns predicts nothing"
    "$tfc" dump $said --function train_step --stage grad >"$work/a.tir"
    "$tfc" dump "$work/plain.tfg" --function train_step --stage grad >"$work/b.tir"
    test -s "$work/a.tir" && cmp -s "$work/a.tir" "$work/b.tir" || fail "$columns is trained otherwise where it predicts"
done
"$tfc" info tests/fixtures/columns/tagger.tfg >"$work/out" || fail "info"
for line in 'src .*i32\[B, S~\]  column words  vocab auto$' 'tgt .*i32\[B, S~\]  column tags  vocab words:tags.txt$' \
    'tag .*f32\[B, S~, 20\]  predict classes$'; do
    grep -q "put  *$line" "$work/out" || fail "info has no $line"
done

"$tfc" dump $model $small --report --dim B=4 >"$work/out" || fail "report"
for line in '^train_step at B = 4, S = 32' '^  .*: products: 3 share an operand' '^near misses' \
    '^  .*: not fused: .*: ' '^kernels and products: ' '^slab: .* live at the peak, step '; do
    grep -q "$line" "$work/out" || fail "the report has no $line"
done
"$tfc" dump $model $small --report --dim Z=4 >/dev/null 2>"$work/errors" && fail "--dim Z=4 is accepted"
grep -q "no such dimension" "$work/errors" || fail "no word on dimension Z"
exit $status
