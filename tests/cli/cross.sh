#!/bin/sh
# tfc compile --target: the same tokens, losses and (but for rounding) logits as this
# system's, under emulators and Node; mistakes. Says 77 where a compiler or what runs the
# programs is missing, after the tests of the other targets.
# Usage: cross.sh TFC   (from the project's root)
set -eu
. tests/common.sh
model=$root/models/multi30k_small.tfg

# runs TARGET PROGRAM …: on the processor $emulated, if it is set
runs()
{
    target=$1
    shift
    case $target in
    wasm32-wasi) node --no-warnings "$root/tests/cli/wasi.mjs" "$@" ;;
    *) "qemu-${target%%-*}" ${emulated:+-cpu "$emulated"} -L "/usr/$target" -E LD_LIBRARY_PATH=. "$@" ;;
    esac
}

# has PROGRAM or FILE …: else the target is skipped
skipped=
has()
{
    for program in "$@"; do
        command -v "$program" >/dev/null || [ -e "$program" ] || { skipped="$skipped $program"; return 1; }
    done
}

cd "$work"
unset CC || true
# Mistakes need no compiler; neither does text for another system.
refuses 1 'no target is called "aarch64-linux".*did you mean "aarch64-linux-gnu"' \
    "$tfc" compile "$model" -o a --target aarch64-linux
refuses 1 'no CPU is called "cortex-a77".*' "$tfc" compile "$model" -o a.o --target aarch64-linux-gnu --cpu cortex-a77
refuses 1 'several CPUs in one file' "$tfc" compile "$model" -o a.o --target aarch64-linux-gnu --cpu generic,cortex-a76
refuses 1 'gemm blas needs OpenBLAS' "$tfc" compile "$model" -o a.o --target riscv64-linux-gnu --gemm blas
refuses 1 'wasm32-wasi has no shared libraries' "$tfc" compile "$model" -o a.so --target wasm32-wasi
refuses 1 "no C compiler 'aarch64-linux-gnu-gcc'.*Debian: gcc-aarch64-linux-gnu" \
    env PATH=/nowhere "$tfc" compile "$model" -o a.so $small --target aarch64-linux-gnu
"$tfc" compile "$model" -o text.s $small --function forward --target aarch64-linux-gnu --cpu cortex-a76
grep -q 'fmla' text.s || fail "no vector instructions of aarch64"
grep -q 'tile6x4.panels:$' text.s || fail "no tiles for 32 registers"
"$tfc" compile "$model" -o text.s $small --function forward --target aarch64-linux-gnu --cpu neoverse-v1
grep -q 'fmla.*z[0-9]*[.]s' text.s || fail "no SVE"
ls -d -- a a.* 2>/dev/null && fail "something is left behind"

# This system's numbers.
mkdir here
"$tfc" compile "$model" -o here/libmulti30k_small.so $small
for program in tests/cli/compile_jit.c examples/fine_tune.c; do
    cc "$root/$program" -o "here/$(basename $program .c)" -Lhere -lmulti30k_small -Ihere
done
(
    cd here
    export LD_LIBRARY_PATH=.
    ./compile_jit initial.safetensors logits
    ./fine_tune initial.safetensors trained.safetensors 20 >losses
)
"$tfc" compile "$model" -o here/translator $small --weights here/trained.safetensors
printf '5 6 7\n30 3 9 12 25\n\n8 8 20 14\n' >ids
for beam in 1 4; do
    here/translator --beam $beam --bos 1 --eos 2 <ids >here/tokens$beam
    [ "$(wc -w <here/tokens$beam)" -gt 20 ] || fail "nothing was translated"
done

for dtype in int8 int4 q8_0 q4_1; do
    "$tfc" compile "$model" -o here/$dtype $small --weights here/trained.safetensors --dtype $dtype 2>/dev/null
    here/$dtype --beam 4 --bos 1 --eos 2 <ids >here/tokens.$dtype
done

# Text, by a vocabulary inside.
awk 'BEGIN { srand(3); for (i = 0; i < 300; i++) { s = ""; for (k = 0; k < 5; k++) { s = s (k ? " " : "")
     for (l = 0; l < 4; l++) s = s substr("abcdefghijklmnopqrstuvwxyz", 1 + int(rand() * 26), 1) } print s } }' >letters
"$tfc" train "$model" $small --source letters --target letters --vocab auto:40 --steps 1 --out pieces 2>training ||
    fail "no vocabulary: $(cat training)"
"$tfc" compile "$model" -o here/answers $small --weights here/trained.safetensors --vocab pieces/vocab.model
{ head -n 5 letters; printf '\ngr\303\274n \357\254\201 x\n'; } >text
here/answers <text >here/text
[ "$(wc -w <here/text)" -gt 5 ] || fail "no text was translated"

# same TARGET FOLDER SUFFIX: programs of this folder give them, too
same()
(
    cd "$2"
    runs "$1" ./compile_jit$3 initial.safetensors logits
    cmp initial.safetensors ../here/initial.safetensors || fail "$1: other initial values"
    od -An -v -w4 -tf4 ../here/logits >expected
    od -An -v -w4 -tf4 logits | paste - expected |
        awk -v target="$1" '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d }
            END { printf "%s: logits differ by %g at most\n", target, most; exit !(NR == 160 && most < 1e-5) }' ||
        fail "$1: other logits"
    runs "$1" ./fine_tune$3 initial.safetensors trained.safetensors 20 >losses
    paste losses ../here/losses | awk '{ d = $2 - $4; if (d < 0) d = -d; bad += d > 1e-4 }
        END { exit !(NR == 20 && !bad) }' || fail "$1: other losses"
)

# library TARGET FOLDER CPU: the model and the programs of same, for a system with gcc
library()
{
    mkdir "$2"
    "$tfc" compile "$model" -o "$2/libmulti30k_small.so" $small --target "$1" --cpu "$3"
    for program in tests/cli/compile_jit.c examples/fine_tune.c; do
        "$1-gcc" "$root/$program" -o "$2/$(basename $program .c)" -L"$2" -lmulti30k_small -I"$2"
    done
}

# translates TARGET PROGRAM
translates()
{
    "$tfc" compile "$model" -o "$2" $small --weights here/trained.safetensors --target "$1"
    for beam in 1 4; do
        runs "$1" "./$2" --beam $beam --bos 1 --eos 2 <ids | cmp - here/tokens$beam || fail "$1: other tokens, beam $beam"
    done
    "$tfc" compile "$model" -o "text-$2" $small --weights here/trained.safetensors --vocab pieces/vocab.model \
        --target "$1"
    runs "$1" "./text-$2" <text | cmp - here/text || fail "$1: other text"
}

# Products and functions, and the bits that a library of this system, for processors with fused multiply-add, makes of them:
# in f32, and in bf16 of numbers whose products are denormals.
cp "$root/tests/cli/values.tfg" .
mkdir values
for dtype in f32 bf16; do
    "$tfc" compile values.tfg -o values/libvalues.so --function forward --dtype $dtype --cpu x86-64-v3 2>values/told || break
    cc "$root/tests/cli/cross_values.c" -o values/values -Ivalues -Lvalues -lvalues
    LD_LIBRARY_PATH=values values/values >here/$dtype.all
    LD_LIBRARY_PATH=values values/values roots >here/$dtype.roots
done

# bits TARGET CPU TYPE [roots]: the same of that target
bits()
{
    [ -s here/f32.all ] || return 0 # this system is no x86-64
    of=all
    [ $# = 3 ] || of=roots
    rm -rf values/there && mkdir values/there
    "$tfc" compile values.tfg -o values/there/libvalues.so --function forward --dtype "$3" --target "$1" --cpu "$2"
    "$1-gcc" "$root/tests/cli/cross_values.c" -o values/there/values -Ivalues/there -Lvalues/there -lvalues
    (cd values/there && runs "$1" ./values ${4:-}) >values/bits
    cmp values/bits "here/$3.$of" || fail "$1, $2: other bits in $3, $of"
}

# integers TARGET CPU: the same tokens in integers
integers()
{
    for dtype in int8 int4 q8_0 q4_1; do
        "$tfc" compile "$model" -o "$dtype-$2" $small --weights here/trained.safetensors --dtype $dtype --target "$1" --cpu "$2" 2>/dev/null
        runs "$1" "./$dtype-$2" --beam 4 --bos 1 --eos 2 <ids | cmp - here/tokens.$dtype || fail "$1, $2: other tokens in $dtype"
    done
}

if has aarch64-linux-gnu-gcc qemu-aarch64; then
    translates aarch64-linux-gnu aarch64
    integers aarch64-linux-gnu generic
    integers aarch64-linux-gnu cortex-a76
fi
if [ -n "$short" ]; then
    [ -z "$skipped" ] || { echo "skipped: there is no$skipped"; exit 77; }
    exit 0
fi
if has aarch64-linux-gnu-gcc qemu-aarch64; then
    library aarch64-linux-gnu arm cortex-a53
    same aarch64-linux-gnu arm ""
    library aarch64-linux-gnu sve neoverse-v1
    emulated=max,sve256=on same aarch64-linux-gnu sve ""
    bits aarch64-linux-gnu cortex-a53 f32
    bits aarch64-linux-gnu cortex-a53 bf16
    bits aarch64-linux-gnu cortex-a53 bf16 roots
    emulated=max,sve256=on bits aarch64-linux-gnu neoverse-v1 f32
fi
if has riscv64-linux-gnu-gcc qemu-riscv64; then
    translates riscv64-linux-gnu riscv64
    integers riscv64-linux-gnu generic-rv64
    library riscv64-linux-gnu rvv sifive-x280
    emulated=rv64,v=true,vext_spec=v1.0,vlen=512,zba=true,zbb=true,Zfh=true same riscv64-linux-gnu rvv ""
    bits riscv64-linux-gnu generic-rv64 f32
    emulated=rv64,v=true,vext_spec=v1.0,vlen=512,zba=true,zbb=true,Zfh=true bits riscv64-linux-gnu sifive-x280 f32
fi
if has clang-19 wasm-ld-19 node /usr/include/wasm32-wasi; then
    translates wasm32-wasi translator.wasm
    # An object, linked with the runtime's C files as the manual says.
    mkdir wasm
    "$tfc" compile "$model" -o wasm/multi30k_small.o $small --target wasm32-wasi
    runtime=$(dirname "$tfc")/runtime
    wasi="clang-19 --target=wasm32-wasi -O2 -msimd128 -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_GETPID"
    (cd wasm && $wasi -DNDEBUG -I"$runtime" -I"$runtime/runtime/wasi" -c $(find "$runtime" -name '*.c'))
    for program in tests/cli/compile_jit.c examples/fine_tune.c; do
        $wasi "$root/$program" wasm/*.o -Iwasm -o "wasm/$(basename $program .c).wasm" \
            -lwasi-emulated-mman -lwasi-emulated-getpid -Wl,-z,stack-size=8388608 -lm
    done
    same wasm32-wasi wasm .wasm
    if [ -s here/f32.all ]; then # WebAssembly has no fused multiply-add
        rm -rf values/there && mkdir values/there
        "$tfc" compile values.tfg -o values/there/values.o --function forward --target wasm32-wasi --fma emulate
        $wasi "$root/tests/cli/cross_values.c" values/there/values.o wasm/*.o -Ivalues/there -o values/there/values.wasm \
            -lwasi-emulated-mman -lwasi-emulated-getpid -Wl,-z,stack-size=8388608 -lm
        (cd values/there && runs wasm32-wasi ./values.wasm) >values/bits
        cmp values/bits here/f32.all || fail "wasm32-wasi: other bits with --fma emulate"
    fi
fi
[ -z "$skipped" ] || { echo "skipped: there is no$skipped"; exit 77; }
