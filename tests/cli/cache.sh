#!/bin/sh
# Programs from the cache: cold and warm runs give the same bits, and whatever is wrong
# with the folder or a file in it costs a compilation and nothing else. Products are native: which
# ones OpenBLAS has is kept there too (tune.sh).
# Usage: cache.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model cached
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
train { optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9); rate = constant(0.01) }
END
for i in 1 2 3 4 5 6; do
    echo a b c d | cut -c 1-$i >>text.src
    echo d c b a | cut -c 1-$i >>text.tgt
done
# train WHAT COMMAND …: tfc train before it, with an exit status of 0 and the bits of the first
train() {
    what=$1
    shift
    rm -rf run
    "$@" "$tfc" train model.tfg --source text.src --target text.tgt --vocab words:auto --out run --steps 5 \
        --batch-sentences 3 --gemm native 2>err || fail "$what: $(cat err)"
    [ -e first ] || cp run/last.safetensors first
    same_tensors first run/last.safetensors "$what: other params"
}
cold() { grep -q '([1-9][0-9]* kernels, 0 from the cache)' err || fail "$1: not compiled: $(cat err)"; }
warm() { grep -q '(\([1-9][0-9]*\) kernels, \1 from the cache)' err || fail "$1: not from the cache: $(cat err)"; }
kept() { ! grep -q 'are not kept' err || fail "$1: $(cat err)"; }
not_kept() { grep -q "compiled programs are not kept: .*$2" err || fail "$1: no '$2' in $(cat err)"; }
mends() {
    cold "$1"
    kept "$1"
    train "$1, mended" env
    warm "$1, mended"
}

export TFC_CACHE="$work/cache"
train "the first run" env
cold "the first run"
kept "the first run"
ls cache/*.tfcc >/dev/null || fail "nothing was kept"
train "the second run" env
warm "the second run"
kept "the second run"

# What counts are the files that the compiler is made of, whose digest the program holds: a copy with another time is the
# same one, and so is one with another byte elsewhere.
digest=$(sed -n 's/.*"\([0-9a-f]*\)".*/\1/p' "$(dirname "$tfc")/compiler_digest.c")
changed() { # COPY TEXT: the program with another byte where the text is
    cp "$program" "$1"
    printf Z | dd of="$1" bs=1 seek="$(grep -abo "$2" "$1" | head -n 1 | cut -d : -f 1)" conv=notrunc 2>/dev/null
}
program=$tfc
cp "$tfc" copy
touch -d 2001-01-01 copy
changed elsewhere 'a compiler and runtime for Transformers'
changed other "$digest"
for tfc in ./copy ./elsewhere; do
    train "$tfc" env
    warm "$tfc"
done
tfc=./other
train "$tfc" env
cold "$tfc"
train "$tfc, again" env
warm "$tfc, again"
tfc=$program

for file in cache/*.tfc[cp]; do # some bytes in the middle
    printf damaged | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) conv=notrunc 2>/dev/null
done
train damage env
mends damage
for file in cache/*.tfc[cp]; do truncate -s -100 "$file"; done
train "a cut" env
mends "a cut"
mkdir aside
for file in cache/*.tfc[cp]; do
    mv "$file" aside/
    ln -s "$work/aside/${file##*/}" "$file"
done
train symlinks env
mends symlinks
chmod 666 cache/*.tfc[cp]
train "files that others can write" env
mends "files that others can write"

chmod 777 cache
train "a folder that others can write" env
cold "a folder that others can write"
not_kept "a folder that others can write" "others than this user may write"
chmod 700 cache
if [ "$(id -u)" = 0 ]; then
    chown -R 12345 cache
    train "another user's folder" env
    cold "another user's folder"
    not_kept "another user's folder" "others than this user may write"
    ln -s cache link
    train "a link to another user's folder" env TFC_CACHE="$work/link"
    cold "a link to another user's folder"
    not_kept "a link to another user's folder" "others than this user may write"
    chown -R 0 cache
else
    chmod 500 cache
    rm -f cache/*.tfc[cp]
    train "a read-only folder" env
    not_kept "a read-only folder" "Permission denied"
    chmod 700 cache
fi
train "a file for a folder" env TFC_CACHE="$work/model.tfg"
cold "a file for a folder"
not_kept "a file for a folder" "Not a directory"
train "no folder" env -u TFC_CACHE -u XDG_CACHE_HOME -u HOME
not_kept "no folder" "neither XDG_CACHE_HOME nor HOME"
train "no cache" env TFC_CACHE=off
cold "no cache"
kept "no cache"

# A limit on the size of files, and devices that are full or read-only.
TFC_CACHE="$work/limited"
bench() {
    "$tfc" bench model.tfg --batch 2 --source-length 3 --target-length 3 --steps 1 --gemm native --json >json ||
        fail "bench: exit status $?"
}
(ulimit -f 8 && bench) || exit 1 # of 8 KB: kernels fit, the program does not
! ls -A limited | grep -v 'tfcp$' || fail "half a file: $(ls -A limited)"
bench
ls limited/*.tfcc >/dev/null || fail "the whole was not compiled"
bench
grep -q '"compiled_kernels": 0,' json || fail "nothing was kept: $(cat json)"
TFC_CACHE="$work/device"
mkdir device
if unshare -rm true 2>/dev/null; then
    train "a full device" unshare -rm sh -ec 'mount -t tmpfs -o size=8k none device; chmod 700 device; exec "$@"' sh
    cold "a full device"
    not_kept "a full device" "No space left"
    train "a read-only device" unshare -rm sh -ec 'mount -t tmpfs -o ro none device; exec "$@"' sh
    cold "a read-only device"
    not_kept "a read-only device" ""
fi
echo "all is well"
