#!/bin/sh
# What tfc train tells before it makes a vocabulary, and what it says of one that cannot be.
# Usage: early.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
words_backwards

cat >model.tfg <<'END'
model backwards
use transformer
const layers = 1, d_model = 8, d_ff = 8, heads = 1, vocab = 8
train { rate = constant(0.005); batch = tokens(400) }
END

# early PATTERN OPTIONS …: refused so, with no vocabulary made and nothing left
early() {
    pattern=$1
    shift
    refuses 1 "$pattern" "$tfc" train model.tfg --out run --vocab auto:30 "$@"
    ! grep -q "making the vocabulary" err.txt || fail "$*: told after the vocabulary was made"
    [ ! -e run ] || fail "$*: a folder is left"
}
pair="--source train.src --target train.tgt"
early 'train.src has 1100 lines, valid.tgt has 100' --source train.src --target valid.tgt
early 'valid.src has 100 lines, train.tgt has 1100' $pair --valid-source valid.src --valid-target train.tgt
early "no pass is called 'fuze'" $pair --passes -fuze
early "'-fuse_rows,prepack' has both" $pair --passes -fuse_rows,prepack
early 'no CPU is called "pentium-9"' $pair --cpu pentium-9
early 'cannot write nowhere/summary (--json-summary): there is no folder nowhere: make it first' $pair --json-summary nowhere/summary
early 'params and optimizer take .* GB, and .* of memory are free' $pair --set d_model=400000 --set d_ff=400000
early '--memory: params and optimizer take .*, more than 10.0 kB' $pair --memory 10k
refuses 1 'cannot make the folder train.src/run: a file has that name' \
    "$tfc" train model.tfg --out train.src/run --vocab auto:30 $pair
! grep -q "making the vocabulary" err.txt || fail "a folder that cannot be: told after the vocabulary"

# A corpus that fits by itself, but not with what making pieces from it takes.
size=$(awk '/MemAvailable/ { printf "%.0f\n", $2 * 1024 / 4 }' /proc/meminfo)
truncate -s "$size" large.txt
early 'with --vocab auto:30 takes about .*, or make the vocabulary from a part' --source large.txt --target train.tgt

# Fewer pieces than characters: the message has the least number, which works.
awk 'BEGIN { s = "the quick brown fox jumps over the lazy dog"; for (i = 0; i < 40; i++) print s, i }' >letters.txt
refuses 1 '--vocab auto:10: the text has so many different characters that [0-9]* pieces are the least' \
    "$tfc" train model.tfg --out run --vocab auto:10 --source letters.txt --target letters.txt
! grep -q '\.cc' err.txt || fail "a place in a library's source: $(cat err.txt)"
least=$(sed -n 's/.*that \([0-9]*\) pieces are the least.*/\1/p' err.txt)
refuses 1 "that $least pieces are the least" \
    "$tfc" train model.tfg --out run --vocab auto:$((least - 1)) --source letters.txt --target letters.txt
"$tfc" train model.tfg --out run --vocab auto:$least --steps 1 --source letters.txt --target letters.txt \
    2>err.txt || fail "$least pieces: $(cat err.txt)"

# Characters that a prompt has and the vocabulary has not are told.
"$tfc" train "$root/models/gpt.tfg" --text train.src --vocab chars:auto --out lm --steps 1 --batch-tokens 64 \
    --set layers=1 --set d_model=8 --set heads=1 --set context=16 2>err.txt || fail "$(cat err.txt)"
"$tfc" generate lm --prompt "a ßb€ß" --tokens 2 >out.txt 2>err.txt
grep -q "warning: --prompt: the model has no token for 'ß', '€'$" err.txt || fail "unknown: $(cat err.txt)"
"$tfc" generate lm --prompt "a b" --tokens 2 >out.txt 2>err.txt
[ ! -s err.txt ] || fail "a prompt of known characters: $(cat err.txt)"
printf 'a\n1234567\n' | "$tfc" generate lm --input - --tokens 2 >out.txt 2>err.txt
grep -q "<standard input>:2:1: warning: the model has no token for '1', '2', '3', '4', '5' and others" err.txt ||
    fail "unknown: $(cat err.txt)"
echo "all is well"
