#!/bin/sh
# A tokenizer.json inside programs and libraries: what they answer is what tfc translate answers, on
# text in ten scripts, for each kind of tokenizer; they need libc and libm alone, and other systems and
# forms are told what of it is left out.
# Usage: compile_json.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export OMP_NUM_THREADS=1
if [ ! -e "$(dirname "$tfc")/libtfc_runtime_json.a" ]; then
    echo "skipped: no static libraries of PCRE2 and utf8proc"
    exit 77
fi
cat >babel.tfg <<'END'
model babel
use transformer
const vocab = 8, layers = 1, d_model = 32, d_ff = 64, heads = 2, p_drop = 0
train { rate = constant(0.01); batch = tokens(600); max_length = 400 }
END
cp "$root/tests/text/scripts.txt" lines
printf 'a\360\237\230\200b \t  c\ndon'"'"'t 123,456.7 \342\200\234q\342\200\235\n\nthe end' >>lines
for case in "$root"/tests/hf/cases/*.json; do
    name=$(basename "$case" .json)
    [ "$name" != words ] || continue # it has no end of sentence
    [ -z "$short" ] || [ "$name" = llama ] || continue
    "$tfc" train babel.tfg --source lines --target lines --vocab "$case" --out "$name" --steps 30 --seed 3 --no-bleu \
        2>err.txt || fail "$name: $(cat err.txt)"
    "$tfc" translate "$name" --input lines --max-tokens 60 --sample --seed 5 >expected || fail "$name is not translated"
    "$tfc" compile "$name" -o "$name.exe" --emit exe 2>err.txt || fail "$name: $(cat err.txt)"
    [ ! -s err.txt ] || fail "$name: $(cat err.txt)"
    "./$name.exe" --max-tokens 60 --sample --seed 5 <lines >answer || fail "$name.exe"
    cmp expected answer || fail "$name: the program answers otherwise"
    [ "$(sort -u expected | wc -l)" -gt 5 ] || fail "$name: it says the same to all"
done
ldd llama.exe | grep -Eq 'pcre|utf8proc|stdc' && fail "llama.exe needs more than libc and libm: $(ldd llama.exe)"
[ -z "$short" ] || exit 0

# One vocabulary a side, of two kinds.
sed '2a use source_embedding' babel.tfg >sides.tfg
"$tfc" train sides.tfg --source lines --target lines --vocab words:auto --source-vocab "$root/tests/hf/cases/bert.json" \
    --out sides --steps 30 --seed 3 --no-bleu 2>err.txt || fail "$(cat err.txt)"
"$tfc" translate sides --input lines --max-tokens 60 --sample --seed 5 >expected
"$tfc" compile sides -o sides.exe --emit exe
./sides.exe --max-tokens 60 --sample --seed 5 <lines >answer
cmp expected answer || fail "two vocabularies: the program answers otherwise"

# The library, going on with a text.
cat >speak.tfg <<'END'
model speak
use language_model
const vocab = 8, layers = 1, d_model = 32, heads = 2, context = 64
train { rate = constant(0.01); batch = tokens(400); max_length = context }
END
"$tfc" train speak.tfg --text lines --vocab "$root/tests/hf/cases/llama3.json" --out speak --steps 30 --seed 3 2>err.txt ||
    fail "$(cat err.txt)"
mkdir lib
"$tfc" compile speak -o lib/libspeak.so
generate_program speak -Ilib -Llib -lspeak -Wl,-rpath,"$work/lib"
prompt=$(printf '\303\244pfel 12')
./speak_says "$prompt" 20 >answer || fail "$(cat answer)"
"$tfc" generate speak --prompt "$prompt" --tokens 20 --temperature 0 >expected
cmp expected answer || fail "the library goes on otherwise"
nm -D --defined-only lib/libspeak.so | grep -Eq 'pcre2|utf8proc' && fail "the library shows what is inside"

# An object takes both archives.
here=$(dirname "$tfc")
"$tfc" compile speak -o lib/speak.o --emit obj --gemm native || fail "no object"
generate_program speak lib/speak.o -Ilib "$here/libtfc_runtime_json.a" "$here/libtfc_runtime.a" -pthread -lm
./speak_says "$prompt" 20 >answer || fail "$(cat answer)"
cmp expected answer || fail "the object goes on otherwise"
command -v aarch64-linux-gnu-gcc >/dev/null || exit 0
"$tfc" compile speak -o speak.o --emit obj --target aarch64-linux-gnu 2>err.txt || fail "$(cat err.txt)"
grep -q "functions of text are left out: the tokenizer.json has regular expressions, which are put inside what is for this" err.txt ||
    fail "$(cat err.txt)"
