#!/bin/sh
# A record has one meaning: tfc translate, the compiled program and (where the tools are) the package for JavaScript take the same
# records, with the same answers, and refuse the same, for the same reason. The table has each kind of odd record; the long form
# adds 2,000 that are made of odd values at random.
# Usage: record_twins.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
enter_work
cat >pictures.tfg <<'END'
# Four numbers, a place, a mood and a note in, a few words out; the words see the one before.
model pictures
const vocab = 100, places = 3, moods = 2, d = 16
dim B, S, T
input image : float[B, 4] = column("image")
input place : int[B] = column("place")
input mood : int[B] = column("mood")
vocab mood = words
input note : token[B, S~] = column("note")
input tgt : token[B, T~] = column("caption")
param words : [vocab, d] = normal(0, 0.3)
param where : [places, d] = normal(0, 0.3)
param how : [moods, d] = normal(0, 0.3)
seen = tanh(linear as picture(image, d)) + where[place] + how[mood] + reshape(mean(words[note], 1), [B, d])
x = tanh(linear as inner(words[tgt] + reshape(seen, [B, 1, d]), d))
output logits = linear as head(x, vocab)
loss = cross_entropy(logits, next(tgt))
train { rate = constant(0.01); batch = tokens(256) }
END
python3 "$root/tests/cli/record_twins.py" table >all.tsv
"$tfc" train pictures.tfg --data all.tsv --vocab words:auto --out run --steps 40 --validate-every 0 >said 2>&1 || fail "$(cat said)"
"$tfc" compile run -o answer >said 2>&1 || fail "$(cat said)"
package=
if [ -z "$short" ] && command -v clang-19 >/dev/null && command -v wasm-ld-19 >/dev/null && command -v node >/dev/null; then
    "$tfc" compile run --emit js -o package >said 2>&1 || fail "$(cat said)"
    package=package
fi
python3 "$root/tests/cli/record_twins.py" compare "$tfc" $([ "$short" ] && echo 0 || echo 2000) $package || fail "see above"
echo "all is well"
