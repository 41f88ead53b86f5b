"""A step that is asked for in blocks: what bench/compare's children have in common.

The child takes its first steps, prints what they took, and then answers each line with
a number K: one step that does not count, K that do, and what they took. It ends with its
standard input. Memory is the peak after the first steps: what compilation took is not in it.
"""
import json
import statistics
import sys
import time


def forget_peak():
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def resident_peak():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))


def tell(**what):
    print(json.dumps(what), flush=True)


def serve(step, tokens, **about):
    """`step(i)` takes the i-th step of a round through the `tokens` (a number a step); a
    block of K steps is K such rounds, and of one batch its median counts."""

    def seconds(i):
        begin = time.perf_counter()
        step(i)
        return time.perf_counter() - begin

    first = seconds(0)
    for i in range(1, len(tokens)):
        seconds(i)
    seconds(0)
    forget_peak()
    tell(first_step_seconds=first, **about)
    for line in sys.stdin:
        seconds(0)
        rounds = [sum(seconds(i) for i in range(len(tokens))) for _ in range(int(line))]
        tell(tokens_per_second=sum(tokens) / statistics.median(rounds),
             resident_peak_bytes=resident_peak())
