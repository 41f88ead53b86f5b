#!/bin/sh
# What a training tells while it runs: a line at least every ten seconds; a warm-up that will
# not end, by steps or by the speed measured; steps that nobody asked for.
# Usage: train_progress.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model progress
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
train { rate = noam(d_model, warmup = 100000); batch = tokens(400) }
END
words_backwards
train() {
    out=$1
    shift
    "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --out "$out" "$@" 2>"$out.err"
}

# Nobody says when to end, and no report is due: the end is told, and a line comes by time.
train long --report-every 1000000 --save-every 0 &
pid=$!
for _ in $(seq 300); do
    ! grep -q "^step" long.err || break
    sleep 0.1
done
kill -TERM "$(cat long/lock)"
wait $pid || [ $? = 3 ] || fail "$(cat long.err)"
grep -q "neither --steps nor --minutes say when to end: after 100000 steps" long.err || fail "$(cat long.err)"
seconds=$(sed -n 's/^step .*  0:\([0-9]*\)  .*/\1/p' long.err | head -n 1)
[ "$seconds" -ge 9 ] && [ "$seconds" -le 12 ] || fail "a line after $seconds seconds: $(cat long.err)"

# Steps tell before the start; minutes after some steps.
train few --steps 5 || fail "$(cat few.err)"
grep -q "the warm-up of 100000 steps does not end within the 5 steps" few.err || fail "$(cat few.err)"
train minute --minutes 0.03 || fail "$(cat minute.err)"
grep -q "the warm-up of 100000 steps would not end within the time of --minutes: it ends at step [0-9]* now" minute.err ||
    fail "$(cat minute.err)"
sed 's/warmup = 100000/warmup = 2/' model.tfg >short.tfg
mv short.tfg model.tfg
train short --minutes 0.03 || fail "$(cat short.err)"
! grep -q "warm-up\|neither" short.err || fail "told without need: $(cat short.err)"

# Many seconds a step: the steps that nobody asked for take days.
sed 's/tokens(400)/tokens(4000)/; s/d_model = 16, d_ff = 32/d_model = 128, d_ff = 512/' model.tfg >slow.tfg
mv slow.tfg model.tfg
train slow &
pid=$!
for _ in $(seq 150); do
    ! grep -q "steps take" slow.err || break
    sleep 0.1
done
kill -TERM "$(cat slow/lock)"
wait $pid || [ $? = 3 ] || fail "$(cat slow.err)"
grep -q "100000 steps take [0-9]*:[0-9:]*; --steps and --minutes say when to end" slow.err || fail "$(cat slow.err)"
echo "all is well"
