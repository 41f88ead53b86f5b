#!/bin/sh
# What people ask of compiled models first: --help of a program, the text of a result in Python, and Python without numpy.
# Usage: compiled_help.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >m.tfg <<'M'
model small
use transformer
const layers = 1, d_model = 8, d_ff = 8, heads = 1, vocab = 8
train { rate = constant(0.003); batch = tokens(300); max_length = 20 }
M
for i in 1 2 3 4; do echo "a b c $i"; done >t.txt
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --out run --steps 1 2>err || fail "$(cat err)"
"$tfc" compile run -o program --emit exe 2>err || fail "$(cat err)"
for word in --help -h; do
    ./program $word >out 2>err || fail "$word: exit status $?"
    awk 'length > 80 { long = 1 } END { exit long }' out || fail "wider than a page: $(cat out)"
    grep -q "^Usage: ./program" out && grep -q -- "--beam" out && [ ! -s err ] || fail "$word: $(cat out err)"
done
refuses 2 "there is no option '--hlep'" ./program --hlep
# Its standard input is bounded as that of tfc translate: a line of a million bytes, whatever it ends with.
echo 'a b' >lines.txt
"$tfc" translate run --input lines.txt >want.txt
printf 'a b\r\na b' | ./program >out 2>err && [ "$(sort -u out)" = "$(cat want.txt)" ] && [ "$(wc -l <out)" = 2 ] || fail "line ends: $(cat out err)"
# A stack of 64 kB: both go on with another.
sanitized || (ulimit -s 64 && ./program <lines.txt >out 2>err && cmp out want.txt && "$tfc" translate run --input lines.txt 2>err | cmp - want.txt) ||
    fail "a small stack: $(cat err)"
yes aaaa | tr -d '\n' | (ulimit -v 2000000; refuses 1 "line 1: the line is longer than 1000000 bytes" ./program)
yes aaaa | tr -d '\n' | head -c 2000000 >long.txt
refuses 1 "prefix: line 1: the line is longer than 1000000 bytes" ./program --prefix long.txt <lines.txt

"$tfc" compile run -o libsmall.so 2>err || fail "$(cat err)"
cat >use.py <<'P'
import sys
sys.modules["numpy"] = None # as where it is not installed
import small
with small.Model() as model:
    result = model.translations(["a b"])[0][0]
    assert str(result) == result.text, str(result)
    assert repr(result).startswith("Result(text=%r, ids=[" % result.text), repr(result)
    plain = model.generate([[4, 5]])[0][0]
    assert str(plain).startswith("([") and repr(plain).startswith("Result(ids=["), repr(plain)
    try:
        model.parameters()
    except ImportError as error:
        assert "arrays need numpy, which is not installed" in str(error), error
    else:
        raise AssertionError("parameters without numpy")
P
python3 use.py || fail "Python"
echo "all is well"
