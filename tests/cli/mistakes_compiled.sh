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
echo "all is well"
