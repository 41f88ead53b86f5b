"""Texts of records by the Python module of a compiled library, compared with those of tfc translate.
Usage: compile_columns.py NAME RECORDS EXPECTED"""
import importlib
import re
import sys

try:
    import numpy
except ImportError:
    sys.exit(0)
name, records, expected = sys.argv[1:]
module = importlib.import_module(name)
rows = [line.rstrip("\n").split("\t") for line in open(records, encoding="utf-8")]
columns = [list(column) for column in zip(*rows)]
want = open(expected, encoding="utf-8").read().splitlines()


def numbers(cell):
    return [float(n) for n in re.findall(r"[-+.0-9e]+", cell)]


if name == "captions":
    data = {"image": [numbers(cell) for cell in columns[0]], "place": [int(cell) for cell in columns[1]]}
elif name == "multi_source":
    data = {"src": columns[0], "src2": columns[1]}
else:
    data = {"frames": [numpy.reshape(numbers(cell), (-1, 2)) for cell in columns[0]], "src": columns[1],
            "kind": columns[2], "mark": columns[3], "weight": [float(cell) for cell in columns[4]]}
model = module.Model()
found = model.translate(data)
assert found == want, [pair for pair in zip(found, want) if pair[0] != pair[1]]
one = model.translations({key: value[:1] for key, value in data.items()}, nbest=2, beam=3)
assert len(one) == 1 and len(one[0]) == 2 and one[0][0].text == want[0], one
if name == "captions":
    results = model.generate(data, beam=1)
    assert len(results) == len(want) and results[0][0].ids
    begun = model.translate(data, prefix=["at"] * len(want))
    assert all(text.startswith("at") for text in begun), begun


def refuses(error, pattern, call):
    try:
        call()
    except error as raised:
        assert re.search(pattern, str(raised)), raised
    else:
        raise AssertionError("nothing is raised: " + pattern)


first = next(iter(data))
refuses(TypeError, "the input %s is missing" % first, lambda: model.translate({k: v for k, v in data.items() if k != first}))
refuses(TypeError, "no input other", lambda: model.translate(dict(data, other=[1])))
refuses(TypeError, "a dict of inputs", lambda: model.translate(["a"]))
if name == "mixed":
    refuses(module.Error, "none of the 3 labels", lambda: model.translate(dict(data, kind=["x"] * len(want))))
    refuses(ValueError, "frames: an array has 1 dimensions, not 2", lambda: model.translate(dict(data, frames=[[0.0] * 2] * len(want))))
    refuses(ValueError, "differ in the dimension", lambda: model.translate(dict(data, src=["ein"])))
if name == "captions":
    refuses(module.Error, "place", lambda: model.translate(dict(data, place=[7] * len(want))))
    refuses(ValueError, "image: an array has 1 dimensions, not 2", lambda: model.translate(dict(data, image=[0.0] * 8)))
    refuses(ValueError, "image: .*shape", lambda: model.translate(dict(data, image=[[0.0] * 8] * (len(want) - 1) + [[0.0]])))
    refuses(ValueError, "image: an array has 7 elements a row", lambda: model.translate(dict(data, image=[[0.0] * 7] * len(want))))
