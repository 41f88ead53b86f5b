"""Predictions of a compiled module beside those of tfc predict --json --top 1000: each float is the same.
Usage: compile_predict.py MODULE LINES PREDICTIONS"""
import importlib
import json
import struct
import sys
import warnings


def as_given(value):
    """A value of tfc predict's, whose nine digits tell each float from the others."""
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        return struct.unpack("f", struct.pack("f", value))[0]
    return [as_given(v) for v in value] if isinstance(value, (list, tuple)) else value


module = importlib.import_module(sys.argv[1])
lines = open(sys.argv[2], encoding="utf-8").read().split("\n")[:-1]
expected = [json.loads(line) for line in open(sys.argv[3], encoding="utf-8")]
warnings.simplefilter("ignore")
with module.Model() as model:
    found = model.predict(lines)
    assert len(found) == len(expected) == len(lines)
    for i, answer in enumerate(found):
        assert expected[i].pop("line") == i
        assert list(answer) == list(expected[i]), (answer, expected[i])
        for name, value in answer.items():
            assert as_given(value) == as_given(expected[i][name]), (name, value, expected[i][name])
    first = next(iter(found[0]))
    if isinstance(found[0][first][0], tuple):
        assert model.predict(lines[0], top=1)[first] == found[0][first][:1]
    assert model.predict(lines[0]) == found[0]
    for mistake in (3, None, [3], "a\0b"):
        try:
            model.predict(mistake)
            raise AssertionError("%r is predicted" % (mistake,))
        except (TypeError, module.Error):
            pass
