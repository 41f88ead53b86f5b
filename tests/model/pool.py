"""Models of compiled libraries in several threads (pool.sh): each call gives what it gives alone, beside training steps,
saves and copies of parameters; a call that was interrupted gives its session back.
Usage: pool.py TRANSLATOR TAGGER CALLS LINES   (modules; calls of each of eight threads)"""
import importlib
import signal
import sys
import threading
import warnings

import numpy

THREADS, STEPS = 8, 12
translator, tagger = (importlib.import_module(name) for name in sys.argv[1:3])
calls, lines = int(sys.argv[3]), open(sys.argv[4], encoding="utf-8").read().split("\n")[:-1]
warnings.simplefilter("ignore")
for module in (translator, tagger):
    module.set_threads(1)
model, tags = translator.Model(), tagger.Model()
ids = [[4 + i % 3] * (1 + i % 4) for i in range(len(lines))]


def answers(i):
    """What each sort of call gives for line i, as values to compare."""
    line = lines[i]
    yield model.translate_text(line, beam=1), model.unknown()
    yield [(str(one), one.ids, one.each, one.source) for one in model.translations([line], nbest=2)[0]]
    yield tags.predict(line), tags.unknown()
    yield [(one.ids, one.score) for one in model.generate([ids[i]], beam=1)[0]]
    yield model.forward(src=[ids[i]], tgt=[ids[i]])["logits"][0].tobytes()
    yield tags.predict_arrays(words=[ids[i]])["tag"][0].tobytes()


expected = [list(answers(i)) for i in range(len(lines))]
kinds = len(expected[0])
assert all(len(set(map(repr, column))) > 8 for column in list(zip(*expected))[:3]), "few answers"
wrong = []


def note_errors(work):
    def run(*arguments):
        try:
            work(*arguments)
        except Exception as error:  # of a thread, which would only print it
            wrong.append(error)
    return run


@note_errors
def call_again_and_again(first):
    for i in range(first, first + calls // kinds):
        line = i % len(lines)
        for kind, answer in enumerate(answers(line)):
            if answer != expected[line][kind]:
                wrong.append((lines[line], kind, answer, expected[line][kind]))


@note_errors
def train_again_and_again():
    before = model.parameters()
    for i in range(STEPS):
        loss = model.train_step(seed=1, src=[[4, 5]], tgt=[[5, 6]], rate=0)["loss"]
        if not 0 < loss < 100:
            wrong.append(loss)
        model.save("saved.safetensors")
        after = model.parameters()
        if any(numpy.any(before[name] != after[name]) for name in before):
            wrong.append("parameters of step %d" % i)


for most in (1, 8):
    model.set_sessions(most)
    tags.set_sessions(most)
    threads = [threading.Thread(target=call_again_and_again, args=(5 * i,)) for i in range(THREADS)]
    threads.append(threading.Thread(target=train_again_and_again))
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
assert not wrong, "%d wrong: %s" % (len(wrong), wrong[:3])

# An interrupt, wherever in a call it comes, leaves no session taken.
model.set_sessions(1)


class Interrupt(Exception):
    pass


fired, interrupted = False, 0


def interrupt(number, frame):
    global fired
    fired = True
    raise Interrupt


signal.signal(signal.SIGALRM, interrupt)
for i in range(200):
    fired = False
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-6 * (10 + 7 * i))
        while not fired:  # Python drops an exception in a destructor
            model.translate_text(lines[0], beam=1)
    except Interrupt:
        interrupted += 1
assert interrupted > 150 and model.translate_text(lines[0], beam=1) == expected[0][0][0]

# Closed by one thread while others call: an error, and no crash.
model.set_sessions(2)


def call_until_closed():
    try:
        while True:
            model.translate_text(lines[1])
    except translator.Error as error:
        if "closed" not in str(error):
            wrong.append(error)


threads = [threading.Thread(target=call_until_closed) for _ in range(4)]
[thread.start() for thread in threads]
model.close()
[thread.join() for thread in threads]
assert not wrong, wrong
print("all is well")
