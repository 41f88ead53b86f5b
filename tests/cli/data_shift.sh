#!/bin/sh
# tfc data finds sides that are shifted by a line, from where they are, and letters in both Unicode forms; tfc init keeps
# targets that are tested out of training.
# Usage: data_shift.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"

# 2000 pairs whose lengths go together, but for some words, and 2000 of equal length of which a fifth have a number.
awk 'BEGIN { srand(3); for (i = 0; i < 2000; i++) { n = 3 + int(rand() * 12); s = t = "";
     for (k = 0; k < n; k++) { s = s "in" int(rand() * 26) "x "; if (rand() < 0.9) t = t "aus" int(rand() * 26) "y " }
     gsub(/[0-9]+/, "q", s); gsub(/[0-9]+/, "r", t); print s i % 7 > "a.src"; print t i % 5 > "a.tgt" }
     for (i = 0; i < 2000; i++) { c = rand() < 0.2 ? 1000 + int(rand() * 9000) : "some";
     printf "there were %4s of them\n", c > "n.src"; printf "es waren %4s davon\n", c > "n.tgt" } }'
sed -i 's/[0-9]$//' a.src a.tgt

for text in a n; do
    "$tfc" data $text.src $text.tgt >out.txt || fail "$text"
    ! grep -q "^sides shifted by a line  " out.txt || fail "$text: a false alarm: $(cat out.txt)"
    tail -n +2 $text.tgt >off.tgt # a line is lost: source i has the target of line i - 1
    echo end >>off.tgt
    "$tfc" data $text.src off.tgt >out.txt || fail "$text off"
    grep -q "^sides shifted by a line  *2,000 100.00 %" out.txt && grep -q "fits the target of the line before" out.txt ||
        fail "$text, the line before: $(cat out.txt)"
    { head -n 1000 $text.tgt; echo more; tail -n +1001 $text.tgt | head -n 999; } >off.tgt # from line 1000 on
    "$tfc" data $text.src off.tgt >out.txt || fail "$text off"
    grep -q "^sides shifted by a line  *1,000  50.00 %" out.txt && grep -q "fits the target of the line after" out.txt ||
        fail "$text, the line after, from the middle: $(cat out.txt)"
done

# NFD is reported only beside NFC.
printf 'u\314\210ber\tover\nMu\314\210he\ttrouble\n' >nfd.tsv
printf '\303\274ber\tover\nM\303\274he\ttrouble\n' >nfc.tsv
for text in nfd nfc; do
    "$tfc" data --data $text.tsv >out.txt || fail "$text"
    ! grep -q "(NFD) beside NFC ones  " out.txt || fail "$text alone: $(cat out.txt)"
done
cat nfc.tsv nfd.tsv >both.tsv
"$tfc" data --data both.tsv >out.txt || fail "both"
grep -q "(NFD) beside NFC ones  *2  50.00 %" out.txt || fail "both forms: $(cat out.txt)"

# 600 sources, 490 targets: the first 110 stand twice. Nothing that validates or tests is trained on, on either side.
awk 'BEGIN { for (i = 0; i < 600; i++) printf "source number %d\ttarget of %d\n", i, i % 490 }' >twice.tsv
"$tfc" init kept --kind translator --data twice.tsv >out.txt || fail "init"
for side in source target; do
    sort -u kept/data/valid.$side kept/data/test.$side >held
    ! sort -u kept/data/train.$side | comm -12 - held | grep -q . || fail "$side: trained on, and tested: $(comm -12 held kept/data/train.$side)"
done
left=$((600 - $(cat kept/data/*.target | wc -l)))
[ $left -gt 0 ] && grep -q "$left pairs whose targets are also validated or tested on, with other sources, were left out of training" out.txt &&
    grep -q "^$left pairs whose targets" kept/README.md || fail "what was left out: $(cat out.txt)"
# Where they are too many, they stay, and that is said.
awk 'BEGIN { for (i = 0; i < 600; i++) printf "source number %d\ttarget of %d\n", i, i % 3 }' >few.tsv
"$tfc" init few --kind translator --data few.tsv >out.txt || fail "init"
[ "$(cat few/data/*.target | wc -l)" = 600 ] && grep -q "stay in training: they are over 20 % of it" out.txt || fail "few: $(cat out.txt)"
echo "all is well"
