#!/bin/sh
# A run whose model.tfg is no longer that of its checkpoint is refused by every command, with the tensors' names.
# Usage: tests/cli/edited_run.sh TFC
set -eu
. tests/common.sh
enter_work
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
cat >m.tfg <<'M'
model m
use transformer_pre_norm
const vocab = 30, layers = 2, d_model = 8, d_ff = 8, heads = 1
train { batch = tokens(300); max_length = 20 }
M
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --steps 2 --out run 2>err.txt || fail "$(cat err.txt)"
"$tfc" translate run --input t.txt >said.txt
cp -r run edited
sed 's/layers = 2/layers = 1/' m.tfg >edited/model.tfg
while read -r command; do
    # shellcheck disable=SC2086
    refuses 1 "edited/model.tfg is not the model of edited/" "$tfc" $command
    grep -q "decoder.layer.1.*is there alone" err.txt || fail "$command: no tensor is named: $(cat err.txt)"
done <<'COMMANDS'
translate edited --input t.txt
score edited --source t.txt --target t.txt
eval edited --source t.txt --target t.txt
attend edited --source t.txt -o page.html
align edited --source t.txt --target t.txt
compile edited --function forward -o m.ll
export edited -o e.safetensors
run edited --in run/last.safetensors --out out.safetensors
info edited
check edited
draw edited --what graph -o m.svg
dump edited
bench edited --mode forward --batch 2 --source-length 3 --target-length 3
COMMANDS
sed 's/d_ff = 8/d_ff = 12/' m.tfg >edited/model.tfg
refuses 1 "is \[8, 8\] there, \[8, 12\] in the model" "$tfc" translate edited --input t.txt
cp run/model.tfg edited
"$tfc" translate edited --input t.txt | cmp - said.txt || fail "the model as it was is refused"
