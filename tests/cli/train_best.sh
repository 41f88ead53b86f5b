#!/bin/sh
# The best checkpoint is the best by one measure all along: of short texts, whose BLEU is 0 however right they
# are, the share of wrong symbols; kept, or judged anew by the log where a resumed run has another measure, was
# made by an older version, or lost the params; told by run.json, log, info and report; what cannot be is refused.
# Usage: train_best.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >m.tfg <<'END'
model m
use transformer_pre_norm
const vocab = 30, layers = 1, d_model = 32, d_ff = 64, heads = 2, p_drop = 0, smoothing = 0
train { optimizer = adam(); rate = constant(0.005); batch = tokens(300); max_length = 64 }
END
# Lines of LEAST to MOST letters, and the same read backwards.
lines() { # NAME COUNT LEAST MOST
    awk -v name="$1" -v n="$2" -v least="$3" -v most="$4" 'BEGIN { x = 7
        for (i = 0; i < n; i++) { s = t = ""
            x = (x * 16807) % 2147483647; k = least + int(x / 1000) % (most - least + 1)
            while (k--) { x = (x * 16807) % 2147483647; w = substr("abcdefghij", 1 + int(x / 1000) % 10, 1)
                s = s (s == "" ? "" : " ") w; t = w (t == "" ? "" : " ") t }
            print s > name ".src"; print t > name ".tgt" } }'
}
lines train 400 1 8
lines valid 50 1 8
lines two 29 1 2
train() { "$tfc" train "$@" --threads 1 2>err.txt || fail "$(cat err.txt)"; }
begin="m.tfg --source train.src --target train.tgt --vocab words:auto"
# log RUN: step, loss, BLEU, share of wrong symbols and of wrong lines, best_by of each validation; - where there is none
log() {
    sed -n 's/{"step": \([0-9]*\),.*"valid_loss": \([^,]*\), "valid_bleu": \([^,]*\), "valid_line_error_rate": \([^,]*\), "valid_symbol_error_rate": \([^,]*\),.* "best": [a-z]*, \("best_by": "\([^"]*\)"\)*.*/\1 \2 \3 \5 \4 \7/p' \
        "$1/log.jsonl" | sed 's/null/-/g'
}
step_of() { "$tfc" info "$1/best.safetensors" | awk '$1 == "step" { print $2 }'; }
# is_best RUN STEP WHAT
is_best() { [ "$(step_of "$1")" = "$2" ] || fail "$3: best.safetensors is that of step $(step_of "$1"), not $2: $(log "$1")"; }
by_errors() { log "$1" | awk '$4 != "-"' | sort -g -k4,4 -k2,2 | awk 'NR == 1 { print $1 }'; }
by_loss() { log "$1" | sort -g -k2,2 | awk 'NR == 1 { print $1 }'; }
tells() { grep -q -- "$1" err.txt || fail "no '$1' in: $(cat err.txt)"; }

# One or two words: later validations have no BLEU, and fewer errors than the early ones that have.
train $begin --valid-source two.src --valid-target two.tgt --validate-every 20 --steps 240 --seed 5 --keep 3 --out short
log short | awk '$3 >= 1 { early = 1; worst = $4 } early && $3 < 1 && $4 < worst { late = 1 } END { exit !late }' ||
    fail "this data shows nothing: $(log short)"
is_best short "$(by_errors short)" "short targets"
"$tfc" eval short --beam 1 --length-penalty 0 --checkpoint best.safetensors --source two.src --target two.tgt --json >eval.json
log short | awk -v s="$(step_of short)" -v is="$(number symbol_error_rate <eval.json)" '$1 == s { d = $4 - is } END { exit !(d < 1e-6 && d > -1e-6) }' ||
    fail "best.safetensors is not what the log says: $(cat eval.json)"
tells "the median validation target has 1 word, of which BLEU says little"
tells "the checkpoint of the lowest share of wrong symbols (--best errors)"
tells "best so far by share of wrong symbols"
tells "wrong .* of symbols"
grep -q '"best by": "errors"' short/run.json || fail "run.json does not say by what: $(cat short/run.json)"
[ "$(log short | awk '{ print $6 }' | sort -u)" = errors ] || fail "the log does not say by what"
"$tfc" info short | grep -q "best .*step $(step_of short), of the lowest share of wrong symbols (--best errors)" || fail "info"
"$tfc" report short --log-only -o page.html
sed 's/<[^>]*>/ /g; s/  */ /g' page.html | grep -q "best checkpoint step $(step_of short), by share of wrong symbols" || fail "report"

# An older version: no measure in run.json, log or checkpoint, and an early BLEU that nothing could beat.
cp -r short old
python3 - old <<'END'
import json, os, struct, sys
run = sys.argv[1]
record = json.load(open(run + "/run.json"))
del record["decides"]["best by"]
json.dump(record, open(run + "/run.json", "w"))
text = open(run + "/log.jsonl").read().replace('"best_by": "errors", ', "")
open(run + "/log.jsonl", "w").write(text)
early = [line for line in map(json.loads, text.splitlines()) if (line.get("valid_bleu") or 0) >= 1]
top = max(early, key=lambda line: line["valid_bleu"])
for name in os.listdir(run):
    if not name.endswith(".safetensors") or os.path.islink(name):
        continue
    data = open(f"{run}/{name}", "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    meta = header["__metadata__"]
    for key in list(meta):
        if key.startswith(("judge", "best_loss", "xxh64", "header")):
            del meta[key]
    meta["best"], meta["best_step"] = (-top["valid_bleu"]).hex(), str(top["step"])
    if name == "best.safetensors":
        meta["step"] = str(top["step"])
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % 8)
    os.unlink(f"{run}/{name}")
    open(f"{run}/{name}", "wb").write(struct.pack("<Q", len(packed)) + packed + data[8 + size:])
END
train old --resume --steps 241
tells "was chosen by an older version, by BLEU at some validations and by the loss at others"
kept=$(by_errors short)
if [ -e "short/step-$kept.safetensors" ]; then
    tells "of 12 logged validations the best is step $kept"
else
    tells "the best was step $kept .*, whose params are gone"
    kept=$(log old | awk '$1 > 180' | sort -g -k4,4 -k2,2 | awk 'NR == 1 { print $1 }')
fi
log old | awk -v k="$kept" '$1 == k { want = $4 } $1 == 241 { now = $4 } END { exit !(now > want) }' && is_best old "$kept" "an older run"
train old --resume --steps 242
! grep -q "older version" err.txt || fail "judged anew again: $(cat err.txt)"

# By BLEU, then by the loss: the logged losses are compared with each other, and --patience with them.
train $begin --valid-source valid.src --valid-target valid.tgt --validate-every 50 --steps 100 --keep 9 --out long
[ "$(log long | awk '{ print $6 }' | sort -u)" = bleu ] || fail "texts are not judged by BLEU: $(log long)"
! grep -q "median" err.txt || fail "BLEU needs no reason: $(cat err.txt)"
train long --resume --no-bleu --patience 3 --steps 300
tells "chosen by --best bleu, and is by --best loss now: of 2 logged validations the best is step 100"
is_best long "$(by_loss long)" "the loss"
grep -q '"best by": "loss"' long/run.json || fail "run.json keeps BLEU"
[ "$(log long | wc -l)" = 6 ] || fail "patience compared two units: $(log long)"

# Back to translations, though the run went without: those that have them.
cp -r long gone
train long --resume --best bleu --steps 300
tells "4 of 6 validations in log.jsonl have no valid_bleu"
is_best long "$(log long | awk '$3 != "-"' | sort -gr -k3,3 | awk 'NR == 1 { print $1 }')" "BLEU again"
! grep -q '"--no-bleu"' long/run.json || fail "the run still goes without translations"
rm gone/step-50.safetensors gone/step-100.safetensors
train gone --resume --best lines --steps 301
tells "whose params are gone: the next validation makes best.safetensors"
is_best gone 301 "the next validation"
train gone --resume --steps 302
grep -q '"best by": "lines"' gone/run.json || fail "the measure is not kept"

# Runs beside each other whose figures are of two texts, or of the tokens of two vocabularies.
"$tfc" report short long --svg loss -o both.svg 2>err.txt || fail "$(cat err.txt)"
tells "long: The validation text is another than that of short"
cp -r short chars
sed -i 's/"vocabulary": "/&9/' chars/run.json
"$tfc" report short chars --log-only -o both.html
grep -q "The vocabulary is another than that of short" both.html || fail "two vocabularies are compared without a word"
"$tfc" report short old --svg loss -o both.svg 2>err.txt
! grep -q another err.txt || fail "what compares is said not to: $(cat err.txt)"

# Other validation texts under --allow-change: what was measured before is not compared.
train short --resume --valid-source valid.src --valid-target valid.tgt --steps 260 --allow-change
tells "others than they were: earlier validations do not count; the next validation makes best.safetensors"
[ "$(step_of short)" -gt 240 ] || fail "two texts were compared: $(log short)"

# Texts with names, and a model that makes no translations.
paste two.src two.tgt >two.tsv
paste valid.src valid.tgt >valid.tsv
train $begin --valid a=two.tsv --valid b=valid.tsv --best b:lines --steps 2 --out named
grep -q '"best": "b"' named/run.json && grep -q '"best by": "b:lines"' named/run.json || fail "$(cat named/run.json)"
sed 's/^train/block attention(x, memory, allowed) { return x + mean(x, 1) }\ntrain/' m.tfg >wide.tfg
train wide.tfg --source train.src --target train.tgt --vocab words:auto --valid a=two.tsv --steps 1 --out wide
tells "validations keep no translations: the model cannot go on with a text token by token"
tells "the checkpoint of the lowest loss (--best mean:loss)"
train named --resume --best errors --steps 3
grep -q '"best by": "b:errors"' named/run.json || fail "a measure alone changes the text: $(cat named/run.json)"
cat >speak.tfg <<'END'
model speak
use language_model
const vocab = 30, layers = 1, d_model = 16, heads = 2, context = 32
END
train speak.tfg --text train.src --valid-text valid.src --vocab words:auto --steps 1 --out speak
tells "the checkpoint of the lowest loss (--best loss)"
refuses 1 "this model is validated without translations, which the BLEU is counted on" \
    "$tfc" train speak.tfg --text train.src --valid-text valid.src --vocab words:auto --steps 1 --out no --best bleu
no() { "$tfc" train $begin --out no --steps 1 "$@"; }
refuses 2 "is counted on translations, and --no-bleu leaves them out" no --valid a=two.tsv --no-bleu --best errors
refuses 2 "nothing to validate on" no --best loss
refuses 1 "'losss' is no measure (loss, bleu, lines, errors, model, accuracy, macro-f1, micro-f1, exact, average-precision, span-f1, spearman, recall), and no --valid has this name; did you mean 'loss'" \
    no --valid a=two.tsv --best losss
refuses 1 "'loss' is a measure of --best" no --valid loss=two.tsv
echo "the best checkpoint: one measure all along, kept, or judged anew"
