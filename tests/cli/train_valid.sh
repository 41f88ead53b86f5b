#!/bin/sh
# tfc train --valid NAME=FILE, --best: several validation texts, what each measured, which tells the
# best; gone on with; what is wrong is told.
# Usage: train_valid.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >small.tfg <<'END'
model small
use transformer
const layers = 1, d_model = 32, d_ff = 64, heads = 2
train {
  rate  = inverse_sqrt(peak = 0.02, warmup = 10)
  batch = tokens(400)
}
END
words_backwards
paste valid.src valid.tgt >back.tsv
paste valid.src valid.src >copy.tsv
train() { "$tfc" train small.tfg --source train.src --target train.tgt --vocab words:auto --seed 1 --validate-every 20 "$@" 2>err.txt || fail "$(cat err.txt)"; }
# figure RUN STEP PATTERN: the number behind it in that step's line
figure() { grep "\"step\": $2," "$1/log.jsonl" | sed -n "s/.*$3 \([-0-9.]*\).*/\1/p"; }
same() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-6 && d > -1e-6) }' || fail "$3: $1, $2"; }

train --steps 60 --out two --valid back=back.tsv --valid copy=copy.tsv
"$tfc" eval two --checkpoint step-60.safetensors --source valid.src --target valid.src --json >copy.json
same "$(figure two 60 '"copy": {"loss":')" "$(sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p' copy.json)" "the loss of copy"
"$tfc" eval two --checkpoint step-60.safetensors --source valid.src --target valid.tgt --json >back.json
same "$(figure two 60 '"back": {"loss":')" "$(sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p' back.json)" "the loss of back"
mean=$(awk -v a="$(figure two 60 '"back": {"loss":')" -v b="$(figure two 60 '"copy": {"loss":')" 'BEGIN { printf "%.9f", (a + b) / 2 }')
same "$(figure two 60 '"valid_loss":')" "$mean" "the mean of both"
grep -q ' back [0-9.]* BLEU .* copy [0-9.]* BLEU' err.txt || fail "the report does not show them: $(cat err.txt)"

# Which tells the best: the task that is learned gets better, the other worse.
train --steps 60 --out back --valid back=back.tsv --valid copy=copy.tsv --best back --no-bleu
train --steps 60 --out copy --valid back=back.tsv --valid copy=copy.tsv --best copy --no-bleu
same "$(figure back 60 '"valid_loss":')" "$(figure back 60 '"back": {"loss":')" "--best back"
same "$(figure copy 60 '"valid_loss":')" "$(figure copy 60 '"copy": {"loss":')" "--best copy"
cmp -s back/best.safetensors copy/best.safetensors && fail "both have the same best"
# A text without a name tells, beside one with a name.
train --steps 20 --out main --valid-source valid.src --valid-target valid.tgt --valid copy=copy.tsv --no-bleu
same "$(figure main 20 '"valid_loss":')" "$(figure back 20 '"back": {"loss":')" "the text without a name"

train --steps 30 --out part --valid back=back.tsv --valid copy=copy.tsv --best back --no-bleu
"$tfc" train part --resume --steps 60 2>err.txt || fail "$(cat err.txt)"
same_tensors back/last.safetensors part/last.safetensors "gone on with, two validation texts"
echo 'a	b' >>copy.tsv
refuses 1 "valid.*copy.tsv.*it was 100 lines" "$tfc" train part --resume --steps 70

valid() { refuses "$1" "$2" "$tfc" train small.tfg --source train.src --target train.tgt --vocab words:auto --out no $3; }
valid 1 "expected NAME=FILE" "--valid back.tsv"
valid 1 "'mean' is that of all texts" "--valid mean=back.tsv"
valid 1 "a text of this name already" "--valid a=back.tsv --valid a=back.tsv"
valid 1 "no --valid has this name; did you mean 'back'" "--valid back=back.tsv --best bac"
valid 2 "'back' is no measure (loss, bleu" "--best back"
valid 1 "none.tsv" "--valid a=none.tsv"
echo "train --valid: each measured, the best by one or the mean"
