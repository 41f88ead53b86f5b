#!/bin/sh
# tfc attend: every head's weights as they follow from the params (attend.py, in f64), the same in JSON,
# arrays, figure and page, for given pairs and translations, of models with one side, too; wrong usage.
# Usage: attend.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model words
use transformer
const layers = 2, d_model = 32, d_ff = 64, heads = 4, vocab = 8, p_drop = 0
train { rate = constant(0.003); batch = tokens(400) }
END
words_backwards
"$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --out run --steps 60 --no-bleu 2>err ||
    fail "$(cat err)"
head -n 3 valid.src >some.src
head -n 3 valid.tgt >some.tgt
"$tfc" attend run --source some.src --target some.tgt -o page.html --json all.json --npy all.npz --svg all.svg 2>err ||
    fail "$(cat err)"
for name in encoder.layer.0.self encoder.layer.1.self decoder.layer.0.self decoder.layer.1.cross; do
    grep -q "\"$name\"" all.json || fail "no $name in the JSON"
done
python=$(python_with_numpy)
if [ -n "$python" ]; then
    "$python" "$root/tests/cli/attend.py" run/last.safetensors all.npz 1 4 run/vocab.txt \
        "$(sed -n 2p some.src) </s>" "<s> $(sed -n 2p some.tgt)" || fail "the weights do not follow from the params"
fi

# The last attention over the source is what score --attention tells, the mean of its heads.
"$tfc" attend run --source some.src --target some.tgt --kind cross --layer 1 --json one.json || fail "no layer"
! grep -q '"encoder.layer' one.json || fail "another kind was not left out"

# Translations, one head, figures.
"$tfc" attend run --source some.src -o translated.html || fail "translations are not attended"
"$tfc" attend run --source some.src --target some.tgt --kind encoder --layer 0 --head 2 --svg one.svg || fail "no head"
for file in all.svg one.svg; do
    "${python:-python3}" -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $file || fail "$file is no XML"
done

# A model with one side.
cat >speak.tfg <<'END'
model speak
use language_model
const vocab = 8, layers = 1, d_model = 32, heads = 2, context = 16
train { rate = constant(0.01); batch = tokens(400); max_length = context }
END
"$tfc" train speak.tfg --text train.src --lines --vocab words:auto --out speak --steps 10 --seed 3 2>err || fail "$(cat err)"
"$tfc" attend speak --text some.src --json speak.json -o speak.html || fail "a decoder alone is not attended"

refuses 1 "source, and --target or nothing for a translation, are needed" "$tfc" attend run --text some.src -o no.html
refuses 1 "the model has no such layer and head" "$tfc" attend run --source some.src --target some.tgt --layer 7 -o no.html
refuses 1 "cannot read nothing" "$tfc" attend run --source nothing -o no.html

in_browsers "$root/tests/cli/attend.mjs" page.html all.json
in_browsers "$root/tests/cli/opens.mjs" translated.html speak.html
