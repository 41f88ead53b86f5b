#!/bin/sh
# Every place where something is set holds to the rows of runtime/decode/settings.def and base/training_settings.def, as
# tfc help --settings prints them. One step beyond either end of a range is refused, with the range: of decoding by the
# command, the compiled program and the library (through its Python module), which have the same defaults; of training
# by the command and the train block. Packages of JavaScript: script.mjs.
# Usage: settings.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >m.tfg <<'M'
model small
use transformer
const layers = 1, d_model = 8, d_ff = 8, heads = 1, vocab = 8
train { rate = constant(0.003); batch = tokens(300); max_length = 20 }
M
for i in 1 2 3 4; do echo "a b c $i"; done >t.txt
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --out run --steps 1 --no-bleu 2>err || fail "$(cat err)"
"$tfc" compile run -o program --emit exe 2>err || fail "$(cat err)"
"$tfc" compile run -o libsmall.so --function encode,decode_step 2>err || fail "$(cat err)"
COLUMNS=80 "$tfc" help --settings >rows
python3 - "$tfc" <<'P'
import re
import subprocess
import sys

import small

tfc = sys.argv[1]
heads, *lines = open("rows").read().splitlines()
assert all(len(line) <= 80 for line in lines), max(lines, key=len)
lines = [line for line in lines if not re.match("    [^ ]", line)]  # without what each means
at = [heads.index(head) for head in ("option", "setting", "default", "range")] + [81]
end = lines.index("")
rows, of_training = [[[line[a:b].strip() for a, b in zip(at, at[1:])] for line in part] for part in (lines[:end], lines[end + 2:])]


def refuses(words, value, expected, status=2):
    done = subprocess.run(words, input="", capture_output=True, text=True)
    assert done.returncode == status and expected in done.stderr and value in done.stderr, (words, done.stderr)


commands = {name: subprocess.run([tfc, name, "--help"], capture_output=True, text=True).stdout
            for name in ("translate", "generate")}
refused = 0
with small.Model() as model:
    settings = model.settings()
    for option, name, default, allowed in rows:
        least, most = re.fullmatch(r"(\S+) (?:to (\S+)|or more)", allowed).groups()
        if name and name != "length_limit":  # the model's
            assert getattr(settings, name) == float(default), (name, default)
        if option:
            word = option.split()[0]
            offered = [command for command, text in commands.items() if "\n  %s " % word in text]
            assert offered, option
        for beyond in [str(int(least) - 1)] + ([str(int(most) + 1)] if most else []):
            expected = "from %s to %s" % (least, most) if most else "of at least " + least
            if option and " " in option:  # takes a value
                for words in [[tfc, command, "run"] for command in offered] + [["./program"]]:
                    refuses(words + [word, beyond], "'%s'" % beyond, expected)
                    refused += 1
            if not name:
                continue
            try:
                model.translate_text("a b", **{name: int(beyond)})
            except small.Error as error:
                assert name + " is " + beyond in str(error) and expected in str(error), error
                assert isinstance(error, ValueError), error
            except OverflowError as error:  # no number of C
                assert name in str(error) and abs(int(beyond)) > 2**30 or name == "seed", error
            else:
                raise AssertionError("%s = %s is taken" % (name, beyond))
            refused += 1
assert len(rows) >= 18 and refused >= 90, (len(rows), refused)

for option, name, default, allowed in of_training:
    word = option.split()[0]
    least, most = allowed.split(" to ")
    for beyond in (str(int(least) - 1), str(int(most) + 1)):
        refuses([tfc, "train", "m.tfg", word, beyond], "'%s'" % beyond, "from %s to %s" % (least, most))
    for beyond in ("-1", str(int(most) + 1)):
        clause = name + " = " + beyond if name != "batch" else "batch = %s(%s)" % (word.split("-")[-1], beyond)
        with open("wrong.tfg", "w") as model:
            model.write("model wrong\nparam w: [2]\noutput y = w\ntrain { %s }\n" % clause)
        refuses([tfc, "dump", "wrong.tfg", "--stage", "graph"], beyond, " to %s, not" % most, 1)
assert len(of_training) >= 12, of_training
P
echo "all is well"
