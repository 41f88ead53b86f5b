#!/bin/sh
# What the demo makes is used with words as they are written: its data, its options, its model, on a dozen
# words learned by heart. Run: sh tests/cli/demo.sh build/release/tfc
set -eu
. tests/common.sh
dpkg -L festlex-cmu >/dev/null 2>&1 || { echo "skipped: no festlex-cmu"; exit 77; }
# The data of the whole dictionary: a word a line, as it is written, beside its sounds.
"$root/scripts/prepare-pronounce" "$work/all" | grep -q ' held out$' || fail "prepare-pronounce"
paste "$work/all/train.words" "$work/all/train.phonemes" >"$work/all.tsv"
grep -qx "hello	hh ax l ow" "$work/all.tsv" || fail "no hello in the data"
! cut -f1 "$work/all.tsv" | grep -q '[^a-z]' || fail "words with other characters than letters"
[ "$(wc -l <"$work/all/test.words")" = 2000 ] || fail "other words are held out"

# The options of scripts/demo, on few words.
options=$(sed -n 's/.*\(--source-vocab .* --vocab [^ ]*\) .*/\1/p' scripts/demo)
[ -n "$options" ] || fail "scripts/demo trains without --source-vocab"
cp models/pronounce.tfg "$work"
enter_work
awk -F '\t' 'length($1) < 7 && NR % 7 == 0 && ++n <= 11 || $1 == "hello"' all.tsv | sort -u >few.tsv
# shellcheck disable=SC2086
"$tfc" train pronounce.tfg --data few.tsv $options --out run --steps 400 --seed 3 --batch-sentences 16 \
    --set layers=1 --set d_model=32 --set d_ff=64 --set heads=2 2>err || fail "$(cat err)"
[ "$(echo hello | "$tfc" translate run)" = "hh ax l ow" ] || fail "hello: $(echo hello | "$tfc" translate run)"
cut -f1 few.tsv | "$tfc" translate run 2>err | paste - few.tsv | awk -F '\t' '$1 != $3 { print }' >wrong
[ "$(wc -l <wrong)" -le 1 ] || fail "words that it has learned: $(cat wrong)"

# README's pictures, by the script and by the commands that README has above them.
mv run run-pronounce
TFC=$tfc "$root/scripts/pictures" run-pronounce drawn 2>err || fail "scripts/pictures: $(cat err)"
for picture in loss.svg cross.svg; do
    grep -q '^</svg>' "drawn/$picture" || fail "no $picture: $(cat err)"
done
if command -v chromium >/dev/null; then
    [ "$(wc -c <drawn/compiler.png)" -gt 20000 ] || fail "the compiler's page is empty: $(cat err)"
fi
mkdir -p build/demo/pronounce
echo tokenizer >build/demo/pronounce/new.words
grep -oE 'tfc (report|attend|dump) run-pronounce [^`]*' "$root/README.md" >commands
[ "$(wc -l <commands)" = 3 ] || fail "README's pictures: $(cat commands)"
while read -r command; do
    PATH=$(dirname "$tfc"):$PATH sh -c "$command" 2>err || fail "$command: $(cat err)"
done <commands
cmp loss.svg drawn/loss.svg && cmp cross.svg drawn/cross.svg || fail "README's commands draw other pictures than scripts/pictures"
grep -q 'pronounce' page.html || fail "no page"
mv run-pronounce run
command -v python3 >/dev/null || exit 0
"$tfc" compile run -o libpronounce.so 2>err || fail "$(cat err)"
[ "$(PYTHONPATH=. python3 "$root/examples/translate_text.py" hello)" = "hh ax l ow" ] || fail "examples/translate_text.py"
