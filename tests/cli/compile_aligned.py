# What a compiled library looks at is what tfc translate --attention --json tells of the same lines.
# Usage: compile_aligned.py TEXT JSON   (with the library's module in PYTHONPATH)
import json
import sys

import numpy
import pronounce

lines = open(sys.argv[1]).read().split("\n")[:-1]
compared = 0
with pronounce.Model() as model:
    for found, wanted in zip(model.translations(lines), map(json.loads, open(sys.argv[2]))):
        assert found[0].text == wanted["text"], (found[0].text, wanted["text"])
        if "attention" in wanted:
            weights = model.alignment(found[0].source, [pronounce.BOS] + found[0].ids)
            assert numpy.abs(weights - numpy.array(wanted["attention"]["weights"])).max() < 1e-4
            compared += 1
        else:
            assert not found[0].source
    try:
        model.alignment([4, -1], [pronounce.BOS])
    except pronounce.Error as error:
        assert "id 1 of" in error.args[1]
assert compared > 3, compared
