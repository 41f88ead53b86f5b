# Tables of records drawn by a seed, as TSV, CSV and JSON lines; and what tfc predict must print of them.
#   columns.py make           writes t.tsv, t.csv, t.jsonl, plain.tsv (without a header), odd.csv (of Excel), end.jsonl
#                             (which ends with empty lines), list.json and row.jsonl (one list)
#   columns.py check VOCAB    compares standard input (JSON of fixtures/columns/echo.tfg) with t.jsonl
import csv
import json
import random
import sys

FIELDS = ["pair", "number", "kind", "tags", "frames", "text"]


def flat(value):
    return " ".join(map(flat, value)) if isinstance(value, list) else str(value)


def make():
    random.seed(5)
    rows = []
    for i in range(37):
        n = random.randint(1, 7)
        rows.append({
            "pair": [round(random.uniform(-2, 2), 3), i],
            "number": random.randint(-5, 9),
            "kind": random.choice(["red one", "blue", 'gr"een']),
            "tags": " ".join(random.choice(["B-a", "O", "I-a"]) for _ in range(n)),
            "frames": [[round(random.random(), 2), j] for j in range(n)],
            "text": " ".join(random.choice(["ein", "zwei", "drei", "vier"]) for _ in range(random.randint(1, 9))),
            "other": '"x, y"\n',
        })
    with open("t.jsonl", "w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")
    with open("t.tsv", "w") as out, open("plain.tsv", "w") as plain:
        out.write("\t".join(["other"] + FIELDS) + "\n")
        for row in rows:
            cells = "\t".join(flat(row[field]) for field in FIELDS) + "\n"
            out.write("-\t" + cells)
            plain.write(cells)
    with open("t.csv", "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["other"] + FIELDS[::-1])
        for row in rows:
            writer.writerow([row["other"]] + [flat(row[field]) for field in FIELDS[::-1]])
    with open("odd.csv", "w", newline="") as out:
        out.write("sep=;\r\n")
        writer = csv.writer(out, delimiter=";")
        writer.writerow(["other"] + FIELDS)
        for row in rows:
            writer.writerow([row["other"]] + [flat(row[field]) for field in FIELDS])
        out.write("\r\n\r\n")
    with open("list.json", "w") as out:
        json.dump(rows, out, indent=1)
    with open("row.jsonl", "w") as out:
        json.dump(rows, out)
    with open("end.jsonl", "w") as out:
        out.write(open("t.jsonl").read() + "\n\n")


def check(vocab):
    rows = [json.loads(line) for line in open("t.jsonl")]
    said = [json.loads(line) for line in sys.stdin]
    words = [line.rstrip("\n") for line in open(vocab)]
    kinds, tags = sorted({row["kind"] for row in rows}), sorted({t for row in rows for t in row["tags"].split()})
    assert len(rows) == len(said), (len(rows), len(said))
    near = lambda a, b: all(abs(x - y) < 1e-6 for x, y in zip(a, b)) and len(a) == len(b)
    for i, (row, got) in enumerate(zip(rows, said)):
        assert got["line"] == i
        assert near(got["pairs"], row["pair"]), (i, got, row)
        assert got["numbers"] == row["number"], (i, got, row)
        assert kinds[int(got["kinds"])] == row["kind"], (i, got, row)
        assert [tags[int(t)] for t in got["tags"]] == row["tags"].split(), (i, got, row)
        assert all(near(a, b) for a, b in zip(got["frames"], row["frames"])) and len(got["frames"]) == len(row["frames"])
        assert [words[int(t)] for t in got["tokens"]] == row["text"].split() + ["</s>"], (i, got, row)


make() if sys.argv[1] == "make" else check(sys.argv[2])
