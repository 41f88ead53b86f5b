#!/bin/sh
# Mistakes with what tfc compile makes: modules of Python, programs, two libraries in one folder; and results that cannot
# be written.
# Usage: mistakes_compiled.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"
unset TFC_LIBRARY

cat >m.tfg <<'M'
model m
use transformer_pre_norm
const vocab = 30, layers = 1, d_model = 8, d_ff = 8, heads = 1
train { rate = constant(0.003); batch = tokens(300); max_length = 20 }
M
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --out run --steps 1 2>err.txt || fail "$(cat err.txt)"

# The module of a folder is that of the library compiled last, which is told.
compile() { "$tfc" compile run --function encode,decode_step -o "$1" 2>err.txt || fail "$1: $(cat err.txt)"; }
compile libone.so
[ ! -s err.txt ] || fail "nothing was replaced: $(cat err.txt)"
compile libone.so
[ ! -s err.txt ] || fail "its own module: $(cat err.txt)"
cp m.py other.py
compile libtwo.so
grep -q "m.h and m.py, of libone.so, now belong to libtwo.so: --name NAME gives each its own" err.txt || fail "a module is replaced: $(cat err.txt)"
mkdir apart
cp libtwo.so m.py m.h apart
compile apart/m.o
[ ! -s err.txt ] || fail "the same header: $(cat err.txt)"
"$tfc" compile run -o apart/m.c 2>err.txt || fail "$(cat err.txt)"
grep -q "m.h, of libtwo.so, now belongs to m.c: give each a folder" err.txt || fail "a header is replaced: $(cat err.txt)"

cat >wrong.py <<'P'
import m, sys

def fails(words, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (TypeError, m.Error) as error:
        assert words in str(error), error
    else:
        raise AssertionError("nothing was wrong with " + words)

model = m.Model()
fails("text: a str or a list of str, not bytes", model.translate_text, b"a b")
fails("text: a str or a list of str, not None", model.translate_text, None)
fails("text: a str or a list of str, not of int", model.translate_text, ["a", 1])
fails("prefix: a str, not int", model.translate_text, "a", prefix=3)
fails("lines: a list of str, not str", model.translations, "abc")
fails("sentences: a list of lists of ids, not of int", model.generate, [1, 2, 3])
fails("sentences: a list of lists of ids, not None", model.generate, None)
fails("prefixes: a list of lists of ids, not of int", model.generate, [[5]], prefixes=[3])
assert len(model.generate([[5, 6]], temperature=0.5)[0]) == 1 # a field that a search does not read is no mistake
assert len(model.translate_text(line for line in ["a b", "c"])) == 2
m._HEADER += 1
fails("m.py is of another compilation than libtwo.so", m.Model)
fails("m.py is of another compilation than libtwo.so", m.Model, seed=3)
P
python3 wrong.py || fail "the module's mistakes"

# Options that have no effect together, as tfc translate refuses them.
"$tfc" compile run -o program
refuses 2 "\-\-temperature is for --sample" ./program --temperature 0.5
refuses 2 "\-\-beam is for searches: leave --sample out" ./program --sample --beam 2
refuses 2 "\-\-nbest 5: a search gives no more than its beam, --beam 2" ./program --nbest 5 --beam 2
[ "$(echo a b | ./program --nbest 5 | wc -l)" = 5 ] || fail "--nbest alone"
echo a b | ./program --sample --temperature 0.5 --top-k 2 >out.txt || fail "draws"

# Results that cannot be written.
for words in --help --version "help --man" "train --help" "info run"; do
    # shellcheck disable=SC2086  # words
    { "$tfc" $words >/dev/full; } 2>err.txt && fail "tfc $words has written to /dev/full"
    grep -q "cannot write the results: No space left on device" err.txt || fail "tfc $words: $(cat err.txt)"
done
# A program whose model has no classes, and one whose vocabulary has tokens that the model has no row for.
cat >tops.tfg <<'M'
model tops
const vocab = 30
dim B, S
input text : token[B, S~] = column("text")
input label : float[B] = column("label")
param e : [vocab, 4] = normal(0, 0.1)
y = sum(mean(e[text], 1), -1)
loss = mean((reshape(y, [B]) - label) ^ 2)
predict score = reshape(y, [B])
train { rate = constant(0.01); batch = tokens(100); max_length = 20 }
M
printf 'text\tlabel\na b\t0\nb\t1\n' >tops.tsv
"$tfc" train tops.tfg --data tops.tsv --vocab words:auto --out tops --steps 1 2>err.txt || fail "$(cat err.txt)"
"$tfc" compile tops -o score 2>err.txt || fail "$(cat err.txt)"
echo a | refuses 1 "\-\-top is for the classes of a text, or with --json of its positions" ./score --top 2
"$tfc" import "$root/tests/fixtures/beyond_rows" -o beyond 2>err.txt || fail "$(cat err.txt)"
"$tfc" compile beyond -o continue 2>err.txt || fail "$(cat err.txt)"
echo 'w0 <image_soft_token>' | refuses 1 "line 1: the prompt: it has the token '<image_soft_token>', number 8, and the model has rows for 8 tokens" ./continue

# A program moved without its archives; processes that the system does not start; a folder that another process makes.
mkdir moved
cp "$tfc" moved/tfc
ln -s "$(dirname "$tfc")/runtime" moved/runtime
refuses 1 "libtfc_runtime.a is not beside the program; the variable TFC_RUNTIME can name it" \
    env -u TFC_RUNTIME TFC_LIBRARY="$root/models/lib" moved/tfc compile run -o x.so
cp -r "$root/models" models
echo '@nothing@' >>models/kinds/classifier.tfg.in
i=0
{ echo "text	label" && while [ $i -lt 200 ]; do echo "a b $i	$((i % 2))"; i=$((i + 1)); done; } >init.tsv
refuses 1 "models/lib/../kinds/classifier.tfg.in: nothing stands for @nothing@" \
    env TFC_LIBRARY="$PWD/models/lib" "$tfc" init project --kind classifier --data init.tsv
cat >no.c <<'C'
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
pid_t fork(void) { return errno = EAGAIN, -1; }
int rename(const char *from, const char *to)
{
    struct stat file;
    errno = EEXIST;
    return !stat(from, &file) && S_ISDIR(file.st_mode) ? -1 : (int)syscall(SYS_renameat2, -100, from, -100, to, 0);
}
C
cc -shared -fPIC no.c -o no.so
if ! sanitized; then
    refuses 1 "cannot start a process: Resource temporarily unavailable" env LD_PRELOAD="$PWD/no.so" "$tfc" launch --retries 0 -- true
    refuses 1 "cannot start cc: Resource temporarily unavailable" env LD_PRELOAD="$PWD/no.so" "$tfc" compile run -o x.so
    refuses 1 "cannot make the folder eight: another process has written into it meanwhile" \
        env LD_PRELOAD="$PWD/no.so" "$tfc" quantize run -o eight
fi
echo "all is well"
