#!/bin/sh
# A run's folder is a model wherever a model is wanted, with the vocabulary's size and the
# settings that it was trained with; and what is neither is told what it is.
# Usage: model.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
words_backwards
cat >own.tfg <<'END'
model own
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, wide = 1
block activation(x) { return relu(x) * wide }
END
"$tfc" train own.tfg --source train.src --target train.tgt --vocab words:auto --out trained --steps 3 \
    --set d_model=24 --set wide=2 2>log || fail "$(cat log)"
mkdir moved
mv trained moved/run
mv own.tfg elsewhere.tfg
run=moved/run
# The same by hand: the folder's model with everything that the folder knows.
vocab=$("$tfc" info $run | sed -n 's/^vocabulary of \([0-9]*\) tokens.*/\1/p')
[ "$vocab" -gt 8 ] || fail "info: $("$tfc" info $run | tail -n 5)"
sets="--set vocab=$vocab --set d_model=24 --set wide=2"

for options in "--stage graph" "--stage ast" "--stage fused --function forward" "--stage plan" "--report"; do
    "$tfc" dump $run $options >by_run || fail "dump $options"
    # shellcheck disable=SC2086  # lists of words
    TFC_LIBRARY=$run/lib "$tfc" dump $run/model.tfg $options $sets >by_hand
    # the library's folder is named in the report
    cmp by_run by_hand || fail "dump $options: another model"
done
grep -q "f32\[B, T~, $vocab\]" by_run || "$tfc" dump $run | grep -q "f32\[$vocab, 24\]" || fail "dump: no vocabulary"
"$tfc" dump $run --set wide=3 >by_run
cmp -s by_run by_hand && fail "--set is not stronger than the run"

"$tfc" check $run --samples 1 >table || fail "check: $(cat table)"
"$tfc" bench $run --batch 2 --source-length 3 --target-length 3 --steps 1 --warm-up 0 --json >figures || fail "bench"
grep -q '"model": "own"' figures || fail "bench: $(cat figures)"

# The run's weights and its vocabulary are inside.
mkdir by_hand.folder by_run.folder
"$tfc" compile $run -o by_run.folder/own.so || fail "compile"
# shellcheck disable=SC2086
"$tfc" compile $run/model.tfg $sets --weights $run/last.safetensors --vocab $run/vocab.txt -o by_hand.folder/own.so
diff -r by_hand.folder by_run.folder || fail "compile: another library"
"$tfc" compile $run -o by_run
sed -n 7p valid.src >sentence
"$tfc" translate $run --beam 1 --input sentence >answer
./by_run --beam 1 <sentence | cmp - answer ||
    fail "compile: the program says $(./by_run --beam 1 <sentence), translate $(cat answer)"

# tfc run takes the run's weights; a name of one in the folder does, too.
header='{"src":{"dtype":"I32","shape":[1,3],"data_offsets":[0,12]},"tgt":{"dtype":"I32","shape":[1,2],"data_offsets":[12,20]}}'
{
    printf '\200\0\0\0\0\0\0\0%-128s' "$header"
    printf '\004\0\0\0\005\0\0\0\006\0\0\0\002\0\0\0\007\0\0\0'
} >in.safetensors
"$tfc" run $run --in in.safetensors --out by_run.safetensors || fail "run"
"$tfc" run $run --in in.safetensors --out by_name.safetensors --weights last.safetensors || fail "run --weights"
# shellcheck disable=SC2086
"$tfc" run $run/model.tfg $sets --in in.safetensors --out by_hand.safetensors --weights $run/last.safetensors
same_tensors by_run.safetensors by_hand.safetensors "run: other weights"
same_tensors by_name.safetensors by_hand.safetensors "run: other weights by name"

# What is something else is told what it is, and what to do.
"$tfc" dump $run >graph.tir
mkdir folder
for command in dump check "bench" "compile -o x.so" "run --in in.safetensors --out x" info; do
    refuses 1 "graph.tir is IR.*tfc opt graph.tir" "$tfc" $command graph.tir
    [ "$command" = info ] && continue
    refuses 1 "holds tensors.*name the run's folder, $run" "$tfc" $command $run/last.safetensors
    refuses 1 "folder is not the folder of a run" "$tfc" $command folder
done
"$tfc" opt graph.tir --passes simplify >/dev/null || fail "opt"
for command in translate generate "score --source valid.src --target valid.tgt" \
    "eval --source valid.src --target valid.tgt"; do
    refuses 1 "elsewhere.tfg is a model that is not trained: .*tfc train elsewhere.tfg -o RUN" "$tfc" $command elsewhere.tfg
    refuses 1 "is a checkpoint: name the run's folder, $run, and --checkpoint last.safetensors" \
        "$tfc" $command $run/last.safetensors
    refuses 1 "name the folder, $run" "$tfc" $command $run/model.tfg
    refuses 1 "absent is not the folder of a run: there is no such folder" "$tfc" $command absent
    refuses 1 "folder is not the folder of a run: it has no run.json" "$tfc" $command folder
done
echo "all is well"
