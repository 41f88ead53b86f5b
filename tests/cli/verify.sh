#!/bin/sh
# tfc train --verify: repeats a run, from the start and after a checkpoint, leaves it as it was, and names the first step
# and param that differ.
# Usage: verify.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export TMPDIR="$work/temporary"
mkdir "$TMPDIR"
backwards_with 0.1 >model.tfg <<'END'
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = cosine(peak = 0.01, warmup = 2, final = 0.001)
  batch     = tokens(400)
}
END
words_backwards
"$tfc" train model.tfg --source train.src --target train.tgt --valid-source valid.src --valid-target valid.tgt \
    --vocab auto:20 --seed 3 --gemm native --steps 9 --save-every 2 --keep 3 --validate-every 5 --no-bleu \
    -o run --hashes all.jsonl 2>err.txt || fail "$(cat err.txt)"
mv model.tfg away.tfg
state() { find run -type f -exec cksum {} + | sort; }
state >before.txt
no_trace() {
    [ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
    state | cmp - before.txt || fail "the run was changed"
}
verify() { "$tfc" train --verify run "$@" 2>err.txt || fail "$*: $(cat err.txt)"; }
repeats() { # repeats LINE …: the options give this line
    line=$1
    shift
    verify "$@" >out.txt
    [ "$(cat out.txt)" = "$line" ] || fail "$*: $(cat out.txt)"
}
params=$("$tfc" info run --json | grep -o '"xxh64"' | wc -l)

# Everything the same.
same="repeated, the same bits: $params params of"
repeats "run: steps 1 to 9 $same 3 checkpoints, 9 lines of all.jsonl" --hashes all.jsonl
repeats "run: steps 7 to 9 $same 2 checkpoints" --weights run/step-6.safetensors --threads 1
repeats "run: steps 1 to 9 $same 3 checkpoints" -o again
[ "$("$tfc" info again --hash --checkpoint last)" = "$("$tfc" info run --hash --checkpoint last)" ] || fail "-o: another run"
cmp run/best.safetensors again/best.safetensors || fail "-o: another best checkpoint"
no_trace

# The first step and param that differ: of lines, of checkpoints.
sed '4s/"params": {"\([^"]*\)": "./&x/' all.jsonl >param.jsonl
first=$(sed -n '4s/.*"params": {"\([^"]*\)".*/\1/p' all.jsonl)
refuses 1 "error: step 4: param '$first' is not that of param.jsonl; what was compared up to step 3 is the same" \
    "$tfc" train --verify run --hashes param.jsonl
sed '2s/"gradients": {"\([^"]*\)": "./&x/; 7s/"loss": "./&x/' all.jsonl >gradient.jsonl
refuses 1 "error: step 2: the gradient of '.*' is not that of gradient.jsonl; what was compared up to step 1" \
    "$tfc" train --verify run --hashes gradient.jsonl
refuses 1 "error: step 7: the loss is not that of gradient.jsonl, the first that was compared" \
    "$tfc" train --verify run --hashes gradient.jsonl --weights run/step-6.safetensors
grep -q "note: the run was computed by tfc [0-9.]*, commit .* on .*; its bits are " err.txt || fail "$(cat err.txt)"
cp -r run other
cp run/step-6.safetensors other/step-8.safetensors
refuses 1 "error: step 8: param '.*' (and [0-9]* of the other [0-9]*) is not that of other/step-8.safetensors; what was compared up to step 6 " \
    "$tfc" train --verify other
sed 's/a/b/' train.src >other.src
refuses 1 "error: --source .*: it was .*1100 lines.* and is now" "$tfc" train --verify run --source other.src
grep -q "note: with this, run would not be repeated" err.txt || fail "$(cat err.txt)"
no_trace

# What cannot be asked for.
last="--weights run/last.safetensors"
# shellcheck disable=SC2086
{
    refuses 1 "run has no checkpoint after step 9 to compare with" "$tfc" train --verify run $last
    refuses 1 "all.jsonl has no line of a step after 9" "$tfc" train --verify run $last --hashes all.jsonl
}
refuses 2 "--verify run repeats that run by its own record: leave away.tfg out" "$tfc" train away.tfg --verify run
refuses 2 "leave --resume out" "$tfc" train --verify run --resume
refuses 2 "run holds a training already" "$tfc" train --verify run -o run
refuses 1 "nowhere is not the folder of a run" "$tfc" train --verify nowhere
"$tfc" train away.tfg --source train.src --target train.tgt --vocab words:auto --minutes 0.02 -o timed 2>err.txt || fail "$(cat err.txt)"
refuses 1 "timed cannot be repeated from step 0: its rate followed the time that its steps took" "$tfc" train --verify timed
"$tfc" train run -o second --source train.src --target train.tgt --gemm native --shards 2 --accumulate 2 --steps 3 --save-every 1 \
    2>err.txt || fail "$(cat err.txt)"
"$tfc" train --verify second >out.txt 2>err.txt || fail "begun from a run: $(cat err.txt)"
grep -qx "second: steps 1 to 3 $same 3 checkpoints" out.txt || fail "begun from a run: $(cat out.txt)"
cp -r run changed
"$tfc" train changed --resume --steps 11 --batch-tokens 300 --allow-change 2>err.txt || fail "$(cat err.txt)"
refuses 1 "changed cannot be repeated from step 0: it went on with changes after step 9 (--allow-change); --weights takes " \
    "$tfc" train --verify changed
no_trace
echo "all is well"
