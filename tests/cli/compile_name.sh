#!/bin/sh
# Two models in one program: tfc compile --name, as libraries, objects, archives and C files; libraries that are loaded while
# a program runs; and two of one name, which no call may mix up. The models are called alike: one doubles, one trebles.
# Usage: compile_name.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
cc=${CC%% *}
runtime=$(dirname "$tfc")/libtfc_runtime.a
for factor in 2 3; do
    printf 'model scale\ndim B\ninput x : f32[B, 2]\noutput y = x * %s\n' $factor >times$factor.tfg
done
# compile FACTOR FILE [OPTIONS]: its function forward
compile() {
    factor=$1 file=$2
    shift 2
    "$tfc" compile "times$factor.tfg" --function forward -o "$file" "$@" 2>err.txt || fail "$file: $(cat err.txt)"
}

cat >answer.h <<'C'
#include <stdio.h>
#define ANSWER(NAME)                                                                  \
    do {                                                                              \
        NAME *model;                                                                  \
        NAME##_session *session;                                                      \
        const float x[] = {1, 2};                                                     \
        NAME##_forward_in in = {.B = 1, .x = x};                                      \
        NAME##_forward_out out;                                                       \
        if (NAME##_open_new(1, &model) || NAME##_session_new(model, &session) ||      \
            NAME##_forward(session, &in, &out))                                       \
            printf("%s\n", NAME##_error_detail());                                    \
        else                                                                          \
            printf("%g\n", out.y[1]);                                                 \
        NAME##_session_free(session);                                                 \
        NAME##_close(model);                                                          \
    } while (0)
C
# calls FILE NAME…: a program that has each of these answer
calls() {
    file=$1
    shift
    { printf '#include "%s.h"\n' "$@"; printf '#include "answer.h"\nint main(void)\n{\n'; printf '    ANSWER(%s);\n' "$@"; echo '}'; } >"$file"
}
# link LINKED…: both.c with these; what it says is in out.txt
link() {
    "$cc" both.c -I. -L. -Wl,--no-as-needed,-rpath,. "$@" -pthread -lm -o both 2>err.txt || fail "$*: $(cat err.txt)"
    ./both >out.txt || fail "$*: $(cat out.txt)"
}
answers() { # answers WANTED LINKED…
    wanted=$1
    shift
    link "$@"
    [ "$(tr '\n' ' ' <out.txt)" = "$wanted" ] || fail "$*: $(cat out.txt)"
}

# ---- two names ----
calls both.c twice thrice
mkdir c
for file in lib.so lib.o c/lib.c; do # the header of a C file is another one
    compile 2 "${file%lib*}libtwice.${file#*.}" --name twice
    compile 3 "${file%lib*}libthrice.${file#*.}" --name thrice
    [ ! -s err.txt ] || fail "it is not silent: $(cat err.txt)"
done
answers "4 6 " -ltwice -lthrice
answers "4 6 " -lthrice -ltwice
answers "4 6 " libtwice.o libthrice.o "$runtime"
answers "4 6 " libtwice.o -lthrice "$runtime"
cp both.c answer.h c
(cd c && answers "4 6 " libthrice.c libtwice.c)
mkdir alone # libraries alone, and their modules
mv libtwice.so libthrice.so twice.py thrice.py alone
ar rcs libtwice.a libtwice.o
ar rcs libthrice.a libthrice.o
answers "4 6 " -lthrice -ltwice "$runtime"
# What a library has beside its functions is nobody else's: not of a model whose name looks like it, either.
compile 2 scale.o --cpu x86-64-v2
compile 3 other.o --cpu x86-64-v2 --name scale_v2
calls both.c scale scale_v2
answers "4 6 " scale.o other.o "$runtime"
[ -z "$(readelf -sW "$runtime" | awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND"')" ] || fail "a program's library would show the runtime"

# A name is what it stands in place of: the model's own as --name changes nothing.
mkdir own named
compile 2 own/libscale.so
compile 2 named/libscale.so --name scale
diff -r own named || fail "the same name gives another library"
sed 's/^model scale/model twice/' times2.tfg >named/times2.tfg
(cd named && compile 2 ../named/libtwice.so)
cmp twice.h named/twice.h || fail "a given name is not the model's own"
for file in twice.py libtwice.so; do cmp named/$file alone/$file || fail "a given name is not the model's own"; done
! grep -w "scale\|scale_[a-z_]*" twice.h alone/twice.py || fail "the model's name is left"
nm -D --defined-only alone/libtwice.so | grep -v ' twice_' && fail "other names are exported"

# ---- one name ----
mkdir second
compile 3 second/libother.so
calls both.c scale
export LD_LIBRARY_PATH=own:second
for order in "-lscale -lother" "-lother -lscale" "scale.o -lother $runtime"; do
    # shellcheck disable=SC2086  # words
    link -Lown -Lsecond $order
    grep -q "^the program has two models called scale, in .* and .*lib\(scale\|other\).so, and all calls reach the first: compile one of them with --name$" out.txt ||
        fail "$order: $(cat out.txt)"
done
compile 3 two.o --cpu x86-64-v2
"$cc" both.c scale.o two.o "$runtime" -I. -pthread -lm -o both 2>err.txt && fail "two objects of one name"
grep -q "multiple definition of .scale_forward" err.txt || fail "$(cat err.txt)"
# A library that is loaded by its path is called by its path.
cat >load.c <<'C'
#define _GNU_SOURCE
#include "scale.h"
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *all[2] = {0};
    for (int i = 0; i < 2; i++)
        if (!(all[i] = dlopen(argv[i + 1], RTLD_NOW | (argc > 3 ? RTLD_GLOBAL : RTLD_LOCAL))))
            return puts(dlerror()), 1;
    for (int i = 0; i < 2; i++) {
        int (*open_new)(int64_t, uint64_t, scale **) = dlsym(all[i], "scale_open_new_version");
        int (*session_new)(scale *, scale_session **) = dlsym(all[i], "scale_session_new");
        int (*forward)(scale_session *, const scale_forward_in *, scale_forward_out *) = dlsym(all[i], "scale_forward");
        const char *(*detail)(void) = dlsym(all[i], "scale_error_detail");
        scale *model;
        scale_session *session;
        const float x[] = {1, 2};
        scale_forward_in in = {.B = 1, .x = x};
        scale_forward_out out;
        if (open_new(scale_HEADER, 1, &model) || session_new(model, &session) || forward(session, &in, &out))
            puts(detail());
        else
            printf("%g\n", out.y[1]);
    }
    return 0;
}
C
"$cc" load.c -I. -ldl -o load 2>err.txt || fail "$(cat err.txt)"
for global in "" all; do
    # shellcheck disable=SC2086  # a word or none
    [ "$(./load own/libscale.so second/libother.so $global | tr '\n' ' ')" = "4 6 " ] || fail "loaded: $(./load own/libscale.so second/libother.so $global)"
done

# ---- Python ----
cat >use.py <<'P'
import importlib.util, sys

def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

modules = [load("own/scale.py", "first"), load("second/scale.py", "second")]
sys.path.insert(0, "alone")
import twice, thrice
models = [module.Model(seed=1) for module in modules + [twice, thrice]]
try:
    import numpy
except ImportError:  # arrays need it
    sys.exit()
print(*(model.forward(x=[[1, 2]])["y"][0][1] for model in models))
P
python=$(python_with_numpy)
"${python:-python3}" use.py >out.txt 2>err.txt || fail "$(cat err.txt)"
[ -z "$python" ] || [ "$(cat out.txt)" = "4.0 6.0 4.0 6.0" ] || fail "Python: $(cat out.txt)"

# ---- what no name can be ----
for name in int 9lives a-b "a b" _a tfc_a numbers printf compile ""; do
    refuses 2 "compile: --name is '$name'" "$tfc" compile times2.tfg -o never.so --name "$name"
done
refuses 2 "numbers'; a module of Python has that name: choose another" "$tfc" compile times2.tfg -o never.so --name numbers
refuses 1 "text holds code alone: leave --name out" "$tfc" compile times2.tfg -o never.s --name twice
[ ! -e never.so ] && [ ! -e never.s ] || fail "something was written"
# A model's own name that is taken gets a _, which is said where callers see it.
sed 's/^model scale/model numbers/' times2.tfg >numbers.tfg
"$tfc" compile numbers.tfg -o libnumbers.so 2>err.txt || fail "$(cat err.txt)"
grep -q "note: the names in C and Python begin with numbers_, since a module of Python has the name numbers: --name NAME gives others" err.txt ||
    fail "$(cat err.txt)"
# A new project has a name that is free.
for i in 1 2 3 4 5 6 7 8 9; do for j in a b c d e f g h i j k l m; do printf '%s line %s\t%s text %s\n' $i $j $j $i; done; done >pairs.tsv
for project in words numbers; do
    "$tfc" init $project --kind translator --data pairs.tsv >out.txt 2>&1 || fail "$(cat out.txt)"
done
grep -qx "model words" words/model.tfg && grep -qx "model numbers_model" numbers/model.tfg || fail "$(head -n 3 words/model.tfg numbers/model.tfg)"
"$tfc" compile words/model.tfg --function forward --set layers=1 -o words/libwords.so 2>err.txt || fail "$(cat err.txt)"
(cd words && python3 -c 'import words; words.Model(seed=1)') || fail "a project called words: $(ls words)"
echo "all is well"
