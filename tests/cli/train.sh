#!/bin/sh
# A whole run on made-up text (words read backwards): training, killing and resuming
# bit for bit, interrupting, and every command that uses a run.
# Usage: train.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model backwards
use transformer
const layers = 1, d_model = 32, d_ff = 64, heads = 4, vocab = 8
const p_drop = 0.1
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = inverse_sqrt(peak = 0.01, warmup = 40)
  batch     = tokens(400)
  clip_norm = 1
}
END
words_backwards
train() {
    out=$1
    shift
    "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --out "$out" \
        --report-every 10 --seed 3 "$@" >"$out.out" 2>"$out.err" || return $?
}

# Whole, then killed at some moment and resumed: the same bytes.
train whole --steps 60 --save-every 7 || fail "training: $(cat whole.err)"
[ ! -s whole.out ] || fail "train prints to standard output"
for pause in 0.3 0.8 1.3; do
    rm -rf parts
    train parts --steps 60 --save-every 7 &
    pid=$!
    sleep $pause
    child=$(ps -o pid= --ppid $pid | tr -d ' ' | head -n 1)
    [ -z "$child" ] || kill -9 "$child" 2>/dev/null || true
    wait $pid 2>/dev/null || true
    if [ -e parts/last.safetensors ]; then
        train parts --steps 60 --save-every 7 --resume || fail "resuming: $(cat parts.err)"
    else
        rm -rf parts
        train parts --steps 60 --save-every 7
    fi
    same_tensors whole/last.safetensors parts/last.safetensors "killed after $pause s and resumed: other params"
done

# SIGINT finishes the step, saves, and exits with 3.
rm -rf parts
"$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --out parts \
    --steps 100000 --seed 3 2>parts.err &
pid=$!
while ! grep -q "memory at most" parts.err; do sleep 0.1; done
sleep 0.5
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status = 3 ] || fail "interrupted: status $status: $(cat parts.err)"
[ -s parts/last.safetensors ] || fail "interrupted, but not saved"

# What does not go together is refused.
status=0; train whole --steps 60 || status=$?
[ $status = 2 ] || fail "a run was trained over: $status"
status=0; train whole --steps 70 --resume --batch-tokens 300 || status=$?
[ $status = 1 ] || fail "resumed with other batches: $status"

# Accumulating four batches of 100 tokens learns too.
train small --steps 20 --batch-tokens 100 --accumulate 4 || fail "accumulating: $(cat small.err)"

# To the end, with validation, and then everything that uses the run.
train run --steps 400 --valid-source valid.src --valid-target valid.tgt --validate-every 100 \
    --save-every 50 --average 3 --json-summary summary.json --check-numerics || fail "$(cat run.err)"
for file in model.tfg vocab.txt run.json log.jsonl best.safetensors last.safetensors \
    average.safetensors step-400.safetensors lib/prelude.tfg; do
    [ -s run/$file ] || fail "run/$file is missing"
done
grep -q '"valid_bleu"' run/log.jsonl || fail "no validation in the log"
grep -q '"ended": "done"' summary.json || fail "summary: $(cat summary.json)"
mv model.tfg away.tfg # a run is complete in itself
unset TFC_LIBRARY
mv run moved
accuracy=$("$tfc" eval moved --source valid.src --target valid.tgt --json | tee eval.json | number accuracy)
awk "BEGIN { exit !($accuracy > 0.8) }" || fail "it did not learn: $(cat eval.json)"
"$tfc" translate moved --input valid.src >one.txt
"$tfc" translate moved --batch-tokens 20 --threads 1 <valid.src >two.txt
cmp one.txt two.txt || fail "the size of batches matters"
[ "$(wc -l <one.txt)" = 100 ] || fail "not a line for each line"
printf 'a b c\n\na b\n' | "$tfc" translate moved >three.txt
[ "$(wc -l <three.txt)" = 3 ] && [ -z "$(sed -n 2p three.txt)" ] || fail "the empty line: $(cat three.txt)"
[ "$("$tfc" translate moved --nbest 3 --input valid.src | wc -l)" = 300 ] || fail "n-best"
"$tfc" translate moved --sample --top-k 5 --seed 2 --input valid.src >s1.txt
"$tfc" translate moved --sample --top-k 5 --seed 2 --input valid.src --batch-tokens 9 >s2.txt
cmp s1.txt s2.txt || fail "samples depend on batches"
[ "$("$tfc" score moved --source valid.src --target valid.tgt | wc -l)" = 100 ] || fail "score"
"$tfc" info moved | grep -q 'best.*step' || fail "info"

# A disk that is full while saving leaves the last good checkpoint.
mv away.tfg model.tfg
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
