#!/bin/sh
# Text that is answered as it is read: lines at once, a long text in bounded memory, bad
# lines, endless ones, and what goes out through devices, pipes and links.
# Usage: streams.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
shared_runs
ln -s "$runs/translator" run

head -n 300 all.src >text.txt
"$tfc" train "$root/models/gpt.tfg" --text text.txt --vocab chars:auto --out lm --steps 10 --batch-tokens 256 \
    --set layers=1 --set d_model=32 --set heads=2 --set context=32 2>train.err || fail "$(cat train.err)"

# ask LINE: writes it into the open pipe and gives the answer, which must come within seconds
ask() {
    echo "$1" >&3
    timeout 60 head -n 1 <&4
}
# serve NAME COMMAND …: the command reads from descriptor 3 and answers on descriptor 4
serve() {
    rm -f in out
    mkfifo in out
    "$@" <in >out &
    server=$!
    exec 3>in 4<out
}
end_service() {
    exec 3>&-
    cat <&4 >rest.txt
    exec 4<&-
    wait $server || fail "$1 ended with $?"
}

# A line has its answer while the pipe stays open; so for prompts and for pairs.
serve "$tfc" translate run
first=$(ask "a b c")
second=$(ask "d e")
end_service translate
printf 'a b c\nd e\n' | "$tfc" translate run >both.txt
printf '%s\n%s\n' "$first" "$second" | cmp - both.txt || fail "line by line: $first, $second; together: $(cat both.txt)"
serve "$tfc" generate lm --input - --tokens 40 --seed 5
first=$(ask "a b")
second=$(ask "c")
end_service generate
printf 'a b\nc\n' | "$tfc" generate lm --input - --tokens 40 --seed 5 >both.txt
printf 'a b\nc\n' | "$tfc" generate lm --input - --tokens 40 --seed 5 --repetition-penalty 9 >less.txt ||
    fail "--repetition-penalty"
cmp -s both.txt less.txt && fail "--repetition-penalty changes nothing"
# A prompt that is piped into it is not taken for one in silence.
echo "a b" | "$tfc" generate lm --tokens 2 >one.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "standard input is not read, so the text begins with nothing: --input - reads" err.txt || fail "$(cat err.txt)"
"$tfc" generate lm --tokens 2 >one.txt 2>err.txt </dev/null && [ ! -s err.txt ] || fail "nothing to read: $(cat err.txt)"
"$tfc" generate lm --prompt "a b" --tokens 12 --no-repeat-ngram 3 >grams.txt || fail "--no-repeat-ngram"
tr '\n' '~' <grams.txt | awk '
    { for (i = 1; i + 3 <= length($0); i++) if (n[substr($0, i, 3)]++) exit 1 } END { exit i != 14 }' ||
    fail "three tokens twice: $(cat grams.txt)"
# Where the rule leaves no token an answer ends, and the others are given.
"$tfc" generate lm --prompt "a b" --tokens 40 --no-repeat-ngram 1 >once.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "note: 1 answer ends early: --no-repeat-ngram left no token" err.txt || fail "$(cat err.txt)"
printf 'c\na b\n' | "$tfc" generate lm --input - --tokens 40 --no-repeat-ngram 1 >once.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "note: 2 answers end early" err.txt || fail "$(cat err.txt)"
grep -q '^c..' once.txt && grep -q '^a b..' once.txt || fail "answers that end early: $(cat once.txt)"
printf '%s\n%s\n' "$first" "$second" | cmp - both.txt || fail "prompts line by line: $first, $second: $(cat both.txt)"
"$tfc" generate lm --prompt "a b" --tokens 40 --seed 5 | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 } END { print "" }' >one.txt
head -n 1 both.txt | cmp - one.txt || fail "--input and --prompt go on differently"
rm -f targets
mkfifo targets
serve "$tfc" score run --source /dev/stdin --target targets
exec 5>targets
echo "c b a" >&5
first=$(ask "a b c")
exec 5>&-
end_service score
[ "$first" = "$(printf 'a b c\n' >s && printf 'c b a\n' >t && "$tfc" score run --source s --target t)" ] || fail "score: $first"

# So for what is predicted of lines, and of records in each format, compressed or not; the first line of a text may be
# shorter than what tells a compressed file.
awk 'BEGIN { print "text\tlabel"; for (i = 0; i < 60; i++) print (i % 2 ? "a b" : "c d e") "\t" (i % 2 ? "x" : "y") }' >labels.tsv
cat >classes.tfg <<'END'
use attention
const vocab = 100, classes = 2, d = 8
dim B, S
input text : token[B, S~] = column("text")
input label : int[B] = column("label")
vocab label = words
param embedding : [vocab, d] = normal(0, 0.3)
logits = linear as head(reshape(mean(embedding[text], 1), [B, d]), classes)
loss = cross_entropy(logits, label)
predict class = softmax(logits)
train { rate = constant(0.05); batch = tokens(200) }
END
"$tfc" train classes.tfg --data labels.tsv --vocab words:auto --out classes --steps 30 2>train.err || fail "$(cat train.err)"
printf 'c\na b\n' | "$tfc" predict classes >both.txt
serve "$tfc" predict classes
first=$(ask c)
second=$(ask "a b")
end_service predict
printf '%s\n%s\n' "$first" "$second" | cmp - both.txt || fail "predict: $first, $second; together: $(cat both.txt)"
answers_at_once() { # HEAD FIRST SECOND: these lines are a table of the two records
    serve "$tfc" predict classes --input -
    [ -z "$1" ] || echo "$1" >&3
    first=$(ask "$2")
    second=$(ask "$3")
    end_service predict
    printf '%s\n%s\n' "$first" "$second" | cmp - both.txt || fail "predict of $2, $3: $first, $second"
}
answers_at_once "label	text" "x	c" "y	a b"
answers_at_once "" '{"text": "c"}' '{"text": "a b", "id": 3}'
rm -f in
mkfifo in out.csv # a name says CSV, whose records may have line breaks
"$tfc" predict classes --input out.csv >answers.txt &
server=$!
{
    printf 'id,text\n"1\n2",c\n'
    i=0
    while [ $((i += 1)) -lt 300 ] && [ ! -s answers.txt ]; do sleep 0.1; done
    cp answers.txt early.txt
    printf '3,"a b"\n'
} >out.csv
wait $server && cmp answers.txt both.txt && head -n 1 both.txt | cmp - early.txt || fail "CSV: $(cat early.txt answers.txt)"
for pack in "gzip -c" "xz -c" "zstd -qc"; do
    { printf 'c\n' | $pack; printf 'a b\n' | $pack; } | "$tfc" predict classes | cmp - both.txt || fail "predict of $pack"
done
printf 'c\na b\n' >given.txt
"$tfc" predict classes --input given.txt --npy given.npy
"$tfc" predict classes --input given.txt --npy /dev/stdout | cmp - given.npy || fail "an array in a pipe is another"
[ "$(head -c 128 given.npy | tail -c +11 | tr -s ' ')" = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), } " ] ||
    fail "the header of an array: $(head -c 128 given.npy)"
# A mistake ends it, after the answers to the records before it, and leaves no half of a file.
printf 'c\na b\n\377\nd\n' >bad.txt
refuses 1 'bad.txt:3:1: error: invalid UTF-8: byte 0xff' "$tfc" predict classes --input bad.txt
cmp out.txt both.txt || fail "before a bad line: $(cat out.txt)"
printf 'label\ttext\nx\tc\ny\ta b\nx\nx\ta\ty\n' >bad.tsv
refuses 1 'bad.tsv:4:1: error: the record has 1 field, and the header has 2' "$tfc" predict classes --input bad.tsv
cmp out.txt both.txt && grep -q 'bad.tsv:5:1: error: the record has 3 fields' err.txt || fail "$(cat out.txt err.txt)"
printf 'id,text\n"1\n2",c\n3,a b\n"4\n5,d\n6",f,g\n' >bad.csv
refuses 1 'bad.csv:5:1: error: the record has 3 fields' "$tfc" predict classes --input bad.csv
cmp out.txt both.txt || fail "before a bad record of CSV: $(cat out.txt)"
refuses 1 'bad.tsv:4:1' "$tfc" predict classes --input bad.tsv --tsv half.tsv
refuses 1 'bad.tsv:4:1' "$tfc" predict classes --input bad.tsv --npy half.npy
[ ! -e half.tsv ] && [ ! -e half.npy ] || fail "half of a file is left"

# Windows do not show: neither in samples, which are keyed by the number of the line.
"$tfc" translate run --sample --seed 4 --input all.src --json >whole.txt
(head -n 700 all.src; sleep 0.5; tail -n +701 all.src) | "$tfc" translate run --sample --seed 4 --json --batch-tokens 20 >parts.txt
cmp whole.txt parts.txt || fail "windows show"

# Nor does the number of workers.
"$tfc" translate run --input all.src --nbest 2 --beam 3 --workers 1 >whole.txt
head -n 100 all.src >some.src
"$tfc" generate lm --input some.src --tokens 20 --seed 5 --workers 1 >answers.txt
for workers in "--workers 2 --threads 2" "--workers 3 --threads 2" "--threads 2"; do
    "$tfc" translate run --input all.src --nbest 2 --beam 3 --batch-tokens 50 $workers | cmp - whole.txt || fail "translate $workers"
    "$tfc" generate lm --input some.src --tokens 20 --seed 5 $workers | cmp - answers.txt || fail "generate $workers"
done

# Twenty times the lines take no more memory: peak_after LINES COMMAND … gives kilobytes.
peak_after() {
    n=$1
    shift
    serve "$tfc" "$@"
    awk -v n="$n" '{ line[NR] = $0 } END { for (i = 0; i < n; i++) print line[i % NR + 1] }' all.src >&3 &
    timeout 200 head -n "$n" <&4 | wc -l >count.txt
    [ "$(cat count.txt)" = "$n" ] || fail "$(cat count.txt) answers to $n lines"
    peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$server/status)
    end_service "$2"
}
# grows_not FEW MANY KILOBYTES COMMAND …
grows_not() {
    few=$1 many=$2 room=$3
    shift 3
    peak_after "$few" "$@"
    before=$peak
    peak_after "$many" "$@"
    [ "$peak" -lt $((before + room)) ] || fail "$*: $before kB for $few lines, $peak kB for $many"
}
if [ -z "$short" ] && ! sanitized; then
    grows_not 50000 150000 8000 score lm --text -
    grows_not 1000 7000 3000 translate run --beam 1 --batch-tokens 32 --workers 1
    grows_not 100000 500000 3000 predict classes --threads 1
fi
# More records of a file take no more memory, whatever is written: memory_of RECORDS gives kilobytes.
memory_of() {
    awk -v n="$1" 'BEGIN { print "label\ttext"; for (i = 0; i < n; i++) print "x\ta b" }' >lines.tsv
    peak_of "$tfc" predict classes --input lines.tsv --npy values.npy --threads 1
}
if command -v python3 >/dev/null && ! sanitized; then
    before=$(memory_of 100000)
    after=$(memory_of 400000)
    [ "$after" -lt $((before + 3000)) ] || fail "predict: $before kB for 100000 records, $after kB for 400000"
fi

# A bad line ends it, after the lines before it; --keep-going passes over it.
printf 'a b\n\377\nc\n' >bad.txt
refuses 1 'bad.txt:2:1: error: invalid UTF-8: byte 0xff' "$tfc" translate run --input bad.txt
[ "$(wc -l <out.txt)" = 1 ] || fail "the line before a bad one: $(cat out.txt)"
cp bad.txt kept.txt
refuses 1 'kept.txt has the 1 line before that' "$tfc" translate run --input bad.txt --output kept.txt
head -n 1 bad.txt | "$tfc" translate run | cmp - kept.txt || fail "before a bad line: $(cat kept.txt)"
[ "$(wc -l <kept.txt)" = 1 ] || fail "the line before a bad one: $(cat kept.txt)"
"$tfc" translate run --input bad.txt --keep-going >out.txt 2>err.txt || fail "--keep-going: $(cat err.txt)"
grep -q 'bad.txt:2:1: warning: invalid UTF-8' err.txt || fail "--keep-going: $(cat err.txt)"
[ "$(wc -l <out.txt)" = 3 ] && [ -z "$(sed -n 2p out.txt)" ] || fail "--keep-going: $(cat out.txt)"
awk 'BEGIN { for (i = 0; i < 20; i++) printf "a "; print ""; print "b" }' >long.txt
refuses 1 'long.txt:1:1: error: the line has 21 tokens, the model takes 20 at most' \
    "$tfc" translate run --input long.txt
"$tfc" translate run --input long.txt --keep-going --json >out.txt 2>err.txt || fail "$(cat err.txt)"
[ "$(wc -l <out.txt)" = 2 ] || fail "a long line: $(cat out.txt)"
"$tfc" score run --source long.txt --target long.txt --keep-going >out.txt 2>err.txt || fail "$(cat err.txt)"
[ "$(wc -l <out.txt)" = 2 ] && [ -z "$(sed -n 1p out.txt)" ] || fail "score: $(cat out.txt)"
printf 'a\nb\nc\n' >three.txt
refuses 1 'source and target differ: long.txt has 2 lines, three.txt has more' \
    "$tfc" score run --source long.txt --target three.txt --keep-going
"$tfc" generate lm --input bad.txt --keep-going --tokens 9 >out.txt 2>err.txt || fail "$(cat err.txt)"
[ "$(wc -l <out.txt)" = 3 ] && [ -z "$(sed -n 2p out.txt)" ] || fail "generate: $(cat out.txt)"

# Lines have a limit, and what has no lines ends in a message.
awk 'BEGIN { for (i = 0; i < 1200000; i++) printf "a "; print "" }' >endless.txt
for text in endless.txt /dev/zero; do
    refuses 1 "$text:1:1: error: the line is longer than 1000000 bytes; --line-limit" "$tfc" translate run --input $text
done
refuses 1 'the line has 1200001 tokens, the model takes 20' "$tfc" translate run --input endless.txt --line-limit 3M
refuses 1 'line 1 has no end: this is not a text file' "$tfc" translate run --input /dev/zero --line-limit 10k --keep-going
refuses 2 'line-limit is .2T.; expected a size such as 800k or 20M, at most 1G' "$tfc" translate run --line-limit 2T
train() { "$tfc" train "$runs/translator.tfg" --vocab words:auto --out other "$@"; }
refuses 1 'endless.txt:1:1: error: the line is longer than 1000000 bytes' train --source endless.txt --target train.tgt
refuses 1 '/dev/zero:1:1: error: a NUL byte' train --source /dev/zero --target train.tgt
truncate -s 4T huge.txt 2>/dev/null || truncate -s 1T huge.txt
refuses 1 'the texts have .* GB, for which a training takes about .* GB, and .* free; train on a part' \
    train --source huge.txt --target huge.txt
[ ! -e other ] || fail "a folder for a training that cannot be"

# What goes out goes through what is there.
printf 'a b\nc\n' | "$tfc" translate run >expected.txt
ln -s real.txt link.txt
printf 'a b\nc\n' | "$tfc" translate run --output link.txt
[ -L link.txt ] && cmp real.txt expected.txt || fail "a link is no link any more"
mkfifo fifo
cat fifo >through.txt &
reader=$!
printf 'a b\nc\n' | "$tfc" translate run --output fifo
wait $reader
[ -p fifo ] && cmp through.txt expected.txt || fail "a FIFO is none any more"
{ echo before; printf 'a b\nc\n' | "$tfc" translate run --output /dev/stdout; echo after; } >joined.txt
{ echo before; cat expected.txt; echo after; } | cmp - joined.txt || fail "/dev/stdout: $(cat joined.txt)"
cat fifo >trace.json &
reader=$!
ln -s summary.json summary
"$tfc" train "$runs/translator.tfg" --source train.src --target train.tgt --vocab words:auto --out short --steps 2 \
    --json-summary summary --trace fifo 2>train.err || fail "$(cat train.err)"
wait $reader
[ -L summary ] && grep -q '"ended": "done"' summary.json || fail "--json-summary through a link"
[ -p fifo ] && grep -q traceEvents trace.json || fail "--trace through a FIFO: $(head -c 300 trace.json)"
refuses 1 'cannot write fifo (-o): not a regular file' "$tfc" compile "$runs/translator.tfg" -o fifo
[ -p fifo ] || fail "a FIFO is none any more"
echo "all is well"
