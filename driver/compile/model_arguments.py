
import collections.abc
import functools
import numbers
import operator
import os
import threading
import warnings

try:
    import numpy
except ImportError:
    class _NoNumpy:
        """In the place of numpy where that is not installed: text needs none."""

        def __getattr__(self, name):
            raise ImportError("arrays need numpy, which is not installed (python3 -m pip install numpy); "
                              "text and ids need none")

    numpy = _NoNumpy()


# Arguments: every function takes what it is given through one of these, which give it as C takes it. A TypeError (of
# another type), a ValueError (no such value) or an OverflowError (too large for C) begins with the argument's name.

def _wrong_type(name, expected, value, within=False):
    """`within`: a list is right, but not that it holds such a value."""
    return TypeError("%s: %s, not %s%s" % (name, expected, "of " if within else "",
                                           "None" if value is None else type(value).__name__))


def _is_truth(value):
    """Whether it is True or False, numpy's too."""
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"


def _whole(name, value, kind="c_int64", least=None):
    """A whole number, which C takes as `kind`; floats that are whole, too."""
    if _is_truth(value):
        raise _wrong_type(name, "a whole number", value)
    try:
        number = operator.index(value)
    except TypeError:
        if not isinstance(value, numbers.Number):
            raise _wrong_type(name, "a whole number", value) from None
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):  # complex, NaN, an infinity
            number = None
        if number is None or number != value:
            raise ValueError("%s: %r is no whole number" % (name, value)) from None
    bits, signed = 8 * ctypes.sizeof(getattr(ctypes, kind)), not kind.startswith("c_u")
    lowest, most = -(1 << bits - 1) if signed else 0, (1 << bits - signed) - 1
    if not lowest <= number <= most:
        raise OverflowError("%s: %d is not from %d to %d" % (name, number, lowest, most))
    if least is not None and number < least:
        raise ValueError("%s: %d is below %d" % (name, number, least))
    return number


def _flag(name, value, kind):
    """A truth value, or 0 or 1."""
    return int(value) if _is_truth(value) else _whole(name, value, kind)


def _number(name, value):
    """A number, as a float."""
    if _is_truth(value) or isinstance(value, str) or not hasattr(value, "__float__") or getattr(value, "shape", ()):
        raise _wrong_type(name, "a number", value)
    try:
        number = float(value)
    except OverflowError as error:
        raise OverflowError("%s: %s" % (name, error)) from None
    if number != number:
        raise ValueError("%s: NaN is no number" % name)
    return number


def _string(name, text, expected="a str", within=False):
    """The bytes of a text."""
    if not isinstance(text, str):
        raise _wrong_type(name, expected, text, within)
    try:
        return text.encode()
    except UnicodeEncodeError as error:  # half of a pair of surrogates
        raise ValueError("%s: %s" % (name, error)) from None


def _c_string(name, data):
    """Bytes that C reads up to a NUL."""
    if b"\0" in data:
        raise ValueError("%s: a text has no NUL" % name)
    return data


def _path(name, path):
    """The bytes of a file's name."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise _wrong_type(name, "a path", path)
    return _c_string(name, os.fsencode(path))


def _has_mask(value):
    if isinstance(value, (list, tuple)):
        return any(map(_has_mask, value))
    return hasattr(value, "mask") and hasattr(value, "filled")


# What can be gone through, and is no list of values.
_NO_LIST = (str, bytes, bytearray, collections.abc.Mapping, collections.abc.Set)


def _list(name, values, expected, within=False):
    """The elements of what has an order: a list, a tuple, an array, a generator; no text is one, and no dict."""
    try:
        found = None if isinstance(values, _NO_LIST) else list(values)
    except TypeError:  # a number, None, an array without axes
        found = None
    if found is None:
        raise _wrong_type(name, expected, values, within)
    if _has_mask(values):
        raise TypeError("%s: a masked array, whose mask would not be seen: fill it (array.filled(…)), or leave out "
                        "what is masked" % name)
    return found


def _lines(name, lines, expected="a list of str"):
    """The bytes of each text of a list."""
    return [_string(name, line, expected, within=True) for line in _list(name, lines, expected)]


def _join(name, lines, expected="a list of str"):
    """Texts as the lines of one."""
    lines = _lines(name, lines, expected)
    if any(b"\n" in line for line in lines):
        raise ValueError("%s: a line has a newline in it" % name)
    return b"".join(line + b"\n" for line in lines)


def _ids(name, ids):
    """Token ids as an array of C."""
    ids = _list(name, ids, "a list of ids")
    return (ctypes.c_int32 * len(ids))(*[_whole(name, i, "c_int32") for i in ids])


def _flat(name, lists):
    """Lengths and ids of lists of ids."""
    expected = "a list of lists of ids"
    lists = [_list(name, ids, expected, within=True) for ids in _list(name, lists, expected)]
    return _ids(name, list(map(len, lists))), _ids(name, [i for ids in lists for i in ids])


def _inputs(name, inputs):
    """The inputs of a function, by name."""
    if not isinstance(inputs, collections.abc.Mapping):
        raise _wrong_type(name, "a dict of inputs by name", inputs)
    return inputs


def _exactly(name, value, dtype):
    """The array of that type which the value is, floats rounded."""
    if isinstance(value, _NO_LIST) or _has_mask(value):
        _list(name, value, "an array")
    try:
        array, dtype = numpy.asarray(value), numpy.dtype(dtype)
    except ValueError as error:  # rows that differ in length
        raise ValueError("%s: %s" % (name, error)) from None
    if array.dtype == dtype:
        return array
    are_numbers = array.dtype.kind in "biuf" or array.dtype.kind == "O" and all(
        isinstance(one, numbers.Number) for one in array.flat)
    if not are_numbers:
        raise TypeError("%s: an array of %s holds no numbers" % (name, array.dtype))
    if array.dtype.kind == "b" and dtype.kind == "i":
        raise TypeError("%s: truth values are no whole numbers" % name)
    try:
        with numpy.errstate(all="ignore"):
            taken = array.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("%s: %s" % (name, error)) from None
    wrong = array != taken if dtype.kind != "f" else numpy.isinf(taken) & (array != taken)
    if numpy.any(wrong):
        raise OverflowError("%s: %r is no value of an array of %s"
                            % (name, array[wrong].flat[0], dtype.name))
    return taken


