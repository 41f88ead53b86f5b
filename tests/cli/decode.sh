#!/bin/sh
# What translate and score tell of single tokens (--token-scores), and forced beginnings (--prefix).
# Usage: decode.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

shared_runs
ln -s "$runs/translator" run

# adds_up FILE: in each line the numbers of the tokens make log_probability
adds_up() {
    awk '{ split($0, half, "\"tokens\": "); whole = half[1]; sub(/.*"log_probability": /, "", whole)
           n = gsub(/[^0-9e.,-]/, "", half[2]); n = split(half[2], part, ",")
           sum = 0; for (i = 2; i <= n; i += 2) sum += part[i]
           d = sum - whole; if (n < 2 || d > 1e-5 || d < -1e-5) exit 1 }
         END { if (!NR) exit 1 }' "$1" || fail "the tokens do not add up: $1"
}
# texts FILE: the tokens as a text, without the end
texts() { sed 's/.*"tokens": //; s/\[\["/["/; s/\], \["/\n["/g' "$1" | awk -F'"' '
    $2 == "</s>" { print line; line = ""; next } { line = line (line == "" ? "" : " ") $2 }'; }

for way in "" "--beam 1" "--nbest 3" "--sample --best-of 4 --nbest 2" "--prefix valid.src --no-repeat-ngram 2" \
    "--repetition-penalty 2" "--max-tokens 2"; do
    "$tfc" translate run $way --json --input valid.src >plain.txt
    "$tfc" translate run $way --token-scores --input valid.src >scores.txt
    sed 's/, "tokens": .*/}/' scores.txt | cmp -s - plain.txt || fail "other results with --token-scores, $way"
    adds_up scores.txt
    sed 's/.*"text": "\([^"]*\)".*/\1/' plain.txt >found.txt
    texts scores.txt | cmp -s - found.txt || fail "other tokens than the text's, $way"
done

"$tfc" translate run --token-scores --input valid.src >scores.txt
"$tfc" translate run --input valid.src >found.txt
"$tfc" score run --source valid.src --target found.txt >plain.txt
"$tfc" score run --source valid.src --target found.txt --token-scores >given.txt
adds_up given.txt
sed 's/.*"log_probability": \([^,]*\),.*/\1/' given.txt | awk '{ printf "%.6f\n", $1 }' | paste - plain.txt |
    awk '{ d = $1 - $2; if (d > 2e-6 || d < -2e-6) exit 1 }' || fail "score says two things"
# number by number what translate found
numbers() { sed 's/.*"tokens": //; s/\], \[/\n/g' "$1" | sed 's/.*", //; s/\].*//'; }
numbers scores.txt >1.txt
numbers given.txt | paste 1.txt - | awk '{ d = $1 - $2; if (d > 1e-4 || d < -1e-4) exit 1 } END { if (NR < 200) exit 1 }' ||
    fail "translate and score disagree on tokens"

# Alternatives: K lines, each beginning with its line's prefix, the next words all different, the
# most probable first; the first line's as one by one.
cut -d ' ' -f 1 valid.tgt >words.txt
"$tfc" translate run --alternatives 4 --prefix words.txt --input valid.src >lines.txt
[ "$(wc -l <lines.txt)" = 400 ] || fail "four alternatives a line"
awk 'NR == FNR { begin[FNR - 1] = $1; next }
     $1 != int((FNR - 1) / 4) || $2 != "|||" || $3 != begin[$1] || seen[$1 " " $4]++ { exit 1 }' \
    words.txt lines.txt || fail "$(head -n 8 lines.txt)"
"$tfc" translate run --alternatives 4 --prefix words.txt --input valid.src --token-scores >scores.txt
adds_up scores.txt
sed 's/.*"tokens": \[\[[^]]*\], \["[^"]*", \([^]]*\)\].*/\1/' scores.txt |
    awk 'NR % 4 != 1 && $1 > last { exit 1 } { last = $1 }' || fail "not the most probable first"
head -n 1 valid.src >line.txt
sed -n '1,4s/^0 ||| \(.*\) ||| .*/\1/p' lines.txt >found.txt
while read -r first next rest; do
    echo "$first $next" >prefix.txt
    [ "$next" = "" ] || [ "$("$tfc" translate run --prefix prefix.txt --input line.txt)" = "$first $next${rest:+ $rest}" ] ||
        fail "an alternative is not the best that begins so"
done <found.txt
refuses 2 "leave --sample out" "$tfc" translate run --alternatives 2 --sample --input valid.src

# A line of prefixes for each of the text.
head -n 99 valid.src >fewer.txt
refuses 1 "fewer.txt has 99 lines, fewer than the text" \
    "$tfc" translate run --prefix fewer.txt --input valid.src
refuses 1 "valid.src has 100 lines, but the text 99" \
    "$tfc" translate run --prefix valid.src --input fewer.txt
"$tfc" translate run --prefix fewer.txt --input fewer.txt >/dev/null || fail "as many prefixes as lines"

# eval decodes as translate does: with its lines as the reference, and not with those of other settings.
right() { # right REFERENCE OPTION …
    reference=$1 && shift
    "$tfc" eval run "$@" --source valid.src --target "$reference" --json | number accuracy
}
"$tfc" translate run --input valid.src >plain.txt
[ "$(right plain.txt)" = 1 ] || fail "eval and translate decode differently"
for way in "--max-tokens 2" "--no-repeat-ngram 1" "--repetition-penalty 3" "--sample --best-of 3 --seed 4"; do
    "$tfc" translate run $way --input valid.src >lines.txt
    [ "$(right lines.txt $way)" = 1 ] || fail "eval and translate decode differently, $way"
    [ "$(right plain.txt $way)" = 1 ] && fail "eval takes no notice of $way"
done
"$tfc" eval run --best-of 3 --source valid.src --target valid.tgt 2>/dev/null && fail "eval: --best-of without --sample"
exit 0
