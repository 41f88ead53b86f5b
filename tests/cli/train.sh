#!/bin/sh
# A whole run on made-up text (words read backwards): training, and every command that uses
# a run. train_resume.sh and train_faults.sh tell of resuming and of what goes wrong.
# Usage: train.sh TFC   (from the project's root)
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
train() {
    out=$1
    shift
    "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --out "$out" \
        --report-every 10 --seed 3 "$@" >"$out.out" 2>"$out.err" || return $?
}

train whole --steps 20 || fail "training: $(cat whole.err)"
[ ! -s whole.out ] || fail "train prints to standard output"

# What does not go together is refused.
status=0; train whole --steps 60 || status=$?
[ $status = 2 ] || fail "a run was trained over: $status"

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
# The average of steps 300 to 400 is validated, and told of; the run answers with the better one.
grep -q '"average": {"step": 400, .*"averaged": 3, "averaged_first": 300, .*"best": ' summary.json ||
    fail "the average in the summary: $(cat summary.json)"
grep -q 'average of 3 checkpoints, steps 300 to 400  valid loss' run.err || fail "the average: $(cat run.err)"
answers=$("$tfc" info run | sed -n 's/^  answers \([a-z]*\)\.safetensors: the average.* the best checkpoint.*/\1/p')
grep -q "run answers with run/$answers.safetensors: the average" run.err || fail "answers: $answers; $(cat run.err)"
"$tfc" translate run --input valid.src >own.txt
"$tfc" translate run --input valid.src --checkpoint $answers | cmp - own.txt || fail "the run answers otherwise"
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
"$tfc" translate moved --max-tokens 1 --input valid.src | awk 'NF > 1 { exit 1 }' || fail "--max-tokens"
"$tfc" translate moved --prefix valid.src --input valid.src >forced.txt || fail "--prefix"
awk 'NR == FNR { begin[FNR] = $0; next } index($0, begin[FNR]) != 1 { exit 1 }' valid.src forced.txt ||
    fail "results do not begin with their prefixes"
"$tfc" translate moved --no-repeat-ngram 1 --input valid.src |
    awk '{ split("", n); for (i = 1; i <= NF; i++) if (n[$i]++) exit 1 }' || fail "--no-repeat-ngram"
"$tfc" translate moved --repetition-penalty 5 --input valid.src | cmp -s - one.txt &&
    fail "--repetition-penalty changes nothing"
[ "$("$tfc" translate moved --sample --best-of 5 --nbest 2 --input valid.src | wc -l)" = 200 ] ||
    fail "--best-of"
"$tfc" translate moved --best-of 5 --input valid.src 2>/dev/null && fail "--best-of without --sample"
echo a | "$tfc" translate moved --prefix /dev/null >/dev/null 2>&1 && fail "a prefix is missing"
[ "$("$tfc" score moved --source valid.src --target valid.tgt | wc -l)" = 100 ] || fail "score"
"$tfc" info moved | grep -q 'best.*step' || fail "info"

echo "all is well"
