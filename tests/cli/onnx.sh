#!/bin/sh
# Exported ONNX models in ONNX Runtime: logits of forward, and of encode and decode_step token by
# token, are those of tfc run within 1e-4, on ragged batches whose padding holds anything.
# Usage: onnx.sh TFC   (from the project's root)
# shellcheck disable=SC2086  # a model with its options is a list of words
set -eu
. tests/common.sh

# What ONNX cannot hold is said, with or without a runtime.
refuses 2 "export: --function is for --format onnx" \
    "$tfc" export models/gpt.tfg -o "$work/a.safetensors" --function encode
refuses 2 "leave --merge and --only out" "$tfc" export models/gpt.tfg -o "$work/a.onnx" --format onnx --merge
[ ! -e "$work/a.onnx" ] || fail "a refused export left a file"

if ! command -v node >/dev/null || [ ! -e build/npm/node_modules/onnxruntime-node ]; then
    echo "skipped: no onnxruntime-node in build/npm (scripts/setup --tests)"
    exit 77
fi

ort() { node tests/cli/onnx.mjs "$@" 2>"$work/err.txt" || fail "$name: $(cat "$work/err.txt")"; }

# Each op alone (ops.txt), but for blocks with params of their own, and what else goes along ragged
# dimensions and batches: outputs of one model.
name=ops
{
    cat <<'END'
model ops
dim B, S, C = 1 + S, P = (S + 1) / 2
input tokens : token[B, S~]
const vocab = 9
param table : [vocab, 6]
param v : [6]
param w : [6, 6]
param e : [3, 6, 6]
x = table[tokens]
row = reshape(x, [B, S, 1, 6])
END
    {
        grep -vE '^(layer_norm|rms_norm|batch_norm|relative) ' tests/cli/ops.txt
        cat <<'END'
batch_sum      sum(x * v, 0)
batch_max      max(x * v, 0)
along_softmax  softmax(x * v, 1)
along_log      logsumexp(x * v, 1)
of_integers    float(max(tokens, 1)) * mean(v)
outside        w[tokens * 2 - 3] * v
one_before     lookup(x, S, position(S) - 1) * v
backwards      flip(x, 1) * v
last_rows      last(x, S) * v
three_rows     lookup(x, S, position(3)) * v
by_matrix      row @ e[tokens * 2 - 3]
by_transposed  row @ transpose(e[4 - tokens])
by_several     reshape(x, [B, S, 1, 1, 6]) @ e[top_k(x * v, 2)]
by_token       lookup(x, S, tokens) * v
joined         concat([reshape(v, [1, 1, 6]), x], 1)
every_second   lookup(x, S, 2 * position(P))
places         float(top_k(x * v, 4))
first_place    float(argmax(x * v))
inner_part     slice(concat([x, reshape(v, [1, 1, 6])], 1), 1, 1, S)
outer          reshape(x, [B, S, 1, 6]) * reshape(x, [B, 1, S, 6])
END
    } | sed 's/^\([^ ]*\) *\(.*\)/output o_\1 = \2/'
} >"$work/ops.tfg"
model="$work/ops.tfg --weights $work/ops.params"
ort params "$work/ops.params" table=9,6 v=6 w=6,6 e=3,6,6
cat >"$work/ctc.tfg" <<'END'
model ctc
dim B, T, L
input tokens : token[B, T~]
input labels : token[B, L~]
const vocab = 9
param table : [vocab, 6]
output o = ctc(log_softmax(table[tokens]), labels)
END
refuses 1 "ctc.tfg:7:.*ONNX has nothing for the op 'ctc'" \
    "$tfc" export "$work/ctc.tfg" --weights "$work/ops.params" --format onnx -o "$work/ctc.onnx"
"$tfc" export $model --format onnx -o "$work/ops.onnx"
ort inputs "$work/ops.onnx" "$work/ops.in" 6
"$tfc" run $model --in "$work/ops.in" --out "$work/ops.out"
ort forward "$work/ops.onnx" "$work/ops.in" "$work/ops.out"

# export_as FUNCTION FILE: of the model and its weights
export_as() { "$tfc" export $model --format onnx --function "$1" -o "$2" || fail "$name: no $1"; }

# compare FUNCTION: its outputs, on a batch of its inputs
compare() {
    export_as "$1" "$at.onnx"
    ort inputs "$at.onnx" "$at.in" 40
    "$tfc" run $model --in "$at.in" --out "$at.out" 2>"$work/err.txt" || fail "$name: $(cat "$work/err.txt")"
    ort forward "$at.onnx" "$at.in" "$at.out"
}

# check NAME MODEL FUNCTION …: of these functions; the model with its weights and settings
check() {
    name=$1 model=$2 at=$work/$1 encoder=-
    shift 2
    for function; do
        case $function in
        encode) encoder=$at.encode.onnx && export_as encode "$encoder" ;;
        decode_step)
            export_as decode_step "$at.step.onnx"
            ort steps "$encoder" "$at.step.onnx" "$at.in" "$at.out"
            ;;
        *) compare "$function" ;;
        esac
    done
}

fixture() {
    name=$1
    shift
    check "$name" "tests/fixtures/${name}_published.tfg --weights tests/fixtures/${name}_published.safetensors" "$@"
}
fixture gpt2 loss forward decode_step
fixture llama forward decode_step
fixture bert forward
fixture bart forward encode decode_step
fixture marian loss forward encode decode_step
fixture t5 forward encode decode_step
check transformer "models/transformer_base.tfg --weights tests/fixtures/transformer_small.safetensors \
    --set vocab=50 --set d_model=16 --set d_ff=32 --set heads=2 --set layers=2" forward encode decode_step
small="--set vocab=50 --set d_model=16 --set layers=2"
check canon "tests/models/canon.tfg --weights tests/fixtures/canon_small.safetensors $small --set d_ff=32 \
    --set heads=4" forward decode_step
check mixtral "models/mixtral.tfg --weights tests/fixtures/mixtral_small.safetensors $small --set d_ff=24 --set heads=4 \
    --set kv_heads=2 --set experts=4 --set rotary_halved=false" forward decode_step
check convs2s "tests/models/convs2s.tfg --weights tests/fixtures/convs2s_small.safetensors $small" \
    forward encode decode_step
