# Tables for prepare_tables.sh, drawn by a seed, in the current folder:
#   q.csv, q.jsonl                 the same records of a text and a label, with line breaks, commas and quotes in them
#   all.jsonl, image.safetensors   records of each task of fixtures/columns; two of their fields as tensors
import csv
import json
import random
import struct


def quoted():
    random.seed(11)
    bits = ["a", "b c", "\n", ",", '"', "\r\n", "é", '""', " "]
    rows = [
        {
            "text": "x" + "".join(random.choice(bits) for _ in range(random.randint(0, 9))),
            "la\nbel": random.choice(["one", "two, 2", 'thr"ee']),
        }
        for _ in range(200)
    ]
    with open("q.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["la\nbel", "text"])
        for row in rows:
            writer.writerow([row["la\nbel"], row["text"]])
    with open("q.jsonl", "w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")


def tasks():
    random.seed(3)
    words = ["ein", "zwei", "drei", "vier", "5"]
    rows = []
    for i in range(150):
        line = [random.choice(words) for _ in range(random.randint(1, 6))]
        text, upper = " ".join(line), " ".join(w.upper() for w in line)
        rows.append({
            "src": text, "src2": " ".join(line[::-1]), "tgt": upper, "first": text, "second": upper, "words": text,
            "tags": " ".join("B-N" if w == "5" else "O" for w in line), "text": text,
            "sound": [[float(j % 5 == words.index(w)) for j in range(40)] for w in line for _ in range(3)],
            "image": [[[float(i % 10 == x)] * 3 for x in range(16)] for _ in range(16)], "label": i % 10,
        })
    with open("all.jsonl", "w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")
    image = b"".join(struct.pack("<768f", *[x for line in row["image"] for dot in line for x in dot]) for row in rows)
    label = struct.pack("<150q", *[row["label"] for row in rows])
    head = json.dumps({
        "image": {"dtype": "F32", "shape": [150, 16, 16, 3], "data_offsets": [0, len(image)]},
        "label": {"dtype": "I64", "shape": [150], "data_offsets": [len(image), len(image) + len(label)]},
    }).encode()
    head += b" " * (-len(head) % 8)
    with open("image.safetensors", "wb") as out:
        out.write(struct.pack("<Q", len(head)) + head + image + label)


quoted()
tasks()
