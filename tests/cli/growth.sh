#!/bin/sh
# What grows with a model and its data, and how fast: compiling takes twice the time for twice the layers, and very many
# labels take memory for a few copies of their texts (tests/cli/eval_windows.sh has the memory of evaluations).
# Usage: growth.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
enter_work
export TFC_CACHE="$work/cache"

# twice FUNCTION LAYERS: from the model's text to its plan, with so many layers and with twice as many
twice() {
    one=$(user_of "$tfc" dump "$root/models/gpt.tfg" --stage plan --function "$1" --set layers="$2")
    two=$(user_of "$tfc" dump "$root/models/gpt.tfg" --stage plan --function "$1" --set layers=$((2 * $2)))
    echo "$1: $one ms for $2 layers, $two ms for twice as many"
    [ "$two" -lt $((3 * one)) ] || fail "$1: $one ms for $2 layers, $two ms for twice as many"
}
twice train_step 120 # more than caches hold: from 20 to 40 layers it is three times the time on a processor with 1 MiB of them

# Models of few lines whose values are reached in 2^40 ways, or that repeat nothing 10^12 times.
many_ways() { # many_ways WHAT: standard input has what makes y of the words' vectors x
    { printf 'model %s\ndim B, T\ninput tokens : token[B, T~]\nparam e : [30, 4] = normal(0, 0.02)\nx = e[tokens]\n' "$1"; cat
      printf 'output logits = y @ transpose(e)\nloss = cross_entropy(logits, next(tokens))\n'; } >ways.tfg
    (ulimit -t 5; "$tfc" dump ways.tfg --stage plan >out.txt 2>err.txt) || fail "$1: $(tail -n 3 err.txt)"
}
forty() { for _ in 1 2 3 4; do for _ in 1 2 3 4 5 6 7 8 9 10; do echo "$1"; done; done; }
{ echo 'y = x'; forty 'y = y * y'; } | many_ways powers
{ echo 'p = position(T)'; forty 'p = p + p'; echo 'y = x + lookup(x, T, p)'; } | many_ways positions
{ echo 'block f(x) {'; echo 'param w : [4]'; echo 'v = w'; forty 'v = v + v'; echo 'merge w = v'; echo 'return x * sum(w)'; echo '}'
  echo 'z = f as g(x)'; echo 'y = f as same g(z)'; } | many_ways merges
echo 'repeat 10000 { repeat 10000 { repeat 10000 { } } }' >>ways.tfg
refuses 1 "building the model takes too many steps" sh -c 'ulimit -t 5; exec "$@"' sh "$tfc" info ways.tfg

# within KILOBYTES COMMAND …
within() {
    most=$1
    shift
    peak=$(peak_of "$@" 2>err.txt) || fail "$*: $(cat err.txt)"
    echo "$peak kB: $*"
    [ "$peak" -le "$most" ] || fail "$*: $peak kB, more than $most"
}

# A hundred thousand labels, each of one record.
labels=100000
awk -v n=$labels 'BEGIN { print "text\tlabel"; for (i = 0; i < n; i++) printf "w%d w%d\tlabel%d\n", i % 30, i % 7, (i * 7919) % n }' >all.tsv
head -n 20 all.tsv >few.tsv
cut -f 1 few.tsv | tail -n +2 >few.txt
{ printf '%s\n' '<pad>' '<unk>' '<s>' '</s>'; seq -f 'w%g' 0 29; } >words.txt
cat >labels.tfg <<END
model labels
use attention
const vocab = 34, d = 4
dim B, S
input text : token[B, S~] = column("text")
input label : int[B] = column("label")
vocab label = words
param embedding : [vocab, d] = normal(0, 0.5)
logits = linear as head(reshape(mean(embedding[text], 1), [B, d]), $labels)
loss = cross_entropy(logits, label)
predict class = softmax(logits)
train { rate = constant(0.01); batch = sentences(4) }
END
set -- --data all.tsv --vocab words:words.txt
within 60000 "$tfc" data labels.tfg "$@"
within 60000 "$tfc" prepare labels.tfg "$@" -o prepared
# Compiling takes more memory than this: the second time programs are in the cache.
"$tfc" train labels.tfg "$@" --steps 1 --out first >out.txt 2>&1 || fail "$(cat out.txt)"
"$tfc" eval first --data few.tsv >out.txt 2>&1 || fail "$(cat out.txt)"
within 60000 "$tfc" train labels.tfg "$@" --steps 1 --out second
within 60000 "$tfc" eval second --data few.tsv
within 60000 "$tfc" predict second --input few.txt
echo "all is well"
