#!/bin/sh
# The pool of sessions of a compiled library (pool.c): eight threads get their own answers, each call in a session that it
# takes, while others train and save; as a library and under a sanitizer. The same of its Python module, in which each call
# takes a session by itself, for texts, ids, predictions and arrays.
# Usage: pool.sh TFC CC ARCHIVE FLAGS   (the runtime compiled with these flags)
set -eu
. tests/common.sh
cc=$2 archive=$(realpath "$3") flags=$4
calls=10000 watched=10000
[ -z "$short" ] || calls=400 watched=60
enter_work
shared_runs
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
# Lines of other lengths, of which some have unknown words.
head -n 32 all.src | awk '{ print $1 (NR % 3 ? " " $2 : "") (NR % 5 ? "" : " unheard") }' >lines

# build FOLDER: the library, and the program beside it
build() {
    mkdir "$1"
    "$tfc" compile "$runs/translator" -o "$1/libtranslator.so" --gemm native || fail "not compiled"
    $CC -O1 "$root/tests/model/pool.c" -o "$1/pool" -I"$1" -L"$1" -ltranslator -Wl,-rpath,"$work/$1" -pthread
}
export CC="$cc"
build plain
plain/pool rules <lines || fail "rules of the pool"
plain/pool answers $calls <lines || fail "threads have answers of others"

# Kernels are not watched, all else is.
export CC="$cc -g $flags" TFC_RUNTIME="$archive"
build watched
watched/pool rules <lines || fail "rules of the pool, $flags"
watched/pool answers $watched <lines || fail "threads have answers of others, $flags"
unset TFC_RUNTIME
export CC="$cc"

python=$(python_with_numpy)
[ -n "$python" ] || { echo "without Python: it has no numpy"; exit 0; }
cat >tagger.tfg <<'END'
model tagger
const vocab = 40, tags = 4, d = 16
dim B, S
input words : token[B, S~] = column("text")
input tags_ : int[B, S~] = column("tags")
vocab tags_ = words
param embedding : [vocab, d] = normal(0, 1)
logits = linear as head(embedding[words], tags)
loss = cross_entropy(logits, tags_)
predict tag = softmax(logits)
train { rate = constant(0.01); batch = tokens(300); optimizer = adam() }
END
head -n 100 all.src | awk 'BEGIN { print "text\ttags" } { tags = $0; gsub(/[^ ]+/, "T", tags); sub(/T/, "H", tags)
    print $0 "\t" tags }' >tagged.tsv
"$tfc" train tagger.tfg --data tagged.tsv --vocab words:auto --steps 12 --out tagger 2>err || fail "$(cat err)"
"$tfc" compile tagger -o plain/libtagger.so 2>err || fail "$(cat err)"
PYTHONPATH=plain "$python" "$root/tests/model/pool.py" translator tagger $calls lines || fail "threads of Python"
echo "all is well"
