"""Batches of a real corpus, as lengths of sentences, made as tfc train makes them: shuffled,
sorted by length within pools, cut by the tokens of each side (runtime/data/batch.h)."""
import gzip
import os
import random

from sides import Failed

POOL_BATCHES = 100
LONGEST = 128  # as max_length in the models


def read_lengths(folder, name):
    """Pieces of each line, and one for the mark at its end."""
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb") as f:
            return [len(line.split()) + 1 for line in f]
    except OSError as error:
        raise Failed(f"{path}: {error.strerror}, nor as .gz")


def cut(pairs, budget):
    batch, source, target = [], 0, 0
    for pair in pairs:
        source, target = source + pair[0], target + pair[1]
        if batch and max(source, target) > budget:
            yield batch
            batch, (source, target) = [], pair
        batch.append(pair)
    if batch:
        yield batch


def real_batches(folder, budget, count):
    """`count` batches of (source, target) lengths drawn from an epoch of train.en, train.de."""
    pairs = [pair for pair in zip(read_lengths(folder, "train.en"), read_lengths(folder, "train.de"))
             if max(pair) <= LONGEST]
    draw = random.Random(1)
    draw.shuffle(pairs)
    batches, pool = [], []
    for i, batch in enumerate(cut(pairs, budget), 1):
        pool += batch
        if i % POOL_BATCHES == 0:
            batches += cut(sorted(pool, key=by_length), budget)
            pool = []
    batches += cut(sorted(pool, key=by_length), budget)
    draw.shuffle(batches)
    return batches[:count]


def by_length(pair):
    source, target = pair
    return target, source if target % 2 == 0 else -source


def padding(batches):
    """The share of padding in the padded arrays of both sides."""
    there = sum(source + target for batch in batches for source, target in batch)
    padded = sum(len(batch) * (max(s for s, _ in batch) + max(t for _, t in batch))
                 for batch in batches)
    return 1 - there / padded


def write(batches, path):
    """A line a batch, as tfc bench --lengths reads it."""
    with open(path, "w") as f:
        for batch in batches:
            print(*(f"{source}:{target}" for source, target in batch), file=f)
