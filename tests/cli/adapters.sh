#!/bin/sh
# Low-rank adapters: `use lora` begins as the base, trains alone, is saved alone, and merged
# gives the base's tensors with the adapted model's answers.
# Usage: adapters.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

model() { # model NAME [LINE…]
    name=$1
    shift
    cat >"$name.tfg" <<END
model $name
use transformer
$(printf '%s\n' "$@")
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
const p_drop = 0
train {
  rate  = inverse_sqrt(peak = 0.02, warmup = 10)
  batch = tokens(400)
}
weights {
  encoder.layer.*.self.query.weight = transpose("layers.*.q.weight") * 0.5
}
END
}
model base
model adapted 'use lora' 'const lora_rank = 3, lora_alpha = 6'
words_backwards
text="--source train.src --target train.tgt"
scores() { "$tfc" score "$@" $text >scores.txt 2>err.txt || fail "$(cat err.txt)"; }
# Log-probabilities agree within the rounding of f32.
agree() {
    paste "$1" "$2" | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-4) { print; bad = 1 } } END { exit bad }' ||
        fail "$3"
}

"$tfc" train base.tfg $text --vocab words:auto --steps 20 --seed 1 --out base 2>err.txt || fail "$(cat err.txt)"
vocab=$(ls base/vocab.*)
scores base
mv scores.txt base.scores
base="--vocab $vocab --set vocab=$(sed -n 's/.*vocab=\([0-9]*\).*/\1/p' base/run.json | head -n 1)"
tune() { # tune RUN STEPS MODEL…: reports every step
    run=$1 steps=$2
    shift 2
    "$tfc" train "$@" $text --weights base --vocab "$vocab" --steps "$steps" --seed 2 \
        --report-every 1 --out "$run" 2>err.txt || fail "$(cat err.txt)"
    sed -n 's/.*"loss": \([0-9.]*\).*/\1/p' "$run/log.jsonl" | head -n 1 >"$run.loss"
}
tune plain 1 base.tfg
tune run 30 adapted.tfg --new '**.lora_*' --only '**.lora_*'
agree plain.loss run.loss "the adapted model does not begin as the base"
scores run
mv scores.txt run.scores
paste base.scores run.scores | awk '{ if ($2 > $1) better++ } END { exit !(better > NR / 2) }' ||
    fail "the adapters learned nothing"

# Nothing but adapters has changed.
"$tfc" export run --only '**.lora_*' -o adapters.safetensors
"$tfc" info adapters.safetensors >info.txt
grep -q 'decoder.layer.0.feed_forward.inner.lora_b *f32\[3, 32\]' info.txt || fail "$(cat info.txt)"
! grep -v '^ *format' info.txt | grep 'f32' | grep -v lora_ || fail "more than adapters was written"
scores adapted.tfg $base --weights base,adapters.safetensors
cmp -s scores.txt run.scores || fail "base and adapters do not answer as the run does"

# Merged: the base's names and layout, the run's answers.
"$tfc" export run --merge -o merged.safetensors
"$tfc" export base -o plain.safetensors
"$tfc" info merged.safetensors >merged.txt
"$tfc" info plain.safetensors >plain.txt
grep 'f32\[' merged.txt >merged.names
grep 'f32\[' plain.txt | cmp -s - merged.names || fail "merged it has other tensors than the base"
scores base.tfg $base --weights merged.safetensors
agree run.scores scores.txt "merged it answers otherwise"
! cmp -s merged.safetensors plain.safetensors || fail "nothing was merged"

refuses 1 "base/model.tfg: there is nothing to merge" "$tfc" export base --merge -o no.safetensors
[ ! -e no.safetensors ] || fail "a file was written"
refuses 1 'only .*lora_c meets no param of the model' "$tfc" export run --only '**.lora_c' -o no.safetensors
refuses 1 "only enc meets no param of the model; did you mean 'encoder'?" "$tfc" train base $text --out no --only enc
refuses 1 "begins at a name's first part: did you mean '\*\*.lora_\*'" "$tfc" export run --only 'lora_*' -o no.safetensors
refuses 1 "cannot read none.safetensors" "$tfc" score adapted.tfg $base --weights base,none.safetensors $text
cat >wrong.tfg <<'END'
model wrong
dim B, T
input x : f32[B, 4]
param w : [4, 4] = zeros
param u : [4, 2] = zeros
merge w = w @ u
merge x = x
output y = x @ w @ u
END
refuses 1 "\`w\` is f32\[4, 4\], what it is merged into f32\[4, 2\]" "$tfc" info wrong.tfg
grep -q "\`x\` is not a param: only params are merged" err.txt || fail "$(cat err.txt)"
echo "adapters: as the base, alone, merged"
