#!/bin/sh
# A training that time ends: its warm-up fits, its rate ends with it, and resuming goes on with what is left of it.
# Usage: train_time.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

words_backwards
model() { # model RATE
    echo "model timed"
    echo "use transformer"
    echo "const layers = 1, d_model = 16, d_ff = 16, heads = 1, vocab = 8"
    echo "train { rate = $1; batch = tokens(200); max_length = 20 }"
}
rates() { grep -o '"rate": [^,]*' | cut -d " " -f 2; }
train() {
    out=$1
    shift
    "$tfc" train "$out.tfg" --source train.src --target train.tgt --vocab words:auto --out "$out" --threads 1 --report-every 1 "$@" \
        2>"$out.err"
}

# A warm-up of 100,000 steps is told before the first step, and ends with the peak it was to have: 16^-0.5 * 1e5^-0.5.
model "noam(d_model, warmup = 100000)" >long.tfg
train long --minutes 0.015 || fail "$(cat long.err)"
note=$(grep -n "the warm-up has 100000 steps; if it does not end within the time of --minutes, it becomes one of 10 %" long.err | cut -d: -f1)
first=$(grep -n "^step" long.err | head -n 1 | cut -d: -f1)
[ -n "$note" ] && [ "$note" -lt "$first" ] || fail "told before the first step: $(head long.err)"
grep -q "the warm-up of 100000 steps would not end within the time of --minutes: it ends at step [0-9]* now" long.err || fail "$(cat long.err)"
rates <long/log.jsonl | awk '$1 > most { most = $1 } END { exit !(most > 0.00070 && most < 0.00080) }' ||
    fail "the peak: $(rates <long/log.jsonl | sort -g | tail -n 1)"

# Interrupted, then resumed: the rate ends with the time that was left.
model "cosine(peak = 0.01, final = 0.0001)" >falls.tfg
train falls --minutes 0.04 &
pid=$!
for _ in $(seq 100); do
    [ ! -s falls/log.jsonl ] || [ "$(wc -l <falls/log.jsonl)" -lt 100 ] || break
    sleep 0.05
done
kill -INT "$(cat falls/lock)"
wait $pid || [ $? = 3 ] || fail "$(cat falls.err)"
"$tfc" train falls --resume 2>err || fail "$(cat err)"
number seconds <falls/log.jsonl | tail -n 1 | awk '{ exit !($1 > 2 && $1 < 3.2) }' || fail "seconds: $(tail -n 1 falls/log.jsonl)"
rates <falls/log.jsonl | awk '$1 <= 0.000101 { low++ } END { exit !(low < NR / 10 && $1 < 0.001) }' ||
    fail "the rate ends before the time or after it: $(tail -n 1 falls/log.jsonl)"
"$tfc" train falls --resume 2>err || fail "$(cat err)"
grep -q "nothing is left to do: the run has trained .* of --minutes 0.04; tfc train falls --resume --minutes 0.04 goes on" err || fail "$(cat err)"
# --minutes given now is so many more.
before=$(number step <falls/log.jsonl | tail -n 1)
"$tfc" train falls --resume --minutes 0.01 2>err || fail "$(cat err)"
[ "$(number step <falls/log.jsonl | tail -n 1)" -gt "$before" ] || fail "no more steps: $(cat err)"
number seconds <falls/log.jsonl | tail -n 1 | awk '{ exit !($1 < 4.5) }' || fail "seconds: $(tail -n 1 falls/log.jsonl)"
echo "all is well"
