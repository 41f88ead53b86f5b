#!/bin/sh
# translate and eval over a shortlist: a table with every token changes nothing, in f32, bf16 and
# ensembles; results do not depend on batches and workers; what is told of tables that do not fit. And compiled: the same text.
# Usage: shortlist.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

shared_runs
"$tfc" align "$runs/translator" --source train.src --target train.tgt --shortlist lex.txt --output links.txt 2>err.txt ||
    fail "align: $(cat err.txt)"

for way in "" "--beam 1 --dtype bf16" "--nbest 3 --no-repeat-ngram 2" "--with $runs/translator"; do
    "$tfc" translate "$runs/translator" $way --input valid.src >whole.txt
    "$tfc" translate "$runs/translator" $way --input valid.src --shortlist lex.txt >all.txt
    cmp whole.txt all.txt || fail "a table with every token: $way"
done

# One candidate a token beside itself, and one for all: </s> is always there.
short="--shortlist lex.txt --shortlist-size 1 --threads 2"
"$tfc" translate "$runs/translator" $short --input valid.src >few.txt
! cmp -s whole.txt few.txt || fail "the shortlist had no effect"
awk 'FILENAME == "lex.txt" { if (!($2 in best)) best[$2] = $1; next }
     FILENAME == "valid.src" { for (i = 1; i <= NF; i++) may[FNR, best[$i]] = may[FNR, $i] = 1; next }
     { for (i = 1; i <= NF; i++) if (!((FNR, $i) in may)) { print FNR ": " $i; exit 1 } }' lex.txt valid.src few.txt ||
    fail "a token that the shortlist does not have"
for way in "--batch-tokens 7" "--batch-tokens 40 --workers 2" "--json"; do
    "$tfc" translate "$runs/translator" $short $way --input valid.src | sed 's/.*"text": "\([^"]*\)".*/\1/' | cmp - few.txt ||
        fail "another result: $way"
done

# A token that the table lacks can be copied: both sides have one vocabulary.
awk '$1 != "a" && $2 != "a"' lex.txt >lacks.txt
"$tfc" translate "$runs/translator" --shortlist lacks.txt --shortlist-size 1 --input valid.src >copied.txt
paste -d '|' valid.src copied.txt | awk -F '|' '$2 ~ /a/ { n++; if ($1 !~ /a/) exit 1 } END { exit !n }' ||
    fail "a token of the source that the table lacks"

# A prefix is its own sentence's.
cut -d ' ' -f 1 valid.tgt >words.txt
"$tfc" translate "$runs/translator" $short --input valid.src --prefix words.txt >begun.txt
"$tfc" translate "$runs/translator" $short --input valid.src --prefix words.txt --batch-tokens 1 | cmp - begun.txt ||
    fail "prefixes of other sentences"

"$tfc" eval "$runs/translator" --source valid.src --target valid.tgt $short >eval.txt
grep -q '^without shortlist .*; a batch has [0-9]* of [0-9]* tokens$' eval.txt || fail "eval: $(cat eval.txt)"
"$tfc" eval "$runs/translator" --source valid.src --target valid.tgt >full.txt
[ "$(awk '$1 == "without" { print $3 }' eval.txt)" = "$(awk '$1 == "BLEU" { print $2 }' full.txt)" ] || fail "another BLEU without"

# refuses STATUS TEXT COMMAND …
refuses() {
    status=0 wanted=$1 text=$2
    shift 2
    "$@" >out.txt 2>err.txt || status=$?
    [ $status = "$wanted" ] && grep -qF -- "$text" err.txt || fail "$*: status $status: $(cat err.txt)"
}
for line in "a b" "a b 2" "a b -0.1" "a b nan" "a b inf" "a b 0.5 c"; do
    echo "$line" >bad.txt
    refuses 1 "line 1 of bad.txt is not TARGET SOURCE PROBABILITY, from 0 to 1, as" \
        "$tfc" translate "$runs/translator" --input valid.src --shortlist bad.txt
done
printf 'x y 0.5\n' >bad.txt
refuses 1 "bad.txt has no pair of tokens of the vocabulary" \
    "$tfc" translate "$runs/translator" --input valid.src --shortlist bad.txt
(cat lex.txt && sed 's/^/x/' lex.txt && echo "NULL NULL 1") >mixed.txt
"$tfc" translate "$runs/translator" --input valid.src --shortlist mixed.txt 2>err.txt | cmp - whole.txt || fail "unknown tokens"
grep -q "have a token that the vocabulary lacks" err.txt || fail "unknown tokens are not told: $(cat err.txt)"
refuses 2 "--shortlist-size is for --shortlist: add that" "$tfc" translate "$runs/translator" --input valid.src --shortlist-size 5
refuses 1 "translates nothing, so a shortlist has no effect" \
    "$tfc" eval "$runs/generator" --text valid.src --shortlist lex.txt

"$tfc" compile "$runs/translator" --shortlist lex.txt --shortlist-size 1 -o few
./few <valid.src | cmp - few.txt || fail "the program translates otherwise"
averages="--with $runs/translator --dtype bf16 --shortlist lex.txt --shortlist-size 1"
"$tfc" compile "$runs/translator" $averages -o average
"$tfc" translate "$runs/translator" $averages --input valid.src >average.txt
./average <valid.src | cmp - average.txt || fail "the ensemble's program translates otherwise"
"$tfc" compile "$runs/translator" --shortlist lex.txt --shortlist-size 1 -o libfew.so
! grep -qE 'translator_(encode|decode_step)\(' translator.h || fail "functions whose logits are not those of all tokens"
cat >call.c <<'END'
#include "translator.h"
#include <stdio.h>
int main(void)
{
    translator *model;
    translator_session *session;
    const char *text;
    static char lines[1 << 20];
    size_t n = fread(lines, 1, sizeof lines, stdin);
    if (translator_open(NULL, &model) || translator_session_new(model, &session) ||
        translator_translate_text(session, NULL, lines, (int64_t)n, &text, NULL))
        return puts(translator_error_detail()), 1;
    fputs(text, stdout);
    translator_session_free(session);
    translator_close(model);
    return 0;
}
END
cc call.c -L. -lfew -Wl,-rpath,"$PWD" -o call
./call <valid.src | cmp - few.txt || fail "the library translates otherwise"
"$tfc" compile "$runs/translator" --shortlist lex.txt --shortlist-size 1 -o few.c
cc -O0 -ffp-contract=off call.c few.c -o call -pthread -lm
./call <valid.src | cmp - few.txt || fail "the C translates otherwise"
compiles="$tfc compile"
refuses 1 "--shortlist: no function decodes; add decode_step to --function" \
    $compiles "$runs/translator" --function forward --shortlist lex.txt -o x.so
refuses 1 "text holds code alone: leave --shortlist out" $compiles "$runs/translator" --shortlist lex.txt -o x.ll
refuses 1 "translates nothing, so a shortlist has no effect" $compiles "$runs/generator" --shortlist lex.txt -o x
refuses 1 "--shortlist is for a vocabulary" $compiles "$runs/translator/model.tfg" --shortlist lex.txt -o x.so
[ ! -e x ] && [ ! -e x.so ] && [ ! -e x.ll ] || fail "something was written"
echo "all is well"
