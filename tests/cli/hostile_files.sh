#!/bin/sh
# Links, pipes and halves where a file or a folder is expected: nothing of anybody else's is overwritten or removed, nothing
# hangs, and what a killed process left behind does not stand in the way.
# Usage: hostile_files.sh TFC   (from the project's root)
set -eu
. tests/common.sh
. tests/published.sh
enter_work
words_backwards
published_marian published

# ---- links in the folder of a run ----
backwards_model >model.tfg
train() { "$tfc" train model.tfg --source valid.src --target valid.tgt --vocab words:auto --batch-tokens 100 --report-every 1 "$@"; }
echo precious >precious
mkdir trapped
ln -s ../precious trapped/lock
refuses 1 "trapped/lock" train --out trapped --steps 1
mkdir -p dangling
ln -s ../created dangling/lock
refuses 1 "cannot write dangling/lock: it is a symbolic link, which is not followed here: remove it" train --out dangling --steps 1
[ ! -e created ] || fail "a lock was made where a link led to"
train --out logged --steps 1 2>err.txt || fail "$(cat err.txt)"
mv logged/log.jsonl log
cp log before
ln -s ../log logged/log.jsonl
refuses 1 "cannot write logged/log.jsonl: it is a symbolic link" train --out logged --steps 2 --resume
cmp -s log before || fail "the log that a link led to was written"
rm logged/log.jsonl
for file in last.safetensors run.json vocab.txt model.tfg; do
    mv "logged/$file" "$file.theirs"
    cp "$file.theirs" "$file.before"
    ln -s "../$file.theirs" "logged/$file"
done
refuses 1 "cannot read logged/run.json: it is .*/run.json.theirs, outside the folder logged" train --out logged --steps 2 --resume
train --out logged --steps 2 --resume --allow-outside 2>err.txt || fail "$(cat err.txt)"
for file in last.safetensors run.json vocab.txt model.tfg; do
    cmp -s "$file.theirs" "$file.before" || fail "$file: what a link in the run's folder led to was written"
done
[ ! -L logged/last.safetensors ] || fail "the checkpoint is a link still"
for file in vocab.txt model.tfg; do mv "$file.theirs" "logged/$file"; done
[ "$(cat precious)" = precious ] || fail "a link's target was overwritten"

# ---- files that are almost checkpoints ----
cp -rL logged oddly
odd="99999999999999999999 -1 +5 007 0x10 1e3"
for number in $odd " 7"; do cp oddly/last.safetensors "oddly/step-$number.safetensors"; done
rm -f oddly/last.safetensors oddly/best.safetensors
train --out oddly --steps 3 --resume --keep 1 2>err.txt || fail "$(cat err.txt)"
grep -q "last.safetensors is missing: oddly/step-2.safetensors takes its place" err.txt || fail "$(cat err.txt)"
for number in $odd " 7"; do [ -e "oddly/step-$number.safetensors" ] || fail "step-$number.safetensors, which tfc did not make, is gone"; done

# ---- a checkpoint that tells of steps which nobody makes ----
for field in step epoch batch horizon best_step; do
    rm -rf far
    cp -rL logged far
    rm -f far/step-*.safetensors far/best.safetensors
    python3 - $field far/last.safetensors <<'P' || fail "no other $field"
import json, struct, sys
field, path = sys.argv[1:]
old = open(path, "rb").read()
n, = struct.unpack("<Q", old[:8])
header = json.loads(old[8:8 + n])
header["__metadata__"] = {k: v for k, v in header["__metadata__"].items() if k != "xxh64_blocks"}
header["__metadata__"][field] = "9223372036854775807"
new = json.dumps(header).encode()
open(path, "wb").write(struct.pack("<Q", len(new)) + new + old[8 + n:])
P
    refuses 1 "far/last.safetensors: a position in the training that is negative or beyond 2^53" train --out far --steps 3 --resume
done

# ---- temporaries: no name that somebody may have made before ----
echo 1 >one.txt
ln -s precious "one.txt.tmp-$$"
(exec "$tfc" translate logged --input one.txt --output out.txt) 2>err.txt || fail "$(cat err.txt)"
[ "$(cat precious)" = precious ] || fail "a temporary's name was a link"

# ---- pipes, folders and sockets as files of a model ----
for file in config.json source.spm model.safetensors; do
    rm -rf piped
    cp -r published piped
    rm piped/$file
    mkfifo piped/$file
    refuses 1 "$file: not a regular file" timeout 10 "$tfc" import piped -o never
    rm piped/$file
    mkdir piped/$file
    refuses 1 "$file" timeout 10 "$tfc" import piped -o never
done
mkfifo pipe.npz pipe.tfg pipe.safetensors
refuses 1 "pipe.tfg: not a regular file" timeout 10 "$tfc" check pipe.tfg
refuses 1 "pipe.safetensors: not a regular file" timeout 10 "$tfc" info pipe.safetensors
refuses 1 "not a regular file" timeout 10 "$tfc" prepare --source valid.src --target pipe.tfg --vocab logged/vocab.txt -o never
rm -rf marian
mkdir marian
mkfifo marian/model.npz
cp published/*.spm marian
refuses 1 "not a regular file" timeout 10 "$tfc" import marian -o never
# where a pipe may stand, it stands
head -n 2 valid.src | "$tfc" translate logged --input /dev/stdin >two.txt
mkfifo texts
head -n 2 valid.src >texts &
"$tfc" translate logged --input texts | cmp - two.txt || fail "a text from a pipe"

# ---- a file that becomes shorter while it is read ----
cat >shorten.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* Cuts the file $SHORTEN to a page as soon as it is mapped. */
void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t) = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    void *map = real(at, size, access, flags, fd, offset);
    char name[64], path[4096] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fd >= 0 && readlink(name, path, sizeof path - 1) > 0 && !strcmp(path, getenv("SHORTEN")) && truncate(path, 4096))
        abort();
    return map;
}
END
if ! sanitized; then
    "${CC%% *}" -shared -fPIC -O1 -o shorten.so shorten.c -ldl
    cp -rL logged shrinks
    for command in "translate shrinks --input one.txt --output never.txt" "export shrinks -o never.safetensors" "quantize shrinks -o never"; do
        cp logged/last.safetensors shrinks/last.safetensors
        rm -f shrinks/best.safetensors
        refuses 1 "cannot read $work/shrinks/last.safetensors: it became shorter, or its disk failed, while it was read" \
            env LD_PRELOAD="$work/shorten.so" SHORTEN="$work/shrinks/last.safetensors" "$tfc" $command
        [ -z "$(find . -name 'never*')" ] || fail "$command left $(find . -name 'never*')"
    done
fi

# ---- two imports into one folder; halves ----
"$tfc" import published -o run 2>err.txt || fail "$(cat err.txt)"
refuses 1 "run is there already" "$tfc" import published -o run
rm -rf broken
cp -r published broken
head -c 100 published/model.safetensors >broken/model.safetensors
refuses 1 "safetensors" "$tfc" import broken -o other
[ ! -e other ] && [ -z "$(find . -maxdepth 1 -name 'other*')" ] || fail "an import that failed left $(ls -d other*)"
for i in 1 2; do "$tfc" import published -o same >/dev/null 2>"same.$i" && echo $i >>winners & done
wait
[ "$(wc -l <winners)" = 1 ] || fail "$(wc -l <winners) imports made one folder: $(cat same.?)"
"$tfc" info same >/dev/null || fail "another import removed a run"
[ -z "$(find . -maxdepth 1 -name 'same.tmp*')" ] || fail "left: $(ls)"
mkdir half.tmp-99999999-abcdefghijkl
echo half >half.tmp-99999999-abcdefghijkl/model.tfg
"$tfc" import published -o half 2>err.txt || fail "$(cat err.txt)"
grep -q "removed .*half.tmp-99999999-abcdefghijkl: an earlier process ended while it wrote it" err.txt || fail "$(cat err.txt)"
[ ! -e half.tmp-99999999-abcdefghijkl ] || fail "a half stays"

# A folder's name is one line of the model's comment; sizes that the weights have not are refused before memory is taken.
cp -r published "$(printf 'x\nconst forged = 1')"
"$tfc" import "$(printf 'x\nconst forged = 1')" -o named 2>err.txt || fail "$(cat err.txt)"
grep -q '^const forged' named/model.tfg && fail "a folder's name became a line of the model"
cp -r published huge
sed 's/"d_model": 16/"d_model": 1000000/' published/config.json >huge/config.json
sanitized || (ulimit -v 4000000; refuses 1 "config.json's sizes make a model of .* params, but the weights have .*: they are not of this config.json; take both files from one place" "$tfc" import huge -o never)

# An export that was cut off does not stand in the way of the next.
mkdir given.tmp-99999999-abcdefghijkl
echo '{}' >given.tmp-99999999-abcdefghijkl/config.json
"$tfc" export run --format hf -o given 2>err.txt || fail "$(cat err.txt)"
grep -q "removed .*given.tmp-99999999-abcdefghijkl: an earlier process" err.txt || fail "$(cat err.txt)"
"$tfc" export run --format hf -o given 2>err.txt || fail "over an earlier one: $(cat err.txt)"
[ -z "$(find . -name '*.tmp-*' ! -name one.txt.tmp-*)" ] || fail "left: $(find . -name '*.tmp-*')"
