#!/bin/sh
# Tables and texts of any length are evaluated by windows, as if they were in memory: validations of a training, which
# hold theirs, say the same of a table; so does what is predicted of each record. Files and pipes, one or several, are
# the same.
# Usage: eval_windows.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
records=70000 # more than a window has

awk -v n=$records 'BEGIN { srand(3); print "text\tleft\tlabel\tprice" >"all.tsv"
    for (i = 0; i < n; i++) { s = t = ""
        for (k = 1 + int(rand() * 3); k > 0; k--) { s = s "w" int(rand() * 30) (k > 1 ? " " : ""); t = t "w" int(rand() * 30) (k > 1 ? " " : "") }
        print s "\t" t "\t" (rand() < 0.5 ? "x" : "y") "\t" int(rand() * 9) >"all.tsv" } }'
head -n 300 all.tsv >train.tsv
model() { # FIELDS: a model of a text and what standard input has
    printf 'use attention\nconst vocab = 40, d = 4\ndim B, S, T\ninput text : token[B, S~] = column("text"%s)\n' "${1:-}"
    printf 'param embedding : [vocab, d] = normal(0, 0.5)\ntrain { rate = constant(0.01); batch = tokens(200) }\n'
    printf 'seen = reshape(mean(embedding[text], 1), [B, d])\n'
    cat
}
model >classes.tfg <<'END'
input label : int[B] = column("label")
vocab label = words
logits = linear as head(seen, 2)
loss = cross_entropy(logits, label)
predict class = softmax(logits)
END
model >numbers.tfg <<'END'
input paid : float[B] = column("price")
y = reshape(linear as head(seen, 1), [B])
loss = mean((y - paid) * (y - paid))
predict price = y
END
model >vectors.tfg <<'END'
input left : token[B, T~] = column("left")
other = reshape(mean(embedding[left], 1), [B, d])
loss = mean(sum((seen - other) * (seen - other), 1))
predict a = seen
predict b = other
END
model ', hide = 0.3' | grep -v ^seen >hidden.tfg
cat >>hidden.tfg <<'END'
logits = linear as head(embedding[text], vocab)
loss = cross_entropy(logits, hidden(text))
predict fill = softmax(logits)
END

# same FIELD MODEL: what a validation says is what eval says
same() {
    "$tfc" train "$2.tfg" --data train.tsv --valid-data all.tsv --vocab words:auto --steps 3 --out "run-$2" \
        --threads 1 >said.txt 2>&1 || fail "$(cat said.txt)"
    "$tfc" eval "run-$2" --data all.tsv --json --checkpoint last >"$2.json" || fail "eval of $2"
    [ "$(grep "valid_$1" "run-$2/log.jsonl" | tail -n 1 | number "valid_$1" | cut -c 1-8)" = "$(number "$1" <"$2.json" | cut -c 1-8)" ] ||
        fail "$2: $(tail -n 3 "run-$2/log.jsonl") and $(cat "$2.json")"
    [ "$(number records <"$2.json")" = $records ] || fail "records of $2: $(cat "$2.json")"
}
same accuracy classes
same spearman numbers
same recall vectors
same accuracy hidden

# What is predicted of each record, counted here.
"$tfc" predict run-classes --input all.tsv | cut -f 1 >class.txt
tail -n +2 all.tsv | cut -f 3 | paste - class.txt | awk '$1 == $2 { n++ } END { printf "%.5f\n", n / NR }' >counted.txt
[ "$(number accuracy <classes.json | awk '{ printf "%.5f\n", $1 }')" = "$(cat counted.txt)" ] || fail "$(cat counted.txt classes.json)"

# From a pipe, compressed, and divided into files, each with its header: the same bits.
head -n 20000 all.tsv >one.tsv
{ head -n 1 all.tsv; tail -n +20001 all.tsv; } >two.tsv
"$tfc" eval run-vectors --data - --json <all.tsv | cmp - vectors.json || fail "a file as standard input"
cat all.tsv | "$tfc" eval run-vectors --data - --json | cmp - vectors.json || fail "a pipe"
gzip -c all.tsv | "$tfc" eval run-vectors --data - --json | cmp - vectors.json || fail "a compressed pipe"
"$tfc" eval run-vectors --data one.tsv --data two.tsv --json | cmp - vectors.json || fail "two files"

# A mistake far behind is reported with its place, and nothing is printed.
{ cat all.tsv; printf 'w1\tw2\tz\t1\n'; } >bad.tsv
refuses 1 "bad.tsv:70002:.*'z' is none of the 2 labels" "$tfc" eval run-classes --data bad.tsv
[ ! -s out.txt ] || fail "figures beside an error: $(cat out.txt)"

# Three times the records take no more memory but for the sizes of windows: a table of them in memory takes 25 MB more.
if command -v python3 >/dev/null && ! sanitized; then
    { cat all.tsv; tail -n +2 all.tsv; tail -n +2 all.tsv; } >more.tsv
    before=$(peak_of "$tfc" eval run-classes --data all.tsv --threads 1)
    after=$(peak_of "$tfc" eval run-classes --data more.tsv --threads 1)
    [ "$after" -lt $((before + 8000)) ] || fail "eval: $before kB for $records records, $after kB for three times as many"
fi

# Pairs, of several files whose ends are no windows' ends, and in one file: the same bits.
cat >pairs.tfg <<'END'
const vocab = 40, d = 4
dim B, S, T
input source : token[B, S~]
input target : token[B, T~]
param embedding : [vocab, d] = normal(0, 0.5)
output logits = (embedding[target] + mean(embedding[source], 1) + mean(embedding[target], 1)) @ transpose(embedding)
loss = cross_entropy(logits, next(target))
train { rate = constant(0.01); batch = tokens(200) }
END
tail -n +2 all.tsv | cut -f 1 >all.src
tail -n +2 all.tsv | cut -f 2 >all.tgt
for side in src tgt; do
    head -n 300 all.$side >train.$side
    head -n 20000 all.$side >one.$side
    tail -n +20001 all.$side >two.$side
done
"$tfc" train pairs.tfg --source train.src --target train.tgt --vocab words:auto --steps 3 --out run-pairs 2>err.txt ||
    fail "$(cat err.txt)"
"$tfc" eval run-pairs --source all.src --target all.tgt --json >pairs.json
[ "$(number sentences <pairs.json)" = $records ] || fail "$(cat pairs.json)"
"$tfc" eval run-pairs --source one.src --target one.tgt --source two.src --target two.tgt --json | cmp - pairs.json || fail "two files"
paste all.src all.tgt | "$tfc" eval run-pairs --data - --json | cmp - pairs.json || fail "pairs of a pipe"
{ cat two.tgt; printf '\377\n'; } >bad.tgt
{ cat two.src; echo w1; } >more.src
refuses 1 "bad.tgt:50001:.*invalid UTF-8" "$tfc" eval run-pairs --source one.src --target one.tgt --source more.src --target bad.tgt
[ ! -s out.txt ] || fail "figures beside an error: $(cat out.txt)"
refuses 1 "50000.*50001\|50001.*50000" "$tfc" eval run-pairs --source more.src --target two.tgt

# Six times the pairs add 5 MB of bytes; all lines cut out of them at once would add 11 MB more.
if command -v python3 >/dev/null && ! sanitized; then
    for side in src tgt; do cat all.$side all.$side all.$side all.$side all.$side all.$side >more.$side; done
    before=$(peak_of "$tfc" eval run-pairs --source all.src --target all.tgt --threads 1)
    after=$(peak_of "$tfc" eval run-pairs --source more.src --target more.tgt --threads 1)
    [ "$after" -lt $((before + 12000)) ] || fail "eval: $before kB for $records pairs, $after kB for six times as many"
fi
echo "all is well"
