#!/bin/sh
# Names that others chose: of any length, with escape sequences, line breaks and letters that shells, linkers and C take for
# something else.
# Usage: hostile_names.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# ---- models ----
model() { printf 'model %s\ndim B\ninput x : f32[B, 4]\nparam w : [4, 3]\noutput y = x @ w\n' "$1"; }
long=$(printf '%0200d' 0 | tr 0 y)
for name in "$long" main words time; do
    case $name in "$long" | words) c=$name ;; *) c=${name}_ ;; esac
    model "$name" >model.tfg
    "$tfc" compile model.tfg -o a,b.so 2>err.txt || fail "$name: $(cat err.txt)"
    [ -s "$c.h" ] || fail "$name: no $c.h: $(ls)"
    printf '#include <time.h>\n#include "%s.h"\nint main(void) { return %s_parameter_count(0) != -1; }\n' "$c" "$c" >user.c
    "${CC%% *}" -I. user.c ./a,b.so -o user 2>err.txt || fail "$name: $(cat err.txt)"
    LD_LIBRARY_PATH=. ./user || fail "$name: the library does not answer"
done
# Macros and types of the headers that the generated header, or its user's program, includes: as a library and as C.
for name in NULL uint8_t INT8_MAX EOF FILE; do
    model "$name" >model.tfg
    for kind in so c; do
        "$tfc" compile model.tfg -o "a,b.$kind" 2>err.txt || fail "$name: $(cat err.txt)"
    done
    [ -s "${name}_.py" ] || fail "$name: no ${name}_.py: $(ls)"
    printf '#include <errno.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include "%s_.h"\n' "$name" >user.c
    printf 'int main(void) { %s_ *m = NULL; return %s__parameter_count(m) != -1; }\n' "$name" "$name" >>user.c
    "${CC%% *}" -I. user.c ./a,b.so -o user 2>err.txt || fail "$name: $(cat err.txt)"
    LD_LIBRARY_PATH=. ./user || fail "$name: the library does not answer"
    "${CC%% *}" -w -I. -fsyntax-only a,b.c 2>err.txt || fail "$name as C: $(cat err.txt)"
done
model words >model.tfg
"$tfc" compile model.tfg -o words.c 2>err.txt || fail "$(cat err.txt)"
# taken SCOPE: the names of standard input that are not among those that get a _ (driver/ports/reserved_names.def).
cat >taken.c <<'END'
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
enum { ANY, MODEL };
static const struct { int scope; const char *names; } rows[] = {
#define RESERVED(scope, where, names) {scope, names},
#include "driver/ports/reserved_names.def"
};
int main(int argc, char **argv)
{
    static char name[256], names[1 << 16];
    while (scanf("%255s", name) == 1) {
        int found = 0;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (rows[i].scope > (argc > 1 && !strcmp(argv[1], "MODEL") ? MODEL : ANY))
                continue;
            strcpy(names, rows[i].names);
            for (char *word = strtok(names, " "); word; word = strtok(NULL, " "))
                found |= !fnmatch(word, name, 0);
        }
        if (!found)
            puts(name);
    }
}
END
"${CC%% *}" -I"$root" taken.c -o taken 2>err.txt || fail "$(cat err.txt)"
for header in assert ctype errno float inttypes limits math stdarg stdbool stddef stdint stdio stdlib string time; do
    echo "#include <$header.h>"
done >headers.h
grep -E 'std(bool|def|int)' headers.h >own.h
macros() { "${CC%% *}" -std=c17 -dM -E -x c "$1" | sed -n 's/^#define \([A-Za-z][A-Za-z0-9_]*\) .*/\1/p'; }
functions() { "${CC%% *}" -std=c17 -dM -E -x c "$1" | sed -n 's/^#define \([A-Za-z][A-Za-z0-9_]*\)(.*/\1/p'; } # as macros
declared() { # declared HEADERS WORD: typedef or extern
    "${CC%% *}" -std=c17 -E -P -x c "$1" | tr '\n' ' ' | sed 's/__attribute__ *(([^;]*))//g' | tr ';' '\n' | grep "^ *$2 " | grep -v '{' |
        sed 's/ *([^*].*//; s/\[.*//; s/.*[ *}]\([A-Za-z0-9_]*\) *$/\1/' | grep '^[a-zA-Z][a-zA-Z0-9_]*$' | sort -u
}
[ "$(macros own.h | wc -l)" -gt 40 ] && [ "$(declared own.h typedef | wc -l)" -gt 25 ] && [ "$(declared headers.h extern | wc -l)" -gt 250 ] ||
    fail "the names of headers are not found"
{ macros headers.h; functions own.h; declared own.h typedef; } | ./taken ANY >missing.txt
{ functions headers.h; declared headers.h typedef; declared headers.h extern; } | ./taken MODEL >>missing.txt
[ ! -s missing.txt ] || fail "a model of these names would clash with C's headers: $(tr '\n' ' ' <missing.txt)"
python3 -c 'import builtins, keyword; print(*(n for n in dir(builtins) + keyword.kwlist if n[0] != "_"))' | ./taken MODEL >missing.txt
[ ! -s missing.txt ] || fail "names of Python: $(tr '\n' ' ' <missing.txt)"
# Functions of the runtime that a model's could be called as.
sed -n 's/^API_CALL([A-Za-z_]*, [^,]*, \([a-z_]*\), .*/\1/p' "$root/runtime/model/interface.def" | sort -u >exports.txt
[ "$(wc -l <exports.txt)" -gt 15 ] || fail "the exports are not found"
sed -n '/======== kernels and tables/q; s/^\(static \|\)\([A-Za-z][A-Za-z0-9_ ]* \**\)\([a-z0-9_]*\)(.*/\3/p' words.c | sort -u >functions.txt
[ "$(wc -l <functions.txt)" -gt 100 ] || fail "the functions are not found"
while read -r e; do
    sed -n "s/^\\([a-z0-9]*\\)_$e\$/\\1/p" functions.txt
done <exports.txt | sort -u | ./taken MODEL >missing.txt
# Those that are linked with any library, whatever of them this model needs: a model's function would stand in their place.
nm --defined-only "$(dirname "$tfc")/libtfc_runtime.a" 2>/dev/null | sed -n 's/^[0-9a-f]* [A-Z] //p' | grep -v '^tfc_' | sort -u >functions.txt
[ "$(wc -l <functions.txt)" -gt 300 ] || fail "the runtime's functions are not found"
sed 's/^open.*/&_version/; s/_columns$//' exports.txt | sort -u >symbols.txt
while read -r e; do
    sed -n "s/^\\(.*\\)_$e\$/\\1/p" functions.txt
done <symbols.txt | sort -u | ./taken MODEL >>missing.txt
[ ! -s missing.txt ] || fail "a model of these names would clash with the runtime: $(tr '\n' ' ' <missing.txt)"
# Words of C, C++ and Python as names of inputs and of the model, and the modules that NAME.py imports.
python3 -c 'import keyword; print(*keyword.kwlist, "auto char double int register struct typeof constexpr bool _Bool _Generic",
    "linux namespace nullptr template typename xor co_await this self seed NULL size_t uint8_t INT8_MAX EOF errno NAN")' | tr ' ' '\n' |
    grep -vxE "and|as|else|if|not|or|return" >words.txt # the language's own
model import >model.tfg
sed 's/.*/input & : f32[B, 3]\noutput of_& = y + &/' words.txt >>model.tfg
"$tfc" compile model.tfg -o libimport.so 2>err.txt || fail "$(cat err.txt)"
printf '#include <errno.h>\n#include <math.h>\n#include <stdio.h>\n#include "import_.h"\n' >user.c
printf 'int main(void) { import__forward_in in = {0}; return in.x != 0 || in.NULL_ != 0; }\n' >>user.c
for language in c c++; do
    "${CC%% *}" -x $language -I. -fsyntax-only user.c 2>err.txt || fail "import_.h as $language: $(cat err.txt)"
done
cat >words.py <<'P'
import import_, keyword, sys
model = import_.Model(seed=1)
names = [name for name, *_ in import_._FUNCTIONS["forward"][1]]
assert len(names) > 45 and not any(keyword.iskeyword(name) for name in names), names
try:
    import numpy
except ImportError: # arrays need it
    sys.exit()
y = model.forward(class_=[[1, 2, 3]], **{name: [[0, 0, 0]] for name in names if name not in ("x", "class_")}, x=[[1, 2, 3, 4]])
assert ((y["of_class"] - y["of_import"])[0].round(3) == [1, 2, 3]).all(), y
P
python=$(python_with_numpy)
"${python:-python3}" words.py 2>err.txt || fail "$(cat err.txt)"
python3 -c 'import sys; print(*(m for m in sys.stdlib_module_names if m[0] != "_"), sep="\n")' >modules.txt
while read -r module; do
    grep -q "M($module)" "$root/driver/ports/python_modules.def" || fail "$module.py would hide a module of Python"
done <modules.txt
model numbers >model.tfg
"$tfc" compile model.tfg -o libnumbers.so 2>err.txt || fail "$(cat err.txt)"
[ -f numbers_.py ] && [ ! -e numbers.py ] || fail "numbers.py hides a module of Python"
python3 -c 'import decimal, random, numbers_; numbers_.Model' || fail "a module beside numbers_.py"
model numpy >model.tfg
"$tfc" compile model.tfg -o libnumpy.so 2>err.txt || fail "$(cat err.txt)"
python3 -c 'import numpy_; numpy_.Model(seed=1)' 2>err.txt || fail "$(cat err.txt)"
# Python would take the library for the module.
model small >model.tfg
"$tfc" compile model.tfg -o small.so 2>err.txt || fail "$(cat err.txt)"
grep -q "note: Python imports small.so rather than small.py beside it, which it hides: for Python write it as libsmall.so" err.txt || fail "$(cat err.txt)"
rm small.so
"$tfc" compile model.tfg -o libsmall.so 2>err.txt && [ ! -s err.txt ] || fail "$(cat err.txt)"

# ---- shells ----
refuses 2 "launch: --hosts is 'a;touch broken'; expected names" "$tfc" launch --hosts 'a;touch broken' --retries 0 --shell true -- echo HOSTS
refuses 2 "launch: --hosts is 'a,-oProxyCommand=x'" "$tfc" launch --hosts 'a,-oProxyCommand=x' --retries 0 --shell true -- echo HOSTS
[ ! -e broken ] || fail "a host reached a shell"
"$tfc" launch --hosts root@node-1.example:4,b --retries 0 --shell true -- echo HOSTS >out.txt
grep -q "root@node-1.example:4,b" out.txt || fail "$(cat out.txt)"

# ---- paths of no length ----
refuses 2 "train: -o is ''; expected a path" "$tfc" train model.tfg --source a --target b --vocab words:auto --out ""
refuses 2 "compile: -o is ''; expected a path" "$tfc" compile model.tfg -o ""
refuses 2 "info: an argument is empty; expected FILE" "$tfc" info ""

# ---- escape sequences, line breaks, length ----
escape=$(printf '\033')
hostile=$(printf 'a\033[31m\r\nerror: forged\nname')
refuses 1 'cannot read a\\x1b\[31m\\x0d' "$tfc" info "$hostile"
grep -q "$escape" err.txt && fail "an escape sequence reached the terminal"
grep -q '^error: forged' err.txt && fail "a name passes for a message"
refuses 1 ' … .*: File name too long' "$tfc" info "$(printf '%03000d' 0)/x"
[ "$(wc -c <err.txt)" -lt 1000 ] || fail "a message of $(wc -c <err.txt) bytes"
mkdir index
printf '{"weight_map": {"b\\u001b[2J": "/"}}' >index/model.safetensors.index.json
refuses 1 'b\\x1b\[2J' "$tfc" export model.tfg --weights index/model.safetensors.index.json -o never
grep -q "$escape" err.txt && fail "a name in an index reached the terminal"
printf '{"model_type": "evil\\u001b[31m\\nerror: forged"}' >config.json
refuses 1 'evil\\x1b' "$tfc" import . -o never
grep -q "$escape" err.txt && fail "an escape sequence of model_type reached the terminal"
grep -q '^error: forged' err.txt && fail "model_type passes for a message"
header='{"a\u001b[2J\nb":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
length=$(printf '%s' "$header" | wc -c)
{ printf "\\$(printf %03o "$length")\\0\\0\\0\\0\\0\\0\\0"; printf '%s' "$header"; printf '\0\0\0\0'; } >t.safetensors
"$tfc" info t.safetensors >out.txt 2>&1 || fail "$(cat out.txt)"
grep -q "$escape" out.txt && fail "a tensor's name reached the terminal"
grep -q 'a\\x1b\[2J\\nb' out.txt || fail "$(cat out.txt)"
