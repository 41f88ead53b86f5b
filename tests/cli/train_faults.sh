#!/bin/sh
# What may happen to a run: killed at any moment and resumed it has the same bits; signals
# save; two trainings do not write one folder; what a kill left behind goes; a full disk and
# a damaged checkpoint are told, and nothing is lost.
# Usage: train_faults.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_with 0.1 "layers = 1, d_model = 32, d_ff = 64, heads = 4" >model.tfg <<'END'
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = inverse_sqrt(peak = 0.01, warmup = 40)
  batch     = tokens(400)
  clip_norm = 1
}
END
words_backwards
texts="--source train.src --target train.tgt --vocab words:auto --seed 3"
train() {
    out=$1
    shift
    # shellcheck disable=SC2086
    "$tfc" train model.tfg $texts --out "$out" "$@" 2>"$out.err" || return $?
}
# Waits until a pattern is in a file, ten seconds at most.
await() {
    for _ in $(seq 200); do
        ! grep -q -- "$1" "$2" 2>/dev/null || return 0
        sleep 0.05
    done
    fail "no '$1' in $2: $(cat "$2")"
}

# Killed ten times at random moments, before the first checkpoint too.
train whole --steps 60 --save-every 3 || fail "training: $(cat whole.err)"
# shellcheck disable=SC2086
begin="$tfc train model.tfg $texts --out parts --steps 60 --save-every 3"
$begin 2>parts.err &
for pause in $(awk 'BEGIN { srand(); for (i = 0; i < 10; i++) printf "%.2f ", 0.03 + 0.4 * rand() }'); do
    pid=$!
    sleep "$pause"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    if [ -e parts/run.json ]; then
        "$tfc" train parts --resume 2>parts.err &
    elif [ -e parts ]; then
        $begin --resume 2>parts.err &
    else
        $begin 2>parts.err &
    fi
done
wait $! || fail "resuming after $pause s: $(cat parts.err)"
same_tensors whole/last.safetensors parts/last.safetensors "killed and resumed: other params"
! ls parts/*.tmp-* parts/lock 2>/dev/null || fail "left behind"

# Killed before anything was saved: from the start, with the options of the run.
cp -r whole early
rm early/*.safetensors early/log.jsonl
"$tfc" train --resume --out early 2>early.err || fail "nothing was saved: $(cat early.err)"
same_tensors whole/last.safetensors early/last.safetensors "from the start: other params"
mkdir empty
train empty --resume --steps 2 || fail "an empty folder: $(cat empty.err)"

# SIGTERM, SIGINT and SIGHUP finish the step, save, and exit with 3; while one trains, the
# folder is its own.
signals="TERM INT HUP"
if sh -c 'kill -HUP $$'; then
    echo "SIGHUP was not tried: it is ignored here, as under nohup"
    signals="TERM INT"
fi
for signal in $signals; do
    rm -rf run
    # shellcheck disable=SC2086  # a shell gives SIGINT to what it starts aside only so
    (trap - INT; exec env "$tfc" train model.tfg $texts --out run --steps 100000 --save-every 200 2>run.err) &
    pid=$!
    await "memory at most" run.err
    if [ $signal = TERM ]; then
        cp run/lock kept.lock
        until ls run/step-*.safetensors >/dev/null 2>&1; do sleep 0.05; done # it holds a training, too
        refuses 1 "run is being written by another process, $(cat run/lock);" "$tfc" train run --resume
        # shellcheck disable=SC2086
        refuses 1 "run is being written by another process" "$tfc" train model.tfg $texts --out run
        cmp run/lock kept.lock || fail "the lock was changed by who did not get it"
    fi
    sleep 0.2
    kill -$signal $pid
    status=0
    wait $pid || status=$?
    [ $status = 3 ] || fail "SIG$signal: status $status: $(cat run.err)"
    [ -s run/last.safetensors ] || fail "SIG$signal, but not saved"
    [ ! -e run/lock ] || fail "SIG$signal: the lock stays"
done
# Under nohup SIGHUP is nothing, and a reader of the progress that goes away neither.
rm -rf run
# shellcheck disable=SC2086
(trap '' HUP; exec "$tfc" train model.tfg $texts --out run --steps 60 --report-every 1 2>&1) | head -n 1 >/dev/null
[ -e run/step-60.safetensors ] || fail "a training ended with the reader of its progress"

# A lock whose process was killed does not hold; what that process was writing goes, and
# what a living one writes stays.
sh -c 'exit 0' & dead=$!
wait $dead
echo $dead >run/lock
for file in run/last.safetensors run/run.json run/log.jsonl run/lib/prelude.tfg; do
    echo half >$file.tmp-$dead
done
echo mine >run/notes.tmp-$$
"$tfc" train run --resume --steps 61 2>err || fail "a lock of the dead: $(cat err)"
! ls run/*.tmp-$dead run/lib/*.tmp-$dead 2>/dev/null || fail "what a kill left behind stays"
[ -e run/notes.tmp-$$ ] || fail "a living process's file was removed"
! ls refused 2>/dev/null || fail "a folder of a training that did not begin"
refuses 1 "cannot read absent" "$tfc" train model.tfg --source absent --target train.tgt --vocab words:auto --out refused
[ ! -e refused ] || fail "a training that did not begin leaves its folder"

# A disk that is full while saving leaves the last good checkpoint.
status=0
(ulimit -f 100; train full --steps 20 --save-every 5) || status=$?
[ $status = 1 ] || fail "a full disk: status $status: $(cat full.err)"
grep -q "cannot write" full.err || fail "a full disk: $(cat full.err)"
train full2 --steps 10 --save-every 5 || fail "$(cat full2.err)"
status=0
(ulimit -f 100; train full2 --steps 20 --save-every 5 --resume) || status=$?
[ $status = 1 ] || fail "a full disk while resuming: status $status: $(cat full2.err)"
grep -q "checkpoint of step 10 is whole" full2.err || fail "a full disk: $(cat full2.err)"
train full2 --steps 20 --save-every 5 --resume || fail "after a full disk: $(cat full2.err)"
echo "all is well"
