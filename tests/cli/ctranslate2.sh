#!/bin/sh
# CTranslate2's folder (model.bin, vocabulary, SentencePiece models) through tfc import: it translates as the published
# folder that it was made of, in each type that model.bin has; what the model does not do is refused by name.
# Usage: ctranslate2.sh TFC   (from the project's root)
set -eu
. tests/common.sh
. tests/published.sh
enter_work
python=$(python_with_numpy)
[ -n "$python" ] || { echo "skipped: no Python has numpy"; exit 77; }
ct2() { "$python" "$root/tests/cli/ctranslate2.py" "$@"; }
words_backwards
published_marian published
ct2 pad published
"$tfc" import published -o hf 2>err.txt || fail "$(cat err.txt)"
"$tfc" translate hf --input valid.src --beam 1 >hf.out
"$tfc" score hf --source valid.src --target valid.tgt >hf.txt

for type in float32 float16 int8 int16; do
    ct2 make published $type $type
    "$tfc" import $type -o $type.run 2>err.txt || fail "$type: $(cat err.txt)"
    [ ! -s err.txt ] || fail "$type: $(cat err.txt)"
    head -n 1 $type.run/model.tfg | grep -q "^# From $type/model.bin\.$" || fail "$(head -n 1 $type.run/model.tfg)"
    "$tfc" export $type.run --format hf -o $type.hf 2>err.txt || fail "$type: $(cat err.txt)"
    ct2 near $type published/model.safetensors $type.hf/model.safetensors
    "$tfc" score $type.run --source valid.src --target valid.tgt >$type.txt
    paste hf.txt $type.txt | awk -v type=$type '{ d = $1 - $2; if (d * d > (type == "float32" ? 0 : 0.01) * $1 * $1) exit 1 }' ||
        fail "$type scores otherwise"
    "$tfc" translate $type.run --input valid.src --beam 1 >$type.out
done
cmp hf.out float32.out || fail "it translates otherwise"
mv float32 elsewhere
"$tfc" translate float32.run --input valid.src --beam 1 | cmp - hf.out || fail "without its folder it translates otherwise"
mv elsewhere float32

# Lists as CTranslate2 wrote them before, one a side.
cp -r float32 lists
"$python" -c 'import json; print("\n".join(json.load(open("float32/shared_vocabulary.json", encoding="utf-8"))))' \
    >lists/source_vocabulary.txt
cp lists/source_vocabulary.txt lists/target_vocabulary.txt
rm lists/shared_vocabulary.json lists/config.json
"$tfc" import lists -o lists.run 2>err.txt || fail "$(cat err.txt)"
"$tfc" translate lists.run --input valid.src --beam 1 | cmp - hf.out || fail "lists of lines: it translates otherwise"

cannot() { # cannot PATTERN HOW
    rm -rf changed
    ct2 change published changed "$2"
    refuses 1 "$1" "$tfc" import changed -o no
    [ ! -e no ] || fail "a folder is left"
}
cannot "'encoder/pre_norm' is 1: models/marian.tfg is written for 0" pre_norm
cannot "'decoder/start_from_zero_embedding' is 0: models/marian.tfg is written for 1" start
cannot "models/marian.tfg has nothing like the variable 'encoder/layer_0/self_attention/relative_attention_bias'" unknown
cannot "the variable 'decoder/layer_1/ffn/linear_1/bias' is missing" missing
cannot "'decoder/position_encodings/encodings' is not the table of sines and cosines" positions
cannot "'decoder/projection/weight' is another table than" untied
cannot "the vocabulary has 18 tokens" tokens
cannot "is twice in the vocabulary" twice
cannot "the variable 'encoder/layer_0/self_attention/linear_0/bias' is \[10\], which is no shape of it" part
echo "another" >lists/target_vocabulary.txt
refuses 1 "another vocabulary on each side" "$tfc" import lists -o no
rm lists/*.txt
refuses 1 "has no shared_vocabulary.json, and no list a side" "$tfc" import lists -o no
rm float32/target.spm
refuses 1 "float32 has no target.spm: copy the SentencePiece models" "$tfc" import float32 -o no
[ ! -e no ] || fail "a folder is left"
echo "ctranslate2: the same translations"
