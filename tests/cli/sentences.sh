#!/bin/sh
# Encoders without a head, as sentence-transformers publishes them: tfc predict, a compiled library in C
# and in Python give the same vectors; the folder comes back; what the model does not do is refused by
# name. Vectors are compared with PyTorch's in tests/reference/published.c.
# Usage: sentences.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
python=$(command -v python3 || true)
[ -z "${TFC_RUNTIME:-}" ] || python='' # an instrumented library is loaded by instrumented programs alone
cpu="--cpu x86-64-v2"                  # the same vectors in both

published_minilm minilm
"$tfc" import minilm -o vectors 2>err || fail "$(cat err)"
grep -q '^const pooling = "mean"' vectors/model.tfg || fail "$(cat vectors/model.tfg)"
grep -q '^const normalised = true' vectors/model.tfg || fail "$(cat vectors/model.tfg)"

printf 'ab cab\nface  bead\n\nabacede gig deadbeef\nAB cab\n' >lines
# shellcheck disable=SC2086  # words
"$tfc" predict vectors --input lines --json $cpu >expected 2>told || fail "$(cat told)"
grep -q '1 of 5 lines is longer than 12 tokens and cut (the first on line 4)' told || fail "what is cut is not told: $(cat told)"
# shellcheck disable=SC2086
"$tfc" predict vectors --input lines $cpu >numbers 2>told
[ "$(sed -n 1p numbers)" = "$(sed -n 5p numbers)" ] || fail "capitals count"
awk 'NF { for (i = s = 0; i++ < NF;) s += $i * $i; if (NF != 32 || s < 0.9999 || s > 1.0001) exit 1 }' numbers ||
    fail "vectors are not of length 1"
# [CLS] and [SEP] stand around a text: written out, where there is a template that puts none, they give the same.
mkdir bare
cp minilm/config.json minilm/model.safetensors bare
sed 's/"post_processor": {.*}, "decoder"/"post_processor": null, "decoder"/' minilm/tokenizer.json >bare/tokenizer.json
"$tfc" import bare -o bare.run 2>err || fail "$(cat err)"
sed -i '$ a const normalised = true' bare.run/model.tfg
# shellcheck disable=SC2086
echo '[CLS] ab cab [SEP]' | "$tfc" predict bare.run $cpu >framed 2>err ||
    fail "$(cat err)"
sed -n 1p numbers | cmp -s - framed || fail "a text stands between other tokens: $(cat framed)"

mkdir lib
# shellcheck disable=SC2086
"$tfc" compile vectors -o lib/libminilm.so $cpu 2>err || fail "$(cat err)"
$CC "$root/tests/cli/compile_predict.c" -o lib/predict -Ilib -Llib -lminilm -DHEADER='"minilm.h"' -DNAME=minilm \
    -Wl,-rpath,"$work/lib"
lib/predict <lines >found 2>err || fail "$(cat err)"
cmp found expected || fail "the library's vectors differ"
[ -z "$python" ] || PYTHONPATH=lib "$python" "$root/tests/cli/compile_predict.py" minilm lines expected || fail "Python's differ"

# Fine-tuned on pairs, and given back as it came.
awk 'BEGIN { print "first\tsecond"; for (i = 0; i < 40; i++) { w = substr("abcdefghij", i % 8 + 1, 3); print w "\t" w " " w } }' >pairs.tsv
"$tfc" train vectors --out tuned --data pairs.tsv --steps 3 2>err || fail "$(cat err)"
"$tfc" export tuned -o back/
cmp back/1_Pooling/config.json minilm/1_Pooling/config.json
cmp back/modules.json minilm/modules.json
for folder in minilm back; do "$tfc" info $folder/model.safetensors | grep 'f32\[' | grep -v pooler | sort >$folder.names; done
cmp minilm.names back.names || fail "other tensors came back"

cannot() { # cannot PATTERN FILE SED
    rm -rf changed
    cp -r minilm changed
    sed "$3" "minilm/$2" >"changed/$2"
    refuses 1 "$1" "$tfc" import changed -o no
    [ ! -e no ] || fail "a folder is left"
}
cannot "module 2 is 'LSTM': those that are read are Transformer, then Pooling, then any of Dense, Normalize and Dropout" modules.json 's/models.Normalize/models.LSTM/'
cannot "2_Dense: error: the module has no model.safetensors" modules.json 's/2_Normalize/2_Dense/; s/models.Normalize/models.Dense/'
cannot '"max_seq_length": expected a number of tokens' sentence_bert_config.json 's/12/-1/'
cannot '"is_decoder" is true' config.json 's/{/{"is_decoder": true, /'
sed -i 's/false/true/' changed/sentence_bert_config.json
cp minilm/config.json changed
cp -r changed renamed
mv renamed/sentence_bert_config.json renamed/sentence_roberta_config.json
echo '{"truncation_side": "left"}' >renamed/tokenizer_config.json
"$tfc" import renamed -o renamed.run 2>err || fail "$(cat err)"
grep -q 'sentence_roberta_config.json: "do_lower_case" is true' err || fail "the settings of another encoder are not read: $(cat err)"
grep -q '"truncation_side" is "left", and is left out' err || fail "$(cat err)"
"$tfc" import changed -o lower 2>err || fail "$(cat err)"
grep -q 'sentence_bert_config.json: "do_lower_case" is true: capitals become small there' err || fail "$(cat err)"
# As sentence-transformers 6 writes it.
cp -r minilm newer
echo '{"embedding_dimension": 16, "pooling_mode": "mean", "include_prompt": true}' >newer/1_Pooling/config.json
echo '{"transformer_task": "feature-extraction"}' >newer/sentence_bert_config.json
echo '{"model_max_length": 12}' >newer/tokenizer_config.json
"$tfc" import newer -o newer.run 2>err || fail "$(cat err)"
for run in newer.run vectors; do sed 1,2d $run/model.tfg >$run.lines; done
cmp newer.run.lines vectors.lines || fail "newer files mean another model: $(diff newer.run.lines vectors.lines)"
cannot 'tokens are pooled by "median"' 1_Pooling/config.json 's/.*/{"pooling_mode": "median"}/'
echo "sentences: the same vectors everywhere"
