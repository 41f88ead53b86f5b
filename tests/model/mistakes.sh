#!/bin/sh
# What a compiled model is given wrongly: weights that do not fit, through NAME_open and through
# --weights, outputs that cannot be written, arguments of every function and of the program:
# a message, exit status 1, and nothing half-written.
# Usage: mistakes.sh TFC   (from the project's root)
set -eu
. tests/common.sh
model=$root/models/multi30k_small.tfg
compile() { "$tfc" compile "$model" $small "$@"; }

cd "$work"
export LD_LIBRARY_PATH="$work"
compile -o libmulti30k_small.so --function forward,loss,train_step,encode,decode_step,alignment
$CC "$root/examples/translate.c" -o translate -I. -L. -lmulti30k_small
$CC "$root/examples/fine_tune.c" -o fine_tune -I. -L. -lmulti30k_small
$CC "$root/tests/cli/compile_jit.c" -o initial -I. -L. -lmulti30k_small
./initial good.safetensors logits
WEIGHTS=good.safetensors ./translate 1 2 4 5 6 7 >/dev/null || fail "the weights are good"

# Every argument of every function; and no function is there with which the library could end
# or talk in somebody else's process.
$CC -pthread "$root/tests/model/misuse.c" -o misuse -I. -L. -lmulti30k_small -lm
./misuse good.safetensors || fail "arguments that are not allowed"
nm -D --undefined-only libmulti30k_small.so >imports
if [ -z "${TFC_RUNTIME:-}" ]; then # an instrumented runtime does
    ! grep -wE 'abort|_?exit|quick_exit|__assert_fail|raise|kill|perror|puts|putchar|f?printf|stderr|stdout' imports ||
        fail "the library can end the process, or print"
fi

# The program: its options and what it reads.
compile -o prog 2>err.txt || fail "$(cat err.txt)"
grep -q "no weights are inside prog, which asks for --weights FILE" err.txt || fail "$(cat err.txt)"
echo '3 4' | ./prog --weights good.safetensors --bos 1 --eos 2 >/dev/null || fail "the program"
wrongly() { # STATUS PATTERN INPUT OPTION …
    printf '%b' "$3" >input
    status=$1 pattern=$2
    shift 3
    refuses "$status" "$pattern" sh -c 'exec ./prog --weights good.safetensors --bos 1 --eos 2 "$@" <input' sh "$@"
}
wrongly 2 "'--beams'" "" --beams 3
wrongly 2 "--beam takes a value" "" --beam
wrongly 2 "--beam takes a whole number from 1 to 1024, not 'x'" "" --beam x
wrongly 2 "not '4x'" "" --beam 4x
wrongly 2 "not '0'" "" --beam 0
wrongly 2 "not '99999999999999999999'" "" --threads 99999999999999999999
wrongly 2 "--threads takes a whole number from 1 to 1024" "" --threads 100000
wrongly 2 "--eos is given twice" "" --eos 3
refuses 2 "--eos takes a whole number from 0 to 39, not '40'" ./prog --weights good.safetensors --bos 1 --eos 40
refuses 1 "absent" ./prog --weights absent --bos 1 --eos 2
wrongly 1 "line 2: '40' is no token id (0 to 39)" '3 4\n5 40\n'
wrongly 1 "line 1: '-3' is no token id" '-3\n'
wrongly 1 "line 1: '4.5' is no token id" '4.5\n'
wrongly 1 "line 3: 'word' is no token id" '3\n\nword 4\n'
refuses 1 "cannot read" sh -c './prog --weights good.safetensors --bos 1 --eos 2 <.'
[ ! -e /dev/full ] ||
    refuses 1 "cannot write" sh -c 'echo 3 | ./prog --weights good.safetensors --bos 1 --eos 2 >/dev/full'
refuses 1 "bos is -1" sh -c 'echo 3 | ./prog --weights good.safetensors --eos 2'

# Weights of other models and broken files, both ways in.
mkdir other
for set in layers=2 d_ff=65; do
    compile -o other/libmulti30k_small.so --set $set
    $CC "$root/tests/cli/compile_jit.c" -o other/initial -Iother -Lother -lmulti30k_small
    LD_LIBRARY_PATH="$work/other" other/initial $set.safetensors logits
done
"$tfc" compile "$model" $small --set layers=2 -o other/libmulti30k_small.so
$CC "$root/examples/translate.c" -o other/translate -Iother -Lother -lmulti30k_small
# as another program would write it: no checksums
LC_ALL=C sed 's/"dtype":"F32"/"dtype":"I32"/g; s/"xxh64_blocks":/"other_blocks":/' good.safetensors >integers.safetensors
head -c 20000 good.safetensors >short.safetensors
head -c 100 good.safetensors >header.safetensors
: >empty.safetensors
mkdir folder.safetensors
cases="d_ff=65:65 integers:type short:short header:header empty:empty folder:folder absent:absent"
for case in $cases; do
    file=${case%%:*}.safetensors pattern=${case#*:}
    refuses 1 "$pattern" env WEIGHTS=$file ./translate 1 2 4 5 6 7
    grep -q 'the weights are missing or do not fit' err.txt || fail "$file: another status: $(cat err.txt)"
    refuses 1 "$pattern" compile --function forward -o bad.so --weights $file
    [ ! -e bad.so ] || fail "$file: a library was made"
done
refuses 1 "is missing" env LD_LIBRARY_PATH="$work/other" WEIGHTS=good.safetensors other/translate 1 2 4 5
refuses 1 "are missing" compile --function forward --set layers=2 -o bad.so --weights good.safetensors

# Outputs: what was there stays as it was, and nothing else is there.
leaves() {
    [ "$(cat kept/libmulti30k_small.so)" = old ] && [ "$(cat kept/multi30k_small.h)" = "$header" ] ||
        fail "$1: an old file was changed"
    [ "$(ls -A kept | wc -l)" = 2 ] || fail "$1: left behind: $(ls -A kept)"
}
mkdir kept
echo old >kept/libmulti30k_small.so
header='/* old, compiled by tfc */' # another one is refused (tests/cli/ownership.sh)
echo "$header" >kept/multi30k_small.h
for blocks in 1 40 200; do # of 512 bytes: glue or objects, then what is linked
    (ulimit -f $blocks; refuses 1 "cannot write\|could not link" compile -o kept/libmulti30k_small.so) || exit 1
    leaves "at most $blocks blocks"
done
mkdir taken kept2 kept2/multi30k_small.h
refuses 1 "cannot write taken (-o): it is a folder, not a file" compile -o taken
[ -z "$(ls -A taken)" ] || fail "something in the folder: $(ls -A taken)"
refuses 1 "cannot write taken (-o): it is a folder, not a file" compile --emit so -o taken
[ ! -e multi30k_small.h.new ] || fail "a header is left"
refuses 1 "cannot write kept2/multi30k_small.h: it is a folder, not a file" compile -o kept2/a.so
[ ! -e kept2/a.so ] || fail "a library without its header"
refuses 1 "cannot write /proc/a.so" compile -o /proc/a.so
refuses 1 "cannot write" compile -o kept/libmulti30k_small.so/a.so
leaves "a file for a folder"

# A disk that is full while a program saves its model, or cannot be written to.
cp good.safetensors trained.safetensors
(ulimit -f 40; trap '' XFSZ; refuses 1 "cannot save.*cannot be written.*trained.safetensors" \
    ./fine_tune good.safetensors trained.safetensors 1) || exit 1
cmp good.safetensors trained.safetensors || fail "half a checkpoint"
refuses 1 "cannot save.*cannot be written" ./fine_tune good.safetensors nowhere/trained.safetensors 1
ls -d -- *.tmp-* */*.tmp-* 2>/dev/null && fail "temporary files are left"
if unshare -rm true 2>/dev/null; then
    mkdir small
    refuses 1 "cannot write\|could not link" unshare -rm sh -ec 'mount -t tmpfs -o size=100k none small
        "$@" || status=$?; ls -A small; exit ${status:-0}' sh "$tfc" compile "$model" $small -o small/a.so
    [ ! -s out.txt ] || fail "left on the full device: $(cat out.txt)"
fi
echo "all is well"
