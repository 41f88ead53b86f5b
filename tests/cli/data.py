"""Plants faults into a corpus and asks tfc data for them: how many of each kind it finds, and what
it tells of pairs where none was planted.
Usage: data.py TFC FOLDER SOURCE TARGET TEST_SOURCE TEST_TARGET [--generate]
FOLDER is for the faulty copy. --generate writes the four texts first, in two languages made up."""
import json
import random
import re
import subprocess
import sys

tfc, folder, *paths = sys.argv[1:7]
seed = random.Random(5)
LEAST_FOUND, MOST_FALSE = 0.95, 0.01  # shares: of the planted ones, of the pairs without


def write(path, lines):
    with open(path, "wb") as out:
        out.writelines(line + b"\n" for line in lines)


def read(path):
    return open(path, "rb").read().split(b"\n")[:-1]


def generate(n, n_test):
    """Pairs word by word: a language is how its words sound."""
    def words(starts, vowels, ends, n):
        made = []
        while len(made) < n:
            word = "".join(seed.choice(starts) + seed.choice(vowels) for _ in range(seed.randint(1, 3)))
            if (word := word + seed.choice(ends)) not in made:
                made.append(word)
        return made
    source = words("bdfglmnprst", ["a", "e", "i", "o", "ea"], ["", "th", "ng", "ck"], 400)
    target = words(["k", "v", "z", "sch", "tr", "w", "h"], ["ä", "ö", "ü", "u", "ei"], ["n", "rz", "ß"], 400)
    pairs = set()
    while len(pairs) < n + n_test:
        ids = [min(399, int(seed.expovariate(0.02))) for _ in range(seed.randint(4, 14))]
        pairs.add((" ".join(source[i] for i in ids) + ".", " ".join(target[i] for i in ids) + "."))
    pairs = sorted(pairs)
    seed.shuffle(pairs)
    for k in range(2):
        write(paths[k], [p[k].encode() for p in pairs[:n]])
        write(paths[2 + k], [p[k].encode() for p in pairs[n:]])


if "--generate" in sys.argv:
    generate(4000, 300)
pairs = list(zip(read(paths[0]), read(paths[1])))
tests = list(zip(read(paths[2]), read(paths[3])))
chosen = seed.sample(range(len(pairs)), len(pairs) // 8)
sound = [pairs[i] for i in sorted(set(range(len(pairs))) - set(chosen))]


def mojibake(t):
    wrong = "".join(bytes([b]).decode("cp1252", "replace").replace("\ufffd", chr(b)) for b in t)
    return wrong.encode()


def has_accents(p):
    return any(b > 127 for b in p[1])


plants = {  # kind: the faulty pair, and which pairs can have the fault
    "duplicate": (lambda s, t: seed.choice(sound), lambda p: True),
    "swapped": (lambda s, t: (t, s), lambda p: True),
    "mojibake": (lambda s, t: (s, mojibake(t)), has_accents),
    "not_utf8": (lambda s, t: (s, t.decode().encode("latin-1", "replace")), has_accents),
    "overlap": (lambda s, t: seed.choice(tests), lambda p: True),
    "copy": (lambda s, t: (s, s), lambda p: p[0].count(b" ") > 2),
    "ratio": (lambda s, t: (s, t[:len(t) // 5]), lambda p: len(p[1]) > 40),
    "language": (lambda s, t: (s, seed.choice(sound)[0]), lambda p: len(p[0]) > 40),
    "control": (lambda s, t: (s + b"\x08", t), lambda p: True),
    "replacement": (lambda s, t: (s, re.sub(rb"[^\x00-\x7f]+", b"\xef\xbf\xbd", t)), has_accents),
    "markup": (lambda s, t: (s.replace(b" ", b"&nbsp;", 1), t), lambda p: b" " in p[0]),
    "empty": (lambda s, t: (s, b" "), lambda p: True),
}
planted = {}
for i in chosen:
    kind = seed.choice(list(plants))
    make, fits = plants[kind]
    if fits(pairs[i]):
        pairs[i] = make(*pairs[i])
        planted[i + 1] = kind
for k, side in enumerate(("source", "target")):
    write(f"{folder}/faulty.{side}", [p[k] for p in pairs])


def look(source, target):
    """Kind: the lines told."""
    out = subprocess.run([tfc, "data", source, target, "--valid-source", paths[2], "--valid-target", paths[3],
                          "--json", "--examples", "1000000"], check=True, capture_output=True).stdout
    told = json.loads(out)
    return {f["name"]: {e["line"] for e in f["examples"]} for f in told["findings"] if f["fault"]}


before = look(*paths[:2])
told = look(f"{folder}/faulty.source", f"{folder}/faulty.target")
bad = False
print(f"{len(pairs):,} pairs, {len(planted):,} with a planted fault")
print(f"{'':14} planted  found         false         before")
for kind in plants:
    mine = {i for i, k in planted.items() if k == kind}
    found = mine & told[kind]
    if kind == "duplicate":  # of two that are the same the later one is told, and that may be the old one
        texts = {pairs[i - 1] for i in told[kind]}
        found = {i for i in mine if pairs[i - 1] in texts}
        false = {i for i in told[kind] if pairs[i - 1] not in {pairs[j - 1] for j in planted}}
    else:
        false = {i for i in told[kind] if i not in planted}
    false -= before[kind]
    recall, rate = len(found) / max(1, len(mine)), len(false) / (len(pairs) - len(planted))
    wrong = not mine or recall < LEAST_FOUND or rate > MOST_FALSE or len(before[kind]) > MOST_FALSE * len(pairs)
    bad |= wrong
    print(f"{kind:14} {len(mine):7} {len(found):6} {100 * recall:5.1f} % {len(false):4} {100 * rate:5.2f} % "
          f"{len(before[kind]):6} {'WRONG' if wrong else ''}")
clean = set().union(*before.values())
print(f"told of the corpus as it was: {len(clean)} pairs, {100 * len(clean) / len(pairs):.2f} %")
sys.exit(bad or len(clean) > MOST_FALSE * len(pairs))
