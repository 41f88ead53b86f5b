"""Each argument of each public function of a compiled model's module, given values that are none: errors that name the
argument, none of them a crash or an answer; afterwards the model answers as before. Usage: python_arguments.py NAME"""
import array
import importlib
import inspect
import sys
import warnings

import numpy

module = importlib.import_module(sys.argv[1])
warnings.simplefilter("ignore")
model = module.Model()


class Object:
    pass


masked = numpy.ma.masked_array
NOTHING = [None, Object(), Object, len]
NO_TEXT = NOTHING + [5, 1.5, True, b"a", bytearray(b"a"), numpy.array(5), numpy.str_, "\ud800", memoryview(b"a")]
NO_LIST = NOTHING + [5, 1.5, True, b"a b", bytearray(b"a"), {"a": 1}, {"a"}, {}, set(), numpy.array(5), range]
NO_WHOLE = [Object(), True, False, numpy.bool_(True), 1.5, float("nan"), float("inf"), -float("inf"), "2", b"2", [2], (2,), {2},
            {}, 2j, 2**80, -2**80, numpy.array([2]), numpy.array([2, 3]), numpy.array(1.5), numpy.ma.masked, numpy.float32(1.5),
            numpy.datetime64("2020"), "", "a"]
NO_NUMBER = [Object(), True, "0.1", b"0.1", [0.1], float("nan"), 1j, numpy.array([0.1]), {}, numpy.nan, numpy.ma.masked, 10**400]
NO_DICT = [one for one in NO_LIST if not isinstance(one, dict)] + ["a", [], ["a"], [{}]]
NO_LINES = NO_LIST + ["a b", ["a", None], [None], [5], [b"a"], [["a"]], [True], ["\ud800"], [{"a": 1}], numpy.array([5])]
NO_IDS = NO_LIST + ["ab", ["5"], [None], [1.5], [True], [float("nan")], [2**31], [-2**31 - 1], [2**80], [[5]], [b"5"], [2j],
                    numpy.array([1.5]), numpy.array([True]), numpy.array([[5]]), numpy.array(["5"]), masked([5, 4], [0, 1]),
                    masked([5, 4]), [numpy.ma.masked], range(2**31, 2**31 + 1), array.array("d", [1.5])]
NO_PATH = [Object(), 5, 1.5, True, [], ["a"], {}, "a\0b", b"a\0b", numpy.array(["a"])]


def lists(bad, good):
    """Lists of what is right and what is not, and what is no list."""
    return NO_LIST + ["ab"] + [[good, one] for one in bad]


class Absent:
    """In the place of an argument that is not given."""


def differs(a, b):
    """Whether answers differ, bit for bit."""
    if isinstance(a, dict):
        return a.keys() != b.keys() or any(differs(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and not isinstance(a, str):
        return len(a) != len(b) or any(map(differs, a, b))
    return not numpy.array_equal(a, b)


checked = set()


def arguments(name, call, good, bad, most=(), trains=False):
    """bad: of each argument by its name values that are none; most: arguments that may be None."""
    answer = call(**good)
    for argument, values in bad.items():
        checked.add((name, argument))
        for value in values:
            if value is None and argument in most:
                continue
            try:
                found = call(**{**good, argument: value})
            except module.Error as error:
                assert error.args[0] == module._ERROR_ARGUMENT and isinstance(error, ValueError), "%s: %r for %s: %s" % (name, value, argument, error)
            except (TypeError, ValueError, OverflowError) as error:
                assert argument in str(error) or "inputs differ" in str(error), "%s: %r for %s: the message has no name: %s" % (name, value, argument, error)
            else:
                raise AssertionError("%s takes %r for %s and gives %r" % (name, value, argument, found))
    assert trains or not differs(call(**good), answer), name


def settings_of(call, name, good):
    """Every setting of a generation. `settings` sees types and sizes alone, the library what is in range."""
    types = {"NUMBER": NO_NUMBER + [None], "FLAG": [one for one in NO_WHOLE if not isinstance(one, (bool, numpy.bool_))] + [None],
             "TOKENS": NO_IDS + [[1] * 5], "COUNT": NO_WHOLE + [None, -1], "INPUT": [None, 1, "a", 12345678]}  # addresses in C
    beyond = {"NUMBER": [float("inf"), -1e9], "FLAG": [2, -1], "TOKENS": [[2**20]], "WHOLE": [-2], "TOKEN": [-2, 2**20]}
    arguments(name, call, good, {field: types.get(takes, NO_WHOLE + [None]) + (beyond.get(takes, []) if name != "settings" else [])
                                 for field, _, _, takes in module._GENERATION if field not in inspect.signature(call).parameters}, trains=name == "settings")
    checked.add((name, "changes"))


def arrays_of(function, good):
    """Of each input of a function values that are no such array."""
    dims, ports, _ = module._FUNCTIONS[function]
    bad = {}
    for port, dtype, shape in ports:
        whole = numpy.dtype(dtype).kind == "i"
        if port not in good:
            continue
        if not shape:
            bad[port] = NO_NUMBER + [None]
            continue
        value, is_ragged = good[port], model_is_ragged(dims, shape)
        first = numpy.asarray(value[0] if is_ragged else value)
        flat = [[str(one) for one in first.flat], [None] * first.size, first.astype("c16"), masked(first), masked(first, True),
                first.astype("S"), first.astype(object).astype(str).astype(object), {}, set(), "a", b"a", Object(),
                numpy.zeros(first.shape + (1,)), numpy.zeros(first.shape, "M8[s]"), numpy.zeros(first.shape, [("x", "f4")]),
                [first, first]]
        if whole:
            flat += [first + 0.5, first + 2**40, first * float("nan"), first.astype("?"), [2**80] * first.size]
        else:
            flat += [first * 0 + 1e300]
        bad[port] = [[one] + list(value[1:]) for one in flat] + NO_LIST + ["ab"] if is_ragged else flat + NO_LIST + ["ab"]
    return bad


def model_is_ragged(dims, shape):
    if len(shape) < 2 or not isinstance(shape[1], str):
        return False
    how = dims[shape[1]]
    return (how[0] if isinstance(how, tuple) else how) is not None


def layouts(name, call, good):
    """Arrays that lie otherwise, or have another byte order, are the same."""
    answer = call(**good)
    for change in [lambda a: a.astype(a.dtype.newbyteorder()), lambda a: numpy.repeat(a, 2, axis=0)[::2], numpy.asfortranarray,
                   lambda a: a[::-1].copy()[::-1], lambda a: a.astype("i8") if a.dtype.kind == "i" else a.astype("f8"),
                   lambda a: a.astype("f8"), lambda a: a.astype(object), lambda a: a.tolist()]:
        given = {}
        for port, value in good.items():
            _, dtype, shape = next(p for p in module._FUNCTIONS[name][1] if p[0] == port)
            if not shape:
                given[port] = value
            elif model_is_ragged(module._FUNCTIONS[name][0], shape):
                given[port] = [change(numpy.asarray(row, dtype)) for row in value]
            else:
                given[port] = change(numpy.asarray(value, dtype))
        assert not differs(call(**given), answer), (name, given)


# What each function takes rightly, by the model that has it.
IDS = [[5, 4]]
ROWS = {"src": IDS, "tgt": [[5]]}
READ = {"text": IDS}
FIELDS = {"frames": [numpy.ones((2, 2), "f4")], "src": IDS, "kind": [0], "mark": [[0, 1]], "weight": [0.5], "tgt": [[5]]}
INPUTS = {"m": ROWS, "reader": {**READ, "kind": [0]}, "speller": {**READ, "kind": [[1]]}, "speak": {"tokens": IDS}, "mixed": FIELDS}
good = INPUTS[sys.argv[1]]

arguments("set_threads", module.set_threads, {"n": 1}, {"n": NO_WHOLE + [None, 0, -1, 10**6]})
with module.Model() as other:
    arguments("Model", lambda **given: module.Model(**given).close(), {}, {
        "weights": NO_PATH, "seed": [one for one in NO_WHOLE if one is not None] + [-1, 2**64]}, ["weights"])
    arguments("Model", lambda **given: module.Model(**given).close(), {"seed": 1}, {"weights": ["other.safetensors"]})
    arguments("set_sessions", other.set_sessions, {"n": 2}, {"n": NO_WHOLE + [None, 0, -1, 10**6]})
    arguments("save", other.save, {"path": "saved.safetensors"}, {"path": NO_PATH + [None]})
for name in module._FUNCTIONS:
    public = {"predict": "predict_arrays"}.get(name, name)
    call = getattr(model, public, None)
    if name in ("encode", "decode_step") or call is None:
        continue
    given = {port: good[port] for port, _, _ in module._FUNCTIONS[name][1] if port in good}
    if name == "train_step":
        given["rate"] = 0.0
    seeds = {"seed": NO_WHOLE + [None, -1, 2**64]} if name == "train_step" else {}
    arguments(public, call, {**given, **({"seed": 1} if seeds else {})}, {**arrays_of(name, given), **seeds},
              trains=name == "train_step")
    checked.add((public, "inputs"))
    if name != "train_step":
        layouts(name, call, given)
if module._GENERATION:
    settings_of(model.settings, "settings", {})
if hasattr(model, "generate") and "encode" not in module._FUNCTIONS:
    arguments("generate", model.generate, {"sentences": IDS}, {"sentences": lists(NO_IDS + [[-1], [10**6]], [5]),
                                                              "prefixes": lists(NO_IDS + [[-1], [10**6]], [5]) + [[[5], [5]], []]}, ["prefixes"])
    settings_of(model.generate, "generate", {"sentences": IDS})
    same = model.generate(IDS)
    for rows in [iter(IDS), (numpy.array(ids) for ids in IDS), numpy.array(IDS), [iter(ids) for ids in IDS], [range(5, 3, -1)],
                 [numpy.array(IDS[0], ">i2")], [array.array("i", IDS[0])], (tuple(ids) for ids in IDS), [[5.0, numpy.float32(4)]]]:
        assert not differs(model.generate(rows), same)
    assert not differs(model.generate(iter(IDS), prefixes=iter([[5]])), model.generate(IDS, prefixes=[[5]]))
if hasattr(model, "alignment"):
    arguments("alignment", model.alignment, {"source": [5, 4], "target": [2, 5]}, {
        "source": NO_IDS + [[-1], [10**6]], "target": NO_IDS + [[-1], [10**6]]})
if hasattr(model, "translate_text"):
    arguments("translate_text", model.translate_text, {"text": "a b"}, {
        "text": [one for one in NO_LINES + ["\ud800", "a\0b"] if one != "a b"], "prefix": NO_TEXT + [["a"]]}, ["prefix"])
    arguments("translate_text", model.translate_text, {"text": ["a b"]}, {"text": [["a\nb"]], "prefix": NO_LINES + [["a\nb"], ["a", "b"]]}, ["prefix"])
    settings_of(model.translate_text, "translate_text", {"text": "a b"})
    arguments("translations", model.translations, {"lines": ["a b"]}, {
        "lines": NO_LINES + [["a\nb"], ["a\0"]], "prefix": NO_LINES + [["a\nb"], ["a", "b"]]}, ["prefix"])
    settings_of(model.translations, "translations", {"lines": ["a b"]})
elif hasattr(model, "translations"):
    records = {"frames": FIELDS["frames"], "src": ["a b"], "kind": ["q"], "mark": ["N V"], "weight": [0.25]}
    wrong = {**arrays_of("encode", {"frames": FIELDS["frames"], "weight": [0.25]}), "kind": NO_LINES + [["x"], ["q\0"]],
             "src": NO_LINES + [["a\0"], ["a", "b"]], "mark": NO_LINES + [["N X"]]}
    for name in "translations", "translate":
        call = getattr(model, name)
        arguments(name, call, {"records": records}, {"records": NO_DICT + [[records]], "prefix": NO_LINES + [["a\nb"]]}, ["prefix"])
        for member, values in wrong.items():
            arguments(name, lambda **one: call({**records, **one}), {}, {member: values})
        settings_of(call, name, {"records": records})
    encoded = {port: value for port, value in FIELDS.items() if port != "tgt"}
    arguments("generate", model.generate, {"sentences": encoded}, {"sentences": NO_DICT + [[encoded]], "prefixes": lists(NO_IDS, [5])}, ["prefixes"])
    for member, values in arrays_of("encode", encoded).items():
        arguments("generate", lambda **one: model.generate({**encoded, **one}), {}, {member: values})
    settings_of(model.generate, "generate", {"sentences": encoded})
    assert not differs(model.translate(records), model.translate({**records, "src": iter(records["src"])}))
if hasattr(model, "generate_text"):
    arguments("generate_text", model.generate_text, {"text": "a b"}, {"text": [one for one in NO_LINES + ["\ud800", "a\0b"] if one != "a b"]})
    settings_of(model.generate_text, "generate_text", {"text": "a b"})
if hasattr(model, "predict"):
    counts = NO_WHOLE + [0, -1, 2**63]
    search = {"beam": counts, "lexicon": NO_LINES + [["low\nhigh"], ["what"], []], "separator": NO_TEXT + ["a\0b", ["low"]]}
    searches = hasattr(module._lib, module._NAME + "_set_label_search")
    arguments("predict", model.predict, {"text": "a b", **({"lexicon": ["low"]} if searches else {})}, {
        "text": [one for one in NO_LINES + ["\ud800", "a\0b", ["a\0b"]] if one != "a b"], "top": counts, **search},
        ["top", "beam", "separator", "lexicon"])
    checked.update([("predict", one) for one in search])
    assert module.Model.predict_text is module.Model.predict
    checked.update([("predict_text", one) for name, one in checked if name == "predict"])
    assert not differs(model.predict(iter(["a b", "c"])), model.predict(["a b", "c"]))

# What is right at the edge: whole floats, tuples, flags; floats are rounded, not made infinite; truth values are 0 and 1.
if sys.argv[1] == "m":
    assert model.settings(seed=2**64 - 1).seed == 2**64 - 1 and model.settings(sample=True).sample == 1 == model.settings(sample=1).sample
    assert model.settings(forbidden=(7,)).forbidden[:] == [7, -1, -1, -1]
    assert module._exactly("x", [0.1, 1e-50, float("inf")], "f4").dtype == "f4"
    assert module._exactly("x", [0, 1], "?").tolist() == [False, True]
    for wrong, dtype in [([1e300], "f4"), ([10**30, -10**39], "f4"), ([0, 2], "?")]:
        try:
            module._exactly("x", wrong, dtype)
        except OverflowError as error:
            assert str(error).startswith("x:")
        else:
            raise AssertionError("%r fits %s" % (wrong, dtype))

# No public function or argument is left out.
for name, function in [("set_threads", module.set_threads), ("Model", module.Model)] + inspect.getmembers(
        module.Model, inspect.isfunction):
    if name.startswith("_"):
        continue
    for parameter in inspect.signature(function).parameters:
        assert parameter == "self" or (name, parameter) in checked, "%s: nothing is checked of %s" % (name, parameter)
print("%s: %d arguments" % (sys.argv[1], len(checked)))
