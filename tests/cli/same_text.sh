#!/bin/sh
# The same text for 1,000 lines (in short 300) whatever is decoded at the same time: batches of one line and of many, one worker and
# several, with and without what an earlier process prepared, by tfc and by compiled programs, greedily and by beams;
# in f32, bf16, where panels of pairs are read in two ways, and integers, whose rows are rounded one by one.
# Usage: same_text.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
shared_runs
export TFC_CACHE="$work/cache"

# Lengths of 1 to 15 words; some lines come twice.
n=1000 alone=40
[ -z "$short" ] || n=300 alone=10
awk -v rows=$n 'BEGIN {
    srand(7)
    for (i = 0; i < rows; i++) {
        line = ""
        for (n = 1 + int(rand() * 15); n > 0; n--) line = line substr("abcdefgh", 1 + int(rand() * 8), 1) " "
        print substr(line, 1, length(line) - 1)
    }
}' >lines
same() { # WHAT: the file `now`
    [ "$(wc -l <now)" = $n ] && cmp now first || fail "$1: other text"
}

for dtype in f32 bf16 int8 int4; do
    for beam in 1 4; do
        translate() { "$tfc" translate "$runs/translator" --input lines --beam $beam --dtype $dtype "$@" >now; }
        rm -rf cache
        translate --workers 1 --batch-tokens 1000 # cold
        mv now first
        [ "$(sort -u first | wc -l)" -gt 100 ] || fail "few different answers"
        translate --workers 1 --batch-tokens 1000
        same "$dtype, beam $beam, warm"
        translate --workers 2 --batch-tokens 100
        same "$dtype, beam $beam, two workers"
        translate --workers 1 --batch-tokens 16
        same "$dtype, beam $beam, a line or two at a time"
        "$tfc" compile "$runs/translator" --dtype $dtype -o translator
        ./translator --beam $beam <lines >now
        same "$dtype, beam $beam, a program"

        # prompts: many at a time, and each alone as it is typed
        generate() { "$tfc" generate "$runs/generator" --dtype $dtype --temperature 0 --tokens 6 "$@"; }
        [ $beam = 1 ] || continue
        rm -rf cache
        generate --input lines >first
        generate --input lines --workers 2 >now
        same "$dtype, prompts, two workers"
        "$tfc" compile "$runs/generator" --dtype $dtype -o generator
        ./generator --temperature 0 --tokens 6 <lines >now
        same "$dtype, prompts, a program"
        head -n $alone lines | while read -r line; do
            generate --prompt "$line"
        done >now
        head -n $alone first | cmp - now || fail "$dtype, prompts one by one: other text"
    done
done
echo "all is well"
