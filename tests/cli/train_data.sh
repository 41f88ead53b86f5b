#!/bin/sh
# Pairs from one file with tabs: the same training, bit for bit, as from two files.
# Usage: train_data.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model backwards
use transformer
const layers = 1, d_model = 32, d_ff = 64, heads = 4, vocab = 8
train { rate = inverse_sqrt(peak = 0.01, warmup = 40); batch = tokens(400) }
END
words_backwards
paste train.src train.tgt | awk '{ print $0 "\tcolumn" NR }' >train.tsv
paste valid.src valid.tgt >valid.tsv
train() {
    out=$1
    shift
    "$tfc" train model.tfg --vocab words:auto --out "$out" --seed 3 --steps "${steps:-8}" "$@" 2>"$out.err"
}
losses() { grep -o '"valid_[a-z]*": *[0-9.e+-]*' "$1/log.jsonl"; }

pair="--source train.src --target train.tgt --valid-source valid.src --valid-target valid.tgt"
train two $pair || fail "$(cat two.err)"
train one --data train.tsv --valid-data valid.tsv || fail "$(cat one.err)"
losses two >two.losses && losses one >one.losses || fail "no validation in the log"
cmp two.losses one.losses || fail "one file validates otherwise than two"
same_tensors two/last.safetensors one/last.safetensors "one file trains otherwise than two"

# It goes on with the file that it began with, and with no other.
"$tfc" train one --resume --steps 12 2>more.err || fail "resuming: $(cat more.err)"
sed 5d train.tsv >less.tsv
status=0; "$tfc" train one --resume --steps 16 --data less.tsv 2>less.err || status=$?
[ $status = 1 ] && grep -q -- '--data .*less.tsv: it was' less.err || fail "resumed on other data: $(cat less.err)"

# Wrong lines are told by file and line, and what contradicts itself is refused.
refuses 1 "cannot make the folder valid.src: a file has that name" \
    "$tfc" train model.tfg --vocab words:auto --data train.tsv --steps 8 --out valid.src
sed '7s/\t/ /g' train.tsv >wrong.tsv
status=0; train wrong --data wrong.tsv || status=$?
[ $status = 1 ] && grep -q 'wrong.tsv:7:.*no tab' wrong.err || fail "no tab: $(cat wrong.err)"
status=0; train both $pair --data train.tsv || status=$?
[ $status = 2 ] && grep -q 'in place of' both.err || fail "both: $(cat both.err)"

# A translation memory is the same pairs, in either order of its languages.
awk -F '\t' 'BEGIN { print "<?xml version=\"1.0\"?><tmx version=\"1.4\"><header srclang=\"en\"/><body>" }
    { print "<tu><tuv xml:lang=\"xx-AA\"><seg>" $2 "</seg></tuv><tuv xml:lang=\"EN\"><seg><bpt>b</bpt>" $1 "</seg></tuv></tu>" }
    END { print "<tu><tuv xml:lang=\"en\"><seg>alone</seg></tuv></tu></body></tmx>" }' train.tsv >train.tmx
steps=12 train memory --data train.tmx --languages en,xx || fail "$(cat memory.err)"
steps=12 train lines --data train.tsv || fail "$(cat lines.err)"
same_tensors lines/last.safetensors memory/last.safetensors "a translation memory"
grep -q '1 of [0-9]* units have no segment' memory.err || fail "nothing is said of the unit without a side"
status=0; train no --data train.tmx || status=$?
[ $status = 1 ] && grep -q -- '--languages en,de names' no.err || fail "no languages: $(cat no.err)"
status=0; train no --data train.tmx --languages en,de || status=$?
[ $status = 1 ] && grep -q "both 'en' and 'de'; its languages are: xx-AA, EN" no.err || fail "wrong languages: $(cat no.err)"
head -n 5 train.tmx >cut.tmx
status=0; train no --data cut.tmx --languages en,xx || status=$?
[ $status = 1 ] && grep -q 'cut.tmx:6:' no.err || fail "cut off: $(cat no.err)"

# A table of pairs is the same pairs, whatever its format, the order of its fields, and what else it has.
paste train.src train.tgt >plain.tsv
awk -F '\t' 'BEGIN { print "id,en,de" } { print NR ",\"" $1 "\"," $2 }' plain.tsv >named.csv
awk -F '\t' 'BEGIN { printf "\357\273\277n\tde\ten\r\n" } { printf "%s\t%s\t%s\r\n", NR, $2, $1 }' plain.tsv >marked.tsv
awk -F '\t' '{ printf "{\"n\": %d, \"en\": \"%s\", \"de\": \"%s\"}\n", NR, $1, $2 }' plain.tsv | gzip >named.jsonl.gz
awk -F '\t' 'BEGIN { print "target\tsource" } { print $2 "\t" $1 }' plain.tsv >sides.tsv
awk -F '\t' '{ print NR "," $1 "," $2 }' plain.tsv >numbered.csv
steps=3 train plain --data plain.tsv || fail "$(cat plain.err)"
for command in eval score align; do
    "$tfc" $command plain --source train.src --target train.tgt >plain.$command 2>/dev/null || fail "$command of two files"
done
"$tfc" attend plain --source train.src --target train.tgt --json plain.attend 2>/dev/null || fail "attend of two files"
"$tfc" quantize plain -o small --source train.src --target train.tgt --json >plain.quantize || fail "quantize with two files"
translated() { "$tfc" translate plain --max-tokens 2 "$@" 2>err; }
translated --input train.src >plain.translate || fail "$(cat err)"
"$tfc" prepare --data plain.tsv --vocab words:auto -o prepared-plain 2>err || fail "$(cat err)"
names='--column source=en --column target=de'
while read -r data; do
    rm -rf table prepared
    steps=3 train table --data $data || fail "$data: $(cat table.err)"
    same_tensors plain/last.safetensors table/last.safetensors "$data"
    for command in eval score align; do
        "$tfc" $command plain --data $data 2>err | cmp - plain.$command || fail "$command --data $data: $(cat err)"
    done
    "$tfc" attend plain --data $data --json attended 2>err || fail "attend --data $data: $(cat err)"
    cmp attended plain.attend || fail "attend --data $data"
    rm -r small
    "$tfc" quantize plain -o small --data $data --json 2>err | cmp - plain.quantize || fail "quantize --data $data: $(cat err)"
    source=$(echo "$data" | sed 's/ --column target=[^ ]*//')
    translated --input $source | cmp - plain.translate || fail "translate --input $source: $(cat err)"
    "$tfc" prepare --data $data --vocab words:auto -o prepared 2>err || fail "$data: $(cat err)"
    for shard in prepared-plain/*.tokens; do
        tail -c +121 "$shard" >x.ids
        tail -c +121 "prepared/${shard#*/}" | cmp - x.ids || fail "$data is prepared otherwise"
    done
done <<L
named.csv $names
marked.tsv $names
named.jsonl.gz $names
sides.tsv
numbered.csv --column source=2 --column target=3
L
"$tfc" eval table --data named.jsonl.gz $names >again || fail "a run of a table"
# Of what is translated the source alone is read: of a header with `source`, from a pipe, with answers in order.
awk 'BEGIN { print "no,source" } { print NR "," $0 }' train.src >alone.csv
translated --input alone.csv | cmp - plain.translate || fail "a table of sources: $(cat err)"
head -n 3 plain.translate >few
head -n 3 plain.tsv | "$tfc" translate plain --column source=1 --max-tokens 2 | cmp - few || fail "a table from a pipe"
printf 'a b\t1\n\t2\n"c d\t3\n' >odd.tsv # an empty source; a quote that begins none
printf 'a b\n\n"c d\n' >odd.txt
translated --input odd.txt >few || fail "$(cat err)"
translated --input odd.tsv --column source=1 | cmp - few || fail "odd sources: $(cat err)"
printf 'source,x\na b,1\nc,2\n%s,3\nd,4\n' "$(yes a | head -n 99 | tr '\n' ' ')" >long.csv
status=0; translated --input long.csv --line-limit 40 >found || status=$?
[ $status = 1 ] && [ "$(wc -l <found)" = 2 ] && grep -q 'long.csv:4:1: error: the line is longer than 40 bytes' err || fail "too long: $(cat err)"
refuses 2 'some files of --input are tables and some are lines' "$tfc" translate plain --input alone.csv --input train.src
refuses 2 'some files of --input are tables and some are lines' "$tfc" translate plain --input train.src --input alone.csv
refuses 2 'column target=2: a table that is translated has sources alone' "$tfc" translate plain --input alone.csv --column target=2
refuses 1 "the header has no field 'en'" "$tfc" translate plain --input alone.csv --column source=en
refuses 2 'column source=1 names a field of a table: give the pairs as --data FILE' "$tfc" attend plain --source train.src --column source=1 --json no
refuses 2 'column source=1 names a field of a table: give the pairs as --data FILE' "$tfc" quantize plain -o no --column source=1
refuses 2 'input is of models that are fed by columns, and plain is not: give --source FILE, alone or with --target FILE, or --data FILE' \
    "$tfc" attend plain --input train.src --json no
refuses 1 "prepared was prepared from other texts or in another way" \
    "$tfc" prepare --data numbered.csv --column source=1 --column target=2 --vocab words:auto -o prepared
refuses 1 "the header has no field 'fr'; there are 'id', 'en' and 'de'" \
    "$tfc" train model.tfg --vocab words:auto --data named.csv --column source=fr --column target=de --out no
refuses 1 "the record has no field 'source'; there are 'n', 'en' and 'de'" "$tfc" eval plain --data named.jsonl.gz
refuses 1 "note: --column source=FIELD and --column target=FIELD choose other fields" "$tfc" eval plain --data named.jsonl.gz
refuses 1 "source and target are both field en" "$tfc" eval plain --data named.csv --column source=en --column target=en
refuses 1 "expected source=FIELD or target=FIELD" "$tfc" data --data named.csv --column en=source
refuses 2 "column source=en names a field of a table: give the pairs as --data FILE" \
    "$tfc" train model.tfg --vocab words:auto $pair --column source=en --out no

# What is validated on and trained on, too.
steps=1 train both --data plain.tsv --valid-data sides.tsv || fail "$(cat both.err)"
grep -q 'sides.tsv:2:1: warning: 1100 of 1100 pairs to validate on are training text, too' both.err || fail "heart: $(cat both.err)"
for i in 1 2 3 4 5; do printf 'a a a a a a a b\tb a a a a a a %s\n' $i; done >new.tsv
steps=1 train fresh --data plain.tsv --valid-data new.tsv || fail "$(cat fresh.err)"
! grep -q 'training text, too' fresh.err || fail "new pairs are known: $(cat fresh.err)"
