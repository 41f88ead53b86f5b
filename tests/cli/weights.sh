#!/bin/sh
# Weights from elsewhere: a model's file with --weights and --vocab answers as a run does,
# export gives the foreign names back, train begins from weights, with params that are new and
# params that are frozen, and from a run.
# Usage: weights.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_with 0 >model.tfg <<'END'
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = inverse_sqrt(peak = 0.02, warmup = 10)
  batch     = tokens(400)
}
weights {
  embedding = tied(["model.shared.weight", "lm_head.weight"])
  encoder.layer.*.self.query.weight = transpose(slice("model.encoder.layers.*.qkv.weight", 0, 0, d_model))
  encoder.layer.*.self.key.weight   = transpose(slice("model.encoder.layers.*.qkv.weight", 0, d_model, d_model))
  encoder.layer.*.self.value.weight = transpose(slice("model.encoder.layers.*.qkv.weight", 0, 2 * d_model, d_model))
  encoder.layer.*.feed_forward.inner.weight = "model.encoder.layers.*.fc1" * 0.5
  encoder.layer.*.feed_forward.outer.weight = concat(["model.encoder.layers.*.fc2.upper", "model.encoder.layers.*.fc2.lower"])
}
END
words_backwards
text="--source train.src --target train.tgt"
"$tfc" train model.tfg $text --vocab words:auto --out run --steps 40 --report-every 1 --seed 3 2>err || fail "$(cat err)"

# There and back: the same params under other names and layouts.
"$tfc" export run -o theirs.safetensors 2>err || fail "$(cat err)"
"$tfc" info theirs.safetensors >info.txt
for word in 'model.shared.weight' 'model.encoder.layers.0.qkv.weight .*\[48, 16\]' 'layers.0.fc2.upper .*\[16, 16\]' \
    'decoder.layer.0.cross.key.weight'; do
    grep -q "$word" info.txt || fail "no $word in: $(cat info.txt)"
done
if grep -q 'embedding\|lm_head\|adam' info.txt; then fail "export wrote too much: $(cat info.txt)"; fi
model="model.tfg --weights theirs.safetensors --vocab run/vocab.txt"
head -n 20 valid.src >some.src
head -n 20 valid.tgt >some.tgt
"$tfc" translate run --input some.src >a.txt
"$tfc" translate $model --input some.src >b.txt 2>err || fail "$(cat err)"
cmp a.txt b.txt || fail "a model with weights translates otherwise than its run"
"$tfc" score run --source some.src --target some.tgt >a.txt
"$tfc" score $model --source some.src --target some.tgt >b.txt
cmp a.txt b.txt || fail "score differs"
"$tfc" eval run --source some.src --target some.tgt --json >a.txt
"$tfc" eval $model --source some.src --target some.tgt --json >b.txt
cmp a.txt b.txt || fail "eval differs"
vocab=$(grep -o 'vocab=[0-9]*' run/run.json)
"$tfc" export model.tfg --set "$vocab" --weights theirs.safetensors -o again.safetensors 2>err || fail "$(cat err)"
cmp theirs.safetensors again.safetensors || fail "exported again it is another file"

# What is wrong is said.
refuses 2 "format is 'ggml'; expected safetensors" "$tfc" export run -o a.gguf --format ggml
refuses 1 "run has no config.json of a published model: --format gguf is for what tfc import made" \
    "$tfc" export run -o a.gguf
[ ! -e a.onnx ] || fail "a format that there is not was written"
refuses 1 "model.tfg is a model that is not trained: --weights FILE gives its params and --vocab" \
    "$tfc" translate model.tfg --input some.src
refuses 1 "run has a vocabulary of its own: leave --vocab out" "$tfc" translate run --vocab run/vocab.txt
refuses 1 "run has the settings that it was trained with" "$tfc" score run --set layers=2
refuses 1 "both name the params" "$tfc" translate run --input some.src --weights theirs.safetensors \
    --checkpoint last.safetensors
refuses 1 "set vocab=9, but the vocabulary has" "$tfc" translate $model --set vocab=9
sed 's/fc2.upper/fc2.uper/; s/"model.shared.weight", //' model.tfg >other.tfg
refuses 1 "2 of the model's tensors are missing:" \
    "$tfc" translate other.tfg --weights theirs.safetensors --vocab run/vocab.txt --input some.src
grep -q "'model.encoder.layers.0.fc2.uper' (for the param 'encoder.layer.0.feed_forward.outer.weight'); did you mean 'model.encoder.layers.0.fc2.upper'?" err.txt ||
    fail "no nearest name: $(cat err.txt)"
refuses 1 "are missing:" "$tfc" translate model.tfg --set layers=2 --weights theirs.safetensors --vocab run/vocab.txt --input some.src

# The square param w is published under its own name, transposed: an ONNX model has it as it is.
cat >square.tfg <<'END'
model square
input x : float[4, 3]
param w : [3, 3] = normal(0, 1)
output y = x @ w
weights { w = transpose("w") }
END
python3 - <<'END'
import json, struct
head = json.dumps({"w": {"dtype": "F32", "shape": [3, 3], "data_offsets": [0, 36]}}).encode()
head += b" " * (-len(head) % 8)
open("w.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + struct.pack("<9f", *range(9)))
END
"$tfc" export square.tfg --weights w.safetensors -o square.onnx
for file in w.safetensors square.onnx; do
    "$tfc" export square.tfg --weights $file -o square.safetensors
    tail -c 36 square.safetensors >square.bin
    tail -c 36 w.safetensors | cmp - square.bin || fail "from $file comes another w"
done

# A training begins from weights, here with the loss that the other one ended with.
loss() { sed -n 's/.*"loss": \([0-9.]*\).*/\1/p' "$1/log.jsonl" | "$2" -n 1; }
tune() {
    out=$1
    shift
    "$tfc" train "$@" $text --out "$out" --steps 20 --report-every 1 --seed 4 2>"$out.err" || fail "$(cat "$out.err")"
}
tune tuned model.tfg --weights theirs.safetensors --vocab run/vocab.txt
tune other_way run
same_tensors tuned/last.safetensors other_way/last.safetensors "from a run is not as from its weights"
awk -v first="$(loss tuned head)" -v begin="$(loss run head)" -v end="$(loss run tail)" \
    'BEGIN { exit !(first < end + (begin - end) / 4) }' ||
    fail "from weights the loss begins at $(loss tuned head), after $(loss run head) to $(loss run tail)"
tune frozen run --freeze encoder --freeze embedding
grep -q '"--freeze"' frozen/run.json || fail "run.json does not tell what was frozen: $(cat frozen/run.json)"
(cd frozen && "$tfc" train --resume --out . --steps 22 2>err) || fail "$(cat frozen/err)"
refuses 1 "freeze: it was encoder embedding and is now decoder.layer" "$tfc" train --resume --out frozen --steps 24 --freeze decoder.layer.*.self
refuses 1 "freeze encodr meets no param of the model; did you mean" "$tfc" train run $text --out no --freeze encodr
refuses 2 "goes on from its own checkpoint: leave --weights out" \
    "$tfc" train --resume --out tuned --weights run --steps 24

# Params that the weights do not have are told of, or are new.
refuses 1 "of the model's tensors are missing" "$tfc" train model.tfg --set layers=2 $text \
    --weights theirs.safetensors --vocab run/vocab.txt --out deeper
tune deeper model.tfg --set layers=2 --weights theirs.safetensors --vocab run/vocab.txt \
    --new encoder.layer.1 --new decoder.layer.1
echo "weights: there and back, begun from, frozen"
