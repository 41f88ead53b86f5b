#!/bin/sh
# A call that fails, or a kill, in each command that writes: allocations and calls on files of tfc's own code fail in turn
# (fail_calls.c), at places chosen by $SEED, and the process is killed at such places and at random moments.
# A row of faults_commands.py says how each command is called and what it writes; a command or a format without a row fails
# the test.
# Usage: [FAULTS=12 KILLS=24 SEED=1] faults_kills.sh TFC [ROW]   (from the project's root; of each row; ROW: of that alone)
set -eu
. tests/common.sh
enter_work
export PYTHONDONTWRITEBYTECODE=1 TFC_SHORT="$short"
if [ -n "$short" ]; then : "${FAULTS:=1}" "${KILLS:=1}"; fi
"${CC%% *}" -shared -fPIC -O1 -o fail_calls.so "$root/tests/cli/fail_calls.c"

mkdir in
cd in
backwards_model | sed 's/d_model = 32, d_ff = 1100, heads = 2/d_model = 8, d_ff = 8, heads = 1/' >m.tfg
words_backwards
head -n 40 train.src >t.src
head -n 40 train.tgt >t.tgt
"$tfc" train m.tfg --source t.src --target t.tgt --vocab words:auto --steps 4 --out run 2>err.txt || fail "$(cat err.txt)"
. "$root/tests/published.sh"
published_marian published
"$tfc" import published -o imported 2>err.txt || fail "$(cat err.txt)"
paste train.src train.tgt >pairs.tsv
# A model that predicts, and its table.
cat >classes.tfg <<'END'
model classes
const vocab = 16, classes = 2, d = 8
dim B, S
input text : token[B, S~] = column("text")
input kind : int[B] = column("kind")
vocab kind = words
param embedding : [vocab, d] = normal(0, 1)
logits = linear as head(reshape(mean(embedding[text], 1), [B, d]), classes)
loss = cross_entropy(logits, kind)
predict class = softmax(logits)
train { rate = constant(0.1); batch = tokens(300); max_length = 12; optimizer = adam(0.9, 0.98) }
END
awk 'BEGIN { print "text\tkind" } { print $0 "\t" (NF < 4 ? "short" : "long") }' t.src >table.tsv
"$tfc" train classes.tfg --data table.tsv --vocab words:auto --steps 4 --out classes 2>err.txt || fail "$(cat err.txt)"
# What only rows of the long form read.
if [ -z "$short" ] || [ -n "${2:-}" ]; then
    "$tfc" train "$root/models/gpt.tfg" --text t.src --vocab chars:auto --steps 2 --batch-tokens 256 --set layers=1 --set d_model=16 \
        --set heads=2 --set context=16 --out speak 2>err.txt || fail "$(cat err.txt)"
    formats=$root/tests/fixtures/formats
    cp "$formats/arrays.safetensors" "$formats/llama.gguf" .
    "$tfc" import llama.gguf -o llama 2>err.txt || fail "$(cat err.txt)"
    printf 'model line\nparam w : [2, 3, 4] = zeros\ndim B\ninput x : f32[B, 4]\noutput y = x @ transpose(w[0])\nweights { w = "cube" }\n' >line.tfg
    python3 - <<'END'
import struct
head = b'{"x": {"dtype": "F32", "shape": [1, 4], "data_offsets": [0, 16]}}'.ljust(66)
open("x.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + struct.pack("<4f", 1, 2, 3, 4))
END
    cp "$root/tests/golden/passes/expand.tir" pass.tir
    "$tfc" export imported -o params.onnx --format onnx 2>err.txt || fail "$(cat err.txt)"
    python3 "$root/tests/cli/faults_inputs.py" published || fail "no files of PyTorch and NumPy"
    cp -r published padded # in which the row of <pad> becomes zeros
    python3 "$root/tests/cli/npz.py" make padded marian || fail "no folder of Marian"
    python=$(python_with_numpy)
    [ -z "$python" ] || "$python" "$root/tests/cli/ctranslate2.py" make padded ct2 float32 || fail "no folder of CTranslate2"
fi
cd ..
python3 "$root/tests/cli/faults_kills.py" "$tfc" "$root" "$work/fail_calls.so" "${FAULTS:-12}" "${KILLS:-24}" "${SEED:-1}" ${2:+"$2"} ||
    fail "see above"
echo "all is well"
