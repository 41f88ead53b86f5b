#!/bin/sh
# tfc compile --emit c: one C file that gcc and clang take without a warning, for every width of
# vectors; logits, losses, tokens and texts of the library and of tfc translate; two of them in one
# program; other systems under emulators and Node; mistakes. Says 77 where a compiler or what runs the
# programs is missing, after all other tests.
# Usage: compile_c.sh TFC   (from the project's root)
set -eu
. tests/common.sh
model=$root/models/multi30k_small.tfg
skipped=
has() {
    for program in "$@"; do
        command -v "$program" >/dev/null || [ -e "$program" ] || { skipped="$skipped $program"; return 1; }
    done
}
# clean COMMAND …: compiles without a word
clean() {
    "$@" >messages 2>&1 || fail "$*: $(head -n 20 messages)"
    [ ! -s messages ] || fail "$* says: $(head -n 20 messages)"
}
# near FILE FILE: floats as text, 1e-5 apart at most
near() {
    paste "$1" "$2" | awk '{ for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d < 0) d = -d; bad += !(d < 1e-5) } }
        END { exit bad || !NR }'
}
floats() { od -An -v -w4 -tf4 "$1"; }
enter_work
unset CC || true
export OMP_NUM_THREADS=1
flags="-std=gnu11 -Wall -Wextra -ffp-contract=off -fopenmp-simd"

# The library's numbers.
mkdir here
"$tfc" compile "$model" -o here/libmulti30k_small.so $small
for program in tests/cli/compile_jit.c examples/fine_tune.c; do
    cc "$root/$program" -o "here/$(basename $program .c)" -Lhere -lmulti30k_small -Ihere
done
(cd here && LD_LIBRARY_PATH=. ./compile_jit initial.safetensors logits &&
    LD_LIBRARY_PATH=. ./fine_tune initial.safetensors trained.safetensors 20 >losses)
floats here/logits >here/floats
cut -d' ' -f2 here/losses >here/numbers

# same FOLDER SUFFIX COMMAND …: programs of this folder give them, too, run by the command
same() {
    folder=$1 suffix=$2
    shift 2
    (cd "$folder"
        "$@" ./compile_jit$suffix initial.safetensors logits || fail "$folder: no logits"
        cmp initial.safetensors ../here/initial.safetensors || fail "$folder: other initial values"
        floats logits >floats
        near floats ../here/floats || fail "$folder: other logits"
        "$@" ./fine_tune$suffix initial.safetensors trained.safetensors 20 | cut -d' ' -f2 >numbers
        near numbers ../here/numbers || fail "$folder: other losses")
}
# program FOLDER SUFFIX COMPILER …: both programs with the model of that folder
programs() {
    folder=$1 suffix=$2
    shift 2
    clean "$@" $flags -c "$folder/model.c" -I"$folder" -o "$folder/model.o"
    for program in tests/cli/compile_jit.c examples/fine_tune.c; do
        "$@" "$root/$program" "$folder/model.o" -I"$folder" -o "$folder/$(basename $program .c)$suffix" -lm $libraries
    done
}

# Vectors of 512, 256 and 128 bits, and none; both compilers.
level=$(env -i "$tfc" compile "$model" -o level.c --function forward $small && sed -n 's/.*vectors of x86-64\(-v\)*\([0-9]*\);.*/\2/p' level.c)
libraries=-pthread
cpus="x86-64-v4 x86-64-v3 x86-64 generic"
[ -z "$short" ] || cpus=generic
for cpu in $cpus; do
    case $cpu in
    x86-64-v*) march=$cpu; [ "${cpu#x86-64-v}" -le "${level:-1}" ] || continue ;;
    *) march=x86-64 ;;
    esac
    mkdir $cpu
    "$tfc" compile "$model" -o $cpu/model.c $small --cpu $cpu
    [ "$(ls $cpu)" = "$(printf 'model.c\nmulti30k_small.h')" ] || fail "other files: $(ls $cpu)"
    programs $cpu "" gcc -O1 -march=$march
    same $cpu ""
    [ -z "$short" ] && has clang-19 || continue
    programs $cpu "" clang-19 -O1 -march=$march
    same $cpu ""
done
grep -q '^/\* [a-z_]*\.tfg:[0-9]' generic/model.c || fail "no kernel tells its lines"
! grep -q 'vector_size([1-9][0-9])' generic/model.c || fail "generic has vectors" # two halves of a number are one

# No two parts of the runtime share a name, whichever of them a model takes.
{ echo '#define _GNU_SOURCE'; awk '/^\f/ { head = 3 } head-- > 0 { next } { print }' "$(dirname "$tfc")/runtime/one_file.parts"; } >parts.c
[ "$(wc -l <parts.c)" -gt 10000 ] || fail "there are no parts"
clean cc -std=c17 -fsyntax-only -w parts.c

# Text: params and vocabulary inside, answers of tfc translate; from another folder.
shared_runs
ln -s "$runs/translator" run
head -n 40 valid.src >lines
"$tfc" translate run --input lines >expected
[ "$(wc -w <expected)" -gt 80 ] || fail "nothing was translated"
mkdir text
"$tfc" compile run -o text/speak.c --cpu generic
[ "$(ls text)" = "$(printf 'speak.c\nspeak.c.vocabulary.bin\nspeak.c.weights.bin\ntranslator.h')" ] || fail "other files: $(ls text)"
cat >answer.c <<'END'
#include "translator.h"
#include <stdio.h>
#include <string.h>
int main(void)
{
    static char text[1 << 16];
    translator *model;
    translator_session *session;
    const char *answer;
    size_t n = fread(text, 1, sizeof text, stdin);
    int status = translator_open(NULL, &model);
    if (!status)
        status = translator_session_new(model, &session);
    if (!status)
        status = translator_translate_text(session, NULL, text, (int64_t)n, &answer, NULL);
    printf("%s", status ? translator_error_text(status) : answer);
    return status;
}
END
clean gcc $flags -O2 text/speak.c answer.c -Itext -o answer -pthread -lm
./answer <lines | cmp - expected || fail "gcc: other text"
if [ -z "$short" ] && has clang-19; then
    clean clang-19 $flags -O2 text/speak.c answer.c -Itext -o answer -pthread -lm
    ./answer <lines | cmp - expected || fail "clang: other text"
fi
# Two models in one program.
clean gcc $flags -O0 text/speak.c generic/model.c answer.c -Itext -Igeneric -o both -pthread -lm
./both <lines | cmp - expected || fail "two models: other text"

# Other systems: the same file.
systems="aarch64 riscv64"
[ -z "$short" ] || systems=
for system in $systems; do
    if has $system-linux-gnu-gcc qemu-$system; then
        target=$system-linux-gnu
        mkdir $system
        "$tfc" compile "$model" -o $system/model.c $small --target $target
        programs $system "" $target-gcc -O1
        same $system "" qemu-$system -L /usr/$target
        clean $target-gcc $flags -O1 text/speak.c answer.c -Itext -o answer-$system -pthread -lm
        qemu-$system -L /usr/$target ./answer-$system <lines | cmp - expected || fail "$system: other text"
    fi
done
if [ -z "$short" ] && has clang-19 wasm-ld-19 node /usr/include/wasm32-wasi; then
    mkdir wasm
    "$tfc" compile "$model" -o wasm/model.c $small --target wasm32-wasi
    libraries="-lwasi-emulated-mman -lwasi-emulated-getpid -Wl,-z,stack-size=8388608"
    programs wasm .wasm clang-19 --target=wasm32-wasi -O1 -msimd128
    same wasm .wasm node --no-warnings "$root/tests/cli/wasi.mjs"
    clean clang-19 --target=wasm32-wasi $flags -O1 text/speak.c answer.c -Itext -o answer.wasm -lm $libraries
    node --no-warnings "$root/tests/cli/wasi.mjs" answer.wasm <lines | cmp - expected || fail "wasm: other text"
fi

# Mistakes.
refuses 1 'C is for one CPU' "$tfc" compile "$model" -o a.c --cpu x86-64-v3,x86-64-v4
refuses 1 'no CPU is called "x86-64-v9"' "$tfc" compile "$model" -o a.c --cpu x86-64-v9
refuses 1 'C has products of its own' "$tfc" compile "$model" -o a.c --gemm blas
refuses 1 'store bf16 is for pages' "$tfc" compile "$model" -o a.c --store bf16
refuses 1 'cannot write nowhere/' "$tfc" compile "$model" -o nowhere/a.c $small
ls -d -- a.c* *.tmp-* text/*.tmp-* 2>/dev/null && fail "something is left behind"
[ -z "$skipped" ] || { echo "skipped: there is no$skipped"; exit 77; }
