#!/bin/sh
# Texts from columns in a compiled library: those that tfc translate gives of a table, in C, as one C file and in Python, one
# by one and together; arguments that are not allowed; ensembles; what is left out, with its reason.
# Usage: compile_columns.sh TFC   (from the project's root)
set -eu
. tests/common.sh
fixtures=$root/tests/fixtures/columns
enter_work
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
python=$(command -v python3 || true)
cpu="--cpu x86-64-v2" # the same vectors in both
[ -z "${TFC_RUNTIME:-}" ] || python='' # an instrumented library is loaded by instrumented programs alone

# Records: the target follows from all fields.
awk 'function word() { return substr("ein zweidreivieracht", 1 + 4 * int(rand() * 5), 4) }
     function join(m, s, k) { s = word(); for (k = 1; k < m; k++) s = s " " word(); gsub(/  +/, " ", s); sub(/ $/, "", s); return s }
     BEGIN { srand(4); print "image\tplace\ta\tb\tframes\tkind\tmarks\tweight\tc\tcaption"
     for (i = 0; i < 300; i++) { k = int(rand() * 5); image = "["; frames = "["; marks = ""
     for (x = 0; x < 8; x++) image = image (x ? ", " : "") (x == k ? "1.0" : "0.0")
     m = 1 + int(rand() * 3)
     for (x = 0; x < m; x++) { frames = frames (x ? ", " : "") "[" rand() ", " k "]"; marks = marks (x ? " " : "") substr("NVAD", 1 + int(rand() * 4), 1) }
     place = int(rand() * 3); a = join(1 + int(rand() * 3)); b = join(1 + int(rand() * 3)); kind = (place ? place > 1 ? "quite long" : "\"q\"" : "*/\342\200\256")
     print image "]\t" place "\t" a "\t" b "\t" frames "]\t" kind "\t" marks "\t" (1 + place) / 4 "\t" toupper(a) " " b "\tthe word " k " at " place } }' >all.tsv
head -n 261 all.tsv >train.tsv
{ head -n 1 all.tsv; tail -n 40 all.tsv; } >valid.tsv
# Empty texts: of the source, which then has no answer, and of another column.
awk -F '\t' -v OFS='\t' 'NR == 12 { $3 = "" } NR == 14 { $4 = "" } { print }' valid.tsv >holes.tsv
train() { # RUN MODEL OPTION …
    run=$1 model=$2
    shift 2
    "$tfc" train "$fixtures/$model.tfg" --data train.tsv --vocab words:auto --out "$run" --steps 40 --validate-every 0 --seed "${seed:-3}" \
        "$@" 2>err || fail "$run: $(cat err)"
}
all="mixed captions multi_source"
[ -z "$short" ] || all=mixed
train mixed mixed
[ -n "$short" ] || train captions captions
[ -n "$short" ] || train multi_source multi_source --column src=a --column src2=b --column tgt=c --set layers=1 --set d_model=32 --set d_ff=64 --set heads=2

fields() { case $1 in captions) echo 1,2 ;; multi_source) echo 3,4 ;; mixed) echo 5,3,6,7,8 ;; esac }
# table RUN FILE: the fields that it reads, in their order, without a header
table() { awk -F '\t' -v list="$(fields "$1")" 'NR > 1 { n = split(list, f, ","); for (i = 1; i <= n; i++) printf("%s%s", $f[i], i < n ? "\t" : "\n") }' "$2"; }
# program RUN SOURCE OPTION …
program() {
    run=$1 source=$2
    shift 2
    # shellcheck disable=SC2086  # words
    $CC "$root/tests/cli/compile_columns.c" $source -o "$run.lib/answer" -I"$run.lib" -DHEADER="\"$run.h\"" -DNAME="$run" "-D$run=$run" "$@" -lm
}
[ -z "$short" ] || python=''
for run in $all; do
    mkdir $run.lib
    # shellcheck disable=SC2086
    {
        "$tfc" compile $run -o $run.lib/lib$run.so $cpu 2>err || fail "$run is not compiled: $(cat err)"
        "$tfc" translate $run --input holes.tsv $cpu >expected 2>told || fail "$run: $(cat told)"
    }
    ! grep -q 'left out' err || fail "$run: $(cat err)"
    [ "$(sort -u expected | wc -l)" -gt 9 ] || fail "$run: few answers: $(sort -u expected)"
    [ $run = captions ] || { [ -z "$(sed -n 11p expected)" ] && [ -n "$(sed -n 13p expected)" ]; } || fail "$run: $(sed -n 11,13p expected)"
    table $run holes.tsv >records
    program $run '' -L$run.lib -l$run -Wl,-rpath,"$work/$run.lib"
    $run.lib/answer <records >found 2>err || fail "$run: $(cat err)"
    cmp found expected || fail "$run: other answers"
    $run.lib/answer together <records >found 2>err || fail "$run: $(cat err)"
    cmp found expected || fail "$run: records that are answered together differ"
    [ -z "$python" ] || PYTHONPATH=$run.lib "$python" "$root/tests/cli/compile_columns.py" $run records expected ||
        fail "$run: Python answers otherwise"
done

# What the header says.
! grep -q "$(printf '\342\200\256')" mixed.lib/mixed.h || fail "a label changes the direction of the header's text"
grep -q 'labels: .*quite long' mixed.lib/mixed.h || fail "the labels are not listed: $(grep kind mixed.lib/mixed.h)"
grep -q 'const int32_t \*F_lengths; /\* of each record \*/' mixed.lib/mixed.h || fail "no lengths of frames"
! sed -n '/^typedef struct mixed_records/,/^}/p' mixed.lib/mixed.h | grep -q 'S_lengths\|G_lengths' || fail "lengths of texts are asked for"
[ -z "$short" ] || { echo "all is well"; exit; }
grep -q 'const float \*image; /\* \[B, 8\] \*/' captions.lib/captions.h || fail "no image: $(cat captions.lib/captions.h)"
grep -q 'const char \*const \*src2; /\* \[B\], texts \*/' multi_source.lib/multi_source.h || fail "no texts"

# A program: a record a line, as JSON.
"$tfc" compile mixed -o program --cpu x86-64
table mixed valid.tsv | awk -F '\t' '{ gsub(/"/, "\\\"", $3)
    printf("{\"frames\": %s, \"src\": \"%s\", \"kind\": \"%s\", \"mark\": \"%s\", \"weight\": %s}\n", $1, $2, $3, $4, $5) }' >records.jsonl
for options in "" "--nbest 2 --beam 3" "--sample --seed 5"; do
    # shellcheck disable=SC2086  # words
    "$tfc" translate mixed --input valid.tsv --cpu x86-64 $options >expected
    # shellcheck disable=SC2086
    ./program $options <records.jsonl >found 2>err || fail "the program $options: $(cat err)"
    cmp found expected || fail "the program answers otherwise $options"
done
head -n 3 records.jsonl >three
sed '2s/"kind": "[^,]*"/"kind": "none"/' three >wrong
refuses 1 "line 2: 'none' is none of the 3 labels of .kind." sh -c './program <wrong'
[ "$(wc -l <out.txt)" = 1 ] || fail "the line before a mistake has no answer"
sed '3s/}/]/' three >wrong
refuses 1 "program: line 3: " sh -c './program <wrong'
refuses 2 "ids is for texts" ./program --ids
# Members that no input has are skipped, in a line that is longer than one of texts may be.
awk 'NR == 1 { a = "a"; while (length(a) < 2000000) a = a a; sub(/^{/, "{\"other\": {\"b\": [1, \"" a "\"]}, ") }
     NR == 2 { sub(/}$/, ", \"caption\": \"a text\"}") } { print }' three >more
./program <three >wanted
./program <more >found 2>err || fail "members that no input has: $(cut -c 1-300 err)"
cmp found wanted || fail "other members change answers"
sed 's/"kind"/"kin"/' three >wrong
refuses 1 "line 1: the record has no field .kind." sh -c './program <wrong'
{ cat three; echo; echo; } >ends
./program <ends >found 2>err || fail "empty lines at the end: $(cat err)"
cmp found wanted || fail "empty lines at the end change answers"
{ head -n 1 three; echo; tail -n 2 three; } >wrong
refuses 1 "line 2: an empty line between records: take it out" sh -c './program <wrong'
[ "$(wc -l <out.txt)" = 1 ] || fail "the line before an empty one has no answer"
./program --help | grep -q 'Records as JSON objects' || fail "the program's help"

# As one C file; an ensemble.
"$tfc" compile mixed -o mixed.lib/mixed.c --cpu x86-64 --function encode,decode_step
table mixed valid.tsv >records
"$tfc" translate mixed --input valid.tsv --cpu x86-64 >expected
program mixed "-O1 -w -ffp-contract=off mixed.lib/mixed.c" -pthread
mixed.lib/answer together <records >found 2>err || fail "C: $(cat err)"
cmp found expected || fail "the C file answers otherwise"
seed=5 train other captions
# shellcheck disable=SC2086
"$tfc" compile captions --with other -o captions.lib/libcaptions.so $cpu
table captions valid.tsv >records
# shellcheck disable=SC2086
"$tfc" translate captions --with other --input valid.tsv $cpu >expected
captions.lib/answer together <records >found 2>err || {
    program captions '' -Lcaptions.lib -lcaptions -Wl,-rpath,"$work/captions.lib"
    captions.lib/answer together <records >found 2>err || fail "an ensemble: $(cat err)"
}
cmp found expected || fail "an ensemble answers otherwise"

# What is left out or refused.
refuses 1 "the attention over the source depends on the column .src2." "$tfc" compile "$fixtures/multi_source.tfg" -o a.so --function alignment
refuses 1 "a shortlist is for sources\|translates nothing, so a shortlist" "$tfc" compile captions -o a.so --shortlist expected
sed 's/^model.*/model own/; s/^const vocab/const src2_vocab = 1000, vocab/; s/^vocab kind.*/&\nvocab src2 = own("words:auto")/; s/^input src .*/&\ninput src2 : token[B, G2~] = column("b")/
     s/^dim .*/&, G2/; s/^param words.*/&\nparam others : [src2_vocab, d] = normal(0, 0.3)/; s/^also = /also = reshape(mean(others[src2], 1), [B, d]) + /' \
    "$fixtures/mixed.tfg" >own.tfg
"$tfc" train own.tfg --data train.tsv --vocab words:auto --out own --steps 40 --validate-every 0 2>err || fail "own: $(cat err)"
"$tfc" compile own -o answers --cpu x86-64 2>err || fail "own: $(cat err)"
awk -F '\t' 'NR > 1 { gsub(/"/, "\\\"", $6); printf("{\"frames\": %s, \"src\": \"%s\", \"src2\": \"%s\", ", $5, $3, $4)
    printf("\"kind\": \"%s\", \"mark\": \"%s\", \"weight\": %s}\n", $6, $7, $8) }' valid.tsv >records.jsonl
"$tfc" translate own --input valid.tsv --cpu x86-64 >expected
./answers <records.jsonl >found 2>err || fail "a text with a vocabulary of its own: $(cat err)"
cmp found expected || fail "a text with a vocabulary of its own is read otherwise"
cp "$root/tests/hf/cases/bert.json" titles.json
sed 's/own("words:auto")/own("titles.json")/' own.tfg >json.tfg
"$tfc" train json.tfg --data train.tsv --vocab words:auto --out json --steps 2 --validate-every 0 2>err || fail "own: $(cat err)"
"$tfc" compile json -o libown.so 2>err || fail "own: $(cat err)"
grep -q 'the function translations, of records, is left out: `src2` has a tokenizer.json of its own' err || fail "compile says: $(cat err)"
grep -q 'own_generate(' own.h && ! grep -q own_translations own.h || fail "other functions than said"

# Numbers along a dimension made of others: one more than there are frames.
sed 's/^model.*/model made/; s/^dim .*/&, H = F + 1/; s/^input tgt .*/&\ninput extra : float[B, H~] = column("extra")/
     s/reshape(weight, \[B, 1\])/(& + mean(extra, 1))/' "$fixtures/mixed.tfg" >made.tfg
extra() { awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "extra"; next }
    { m = gsub(/\[/, "[", $5); e = "0.5"; for (x = 1; x < m; x++) e = e " " x / 4 * $8; print $0, e }' "$1"; }
extra train.tsv >train_more.tsv
extra valid.tsv >valid_more.tsv
"$tfc" train made.tfg --data train_more.tsv --vocab words:auto --out made --steps 40 --validate-every 0 2>err || fail "made: $(cat err)"
"$tfc" compile made -o made_answers --cpu x86-64 2>err || fail "made: $(cat err)"
awk -F '\t' 'NR > 1 { gsub(/"/, "\\\"", $6); gsub(/ /, ", ", $11); printf("{\"frames\": %s, \"src\": \"%s\", \"extra\": [%s], ", $5, $3, $11)
    printf("\"kind\": \"%s\", \"mark\": \"%s\", \"weight\": %s}\n", $6, $7, $8) }' valid_more.tsv >records.jsonl
"$tfc" translate made --input valid_more.tsv --cpu x86-64 >expected
./made_answers <records.jsonl >found 2>err || fail "numbers along a dimension made of others: $(cat err)"
cmp found expected || fail "numbers along a dimension made of others are read otherwise"
sed '2s/"extra": \[/&9, /' records.jsonl >wrong
refuses 1 "line 2: .extra. has [0-9]* positions, and its dimension H [0-9]*: give both as many" sh -c './made_answers <wrong'
echo "all is well"
