class Error(Exception):
    """What the library refuses: args are its status and what is wrong."""


class ArgumentError(Error, ValueError):
    """An argument or a setting out of its range."""


class Generation(ctypes.Structure):
    """How text or ids are generated; the header says what is allowed."""

    _fields_ = [(name, getattr(ctypes, kind) * n if n else getattr(ctypes, kind))
                for name, kind, n, _ in _GENERATION]


class Result(tuple):
    """(ids, log_probability, score). `each`: the parts of log_probability, of each id and then of
    the end, where it ended so; `text`: of a translation, `source`: the ids that it is one of.
    str(result) is the text."""

    def __new__(cls, result, text=None, source=None):
        self = tuple.__new__(cls, (result.ids[:result.n] if result.n else [],
                                   result.log_probability, result.score))
        self.each = result.each[:result.n_each] if result.n_each else []
        self.text, self.source = text, source
        return self

    def __str__(self):
        return tuple.__repr__(self) if self.text is None else self.text

    def __repr__(self):
        text = "" if self.text is None else "text=%r, " % self.text
        return "Result(%sids=%r, log_probability=%r, score=%r)" % ((text,) + tuple(self))

    ids, log_probability, score = (property(lambda self, i=i: self[i]) for i in range(3))


def _label(prediction, number):
    """The name of a class; its number, if it has none."""
    return prediction.labels[number].decode() if prediction.labels else number


def _entry(prediction, thresholds, values, top):
    """An entry of those of a text, as Model.predict gives them."""
    if not prediction.classes:
        return values if prediction.width > 1 else values[0]
    given = range(prediction.classes)
    if thresholds and top is None:
        given = [i for i in given if values[i] >= thresholds[i]]
    order = sorted(given, key=lambda i: -values[i])[:top]
    return [(_label(prediction, i), values[i]) for i in order]


def _predicted(prediction, thresholds, found, top):
    """What is predicted of a text, as Model.predict gives it."""
    if prediction.ctc:
        results = [([_label(prediction, i) for i in one.classes[:one.n]], one.log_probability)
                   for one in found.results[:found.n_results]]
        return results if top is not None else results[0][0] if results else None
    width = prediction.classes or prediction.width
    values = found.values[:found.positions * prediction.width]
    entries = [_entry(prediction, thresholds, values[i:i + width], top) for i in range(0, len(values), width)]
    return entries if prediction.positions or prediction.width > width else entries[0]


_path_of_library = os.path.join(os.path.dirname(os.path.abspath(__file__)), _LIBRARY)
_lib = ctypes.CDLL(_path_of_library)
_lib_at_once = ctypes.PyDLL(_path_of_library)

_SETTINGS = {name: (kind, n, takes) for name, kind, n, takes in _GENERATION if takes != "INPUT"}

# What neither computes nor waits: other threads of Python do not run meanwhile, since letting them costs more than the call.
_AT_ONCE = {"error_text", "error_detail", "session_give", "generation_defaults", "unknown", "parameter_count", "prediction_count",
            "prediction", "prediction_set"}


@functools.lru_cache(None)
def _function(name):
    function = getattr(_lib_at_once if name in _AT_ONCE else _lib, _NAME + "_" + name)
    function.restype, *function.argtypes = _CALLS[name]
    return function


_error_text, _error_detail, _close, _take, _take_alone, _give = map(
    _function, ("error_text", "error_detail", "close", "session_take", "session_take_alone", "session_give"))


def _check(status):
    if status:
        kind = ArgumentError if status == _ERROR_ARGUMENT else Error
        raise kind(status, "%s: %s" % (_error_text(status).decode(), _error_detail().decode()))


def _array(address, dtype, shape):
    """A copy of the array there."""
    dtype = numpy.dtype(dtype)
    size = int(numpy.prod(shape, dtype="i8")) * dtype.itemsize
    return numpy.frombuffer(ctypes.string_at(address, size) if size else b"", dtype).reshape(shape)


def _begin_with(settings, prefix):
    """`prefix`: the bytes of a text, or None."""
    if prefix is not None:
        settings.prefix_text, settings.prefix_length = prefix, len(prefix)


def _check_version(status):
    if status == _ERROR_VERSION:
        raise Error(status, "%s is of another compilation than %s: both come from one tfc compile"
                    % (os.path.basename(__file__), os.path.basename(_LIBRARY)))
    _check(status)


def set_threads(n):
    """Threads of every call from now on."""
    _check(_function("set_threads")(_whole("n", n, "c_int", 1)))


class _Taken:
    """A session of a model's pool, taken for a with statement, in which all that its calls give is read; given
    back at its end, or where an interrupt leaves it before. `alone`: no other thread has one meanwhile."""

    _session = None  # where an interrupt ends __init__

    def __init__(self, model, alone=False):
        self._session, self._model, self._take = c_void_p(), model, _take_alone if alone else _take

    def __enter__(self):
        try:
            _check(self._take(self._model, ctypes.byref(self._session)))
            return self._session
        except BaseException:  # an interrupt behind the call, too
            self.__exit__()
            raise

    def __exit__(self, *error):
        if self._session:
            _give(self._session)
            self._session.value = None

    __del__ = __exit__


class Model:
    """A model, which threads may share: a call takes a session of the model's pool and gives it back, and waits
    while all are taken. train_step and save wait until no other call runs, and others wait for them. `weights`: a
    safetensors file; None: those inside the library. In place of them it begins with initial values if it has a
    `seed`."""

    def __init__(self, weights=None, seed=None):
        self._model, self._here = c_void_p(), threading.local()
        if weights is not None and seed is not None:
            raise TypeError("seed: initial values stand in place of weights, and both are given")
        if seed is None:
            path = None if weights is None else _path("weights", weights)
            _check_version(_function("open_version")(
                _HEADER, path, ctypes.byref(self._model)))
        else:
            _check_version(_function("open_new_version")(
                _HEADER, _whole("seed", seed, "c_uint64"), ctypes.byref(self._model)))

    def close(self):
        """Frees it, after the calls of other threads; a second time does nothing."""
        _close(self._model)

    def set_sessions(self, n):
        """How many calls run at the same time at most, each in a session of its own (at first: as many as
        processors). With set_threads(1) each has one thread."""
        _check(_function("set_sessions")(self._model, _whole("n", n, "c_int", 1)))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __del__(self):
        if _close is not None and getattr(self, "_model", None) is not None:
            self.close()

    def save(self, path):
        """Writes parameters and the optimizer's state to a safetensors file."""
        path = _path("path", path)
        with _Taken(self._model, alone=True):
            _check(_function("save")(self._model, path))

    def parameters(self):
        """Copies of the parameters, as numpy arrays, by name."""
        count = _function("parameter_count")(self._model)
        _check(_ERROR_ARGUMENT if count < 0 else 0)
        describe = _function("parameter")
        found, info = {}, _Parameter()
        with _Taken(self._model):
            for i in range(count):
                _check(describe(self._model, i, ctypes.byref(info)))
                found[info.name.decode()] = _array(info.data, _TYPES[info.type],
                                                   tuple(info.dims[:info.rank]))
        return found

    if _GENERATION:
        def settings(self, **changes):
            """The settings of a generation to start from, with these changed."""
            settings = Generation()
            _check(_function("generation_defaults")(
                self._model, ctypes.byref(settings)))
            for name, value in changes.items():
                if name not in _SETTINGS:
                    raise TypeError("there is no setting " + name)
                kind, n, takes = _SETTINGS[name]
                if takes == "TOKENS":
                    value = _list(name, value, "a list of ids")
                    if len(value) > n:
                        raise ValueError("%s: %d ids, %d at most" % (name, len(value), n))
                    value = _ids(name, value + [-1] * (n - len(value)))
                elif takes == "FLAG":
                    value = _flag(name, value, kind)
                else:
                    value = _number(name, value) if takes == "NUMBER" else _whole(name, value, kind)
                setattr(settings, name, value)
            return settings

        def generate(self, sentences, prefixes=None, **changes):
            """Lists of token ids (or, without an encoder, prompts) to their best continuations:
            for each a list of Results, (ids, log_probability, score), the best first. Where the header
            has an encode_in, `sentences` is a dict of its inputs, each as forward takes it.
            `prefixes`: of each the ids that its results begin with."""
            settings, forced = self.settings(**changes), _flat("prefixes", [] if prefixes is None else prefixes)
            if "encode" in _FUNCTIONS:
                packed, call = _pack("encode", _inputs("sentences", sentences))
                n, given = call.rows(), (packed.ctypes.data,)
            else:
                lengths, ids = _flat("sentences", sentences)
                n, given = len(lengths), (len(lengths), lengths, ids)
            if prefixes is not None:
                if len(forced[0]) != n:
                    raise ValueError("prefixes: there are %d, not %d" % (len(forced[0]), n))
                settings.prefix_lengths, settings.prefixes = map(ctypes.addressof, forced)
            each = settings.alternatives or settings.nbest
            results = (_Result * (n * max(each, 1)))()
            with _Taken(self._model) as session:
                _check(_function("generate")(
                    session, ctypes.byref(settings), *given, results))
                answers = [Result(r) for r in results]
            return [answers[i * each:(i + 1) * each] for i in range(n)]

    if "alignment" in _CALLS:
        def alignment(self, source, target):
            """What each id of a target was made from, [len(target), len(source)]: the last attention
            over the source, in the mean of its heads. `target`: BOS and the ids behind it; row t is
            what predicted the id behind target[t]."""
            source, target, weights = _ids("source", source), _ids("target", target), c_void_p()
            with _Taken(self._model) as session:
                _check(_function("alignment")(
                    session, len(source), source, len(target), target, ctypes.byref(weights)))
                return _array(weights.value, "f4", (len(target), len(source)))

    def _text(self, function, text, changes, prefix=None):
        settings, data = self.settings(**changes), _string("text", text)
        _begin_with(settings, None if prefix is None else _string("prefix", prefix))
        answer, length = c_void_p(), c_int64()
        with _Taken(self._model) as session:
            _check(_function(function)(
                session, ctypes.byref(settings), data, len(data), ctypes.byref(answer), ctypes.byref(length)))
            text = ctypes.string_at(answer, length.value).decode()
            self._count_unknown(session)
        self._warn_unknown(4)
        return text

    def unknown(self):
        """Of this thread's last text that was answered: (tokens, how many the vocabulary does not know, a
        sentence that tells so where they are many, else None)."""
        return getattr(self._here, "unknown", (0, 0, None))

    def _count_unknown(self, session):
        tokens, unknown, note = c_int64(), c_int64(), c_char_p()
        _check(_function("unknown")(
            session, ctypes.byref(tokens), ctypes.byref(unknown), ctypes.byref(note)))
        self._here.unknown = tokens.value, unknown.value, note.value.decode() if note.value else None

    def _warn_unknown(self, level):
        note = self.unknown()[2]
        if note:
            warnings.warn(note, stacklevel=level)

    if "translate_text" in _CALLS:
        def translate_text(self, text, prefix=None, **changes):
            """The translation of each line of a text, where \\n stands for a line break within one;
            of a list of lines, a list of whole ones. `prefix`, alike: how each line's translation
            begins."""
            if isinstance(text, str):
                return self._text("translate_text", text, changes, prefix)
            found = self._translations("text", text, "a str or a list of str", prefix, changes)
            return [results[0].text for results in found]

        def translations(self, lines, prefix=None, **changes):
            """Of each line of a list the Results, with `text`: nbest of them, the best first, or
            its alternatives."""
            return self._translations("lines", lines, "a list of str", prefix, changes)

        def _translations(self, name, lines, expected, prefix, changes):
            lines = _list(name, lines, expected)
            data = _join(name, lines, expected)
            return self._list_translations(len(lines), (data, len(data)), prefix, changes)

    def _list_translations(self, rows, given, prefix, changes):
        settings, found, n = self.settings(**changes), POINTER(_Translation)(), c_int64()
        _begin_with(settings, None if prefix is None else _join("prefix", prefix))
        answers = [[] for _ in range(rows)]
        with _Taken(self._model) as session:
            _check(_function("translations")(
                session, ctypes.byref(settings), *given, ctypes.byref(found), ctypes.byref(n)))
            for i in range(n.value):
                one = found[i]
                text = ctypes.string_at(one.text, one.length).decode()
                source = one.source[:one.n_source] if one.n_source else []
                answers[one.line].append(Result(one.result, text, source))
            self._count_unknown(session)
        self._warn_unknown(4)
        return answers

    if "encode" in _FUNCTIONS and "translations" in _CALLS:
        def translations(self, records, prefix=None, **changes):
            """Of each record the Results, with `text`: nbest of them, the best first, or its
            alternatives. `records`: a dict of the header's records: lists of str for texts and
            labels, other inputs as forward takes them. `prefix`: a list of how each text begins."""
            records = _inputs("records", records)
            packed, call = _pack("encode", records, texts=_RECORD_TEXTS, said=_RECORD_DIMS)
            return self._list_translations(call.rows(), (packed.ctypes.data,), prefix, changes)

        def translate(self, records, prefix=None, **changes):
            """The best text of each record, a list."""
            return [results[0].text for results in self.translations(records, prefix, **changes)]

    if "generate_text" in _CALLS:
        def generate_text(self, text, **changes):
            """The text and how it goes on; of a list of texts, a list."""
            if isinstance(text, str):
                return self._text("generate_text", text, changes)
            texts = _list("text", text, "a str or a list of str")
            _lines("text", texts, "a str or a list of str")
            return [self._text("generate_text", one, changes) for one in texts]

    def _run(self, name, seed, given):
        outputs = _FUNCTIONS[name][2]
        first = [(_whole("seed", seed, "c_uint64"), "u8")] if name == "train_step" else []
        packed, call = _pack(name, given, first)
        answers = numpy.zeros(len(outputs) + 1, "u8")
        with _Taken(self._model, alone=name == "train_step") as session:
            _check(_function(name)(session, packed.ctypes.data, answers.ctypes.data))
            return {port: call.give(answers[i:i + 1], dtype, shape)
                    for i, (port, dtype, shape) in enumerate(outputs)}

    if "forward" in _FUNCTIONS:
        def forward(self, **inputs):
            """The model's outputs by name. Arrays [B, S~, …], ragged in S, are lists of a numpy
            array a row, as inputs and as outputs."""
            return self._run("forward", 0, inputs)

    if "predict" in _FUNCTIONS:
        def predict_arrays(self, **inputs):
            """The predictions by name, of inputs as of forward."""
            return self._run("predict", 0, inputs)

    if "predict_text" in _CALLS:
        def _predictions(self):
            count = _function("prediction_count")(self._model)
            _check(_ERROR_ARGUMENT if count < 0 else 0)
            describe = _function("prediction")
            found = [_Prediction() for _ in range(count)]
            for i, info in enumerate(found):
                _check(describe(self._model, i, ctypes.byref(info)))
            return found

        def _thresholds(self, count):
            """Of each prediction those of its labels; None: it is none of sets."""
            sets, describe = [_LabelSet() for _ in range(count)], _function("prediction_set")
            for i, one in enumerate(sets):
                _check(describe(self._model, i, ctypes.byref(one)))
            return [one.thresholds[:one.n] if one.thresholds else None for one in sets]

        def _predict_all(self, data, predictions, top, search):
            found, n, cut = POINTER(_Predicted)(), c_int64(), (c_int64 * len(data))()
            thresholds = self._thresholds(len(predictions))
            with _Taken(self._model) as session:
                if search:
                    _check(_function("set_label_search")(session, ctypes.byref(search)))
                _check(_function("predict_texts")(
                    session, len(data), (c_char_p * len(data))(*data),
                    (c_int64 * len(data))(*map(len, data)), ctypes.byref(found), ctypes.byref(n), cut))
                answers = [{info.name.decode(): _predicted(info, thresholds[k], found[i * n.value + k], top)
                            for k, info in enumerate(predictions) if found[i * n.value + k].positions}
                           for i in range(len(data))]
                notes = [one.note.decode() for one in found[:len(data) * n.value] if one.note]
                self._count_unknown(session)
            self._warn_unknown(4)
            for note in notes:
                warnings.warn(note, stacklevel=3)
            for left in filter(None, cut):
                warnings.warn("the model takes no more: the last %d tokens of the text are left out"
                              % left, stacklevel=3)
            return answers

        def _label_search(self, top, beam, lexicon, separator):
            """How labels of CTC are searched; None: none are."""
            if "set_label_search" not in _CALLS:
                given = [name for name, value in (("beam", beam), ("lexicon", lexicon), ("separator", separator))
                         if value is not None]
                if given:
                    raise TypeError("%s: the model predicts no labels of CTC" % given[0])
                return None
            words = None if lexicon is None else _join("lexicon", lexicon)
            return _LabelSearch(1 if beam is None else _whole("beam", beam, least=1), 1 if top is None else top, words,
                                len(words or b""),
                                None if separator is None else _c_string("separator", _string("separator", separator)))

        def predict(self, text, top=None, beam=None, lexicon=None, separator=None):
            """What the model predicts of a text, by name: of classes (label, probability), the most
            probable first, and `top` of them (all; of a set of labels those in it); a list of numbers, or one; a list of such, where
            each token has its own; where CTC makes them, labels of the most probable result (None:
            there is none), or with `top` (labels, log-probability) of so many. Of a list of texts,
            a list. beam, lexicon (a list of words, their labels with blanks between) and separator
            are those of tfc predict; where no words of the lexicon fit, labels are those of the best
            path, with a warning."""
            data = [_string("text", text)] if isinstance(text, str) else _lines("text", text, "a str or a list of str")
            predictions, top = self._predictions(), None if top is None else _whole("top", top, least=1)
            answers = self._predict_all(data, predictions, top, self._label_search(top, beam, lexicon, separator))
            return answers[0] if isinstance(text, str) else answers

        predict_text = predict

    if "loss" in _FUNCTIONS:
        def loss(self, **inputs):
            """The loss, dropout off; inputs as of forward. What follows the target may be left
            out."""
            return self._run("loss", 0, inputs)

    if "train_step" in _FUNCTIONS:
        def train_step(self, seed, **inputs):
            """One step of training; inputs as of loss, and `rate`."""
            return self._run("train_step", seed, inputs)


def _pack(name, inputs, first=(), texts=(), said=None):
    """The words of a function's arguments, and the call that has what they point to. Of records the
    inputs that are `texts` and the dimensions that are `said`."""
    dims, ports, _ = _FUNCTIONS[name]
    call, given = _Call(dims), dict(inputs)
    values = [(call.texts if port in texts else call.take)(port, dtype, shape, given.pop(port, None))
              for port, dtype, shape in ports]
    if given:
        raise TypeError("%s has no input %s" % (name, next(iter(given))))
    call.make()
    words = [*first, *[call.dimension(dim) for dim in dims
                       if dim not in call.made and (said is None or dim in said)], *values]
    packed = numpy.zeros(len(words) + 1, "u8")
    for i, (value, kind) in enumerate(words):
        packed[i:i + 1].view(kind)[0] = value
    return packed, call


class _Call:
    """The dimensions of a call, as its inputs tell them."""

    def __init__(self, dims):
        self.made = {dim: how for dim, how in dims.items() if isinstance(how, tuple)}
        self.ragged = {dim: how[0] if dim in self.made else how for dim, how in dims.items()}
        self.extents, self.lengths, self.kept, self.unsaid = {}, {}, [], set()

    def rows(self):
        """How many rows there are, over which dimensions are ragged."""
        return next((n for dim, n in self.extents.items() if self.ragged[dim] is None), 0)

    def texts(self, port, dtype, shape, value):
        """The word of a list of texts in place of an input."""
        if value is None:
            raise TypeError("the input %s is missing" % port)
        cells = [_c_string(port, cell) for cell in _lines(port, value)]
        self._agree(self.extents, shape[0], len(cells))
        self.unsaid.update(shape[1:2])
        self.kept.append((c_char_p * len(cells))(*cells))
        return ctypes.addressof(self.kept[-1]), "u8"

    def _agree(self, table, dim, value):
        known = table.setdefault(dim, value)
        if not numpy.array_equal(known, value):
            raise ValueError("the inputs differ in the dimension %s: %s and %s" % (dim, known, value))

    def _axes(self, port, shape, extents):
        if len(shape) != len(extents):
            raise ValueError("%s: an array has %d dimensions, not %d" % (port, len(extents), len(shape)))
        for dim, extent in zip(shape, extents):
            if isinstance(dim, int):
                if dim != extent:
                    raise ValueError("%s: an array has %d elements a row, not %d" % (port, extent, dim))
            elif self.ragged[dim] is None:
                self._agree(self.extents, dim, extent)

    def _is_ragged(self, shape):
        return len(shape) > 1 and isinstance(shape[1], str) and self.ragged[shape[1]] is not None

    def take(self, port, dtype, shape, value):
        """The word of an input."""
        if value is None and port == _NEXT:
            return 0, "u8"
        if value is None:
            raise TypeError("the input %s is missing" % port)
        if not shape:
            return _number(port, value), "f8"
        if self._is_ragged(shape):
            rows = [_exactly(port, row, dtype) for row in _list(port, value, "a list of arrays, one a row")]
            for row in rows:
                self._axes(port, shape[1:], row.shape)
            self._agree(self.extents, shape[0], len(rows))
            self._agree(self.lengths, shape[1], numpy.array([len(row) for row in rows], "i4"))
            array = numpy.concatenate(rows) if rows else numpy.zeros(0, dtype)
        else:
            array = _exactly(port, value, dtype)
            self._axes(port, shape, array.shape)
        self.kept.append(numpy.ascontiguousarray(array))
        return self.kept[-1].ctypes.data, "u8"

    def make(self):
        """The dimensions made of others; those that inputs have must agree. The formula (base/dim_formula.h) is
        computed here for all rows at once, since lengths are needed before the library is called."""
        for dim, (batch, plus, divisor, terms, least, most) in self.made.items():
            if self.unsaid & set(terms):
                continue
            of = [numpy.asarray(self.lengths.get(term, self.extents.get(term, 0)), "i8") for term in terms]
            value = numpy.maximum(sum(times * n for times, n in zip(terms.values(), of)) + plus, 0) // divisor
            if most:
                value = numpy.where((of[-1] >= least) & (of[-1] <= most), value, 0)
            self._agree(self.extents if batch is None else self.lengths, dim, value)

    def dimension(self, dim):
        """The word of a dimension."""
        if self.ragged[dim] is None:
            return self.extents.get(dim, 0), "u8"
        self.kept.append(numpy.ascontiguousarray(self.lengths.get(dim, numpy.zeros(0, "i4"))))
        return self.kept[-1].ctypes.data, "u8"

    def give(self, word, dtype, shape):
        """An output from its word; None where two of its axes are ragged."""
        if not shape:
            return float(word.view("f8")[0])
        axes = [dim for dim in shape if isinstance(dim, str) and self.ragged[dim] is not None]
        if len(axes) > self._is_ragged(shape):
            return None
        rest = [self.extents.get(dim, 0) if isinstance(dim, str) else dim for dim in shape]
        if not axes:
            return _array(int(word[0]), dtype, rest)
        lengths = self.lengths[shape[1]]
        flat = _array(int(word[0]), dtype, [int(lengths.sum())] + rest[2:])
        return numpy.split(flat, numpy.cumsum(lengths)[:-1]) if len(lengths) else []
