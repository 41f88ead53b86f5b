#!/bin/sh
# Models that decode from columns: two sources, an image, a number. They train with BLEU, translate and score tables of every
# format as one, whatever batches, workers and order; every setting of a search; ensembles; mistakes.
# Usage: columns_decode.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
fixtures=$root/tests/fixtures/columns
enter_work

# Records: the target is the first source in capitals, then the second.
python3 - <<'END'
import csv, json, random
random.seed(4)
words = ["ein", "zwei", "drei", "vier", "acht"]
for name, n in (("train", 400), ("valid", 40)):
    rows = []
    for i in range(n):
        a, b = ([random.choice(words) for _ in range(random.randint(1, 3))] for _ in range(2))
        k, m = random.randrange(5), random.randrange(3)
        rows.append({"image": [float(k == x) for x in range(8)], "place": m, "a": " ".join(a), "b": " ".join(b),
                     "c": " ".join(w.upper() for w in a) + " " + " ".join(b), "caption": "the word %s at %d" % (words[k], m)})
    with open(name + ".jsonl", "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    texts = [[json.dumps(v) if isinstance(v, list) else str(v) for v in row.values()] for row in rows]
    with open(name + ".tsv", "w") as out:
        out.writelines("\t".join(row) + "\n" for row in [list(rows[0])] + texts)
    with open(name + ".csv", "w", newline="") as out:
        csv.writer(out).writerows([list(rows[0])] + texts)
END
gzip -k valid.csv
train() {
    out=$1
    shift
    "$tfc" train "$@" --out "$out" >said 2>&1 || fail "tfc train $*: $(cat said)"
}
columns="--column src=a --column src2=b --column tgt=c"
# shellcheck disable=SC2086  # words
train pair "$fixtures/multi_source.tfg" --data train.tsv --valid-data valid.tsv --valid more=valid.jsonl $columns \
    --vocab words:auto --set layers=1 --set d_model=32 --set d_ff=64 --set heads=2 --steps 120 --validate-every 120 --best bleu
grep -q 'more [0-9.]*.*BLEU [0-9]' said || fail "translations of tables are not measured: $(cat said)"
grep -q '"samples": {"[0-9]*": "[A-Z]' pair/log.jsonl || fail "no translations are kept: $(cat pair/log.jsonl)"
train picture "$fixtures/captions.tfg" --data train.csv --valid-data valid.jsonl --vocab words:auto --steps 120 \
    --validate-every 120 --best bleu
grep -q 'BLEU 100.00' said || fail "captions are not learnt: $(cat said)"

# The same answers, whatever the format, the batches and the workers; those of one record do not depend on the others.
"$tfc" translate pair --input valid.tsv >pair.out || fail "two sources are not translated"
"$tfc" translate picture --input valid.tsv >picture.out || fail "no captions"
cut -f 6 valid.tsv | tail -n +2 | cmp - picture.out || fail "other captions: $(head -n 3 picture.out)"
for run in pair picture; do
    for file in ${short:+valid.csv.gz} $([ "$short" ] || echo valid.csv valid.jsonl valid.csv.gz); do
        "$tfc" translate $run --input $file | cmp - $run.out || fail "$run: $file has other answers"
    done
    "$tfc" translate $run --input - --batch-tokens 9 --workers 2 <valid.tsv | cmp - $run.out || fail "$run: batches matter"
    head -n 5 valid.tsv | "$tfc" translate $run --input - --output five || fail "$run: no five records"
    head -n 4 $run.out | cmp - five || fail "$run: other records matter"
    [ -z "$short" ] || continue
    "$tfc" translate $run --with $run --input valid.tsv | cmp - $run.out || fail "$run: an ensemble of one run differs"
    "$tfc" translate $run --input valid.tsv --nbest 2 --beam 3 >said
    [ "$(wc -l <said)" = 80 ] && [ "$(grep -c '^39 ||| ' said)" = 2 ] || fail "$run: no two results each: $(tail -n 3 said)"
    "$tfc" translate $run --input valid.tsv --sample --seed 5 >said && "$tfc" translate $run --input valid.csv --sample --seed 5 |
        cmp - said || fail "$run: draws depend on the format"
    awk '{ print "drei" }' $run.out >prefixes
    "$tfc" translate $run --input valid.tsv --prefix prefixes >said
    [ "$(grep -c '^drei' said)" = 40 ] || fail "$run: no prefixes: $(head -n 2 said)"
done

# An ensemble whose second model encodes a column that the first does not.
cp -r pair narrow
sed -i 's/encoder(src), encoder2(src2)))/encoder(src), encoder(src)))\noutput other = encoder2(src2)/' narrow/model.tfg
refuses 1 "pair reads a column for .src2., which narrow does not" "$tfc" translate narrow --input valid.tsv --with pair

# Records are answered as they are written, and tables of many parts as small ones: a record of CSV has line breaks.
mark() { i=0; while [ "$(wc -l <slow)" != 2 ] && [ $i -lt 200 ]; do sleep 0.1; i=$((i + 1)); done; wc -l <slow >early; }
: >slow
{ head -n 3 valid.tsv; mark; tail -n +4 valid.tsv; } | "$tfc" translate picture --input - >slow || fail "no answers to a pipe"
[ "$(cat early)" = 2 ] || fail "records of a pipe wait for others: $(cat early)"
cmp slow picture.out || fail "records that come late have other answers"
if [ -z "$short" ]; then
    python3 - <<'END'
import csv, json
rows = [json.loads(line) for line in open("valid.jsonl")] * 100
with open("many.csv", "w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["noise", "image", "place"])
    for i, row in enumerate(rows):
        writer.writerow(['line, "%d"\n' % i * 200, json.dumps(row["image"]), row["place"]])
with open("many.jsonl", "w") as out:
    out.writelines(json.dumps({"noise": "x" * 3000, **row}) + "\n" for row in rows)
END
    gzip -c many.csv >packed.csv.gz
    for i in $(seq 100); do cat picture.out; done >many.out
    for file in many.csv many.jsonl packed.csv.gz; do
        "$tfc" translate picture --input $file --beam 1 >found || fail "$file has no answers"
        cmp found many.out || fail "$file has other answers"
    done
    "$tfc" translate picture --input many.csv --input valid.jsonl --beam 1 | tail -n 40 | cmp - picture.out || fail "the second file"
    { head -c 9000000 many.jsonl; echo; } >broken.jsonl
    refuses 1 "broken.jsonl:[0-9]*:[0-9]*: error" "$tfc" translate picture --input broken.jsonl --beam 1
    [ "$(wc -l <out.txt)" -gt 2000 ] && head -n 40 out.txt | cmp - picture.out || fail "answers before a mistake are lost"
fi

# What a search says of its results is what score says of them.
"$tfc" translate pair --input valid.tsv --json | python3 -c '
import json, sys
rows = [json.loads(line) for line in open("valid.jsonl")]
with open("back.jsonl", "w") as out:
    for row, line in zip(rows, sys.stdin):
        answer = json.loads(line)
        out.write(json.dumps(dict(row, c=answer["text"], p=answer["log_probability"])) + "\n")'
for with in "" "--with pair"; do
    # shellcheck disable=SC2086  # words
    "$tfc" score pair --data back.jsonl $with >scores || fail "answers have no scores"
    python3 -c '
import json
for line, p in zip(open("back.jsonl"), open("scores")):
    assert abs(json.loads(line)["p"] - float(p)) < 1e-4, (line, p)' || fail "other probabilities $with"
done
"$tfc" score picture --data valid.tsv --token-scores | grep -c '"tokens": \[\["' >said || fail "no scores of captions"
[ "$(cat said)" = 40 ] || fail "not a line for each record"
"$tfc" translate pair --input valid.tsv --attention | head -n 1 | grep -q ' ||| [0-9.,]* ' || fail "no attention"
"$tfc" score pair --data valid.tsv --attention | head -n 1 | grep -q ' ||| [0-9.,]* ' || fail "no attention of given targets"

# The words that correspond are those with the greatest of these weights.
"$tfc" score pair --data valid.tsv --attention >scores
"$tfc" align pair --data valid.tsv --layer 0 >links || fail "records are not aligned"
"$tfc" align pair --data valid.jsonl --layer 0 | cmp - links || fail "another format is aligned otherwise"
python3 -c '
lines, rows = open("links").read().splitlines(), open("scores").read().splitlines()
assert len(lines) == len(rows) == 40
for links, row in zip(lines, rows):
    weights = [[float(w) for w in word.split(",")] for word in row.split(" ||| ")[1].split()]
    found = [tuple(map(int, link.split("-"))) for link in links.split()]
    assert len(found) == len(weights) - 1, (links, row)  # the end is no word
    for source, target in found:
        words = weights[target][:-1]
        assert words[source] > max(words) - 1e-4, (links, row)' || fail "other words are aligned"

# Figures: BLEU of a table is that of its answers as texts.
cut -f 5 valid.tsv | tail -n +2 >wanted
"$tfc" eval pair --data valid.tsv --beam 4 --json >said || fail "no figures of a table"
python3 -c '
import json
answers, wanted = (open(f).read().splitlines() for f in ("pair.out", "wanted"))
said = json.load(open("said"))
assert said["records"] == 40 and abs(said["accuracy"] - sum(map(str.__eq__, answers, wanted)) / 40) < 1e-9, said
assert 0 < said["bleu"] <= 100' || fail "other figures: $(cat said)"
"$tfc" eval picture --data valid.csv --with picture | grep -q '^BLEU  *100.00' || fail "an ensemble of captions has no BLEU"
for run in $([ "$short" ] || echo pair picture); do
    model=multi_source
    [ $run = pair ] || model=captions
    "$tfc" check "$fixtures/$model.tfg" | grep -q 'ok  *token by token = all at once' || fail "$run: decoding is not checked"
    "$tfc" bench "$fixtures/$model.tfg" --mode decode --steps 1 --batch 2 >said || fail "$run: not measured"
done

# The page of a run shows answers beside what was wanted; compile_columns.sh has the library.
"$tfc" report picture -o report.html >said 2>&1 || fail "no report: $(cat said)"
grep -q "$(sed -n 7p picture.out)" report.html || fail "the report shows no captions"

# Mistakes: each with its place.
printf 'a\tb\nein\n' >short.tsv
refuses 1 'short.tsv:2:1: error: the record has 1 field, and the header has 2' "$tfc" translate pair --input short.tsv
printf 'a\tc\nein\tEIN\n' >lacks.tsv
refuses 1 "lacks.tsv:1:1: error: the header has no field 'b'" "$tfc" translate pair --input lacks.tsv
printf '{"image": [1, 0], "place": 1}\n' >few.jsonl
refuses 1 'few.jsonl:1:.*the cell has 2 numbers, and `image` takes 8' "$tfc" translate picture --input few.jsonl
printf 'image\tplace\n1 0 0 0 0 0 0 0\t7\n' >far.tsv
refuses 1 'far.tsv:2:.*7' "$tfc" translate picture --input far.tsv
refuses 1 "few.jsonl:1:1: error: no record\|has no field 'caption'" "$tfc" score picture --data few.jsonl
refuses 2 'pair reads a table: give it as --data FILE' "$tfc" score pair --source valid.tsv --target valid.tsv
refuses 2 'pair reads a table: give it as --data FILE' "$tfc" align pair --source valid.tsv --target valid.tsv
refuses 2 '--keep-going passes over lines of a text' "$tfc" translate pair --input valid.tsv --keep-going
refuses 1 'tfc translate --input TABLE decodes from them' "$tfc" generate picture
refuses 1 "valid.tsv:1:1: error: the header has no field 'x'" "$tfc" translate pair --input valid.tsv --column src2=x
refuses 1 'pair and picture cannot be averaged' "$tfc" translate pair --with picture --input valid.tsv
refuses 1 'picture translates nothing, so a shortlist has no effect' "$tfc" translate picture --input valid.tsv --shortlist wanted
