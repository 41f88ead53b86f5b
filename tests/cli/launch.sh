#!/bin/sh
# tfc launch: a command that fails is run again, a training from its last checkpoint; what ended well,
# by a signal or by wrong usage is not.
# Usage: launch.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# fails.sh N STATUS WORD…: the first N times it is called, ends so; notes each call's words.
cat >fails.sh <<'END'
n=$1 status=$2
shift 2
echo "$*" >>calls.txt
[ "$(wc -l <calls.txt)" -gt "$n" ] || exit "$status"
END
calls() { [ "$(cat calls.txt)" = "$1" ] || fail "expected '$1', called: $(cat calls.txt)"; rm calls.txt; }
"$tfc" launch --retries 3 -- sh fails.sh 2 1 --out run one 2>err.txt || fail "$(cat err.txt)"
calls "$(printf -- '--out run one\n%.0s' 1 2 3)"
grep -q "it ended with status 1: try 3 of 4" err.txt || fail "not told: $(cat err.txt)"
refuses 1 "try 2 of 2" "$tfc" launch --retries 1 -- sh fails.sh 9 1 --out run
rm calls.txt
for status in 2 3; do
    got=0
    "$tfc" launch -- sh fails.sh 9 $status --out run || got=$?
    [ $got = $status ] || fail "ended with $got, not $status"
    calls "--out run"
done
mkdir run && : >run/last.safetensors
"$tfc" launch -- sh fails.sh 1 1 --out run 2>/dev/null
calls "$(printf -- '--out run --resume\n%.0s' 1 2)"
"$tfc" launch -- sh fails.sh 1 1 --out run --resume 2>/dev/null
calls "$(printf -- '--out run --resume\n%.0s' 1 2)"
refuses 2 "names no run" "$tfc" launch -- true
refuses 2 "--hosts puts names in place of the word HOSTS" "$tfc" launch --hosts a,b -- true --out run
refuses 1 "cannot run ./no-such-program" "$tfc" launch -- ./no-such-program --out run

# Machines that answer.
cat >ask.sh <<'END'
[ "$1" != b ]
END
"$tfc" launch --hosts a:2,b:2,c --shell "sh ask.sh" -- sh fails.sh 0 0 -host HOSTS --out new 2>err.txt || fail "$(cat err.txt)"
calls "-host a:2,c --out new"
grep -q "warning: b does not answer and is left out" err.txt || fail "not told: $(cat err.txt)"
refuses 1 "none of the hosts b answers" "$tfc" launch --hosts b --shell "sh ask.sh" -- sh fails.sh 0 0 HOSTS --out new

# A training that is killed twice is the one that was not.
cat >model.tfg <<'END'
model backwards
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
train {
  rate  = constant(0.003)
  batch = tokens(300)
}
END
words_backwards
cat >killed.sh <<'END'
n=$(cat tries 2>/dev/null || echo 0)
echo $((n + 1)) >tries
"$@" &
if [ "$n" -lt 2 ]; then
    while ! grep -q "\"step\": $((10 + 10 * n))" killed/log.jsonl 2>/dev/null; do kill -0 $! || exit 1; done
    kill -KILL $!
fi
wait $!
END
text="--source train.src --target train.tgt --vocab words:auto --seed 3 --save-every 4 --report-every 1"
"$tfc" train model.tfg $text --out whole --steps 300 2>err.txt || fail "$(cat err.txt)"
"$tfc" launch -- sh killed.sh "$tfc" train model.tfg $text --steps 300 --out killed 2>err.txt || fail "$(cat err.txt)"
[ "$(cat tries)" = 3 ] || fail "$(cat tries) tries: $(cat err.txt)"
same_tensors whole/last.safetensors killed/last.safetensors "killed twice"

# A signal reaches the training, which saves and ends, once.
"$tfc" launch -- "$tfc" train model.tfg $text --steps 1000000 --out stopped 2>err.txt &
job=$!
until [ -e stopped/last.safetensors ]; do kill -0 $job || fail "$(cat err.txt)"; done
kill -TERM $job
status=0
wait $job || status=$?
[ $status = 3 ] || fail "ended with $status, not 3: $(cat err.txt)"
grep -q "interrupted at step [0-9]* and saved" err.txt || fail "not saved: $(cat err.txt)"
echo "launch: tried again, and the same"
