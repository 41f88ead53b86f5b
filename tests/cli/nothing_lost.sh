#!/bin/sh
# Nothing of the user's is replaced or used by mistake: outputs that are inputs or a run's own files, a resume without its
# checkpoint, a run whose vocabulary or model is another, two vocabularies for one embedding.
# Usage: tests/cli/nothing_lost.sh TFC
set -eu
. tests/common.sh
enter_work
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
for i in 1 2 3 4 5 6 7 8; do echo "d e f $i"; done >u.txt
paste t.txt u.txt >pairs.tsv
cat >m.tfg <<'M'
model m
use transformer_pre_norm
const vocab = 30, layers = 1, d_model = 8, d_ff = 8, heads = 1
train { batch = tokens(300); max_length = 20 }
M
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --steps 4 --save-every 2 --out run 2>err.txt || fail "$(cat err.txt)"
"$tfc" translate run --input t.txt >said.txt

# ---- outputs ----
find . -type f ! -name err.txt ! -name said.txt ! -name before.txt ! -name out.txt -exec cksum {} + | sort >before.txt
while IFS='|' read -r message command; do
    # shellcheck disable=SC2086
    refuses 2 "$message" "$tfc" $command
done <<'COMMANDS'
-o t.txt is read, too (--input): write to another file|translate run --input t.txt --output t.txt
-o ./t.txt is read, too (--input)|translate run --input t.txt --output ./t.txt
-o u.txt is read, too (--target)|align run --source t.txt --target u.txt --output u.txt
--shortlist t.txt is read, too (--source)|align run --source t.txt --target u.txt --shortlist t.txt
--json t.txt is read, too (--source)|attend run --source t.txt --json t.txt
-o run/last.safetensors is read, too (--in)|run run --in run/last.safetensors --out run/last.safetensors
-o m.tfg is read, too: write|dump m.tfg -o m.tfg
--json-summary pairs.tsv is read, too (--data)|train m.tfg --data pairs.tsv --vocab words:auto --out x --json-summary pairs.tsv
--trace u.txt is read, too (--valid)|train m.tfg --data pairs.tsv --vocab words:auto --out x --valid a=u.txt,t.txt --trace u.txt
-o run/last.safetensors belongs to the run run: write to another file|export run -o run/last.safetensors
-o run/log.jsonl belongs to the run run|report run --svg loss -o run/log.jsonl
-o run/lib/attention.tfg belongs to the run run|dump m.tfg -o run/lib/attention.tfg
--svg and --json are one file, new: name two|attend run --source t.txt --svg new --json new
COMMANDS
find . -type f ! -name err.txt ! -name said.txt ! -name before.txt ! -name out.txt -exec cksum {} + | sort | cmp - before.txt || fail "a file was changed"
"$tfc" report run --svg loss -o run/loss.svg 2>err.txt || fail "a plot in the run's folder: $(cat err.txt)"
"$tfc" report run --svg loss -o run/loss.svg 2>err.txt || fail "the same plot again: $(cat err.txt)"

# ---- resume ----
cp -r run one
rm one/last.safetensors
"$tfc" train one --resume --steps 6 >out.txt 2>&1 || fail "$(cat out.txt)"
grep -q "one/last.safetensors is missing: one/step-4.safetensors takes its place" out.txt || fail "not told: $(cat out.txt)"
grep -q "done at step 6" out.txt || fail "begun anew: $(cat out.txt)"
"$tfc" train one --resume --steps 3 >out.txt 2>&1 || fail "$(cat out.txt)"
grep -q "has 6 of 3 steps; tfc train one --resume --steps 12 goes on" out.txt || fail "a number that does not go on: $(cat out.txt)"
cp -r run two
mv two/last.safetensors two/best.safetensors
rm two/step-*
refuses 1 "cp two/best.safetensors two/last.safetensors goes on from there" "$tfc" train two --resume --steps 6
[ -f two/best.safetensors ] || fail "the best is gone"
rm two/best.safetensors
cp two/log.jsonl log.txt
"$tfc" train two --resume --steps 2 >out.txt 2>&1 || fail "$(cat out.txt)"
grep -q "two has no checkpoint: the training begins anew" out.txt || fail "not told: $(cat out.txt)"
cmp two/log-before.jsonl log.txt || fail "the log is gone"
# A damaged line of the log loses itself alone.
cp -r run nul
python3 - <<'END'
log = open("nul/log.jsonl").read()
open("nul/log.jsonl", "w").write('{"step": 1, "rate": "\0"}\n' + log)
END
"$tfc" train nul --resume --steps 5 2>err.txt || fail "$(cat err.txt)"
[ "$(grep -ac step nul/log.jsonl)" -gt "$(grep -c step run/log.jsonl)" ] || fail "lines behind a NUL are gone: $(cat nul/log.jsonl)"
cp -r run three
rm three/last.safetensors
refuses 2 "three holds a training already" "$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --steps 4 --out three

# ---- the files of a run ----
cp -r run other
{ sed -n 1,5p run/vocab.txt; sed 1,5d run/vocab.txt | sort -r; } >other/vocab.txt
for command in "translate other --input t.txt" "eval other --source t.txt --target t.txt" "compile other --emit c -o x.c" \
    "prepare --source t.txt --target t.txt --vocab other -o p" "data t.txt --vocab other" \
    "train m.tfg --weights other --vocab other --source t.txt --target t.txt --steps 1 --out x"; do
    # shellcheck disable=SC2086
    refuses 1 "other/vocab.txt is not the vocabulary that the run was trained with: put that back" "$tfc" $command
done
rm other/vocab.txt
refuses 1 "other/vocab.txt, a file of the run, is missing: restore it from a copy" "$tfc" translate other --input t.txt
cp run/vocab.txt other
"$tfc" translate other --input t.txt 2>err.txt | cmp - said.txt || fail "the run as it was: $(cat err.txt)"
[ ! -s err.txt ] || fail "a run as it was is warned of: $(cat err.txt)"
echo 'block activation(x) { return x * 5 }' >>other/model.tfg
"$tfc" translate other --input t.txt >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "warning: other/model.tfg was changed since the run was made" err.txt || fail "not told: $(cat err.txt)"
refuses 1 "other/model.tfg was changed since the run began: put it back, or train it with another -o" \
    "$tfc" train other --resume --steps 6
rm -r other/lib
refuses 1 "other/lib/.* and [0-9]* more files of the run are missing: restore them from a copy" "$tfc" translate other --input t.txt
echo '{' >other/run.json
refuses 1 "other/run.json is damaged" "$tfc" translate other --input t.txt

# A checkpoint of another training in its place.
sed 's/a/z/' t.txt >z.txt
"$tfc" train m.tfg --source z.txt --target z.txt --vocab words:auto --steps 1 --out z 2>err.txt || fail "$(cat err.txt)"
cp -r run swapped
cp --remove-destination z/last.safetensors swapped/last.safetensors
for command in "translate swapped --input t.txt" "export swapped -o swapped.safetensors" "info swapped" "quantize swapped -o q --dtype int8"; do
    # shellcheck disable=SC2086
    "$tfc" $command >out.txt 2>err.txt || true
    grep -q "swapped/last.safetensors is of another training than swapped/run.json tells of" err.txt || fail "$command: $(cat err.txt)"
done
# ---- two vocabularies ----
refuses 1 "looks src and tgt up in one embedding: .use source_embedding. gives the sources theirs" \
    "$tfc" train m.tfg --source t.txt --target u.txt --vocab words:auto --source-vocab words:auto --steps 1 --out x
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --source-vocab words:auto --steps 1 --out x 2>err.txt ||
    fail "the same words on both sides: $(cat err.txt)"
echo "all is well"
