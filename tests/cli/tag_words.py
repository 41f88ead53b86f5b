# Tables of tags; tokenizers; and, from their definitions, figures and first tokens to compare tfc's with.
#   tag_words.py make                       train.tsv, valid.tsv (names among words), ner.tsv (letters)
#   tag_words.py level VOCAB                a tokenizer.json whose tokens are the words of a list
#   tag_words.py figures TABLE TAGS EVAL    compares tfc eval --json with the figures of predicted tags
#   tag_words.py first TOKENIZER TABLE      compares the predictions `first` and `n` with WordPiece's tokens
import json
import random
import sys

NAMES = ["Anna", "Berta", "Clara Schumann", "Rio de Janeiro", "Berlin", "New York"]
WORDS = "the a dog swims sees runs to in of and very small".split()


def named(n):
    for _ in range(n):
        words, tags = [], []
        for _ in range(random.randint(1, 5)):
            name = random.choice(NAMES).split() if random.random() < .4 else []
            kind = "PER" if name and name[0] in ("Anna", "Berta", "Clara") else "LOC"
            words += name or [random.choice(WORDS)]
            tags += ["B-" + kind] + ["I-" + kind] * (len(name) - 1) if name else ["O"]
        yield words, tags


def lettered(n):
    for _ in range(n):
        words = ["".join(random.choice("abcdefghiJ") for _ in range(random.randint(1, 5)))
                 for _ in range(random.randint(1, 6))]
        yield words, ["B-X" if word[0] in "abc" else "O" for word in words]


def write(file, rows):
    with open(file, "w") as out:
        out.write("words\ttags\n")
        for words, tags in rows:
            out.write(" ".join(words) + "\t" + " ".join(tags) + "\n")


def read(table):
    return [[cell.split(" ") for cell in line.rstrip("\n").split("\t")] for line in open(table)][1:]


def level(vocab):
    words = [line.rstrip("\n") for line in open(vocab)]
    return {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": None, "decoder": None,
            "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {w: i for i, w in enumerate(words)}}}


# Spans (first, end, type): a B begins one, and so does an I that goes on with none of its type.
def spans(tags):
    found = set()
    first = kind = None
    for i, tag in enumerate(tags + ["O"]):
        if kind and not (tag[0] == "I" and tag[2:] == kind):
            found.add((first, i, kind))
            kind = None
        if tag != "O" and not kind:
            first, kind = i, tag[2:]
    return found


def figures(table, tags, said):
    right = total = same = of_labels = of_predictions = 0
    predicted = [line.split() for line in open(tags)]
    for (_, labels), guess in zip(read(table), predicted, strict=True):
        assert len(labels) == len(guess), (labels, guess)
        total += len(labels)
        right += sum(a == b for a, b in zip(labels, guess))
        a, b = spans(labels), spans(guess)
        same, of_labels, of_predictions = same + len(a & b), of_labels + len(a), of_predictions + len(b)
    assert same, "no span is found: the comparison says nothing"
    said = json.load(open(said))
    assert abs(said["accuracy"] - right / total) < 1e-6, (said, right, total)
    assert abs(said["span_f1"] - 2 * same / (of_labels + of_predictions)) < 1e-6, (said, same, of_labels, of_predictions)


def word_pieces(vocab, word):
    ids, at = [], 0
    while at < len(word):
        end = next((e for e in range(len(word), at, -1) if ("##" if at else "") + word[at:e] in vocab), None)
        if end is None:
            return [vocab["[UNK]"]]
        ids.append(vocab[("##" if at else "") + word[at:end]])
        at = end
    return ids


def first(tokenizer, table):
    vocab = json.load(open(tokenizer))["model"]["vocab"]
    for (words, _), line in zip(read(table), sys.stdin, strict=True):
        pieces, said = [word_pieces(vocab, word.lower()) for word in words], json.loads(line)
        assert said["first"] == [ids[0] for ids in pieces], (words, pieces, said)
        assert said["n"] == 2 + sum(map(len, pieces)), (words, pieces, said)


if sys.argv[1] == "make":
    random.seed(7)
    write("train.tsv", named(300))
    write("valid.tsv", named(80))
    write("ner.tsv", lettered(150))
elif sys.argv[1] == "level":
    print(json.dumps(level(sys.argv[2])))
else:
    {"figures": figures, "first": first}[sys.argv[1]](*sys.argv[2:])
