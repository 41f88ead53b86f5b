# A table with every kind of fault, drawn by a seed, and what tfc data must report of it, counted here in another way.
#   data_tables.py make     writes train.jsonl, valid.jsonl
#   data_tables.py check    compares standard input, which is JSON of tfc data, with the tables
import collections
import json
import random
import sys

WORDS = ["ein", "zwei", "drei", "vier", "fünf", "Sechs"]
MOST = 7  # words of the longest text


def make():
    random.seed(9)
    for name, n in ("train", 400), ("valid", 60):
        with open(name + ".jsonl", "w") as out:
            for _ in range(n):
                line = [random.choice(WORDS) for _ in range(random.choice([0, 1, 1, 2, 2, 3, 9]))]
                text = random.choice([" ", "  "]).join(random.choice([w, w.upper()]) for w in line)
                label = random.choice(["red", "red", "red", "blue"] + (["green"] if name == "valid" else []))
                score = random.choice([0.5, 1, 2.25]) if random.random() < 0.98 or name == "valid" else "none"
                out.write(json.dumps({"text": text, "label": label, "score": score}) + "\n")


def table(name):
    return [json.loads(line) for line in open(name + ".jsonl")]


def inputs(row):
    return " ".join(row["text"].lower().split()), row["score"]


def check():
    said = json.load(sys.stdin)
    train, valid = table("train"), table("valid")
    found = {f["name"]: f["lines"] for f in said["findings"]}
    good = [row for row in train if row["score"] != "none"]
    filled = [row for row in good if row["text"].split()]
    trained = [row for row in filled if len(row["text"].split()) <= MOST]
    held, held_inputs = {inputs(r) + (r["label"],) for r in valid}, {inputs(r) for r in valid}
    seen, seen_inputs, count = set(), set(), collections.Counter()
    for row in filled:
        whole = inputs(row) + (row["label"],)
        count["duplicate"] += whole in seen
        count["relabelled"] += whole not in seen and inputs(row) in seen_inputs
        count["overlap"] += whole in held
        count["overlap_relabelled"] += whole not in held and inputs(row) in held_inputs
        seen.add(whole)
        seen_inputs.add(inputs(row))
    expected = {
        "refused": len(train) - len(good), "empty": len(good) - len(filled), "over_length": len(filled) - len(trained),
        "valid_refused": sum(row["label"] == "green" for row in valid), "unknown": sum("SECHS" in row["text"].split() for row in trained), **count,
    }
    assert all(expected.values()), expected
    for name, n in expected.items():
        assert found[name] == n, (name, found[name], n)
    column = {c["input"]: c for c in said["columns"]}
    assert said["records"] == len(train)
    assert column["label"]["labels"] == collections.Counter(row["label"] for row in trained), column["label"]
    assert column["score"]["numbers"] == len(trained)
    assert abs(column["score"]["mean"] - sum(row["score"] for row in trained) / len(trained)) < 1e-5
    assert column["text"]["characters"]["total"] == sum(len(row["text"]) for row in train)
    assert column["text"]["words"]["most"] == max(len(row["text"].split()) for row in train)
    assert column["text"]["tokens"]["total"] == sum(len(row["text"].split()) + 1 for row in trained)  # and an end
    (v,) = said["valid"]
    whole = sum((inputs(r) + (r["label"],)) in seen for r in valid if r["text"].split())
    assert (v["name"], v["records"], v["overlap"]) == ("held", len(valid), whole), v


make() if sys.argv[1] == "make" else check()
