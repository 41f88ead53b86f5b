"""Odd records for record_twins.sh: `table` prints the training's table; `compare TFC N [PACKAGE]` gives the records of CASES, and N
made at random, to the command, the compiled program and the package."""
import json
import random
import re
import subprocess
import sys

MOODS = ["glad", "new york"]
GOOD = {"image": "[0, 1, 0, 0]", "place": "2", "mood": '"glad"', "note": '"the thing"'}


def record(**members):
    """A line of JSON, whose values are given as JSON; None: without the member."""
    return "{" + ", ".join(f'"{name}": {value}' for name, value in {**GOOD, **members}.items() if value is not None) + "}"


# Values of each member; those that begin with ! are refused.
VALUES = {
    "image": ["[0,1,0,0]", "[[0, 1], [0, 0]]", '"[0, 1, 0, 0]"', '"0 1 0 0"', '"0,1,0,0"', '"0;1;0;0"', '"[0 1] [0 0]"', "[0.0, 1e0, -0, 5E-1]",
              "[1" + "0" * 70 + "e-70, 0, 0, 0]", "[[[[0, 1, 0, 0]]]]", "![0, 1, 0, 0, []]",
              "![0, 1, 0]", "![0, 1, 0, 0, 0]", "!1", "![]", "!null", "!true", "!{}", '!"a b c d"', "![0, 1, 0, null]", '![0, 1, 0, "0"]', "![0, 1, 0, 1e400]",
              "![0, 1, 0, 1e39]", "![0, 1, 0, NaN]", "![0, 1, 0, Infinity]", "![01, 1, 0, 0]", "![0, 1, 0, .5]", "![0, 1, 0, 5.]", "![0, 1, 0, +1]", "![0, 1, 0, 0",
              "![0, 1, 0, 0]]", "![0, 1,, 0, 0]", "![0, 1, 0, 0,]", '!"[0, 1, 0, 0"', '!"0, 1, 0, 0,"', '!"0,,1 0 0"', '!""', "![0, 1, 0, 0x1]"],
    "place": ["0", "2.0", '"2"', '"2.0"', '" 2 "', "[2]", '"[2]"', "1e0", "-0", "0.0", "20e-1",
              "!3", "!7", "!-1", "!2.5", '!"two"', "!null", "!false", "!1e400", "!2147483648", "!-2147483649", "!99999999999999999999", "![1, 2]", "![]", "!{}",
              '!""', "!0x1", "!1_0"],
    "mood": ['"new york"', r'"\u006eew york"', '!"sad"', '!""', "!0", "!null", '![]', '!"new  york"', '!"glad "', "!true"],
    "note": ['"the"', '"the thing 2"', r'"a\"b\\c\/d\n\t"', r'"\ud83d\ude00 \u00e4"', '"\U0001f600 ä"', "5", "1.50", "true", "[1, 2]", '" the "', '"unknown words"',
             r'!"\ud83d"', r'!"\x41"', "!'a'", "!null", "!{}", r'!"\u00g0"', '!"a\tb"', '!"a', '!["a"]', r'!"a\u0000b"'],
}
# Whole lines, with whether they are taken.
LINES = [
    (record(), True), ("  " + record() + "  ", True), (record(extra='{"a": [1, {"b": null}], "c": 1e400}'), True), (record(extra="1", other="1"), True),
    (record()[:-1] + ', "extra": 1, "extra": 2}', True), ("{" + record()[1:].replace('"image"', r'"im\u0061ge"') + "", True),
    (record()[:-1] + ', "place": 1}', False), (record(image=None), False), (record(place=None), False), (record(mood=None), False), (record(note=None), False),
    ("{}", False), ("[]", False), # no line without a record, and no list of records: these are matters of files
    ("null", False), ('"a"', False), (record() + record(), False), (record() + " x", False),
    (record()[:-1], False), (record()[:-1] + ",}", False), (record(extra="[" * 70 + "]" * 70), False), (record(extra="tru"), False), (record(extra="01"), False),
    ("\ufeff " + record(), True), (record().replace(":", "=", 1), False), (record(extra="[" * 60 + "]" * 60), True),
    (record(extra='"' + "x" * 1200000 + '"'), True), (record().replace('"place"', "place"), False), ("//\n"[:2] + record(), False),
]


def cases():
    for line, taken in LINES:
        yield line, taken
    for member, values in VALUES.items():
        for value in values:
            yield record(**{member: value.lstrip("!")}), not value.startswith("!")


def drawn(n):
    """Records of values drawn for each member, some of which are missing, doubled or cut."""
    for _ in range(n):
        members = {name: random.choice(values) if random.random() < 0.4 else GOOD[name] for name, values in VALUES.items()}
        taken = not any(value.startswith("!") for value in members.values())
        line = record(**{name: value.lstrip("!") for name, value in members.items()})
        if random.random() < 0.1:
            at = random.randrange(1, len(line))
            line, taken = random.choice([line[:at], line[:at] + random.choice("{}[],:\"\\0 e-") + line[at:]]), None
        yield line, taken


def run(words, line):
    done = subprocess.run(words, input=line.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def command(tfc, line):
    """The answers, or the reason of the first error, without the name of a field that is not there, of several the first."""
    with open("one.jsonl", "w", encoding="utf-8") as file:
        file.write(line + "\n")
    status, out, said = run([tfc, "translate", "run", "--input", "one.jsonl", "--threads", "1"], "")
    found = re.search(r"error: (.*)", said)
    assert status in (0, 1), said
    return (True, out) if not status else (False, re.sub(r"(has no field).*", r"\1", found[1]))


def program(line):
    status, out, said = run(["./answer"], line + "\n")
    assert status in (0, 1), said
    return (True, out) if not status else (False, re.sub(r"(has no field).*", r"\1", said.split("line 1: ", 1)[-1].strip()))


PACKAGE = """
import {createInterface} from "node:readline";
const {load} = await import(process.cwd() + "/package/index.js"), model = await load();
for await (const line of createInterface({input: process.stdin})) {
  let answer;
  try {
    answer = [true, model.translate(JSON.parse(line)) + "\\n"];
  } catch ({message}) {
    answer = [false, message.replace(/^record 0: /, "").replace(/(has no field).*/, "$1")];
  }
  console.log(JSON.stringify(answer));
}
"""


def number_of_script(digits):
    """A whole number as JSON.parse reads it: in f64."""
    return int(digits) if abs(int(digits)) <= 2 ** 53 else int(float(digits))


def is_json(line):
    def pairs(items):
        assert len({name for name, _ in items}) == len(items)
        return dict(items)

    def refused(word):
        raise ValueError(word)
    try:
        json.loads(line, object_pairs_hook=pairs, parse_constant=refused, parse_float=lambda text: refused(text) if float(text) in (float("inf"), -float("inf")) else float(text))
        return True
    except (ValueError, AssertionError, RecursionError):
        return False


def answered_together(tfc, lines):
    """Whether both answer all the lines in one call, and alike: then none is to be asked alone."""
    text = "\n".join(lines)
    one, other = command(tfc, text), program(text)
    return one[0] and one == other and one[1].count("\n") == len(lines)


def compare(tfc, lines, package):
    wrong = 0
    good = [line for line, taken in lines if taken and not line.startswith("\ufeff")]
    together = answered_together(tfc, good)
    for line, taken in lines:
        if together and line in good:
            continue
        one, other = command(tfc, line), program(line)
        if one != other or (taken is not None and one[0] != taken):
            print(f"{line[:300]}\n  command: {one}\n  program: {other}{'' if taken is None else '  expected: ' + ('taken' if taken else 'refused')}")
            wrong += 1
    if package:
        plain = [line for line, _ in lines if is_json(line)]
        said = run(["node", "--input-type=module", "-e", PACKAGE], "".join(line + "\n" for line in plain))
        answers = [json.loads(line) for line in said[1].splitlines()]
        assert len(answers) == len(plain) > 20, said
        for line, answer in zip(plain, answers):
            one = program(json.dumps(json.loads(line, parse_int=number_of_script)))
            if isinstance(json.loads(line), dict) and tuple(answer) != one:
                print(f"{line[:300]}\n  package: {answer}\n  program: {one}")
                wrong += 1
    return wrong


if sys.argv[1] == "table":
    random.seed(4)
    print("image\tplace\tmood\tnote\tcaption")
    for _ in range(200):
        k, place, mood = random.randrange(4), random.randrange(3), random.choice(MOODS)
        print([int(x == k) for x in range(4)], place, mood, f"the thing {k}", f"the thing {k} at {place}", sep="\t")
else:
    random.seed(5)
    tfc_name, count = sys.argv[2:4]
    sys.exit(compare(tfc_name, [*cases(), *drawn(int(count))], sys.argv[4:]) != 0)
