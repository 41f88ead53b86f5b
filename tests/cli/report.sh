#!/bin/sh
# tfc report: what the page says is what the log and tfc eval say; runs compared; plots; renewal while a
# run trains; a long log; logs that are damaged; wrong usage; the page in a browser.
# Usage: report.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model words
use transformer
const layers = 1, d_model = 32, d_ff = 64, heads = 4, vocab = 8, p_drop = 0
train { rate = constant(0.003); batch = tokens(400) }
END
words_backwards
# Sentences of up to five words: a single row of quality by length, which is the whole text's.
awk 'NF <= 5' valid.src >short.src
awk 'NF <= 5' valid.tgt >short.tgt
texts="--source train.src --target train.tgt --valid-source short.src --valid-target short.tgt --vocab words:auto"
"$tfc" train model.tfg $texts --seed 3 --out run --steps 120 --validate-every 40 --report-every 5 2>err || fail "$(cat err)"
sed 's/layers = 1/layers = 2/' model.tfg >deep.tfg
"$tfc" train deep.tfg $texts --seed 3 --out deep --steps 40 --validate-every 20 --report-every 5 2>err || fail "$(cat err)"
"$tfc" report run -o page.html 2>err || fail "$(cat err)"
"$tfc" report run deep -o both.html 2>err || fail "$(cat err)"

# shows PAGE TEXT: as the page has it, without its tags.
shows() { sed 's/<[^>]*>/ /g; s/  */ /g' "$1" | grep -qF -- "$2" || fail "$1 does not show '$2'"; }
# member NAME: the numbers of the log
member() { sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" run/log.jsonl; }

shows page.html "$(member valid_loss | sort -g | head -n 1 | xargs printf '%.4f at step')"
shows page.html "$(member valid_bleu | sort -g | tail -n 1 | xargs printf '%.2f at step')"
shows page.html "$(member valid_symbol_error_rate | sort -g | head -n 1 | awk '{ printf "%.2f %% of symbols", 100 * $1 }')"
[ "$(member memory | sort -g | head -n 1)" -gt 1000000 ] || fail "no memory in the log"
"$tfc" eval run --source short.src --target short.tgt --beam 4 --json >eval.json
python3 - eval.json page.html <<'END' || fail "quality is not that of tfc eval"
import json, re, sys
want = json.load(open(sys.argv[1]))
row = re.search(r'1–5</td>(.*?)</tr>', open(sys.argv[2]).read()).group(1)
n, bleu, exact, loss = [float(c.split()[0]) for c in re.findall(r'>([^<>]+)</td>', row)]
assert n == want["sentences"], (n, want)
assert abs(bleu - want["bleu"]) < 0.06 and abs(exact - 100 * want["accuracy"]) < 0.06, (bleu, exact, want)
assert abs(loss - want["loss"]) < 0.0006, (loss, want)
END
# A text that is not the recorded one is named, and nothing of it is shown: a stranger's run.json may name any file.
cp -r run others
yes "a secret line" | head -n 100 >private.txt
sed -i "s#$PWD/short\.[a-z]*#$PWD/private.txt#" others/run.json
"$tfc" report others -o others.html 2>err || fail "$(cat err)"
! grep -q secret others.html || fail "a report shows lines of another file"
shows others.html "private.txt is not the file that run.json tells of"
"$tfc" report others --allow-outside -o others.html 2>err || fail "$(cat err)"
grep -q secret others.html || fail "--allow-outside shows nothing"
# Numbers near the largest, whose range is infinite, are not drawn.
cp -r run huge
for number in 1.7e308 -1.7e308 1.2e308; do
    printf '{"step": 999, "loss": %s, "rate": %s, "tokens_per_second": %s, "seconds": %s}\n' $number $number $number $number >>huge/log.jsonl
    timeout 60 "$tfc" report huge --log-only -o huge.html 2>err || fail "a loss of $number: $(cat err)"
done
# A line that a validation has many times, under names of one number, and more lines than tfc keeps.
cp -r run many
awk 'BEGIN { printf "{\"step\": 999, \"samples\": {\"1\": \"first\""
             for (i = 2; i < 400; i++) printf ", \"%s\": \"other\", \"%d\": \"more\"", sprintf("%0" i "d", 1), i
             print "}}" }' >>many/log.jsonl
timeout 60 "$tfc" report many --log-only -o many.html 2>err || fail "$(cat err)"
grep -q '<td>first</td>' many.html && ! grep -q '<td>other</td>' many.html || fail "another sample than the first of line 1"
# A validation of many names, and many lines without one: what is kept of them follows from the size of the log.
cp -r run many_names
awk 'BEGIN { for (i = 1000; i < 4000; i++) printf "{\"step\": %d}\n", i
             printf "{\"step\": 4000, \"valid\": {\"n0\": {\"loss\": 1}"
             for (i = 1; i < 3000; i++) printf ", \"n%d\": {\"loss\": %d}", i, i
             print "}}" }' >>many_names/log.jsonl
(
    sanitized || ulimit -v 500000
    timeout 60 "$tfc" report many_names --log-only -o many_names.html 2>err || fail "$(cat err)"
)
grep -q 'n2999' many_names.html || fail "a validation of 3000 names"
[ -z "$short" ] || exit 0
# The errors in the log, of a run and of a text with a name, are those of tfc eval and of a count of them.
"$tfc" eval run --checkpoint last.safetensors --source short.src --target short.tgt --beam 1 --length-penalty 0 --json >eval.json
paste short.src short.tgt >short.tsv
"$tfc" train model.tfg --source train.src --target train.tgt --valid short=short.tsv --vocab words:auto --seed 3 --out named \
    --steps 120 --validate-every 40 2>named.err || fail "$(cat named.err)"
"$tfc" translate run --checkpoint last.safetensors --input short.src --beam 1 --length-penalty 0 >said
python3 - eval.json run/log.jsonl named/log.jsonl short.tgt said named.err <<'END' || fail "other errors in the log"
import json, re, sys
want = json.load(open(sys.argv[1]))
run, named = (json.loads(open(path).read().splitlines()[-1]) for path in sys.argv[2:4])
def edits(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row, last = [i + 1], row
        for j, y in enumerate(b):
            row.append(min(last[j] + (x != y), last[j + 1] + 1, row[j] + 1))
    return row[-1]
references, said = ([line.split() for line in open(path)] for path in sys.argv[4:6])
wrong = [edits(a, b) for a, b in zip(said, references)]
lines, symbols = sum(n > 0 for n in wrong) / len(wrong), sum(wrong) / sum(map(len, references))
assert 0 < symbols < lines < 1, (lines, symbols)
for figures, name in ((run, "valid_%s"), (named, "valid_%s"), (named["valid"]["short"], "%s")):
    assert abs(figures[name % "line_error_rate"] - lines) < 1e-8, (figures, lines)
    assert abs(figures[name % "symbol_error_rate"] - symbols) < 1e-8, (figures, symbols)
assert abs(want["accuracy"] - (1 - lines)) < 1e-8 and abs(want["symbol_error_rate"] - symbols) < 1e-8, want
told = "wrong %.1f %% of lines, %.1f %% of symbols" % (100 * lines, 100 * symbols)
assert open(sys.argv[6]).read().count(told) == 2, told
END
# The last text of a sample is the translation of its line by the last checkpoint.
line=$(tail -n 1 run/log.jsonl | sed 's/.*"samples": {"\([0-9]*\)": "\([^"]*\)".*/\1/')
text=$(tail -n 1 run/log.jsonl | sed 's/.*"samples": {"\([0-9]*\)": "\([^"]*\)".*/\2/')
[ "$(sed -n "${line}p" short.src | "$tfc" translate run --checkpoint last.safetensors --beam 1 --length-penalty 0)" = "$text" ] || fail "sample of line $line"
shows page.html "$text"
shows page.html "layer"
grep -q "<text.*>words: [0-9,]* params</text>" page.html || fail "no drawing of the model"
shows page.html "Training text: 1100 lines"
shows page.html "tfc train run --resume"
shows both.html "- const layers = 1"
shows both.html "+ const layers = 2"

# Plots.
for plot in loss bleu errors rate gradient speed memory; do
    "$tfc" report run deep --svg $plot --axis minutes -o plot.svg || fail "no plot of $plot"
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' plot.svg || fail "the plot of $plot is no XML"
done
"$tfc" report run --svg loss >loss.svg
[ "$(grep -o 'line0" d="M[^"]*L[^"]*"' loss.svg | tr -cd L | wc -c)" = "$(($(wc -l <run/log.jsonl) - 1))" ] ||
    fail "a plot does not have a point for each line of the log"

# A language model, whose text is one stream; a model without a validation text.
cat >speak.tfg <<'END'
model speak
use language_model
const vocab = 8, layers = 1, d_model = 32, heads = 2, context = 16
train { rate = constant(0.01); batch = tokens(400); max_length = context }
END
"$tfc" train speak.tfg --text train.src --valid-text valid.src --vocab chars:auto --out speak --steps 20 --seed 3 2>err || fail "$(cat err)"
"$tfc" report speak -o speak.html 2>err || fail "$(cat err)"
shows speak.html "Lines of the greatest loss"
# Its continuations: the same lines at each validation, and what tfc generate says of them.
"$tfc" train speak.tfg --text train.src --valid-text valid.src --lines --vocab words:auto --out lines-of --steps 20 \
    --validate-every 10 --seed 3 2>err || fail "$(cat err)"
for run in speak lines-of; do
    python3 - $run valid.src <<'END' || fail "the prompts of $run"
import json, sys
validations = [json.loads(line) for line in open(sys.argv[1] + "/log.jsonl") if "continuations" in line]
text = open(sys.argv[2]).read().splitlines()
kept = [validation["continuations"] for validation in validations]
assert len(kept) == (2 if sys.argv[1] == "lines-of" else 1) and len(kept[-1]) == 6, kept
for line, item in kept[-1].items():
    assert item["prompt"] and text[int(line) - 1].startswith(item["prompt"] + " "), item
    assert all(other[line]["prompt"] == item["prompt"] for other in kept)
with open("prompts", "w") as prompts, open("wanted", "w") as wanted:
    for item in kept[-1].values():
        print(item["prompt"], file=prompts)
        print((item["prompt"] + item["text"]).replace("\n", "\\n"), file=wanted)
END
    "$tfc" generate $run --checkpoint last.safetensors --input prompts --tokens 80 >generated || fail "generate $run"
    cmp generated wanted || fail "$run: tfc generate goes on otherwise"
    "$tfc" report $run --log-only -o continued.html
    shows continued.html "The same beginnings, continued"
    shows continued.html "prompt $(head -n 1 prompts)"
done
sed 's/model speak/model wide/; s/^train/block attention(x, memory, allowed) { return x + mean(x, 1) }\ntrain/' speak.tfg >wide.tfg
"$tfc" train wide.tfg --text train.src --valid-text valid.src --vocab chars:auto --out wide --steps 2 2>err || fail "$(cat err)"
grep -q "validations keep no continuations" err || fail "nothing tells that there are no continuations: $(cat err)"
! grep -q continuations wide/log.jsonl || fail "a model that cannot go on token by token went on"
"$tfc" train speak.tfg --text train.src --valid-text valid.src --vocab chars:auto --no-bleu --out mute --steps 2 2>err || fail "$(cat err)"
! grep -q continuations mute/log.jsonl || fail "--no-bleu: there is more than the loss"
"$tfc" train speak.tfg --text train.src --lines --vocab words:auto --out alone --steps 5 2>err || fail "$(cat err)"
"$tfc" report alone -o alone.html 2>err || fail "$(cat err)"
shows alone.html "There is no validation text"

# While it trains; killed where it should not end by itself.
"$tfc" train model.tfg $texts --seed 4 --out live --steps 100000 --report-every 5 --no-bleu 2>/dev/null &
training=$!
while ! [ -s live/log.jsonl ]; do kill -0 $training || fail "it does not train"; sleep 0.1; done
"$tfc" report live --follow -o live.html 2>err &
following=$!
while ! [ -s live.html ]; do kill -0 $following || fail "it does not follow: $(cat err)"; sleep 0.1; done
grep -q 'data-renew="5"' live.html || fail "the page would not renew itself"
kill -TERM $training
wait $training || true
wait $following || fail "following: $(cat err)"
grep -q 'data-renew="0"' live.html || fail "the page goes on renewing itself"

# Ten thousand lines; a line that is being written; a line that is damaged.
cp -r run long
awk 'BEGIN { for (i = 1; i <= 10000; i++) printf "{\"step\": %d, \"epoch\": 0, \"loss\": %.8f, \"rate\": 0.001, \"gradient_norm\": %.8f, " \
     "\"tokens_per_second\": 1234.5678, \"memory\": 100000000, \"seconds\": %.4f}\n", i, 2 + 1 / i, 1 + i % 7, i / 10 }' >long/log.jsonl
printf '{"step": 10001, "ep' >>long/log.jsonl
"$tfc" report long --log-only -o long.html || fail "a long log"
[ "$(wc -c <long.html)" -lt 2000000 ] || fail "the page of 10,000 steps has $(wc -c <long.html) bytes"
printf '\n' >>long/log.jsonl
refuses 1 "log.jsonl:10001" "$tfc" report long -o no.html
rm short.src
"$tfc" report run -o gone.html || fail "the validation text is gone"
shows gone.html "is not there any more"

refuses 2 "is needed" "$tfc" report run
refuses 2 "not.*svg\|svg.*" "$tfc" report run --svg picture
refuses 1 "there is no such folder" "$tfc" report nothing -o no.html
refuses 1 "the log of speak has no figures for the plot bleu" "$tfc" report speak --svg bleu
refuses 1 "the log of speak has no figures for the plot errors" "$tfc" report speak --svg errors
[ ! -e no.html ] || fail "a page was written"

in_browsers "$root/tests/cli/report.mjs" both.html
in_browsers "$root/tests/cli/opens.mjs" page.html speak.html alone.html long.html
echo "all is well"
