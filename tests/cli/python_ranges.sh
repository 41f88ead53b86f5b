#!/bin/sh
# The Python module of a compiled model takes no number for another: ids, settings, arrays and seeds that are no
# whole number, or too large for what C has, are refused by the argument's name.
# Usage: tests/cli/python_ranges.sh TFC
set -eu
. tests/common.sh
python=$(python_with_numpy)
[ -n "$python" ] || { echo "skipped: no Python with numpy"; exit 77; }
enter_work
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
cat >m.tfg <<'M'
model m
use transformer
const vocab = 30, layers = 1, d_model = 8, d_ff = 8, heads = 1
train { batch = tokens(300); max_length = 20 }
M
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --steps 2 --out run 2>err.txt || fail "$(cat err.txt)"
"$tfc" compile run --function forward,loss,encode,decode_step,train_step -o libm.so
PYTHONPATH=. "$python" - <<'P'
import numpy
import m

model = m.Model()
right = model.generate([[5, 4]])


def refused(error, name, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except error as told:
        assert str(told).startswith(name + ":"), (name, told)
        return
    raise AssertionError("%s is taken: %r %r" % (name, arguments, named))


for wrong, error in [(2**32 + 5, OverflowError), (-2**31 - 1, OverflowError), (5.5, ValueError),
                     (float("nan"), ValueError), (float("inf"), ValueError), ("5", ValueError), (None, ValueError),
                     (numpy.int64(2**32 + 5), OverflowError), (2**80, OverflowError)]:
    refused(error, "sentences", model.generate, [[wrong, 4]])
    refused(error, "prefixes", model.generate, [[5, 4]], prefixes=[[wrong]])
    refused(error, "beam", model.generate, [[5, 4]], beam=wrong)
    refused(error, "forbidden", model.settings, forbidden=[wrong])
    refused(error, "n", m.set_threads, wrong)
refused(ValueError, "forbidden", model.settings, forbidden=[1, 2, 3, 4, 5])
for wrong, error in [(-1, OverflowError), (2**64, OverflowError), (1.5, ValueError)]:
    refused(error, "seed", model.settings, seed=wrong)
    refused(error, "seed", m.Model, seed=wrong)
    refused(error, "seed", model.train_step, wrong, src=[[5]], tgt=[[5]], rate=0.1)
assert model.settings(seed=2**64 - 1).seed == 2**64 - 1
assert model.generate([numpy.array([5.0, 4.0])]) == right == model.generate([(numpy.int16(5), True + 3)])
assert model.settings(forbidden=(7,)).forbidden[:] == [7, -1, -1, -1]

rows = {"src": [[5, 4]], "tgt": [[5]]}
logits = model.forward(**rows)
for wrong in [[[2**32 + 5, 4]], [numpy.array([2**32 + 5, 4])], [[5.5, 4]], [[float("nan"), 4]], [["5", 4]],
              [[2**80, 4]]]:
    refused((OverflowError, ValueError), "src", model.forward, src=wrong, tgt=[[5]])
same = model.forward(src=[numpy.array([5.0, 4.0])], tgt=[numpy.array([5], "u1")])
for name, value in logits.items():
    assert numpy.array_equal(value[0], same[name][0]), name

# Floats are rounded, not made infinite; truth values are 0 and 1.
assert m._exactly("x", [0.1, 1e-50, float("inf")], "f4").dtype == "f4"
refused(OverflowError, "x", m._exactly, "x", [1e300], "f4")
refused(OverflowError, "x", m._exactly, "x", [10**30, -10**39], "f4")
refused(OverflowError, "x", m._exactly, "x", [0, 2], "?")
assert m._exactly("x", [0, 1], "?").tolist() == [False, True]
P
