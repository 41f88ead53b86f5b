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

types="float32 float16 bfloat16 int8 int16"
[ -z "$short" ] || types="float32 int8"
for type in $types; do
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
[ -z "$short" ] || exit 0

# Lists as CTranslate2 wrote them before, one a side.
cp -r float32 lists
"$python" -c 'import json; print("\n".join(json.load(open("float32/shared_vocabulary.json", encoding="utf-8"))))' \
    >lists/source_vocabulary.txt
cp lists/source_vocabulary.txt lists/target_vocabulary.txt
rm lists/shared_vocabulary.json lists/config.json
"$tfc" import lists -o lists.run 2>err.txt || fail "$(cat err.txt)"
"$tfc" translate lists.run --input valid.src --beam 1 | cmp - hf.out || fail "lists of lines: it translates otherwise"

# same_as FOLDER TYPE…: CTranslate2's folders of a published one of a family with other tokens translate as it does
same_as() {
    name=$1
    shift
    "$tfc" import $name -o $name.run 2>err.txt || fail "$name: $(cat err.txt)"
    "$tfc" score $name.run --source words.src --target words.tgt $tokens >hf.txt
    "$tfc" translate $name.run --input words.src --beam 1 --max-tokens 12 $tokens >hf.out
    for type in "$@"; do
        ct2 make $name $name.$type $type
        "$tfc" import $name.$type -o $name.$type.run 2>err.txt || fail "$name $type: $(cat err.txt)"
        ! grep -q warning err.txt || fail "$name $type: $(cat err.txt)"
        "$tfc" export $name.$type.run --format hf -o $name.$type.hf 2>err.txt || fail "$name $type: $(cat err.txt)"
        ct2 near $type $name/model.safetensors $name.$type.hf/model.safetensors
        "$tfc" score $name.$type.run --source words.src --target words.tgt $tokens >$type.txt
        paste hf.txt $type.txt | awk -v type=$type '{ d = $1 - $2; if (d * d > (type == "float32" ? 0 : 0.01) * $1 * $1) exit 1 }' ||
            fail "$name: $type scores otherwise"
        [ $type != float32 ] || "$tfc" translate $name.$type.run --input words.src --beam 1 --max-tokens 12 $tokens | cmp - hf.out ||
            fail "$name: it translates otherwise"
    done
}
fixtures=$root/tests/fixtures
printf 't5 t9 t12\nt3\nt20 t21 t22 t23 t24 t25\n' >words.src
printf 't8 t4\nt30 t31 t32\nt11\n' >words.tgt
tokens="--token source-begin=t6 --token first=t9"
for family in nllb m2m_uneven mbart; do
    ct2 words "$fixtures/published/$family.json" "$fixtures/${family}_published.safetensors" $family
done
same_as nllb float32 float16 bfloat16 int8 int16
same_as m2m_uneven float32
same_as mbart float32
tokens=
ct2 words "$fixtures/published/bart.json" "$fixtures/bart_published.safetensors" bart
same_as bart float32 int8

# M2M-100 is published without a tokenizer.json.
head -n 3 valid.src >words.src
head -n 3 valid.tgt >words.tgt
ct2 pieces "$fixtures/published/m2m.json" "$fixtures/m2m_published.safetensors" published/source.spm m2m
tokens="--token source-begin=xx_Latn --token first=yy_Latn"
same_as m2m float32
"$tfc" import m2m.float32 -o told.run 2>err.txt || fail "$(cat err.txt)"
grep -q "does not say which languages it is to translate between: --token source-begin=TOKEN" err.txt || fail "$(cat err.txt)"

cannot() { # cannot PATTERN HOW [FOLDER]
    rm -rf changed
    ct2 change ${3:-published} changed "$2"
    refuses 1 "$1" "$tfc" import changed -o no
    [ ! -e no ] || fail "a folder is left"
}
cannot "pre_norm 1 and 0, start_from_zero_embedding 1 and no layernorm_embedding is none of those that are read (marian, bart, mbart, m2m_100)" pre_norm
cannot "pre_norm 0 and 0, start_from_zero_embedding 0 and no layernorm_embedding is none of those" start
cannot "it has no encoder with layers of its own: of CTranslate2's models those that translate are read" decoder
cannot "scale_embeddings is 3 and 4: models/marian.tfg is written for 1, or for the root of the width" scale
cannot "'encoder/num_heads' has 2 elements; expected one" two_heads
cannot "'decoder/num_heads' is 2.5; expected a number of heads from 1 to 16" half_heads
cannot "tensor 'encoder/layer_0/ffn/linear_0/weight': its integers have no scales" no_scale
cannot "'decoder/position_encodings/encodings' is not the table of sines and cosines" row
cannot "config.json: \"layer_norm_epsilon\" is \"1\"; expected a number" epsilon_text
cannot "variables with several names make the model larger than its file" grown
cannot "layer_norm_epsilon is 1e-06: models/m2m_100.tfg is written for 1e-5" epsilon nllb
cannot "add_source_bos is true: models/mbart.tfg is written for sources that begin with their text" begins mbart
cannot "no config.json says the decoder_start_token: --token begin=TOKEN gives the token" no_start nllb
"$tfc" import changed --token begin=t7 -o started.run 2>err.txt || fail "$(cat err.txt)"
grep -q '"begin=t7"' started.run/run.json || fail "$(cat started.run/run.json)"
cannot "the token '<pad>' (pad_token_id) is not in the vocabulary" no_pad nllb
cannot "'decoder/position_encodings/encodings' is not the table of sines and cosines that models/m2m_100.tfg" positions nllb
cannot "'decoder/projection/weight' is another table than 'decoder/embeddings/weight': models/bart.tfg has one" untied bart
cannot "the variable 'decoder/layer_1/ffn/linear_1/bias' is missing: models/mbart.tfg is written for it" missing mbart
cannot "models/marian.tfg has nothing like the variable 'encoder/layer_0/self_attention/relative_attention_bias'" unknown
cannot "the variable 'decoder/layer_1/ffn/linear_1/bias' is missing" missing
cannot "'decoder/position_encodings/encodings' is not the table of sines and cosines" positions
cannot "'decoder/projection/weight' is another table than" untied
cannot "the vocabulary has 18 tokens" tokens
cannot "is twice in the vocabulary" twice
cannot "the variable 'encoder/layer_0/self_attention/linear_0/bias' has the shape \[10\]; expected" part
echo "another" >lists/target_vocabulary.txt
refuses 1 "another vocabulary on each side" "$tfc" import lists -o no
rm lists/*.txt
refuses 1 "has no shared_vocabulary.json, and no source_vocabulary.json with target_vocabulary.json" "$tfc" import lists -o no
rm float32/target.spm
cp -r nllb.float32 other
sed 's/"t5": 5/"x5": 5/' nllb.float32/tokenizer.json >other/tokenizer.json
refuses 1 "token 5 is 'x5', but 't5' in the vocabulary of the folder: both must be of one model" "$tfc" import other -o no
rm other/tokenizer.json
refuses 1 "has no tokenizer.json and no sentencepiece.bpe.model: copy one of them" "$tfc" import other -o no
rm bart.float32/tokenizer.json
refuses 1 "has no tokenizer.json: copy it" "$tfc" import bart.float32 -o no
refuses 1 "float32 has no target.spm: copy the SentencePiece models" "$tfc" import float32 -o no
[ ! -e no ] || fail "a folder is left"
echo "ctranslate2: the same translations"
