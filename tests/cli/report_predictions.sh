#!/bin/sh
# What models of tables get wrong: the page of tfc report, tfc eval --json and --confusions say what a count of tfc predict's
# output says: confusions, precision, recall and F1 of classes and spans, the records with the greatest loss; mistakes.
# Usage: report_predictions.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
fixtures=$root/tests/fixtures/columns
enter_work

cat >count.py <<'END'
import html, json, math, random, re, sys
NAMES = ["Anna", "Otto", "Rom", "Wien"]

def make():
    random.seed(5)
    with open("t.jsonl", "w") as out:
        for i in range(200):
            words, tags = [], []
            for _ in range(random.randint(1, 5)):
                word = random.choice(NAMES + ["geht", "nach"])
                words.append(word)
                tags.append("B-PER" if word in NAMES[:2] else "B-LOC" if word in NAMES[2:] else "O")
                if tags[-1] != "O" and random.random() < .4:
                    words.append("Meier")
                    tags.append("I-" + tags[-1][2:])
            # labels with a tenth of mistakes, one label with bytes of HTML
            label = words[0] if random.random() < .9 else random.choice(NAMES)
            out.write(json.dumps({"text": " ".join(words), "words": " ".join(words), "tags": " ".join(tags),
                                  "label": "<&>" if label == "Wien" else label, "first": " ".join(words),
                                  "second": " ".join(words).upper(),
                                  "sound": [[float(j % 7 == len(w)) for j in range(40)] for w in words for _ in range(3)],
                                  "tgt": " ".join(words)}) + "\n")

def rows(name):
    return [json.loads(line) for line in open(name)]

def page(path):
    text = open(path).read()
    figures = {}
    for figure in re.findall(r'<figure class="table">.*?</figure>', text, re.S):
        title = html.unescape(re.search(r"<figcaption>(.*?)</figcaption>", figure).group(1))
        cells = [[html.unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)]
                 for row in re.findall(r"<tr>(.*?)</tr>", figure, re.S)]
        figures[title] = cells
    return figures

def matrix(pairs, names):
    return [[sum(pair == (a, b) for pair in pairs) for b in names] for a in names]

def check_matrix(figure, path, pairs):
    names = figure[0][1:-1]
    want = matrix(pairs, names)
    assert [[int(cell or 0) for cell in row[1:]] for row in figure[1:]] == [row + [sum(row)] for row in want], (figure, want)
    assert [row[0] for row in figure[1:]] == names and sum(map(sum, want)) == len(pairs)
    assert any(want[i][j] for i in range(len(names)) for j in range(len(names)) if i != j), "nothing is wrong"
    table = [line.rstrip("\n").split("\t") for line in open(path)]
    names = table[0][1:]
    assert [[int(cell) for cell in row[1:]] for row in table[1:]] == matrix(pairs, names), table
    assert [row[0] for row in table[1:]] == names and table[0][0] == "label"

def check_matches(counts, figure, labels, predictions, right):
    """Lists of items: of labels and predictions, and of those in both."""
    for name in sorted(set(labels) | set(predictions)):
        n, p, r = labels.count(name), predictions.count(name), right.count(name)
        item = next(item for item in counts if item["label"] == name)
        assert (item["labels"], item["predictions"], item["right"]) == (n, p, r), (item, n, p, r)
        want = [r / p if p else 0, r / n if n else 0, 2 * r / (n + p)]
        assert all(abs(item[key] - value) < 1e-8 for key, value in zip(("precision", "recall", "f1"), want)), (item, want)
        if figure:
            row = next(row for row in figure if row[0] == name)
            share = lambda part, whole: f"{100 * part / whole:.1f} %" if whole else "–"
            assert row[1:] == [str(n), str(p), share(r, p), share(r, n), f"{want[2]:.3f}"], (row, want)
    assert len(counts) == len(set(labels) | set(predictions))

def check_classes():
    table, said, figures = rows("t.jsonl"), rows("said"), page("page.html")
    labels = [row["label"] for row in table]
    guesses = [max(line["class"], key=lambda pair: pair[1])[0] for line in said]
    check_matrix(figures["Confusions of class"], "confusions.tsv", list(zip(labels, guesses)))
    counts = json.load(open("eval.json"))
    check_matches(counts["classes"], figures["Classes of class"], labels, guesses,
                  [a for a, b in zip(labels, guesses) if a == b])
    losses = sorted(((-math.log(dict(map(tuple, line["class"]))[label]), i) for i, (line, label) in enumerate(zip(said, labels))),
                    key=lambda pair: (-pair[0], pair[1]))
    worst = figures["Records of the greatest loss"]
    assert worst[0] == ["record", "loss", "src", "label", "prediction", "probability"], worst[0]
    assert len(worst) == 13
    for row, (loss, i) in zip(worst[1:], losses):
        assert abs(float(row[1]) - loss) < 1e-3 * max(1, loss), (row, loss)
        number = int(row[0]) - 1
        assert row[2:5] == [table[number]["text"], labels[number], guesses[number]], (row, table[number])
        assert abs(float(row[5].split()[0]) - 100 * max(p for _, p in said[number]["class"])) < 0.06

def spans(tags):
    found, start = [], None
    for i, tag in enumerate(tags + ["O"]):
        if start is not None and not (tag[0] == "I" and tag[2:] == tags[start][2:]):
            found.append((start, i, tags[start][2:]))
            start = None
        if start is None and tag != "O":
            start = i
    return found

def check_tags():
    table, figures, counts = rows("t.jsonl"), page("page.html"), json.load(open("eval.json"))
    labels = [row["tags"].split() for row in table]
    guesses = [[max(pairs, key=lambda pair: pair[1])[0] for pairs in line["tag"]] for line in rows("said")]
    flat = [(a, b) for x, y in zip(labels, guesses) for a, b in zip(x, y)]
    check_matrix(figures["Confusions of tag"], "confusions.tsv", flat)
    check_matches(counts["tags"], None, [a for a, _ in flat], [b for _, b in flat], [a for a, b in flat if a == b])
    of = lambda rows: [(i, *span) for i, tags in enumerate(rows) for span in spans(tags)]
    a, b = of(labels), of(guesses)
    check_matches(counts["spans"], figures["Spans of tag"], [s[3] for s in a], [s[3] for s in b], [s[3] for s in set(a) & set(b)])
    for row in figures["Records of the greatest loss"][1:]:
        i = int(row[0]) - 1
        wrong = [f"{word}: {x}, not {y}" for word, x, y in zip(table[i]["words"].split(), labels[i], guesses[i]) if x != y]
        assert row[2] == table[i]["words"] and row[3] == ("; ".join(wrong) or "none"), (row, wrong)

def edits(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row, last = [i + 1], row
        for j, y in enumerate(b):
            row.append(min(last[j] + (x != y), last[j + 1] + 1, row[j] + 1))
    return row[-1]

def check_sequences():
    table, said = rows("t.jsonl"), rows("said")
    worst = page("page.html")["Records with the most errors"][1:]
    wrong = [edits(line["letters"][0][0].split(), row["tgt"].split()) for line, row in zip(said, table)]
    assert [int(row[1]) for row in worst] == sorted(wrong, reverse=True)[:len(worst)] and worst, worst
    for row in worst:
        i = int(row[0]) - 1
        assert wrong[i] == int(row[1]) and row[2:] == [table[i]["tgt"], said[i]["letters"][0][0]], row

{"make": make, "classes": check_classes, "tags": check_tags, "sequences": check_sequences}[sys.argv[1]]()
END
python3 count.py make
study() { # MODEL CHECK STEPS OPTIONS…
    model=$1 check=$2 steps=$3
    shift 3
    "$tfc" train "$fixtures/$model.tfg" --data t.jsonl --valid-data t.jsonl --steps "$steps" --out "run-$model" "$@" >said 2>&1 ||
        fail "$model: $(cat said)"
    "$tfc" predict "run-$model" --input t.jsonl --json $top >said || fail "$model does not predict"
    "$tfc" eval "run-$model" --data t.jsonl --json $confusions >eval.json || fail "$model is not evaluated"
    "$tfc" report "run-$model" -o page.html 2>err || fail "no report of $model: $(cat err)"
    python3 count.py "$check" || fail "other figures of $model"
}
words="--vocab words:auto --set d_model=32 --set heads=2 --set layers=1"
confusions="--confusions confusions.tsv"
# shellcheck disable=SC2086  # words
{
    printf '%s\n' O B-PER I-PER B-LOC I-LOC >tags.txt
    cp "$fixtures"/tagger.tfg . && fixtures=.
    top="--top 5" study tagger tags 12 $words --set tags=5
    fixtures=$root/tests/fixtures/columns
    n=$(sed 's/.*"label": "\([^"]*\)".*/\1/' t.jsonl | sort -u | wc -l)
    top="--top $n" study classifier classes 12 $words --set labels="$n" --column label=label
}
confusions='' top=''
study speech_ctc sequences 12 --set layers=1
# shellcheck disable=SC2086  # words
"$tfc" train "$fixtures/two_towers.tfg" --data t.jsonl --valid-data t.jsonl --out run-towers --steps 4 $words >said 2>&1 || fail "$(cat said)"
"$tfc" report run-towers -o page.html || fail "no report of vectors"
grep -q 'Records whose partner is the furthest' page.html || fail "the page shows no ranks"

refuses 1 'no column says which class or tags are right' "$tfc" eval run-towers --data t.jsonl --confusions no.tsv
[ ! -e no.tsv ] || fail "a refused table was written"
mv t.jsonl gone.jsonl
"$tfc" report run-classifier -o page.html || fail "no report without the table"
grep -q 't.jsonl is not there any more' page.html || fail "nothing tells that the table is gone"
