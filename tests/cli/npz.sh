#!/bin/sh
# Marian's own folder (model.npz) through tfc import, as the published folder of the same weights, and
# back by tfc export --format marian; files that cannot be read are refused, and nothing is left.
# Usage: npz.sh TFC   (from the project's root)
set -eu
. tests/common.sh
. tests/published.sh
enter_work
# With numpy, if some Python has it.
python=
for name in /usr/bin/python3 python3; do
    if [ -z "$python" ] && "$name" -c 'import zlib' 2>/dev/null; then python=$name; fi
    if "$name" -c 'import numpy' 2>/dev/null; then python=$name && break; fi
done
[ -n "$python" ] || { echo "skipped: there is no Python"; exit 77; }
npz() { "$python" "$root/tests/cli/npz.py" "$@"; }

words_backwards
published_marian published
npz make published marian

"$tfc" import published -o hf 2>err.txt || fail "$(cat err.txt)"
"$tfc" import marian -o run 2>err.txt || fail "$(cat err.txt)"
[ ! -s err.txt ] || fail "$(cat err.txt)"
[ -z "$(find . -name '*.tmp-*')" ] || fail "a folder is left"
answers() { # answers RUN: its translations and scores
    "$tfc" translate "$1" --input valid.src >"$1.out"
    [ -n "$short" ] || "$tfc" score "$1" --source valid.src --target valid.tgt >"$1.txt"
}
answers run
base=$(sed -n 's/^const position_base = //p' run/model.tfg)
awk "BEGIN { d = $(sed -n 's/^const d_model = //p' run/model.tfg); exit !(($base - 10000 ^ (d / (d - 2))) ^ 2 < 1e-10 * $base ^ 2) }" ||
    fail "position_base is $base"
cp -r hf turned
echo "const position_base = $base" >>turned/model.tfg
answers turned
cmp turned.out run.out || fail "the .npz translates otherwise than the published folder"
sed '1,2d' hf/model.tfg >hf.tfg
sed '1,2d; /position_base/d' run/model.tfg | cmp - hf.tfg || fail "another model"
"$tfc" export run -o run.safetensors
npz same run.safetensors marian/opus.npz
"$tfc" export run --format marian -o back.npz 2>err.txt || fail "$(cat err.txt)"
[ ! -s err.txt ] || fail "$(cat err.txt)"
npz arrays back.npz marian/opus.npz

# A number added to all logits of Marian's tokens changes nothing: <pad>, whose logit stays 0, has no part in the softmax.
near() { # near A B: files of one number a line
    [ -s "$1" ] && paste "$1" "$2" | awk '{ d = $1 - $2; if (!(d * d < 1e-8 * (1 + $1 * $1))) exit 1 }'
}
head -n 9 valid.src >few.src
head -n 9 valid.tgt >few.tgt
loss() { "$tfc" eval "$1" --source few.src --target few.tgt --beam 1 --max-tokens 3 --json | number loss; }
learn() { "$tfc" train "$1" --out "$1.tuned" --source train.src --target train.tgt --seed 1 --steps 2 --batch-tokens 400 2>err.txt || fail "$(cat err.txt)"
    grep -o '"loss": *[0-9.]*' "$1.tuned/log.jsonl" | grep -o '[0-9.]*$'; }
cp -r published low
npz shift low -12
npz make low low.marian
"$tfc" import low -o low.run
"$tfc" import low.marian -o low.npz.run
for pair in 'hf low.run' 'run low.npz.run'; do
    # shellcheck disable=SC2086
    set -- $pair
    for run; do
        "$tfc" score "$run" --source valid.src --target valid.tgt >"$run.scores"
        "$tfc" translate "$run" --input valid.src --max-tokens 6 >"$run.said"
        loss "$run" >"$run.loss"
    done
    near "$1.scores" "$2.scores" || fail "$2: other scores than $1"
    near "$1.loss" "$2.loss" || fail "$2: another loss than $1"
    cmp "$1.said" "$2.said" || fail "$2: other translations than $1"
done
learn hf >hf.learnt
learn low.run >low.learnt
near hf.learnt low.learnt || fail "$(cat hf.learnt low.learnt): fine-tuning takes <pad> into the softmax"
rm -r hf.tuned
"$tfc" translate low.run --input valid.src --max-tokens 6 --with hf | cmp - hf.said || fail "the mean of both translates otherwise"
"$tfc" align hf --source train.src --target train.tgt --shortlist lex.txt --output links.txt 2>err.txt || fail "$(cat err.txt)"
for run in hf low.run; do "$tfc" translate $run --input valid.src --max-tokens 6 --shortlist lex.txt >$run.few; done
cmp hf.few low.run.few || fail "over a shortlist it translates otherwise"
"$tfc" compile low.run --emit exe -o low.exe 2>err.txt || fail "$(cat err.txt)"
./low.exe --max-tokens 6 <valid.src | cmp - hf.said || fail "a program translates otherwise"
"$tfc" export low.run.tuned -o tuned.safetensors
npz fixed tuned.safetensors low/model.safetensors || fail "the bias of the logits has learnt"
if [ -n "$short" ]; then
    npz break marian/opus.npz broken.npz missing
    mv broken.npz marian/opus.npz
    refuses 1 "opus.npz: the array 'encoder_l1_self_Wq' is missing" "$tfc" import marian -o no
    [ ! -e no ] || fail "a folder is left"
    exit 0
fi

answers hf
cmp -s hf.txt run.txt && fail "positions turn as Hugging Face's do"
cmp turned.txt run.txt || fail "the .npz scores otherwise than the published folder"
mv marian elsewhere
"$tfc" score run --source valid.src --target valid.tgt | cmp - run.txt || fail "without its folder it scores otherwise"
mv elsewhere marian

# Back: the same arrays; the settings that came, or those that config.json means.
"$tfc" export run --format marian -o again.npz
cmp back.npz again.npz
"$tfc" export hf --format marian -o hf.npz
npz same run.safetensors hf.npz
cp -r marian second
mv hf.npz second/opus.npz
cp marian/opus.npz second/opus.npz.optimizer.npz
"$tfc" import second -o second.run/ 2>err.txt || fail "$(cat err.txt)"
"$tfc" score second.run --source valid.src --target valid.tgt | cmp - turned.txt || fail "settings of our own: it scores otherwise"
sed '1,2d; /position_base/d' second.run/model.tfg | cmp - hf.tfg || fail "settings of our own: another model"
"$tfc" export run --format hf -o given
"$tfc" import given -o given.run
"$tfc" score given.run --source valid.src --target valid.tgt | cmp - turned.txt || fail "as a published folder it scores otherwise"

# Fine-tuned.
"$tfc" train run --out tuned --source train.src --target train.tgt --steps 2 --batch-tokens 400 2>err.txt || fail "$(cat err.txt)"
"$tfc" export tuned --format marian -o tuned.npz 2>err.txt || fail "$(cat err.txt)"
grep -q "warning: <pad>.* has learnt" err.txt || fail "no warning: $(cat err.txt)"
"$tfc" export tuned -o tuned.safetensors
npz same tuned.safetensors tuned.npz
! npz arrays tuned.npz back.npz 2>/dev/null || fail "two steps changed nothing"
refuses 1 "made has no config.json of a published model" "$tfc" export made --format marian -o no.npz
refuses 1 "writes all params" "$tfc" export run --format marian --only embedding -o no.npz
cp -r hf first
sed -i 's/swish/gelu/' hf/published/config.json
sed -i 's/return silu(x)/return gelu(x)/' hf/model.tfg
refuses 1 '"transformer-ffn-activation" is "gelu": models/marian.tfg is written for "swish", "relu" alone' \
    "$tfc" export hf --format marian -o no.npz
# What Marian's settings cannot say: FILE|EDIT|MESSAGE
while IFS='|' read -r file edit message; do
    rm -rf edited
    cp -r first edited
    sed -i "$edit" edited/$file
    refuses 1 "$message" "$tfc" export edited --format marian -o no.npz
done <<'END_EDITS'
model.tfg|s/decoder_heads = 2/decoder_heads = 4/|"decoder_attention_heads" is not "encoder_attention_heads", as it is in Marian's models
model.tfg|s/scaled = true/scaled = false/|"scale_embedding" is false: Marian's models scale embeddings
model.tfg|$a const position_base = 77|config.json: "position_base" is 77, and it has no place in Marian's settings
run.json|s#"end=</s>",#&"stop=</s>","stop=<unk>",#|"eos_token_id" names several ends, and it has no place in Marian's settings
run.json|s#"end=</s>",#&"first=<unk>",#|"forced_bos_token_id" is set, and it has no place in Marian's settings
END_EDITS
# Marian's own settings, kept in the run, that are cut or say something else than config.json.
while IFS='|' read -r edit message; do
    rm -rf edited
    cp -r run edited
    sed -i "$edit" edited/published/model.yml
    refuses 1 "$message" "$tfc" export edited --format marian -o no.npz
done <<'END_EDITS'
/^tied-embeddings-all/,$d|model.yml: error: "type" is absent: models/marian.tfg is written for "transformer" alone
s/^transformer-ffn-activation: .*/transformer-ffn-activation: relu/|model.yml: "transformer-ffn-activation" is "relu", and config.json beside it has "swish"
s/^transformer-heads: .*/transformer-heads: 4/|model.yml: "transformer-heads" is 4, and config.json beside it has 2
s/^  - 19/  - 18/|model.yml: "dim-vocabs" is 18, 18, and the model has 19 tokens
END_EDITS
[ ! -e no.npz ] || fail "a file is left"
refuses 1 "cannot write nowhere/no.npz" "$tfc" export run --format marian -o nowhere/no.npz

# decoder.yml names the files; a SentencePiece model is a list, too.
cp -r marian named
cp marian/opus.npz named/other.npz
cp marian/opus.vocab.yml named/words.yml
refuses 1 "named has 2 models: one .npz" "$tfc" import named -o no
printf 'models:\n  - /train/other.npz\nvocabs:\n  - words.yml\n  - words.yml\nbeam-size: 6\n' >named/decoder.yml
"$tfc" import named -o named.run 2>err.txt || fail "$(cat err.txt)"
"$tfc" score named.run --source valid.src --target valid.tgt | cmp - run.txt || fail "decoder.yml's scores otherwise"
npz pieces named/words.yml named/words.spm
cp named/words.spm named/source.spm
cp named/words.spm named/target.spm
"$tfc" import named -o sides.run 2>err.txt || fail "$(cat err.txt)"
rm named/source.spm named/target.spm
printf 'models:\n  - other.npz\nvocabs:\n  - words.spm\n  - words.spm\n' >named/decoder.yml
"$tfc" import named -o pieces.run 2>err.txt || fail "$(cat err.txt)"
"$tfc" score sides.run --source valid.src --target valid.tgt >sides.txt
"$tfc" score pieces.run --source valid.src --target valid.tgt | cmp - sides.txt || fail "one SentencePiece model scores otherwise"
"$tfc" translate sides.run --input valid.src >sides.out
"$tfc" translate pieces.run --input valid.src | cmp - sides.out || fail "one SentencePiece model translates otherwise"
printf 'vocabs: [words.yml, opus.vocab.yml]\nmodels: [other.npz]\n' >named/decoder.yml
refuses 1 "a vocabulary a side" "$tfc" import named -o no
printf 'models: [a: b\n' >named/decoder.yml
refuses 1 "decoder.yml:.*not YAML" "$tfc" import named -o no
rm -r named

cannot() { # cannot PATTERN HOW: another .npz
    npz break marian/opus.npz broken.npz "$2"
    rm -rf changed
    cp -r marian changed
    mv broken.npz changed/opus.npz
    refuses 1 "$1" "$tfc" import changed -o no
    [ -z "$(find . -name 'no*')" ] || fail "$2: a folder is left"
}
cannot "opus.npz: the array 'encoder_l1_self_Wq': it holds more or fewer bytes" cut
cannot "opus.npz: the array 'encoder_l1_self_Wq': its elements are in Fortran's order" order
cannot "opus.npz: the array 'encoder_l1_self_Wq': its elements are <c8, which is not read" type
cannot "opus.npz: the array 'encoder_l1_self_Wq': its elements are not 32-bit floats" integers
cannot "opus.npz: the array 'encoder_l1_self_Wq': its shape is larger than memory" huge
cannot "opus.npz: the array 'encoder_l1_self_Wq': it is no .npy, or is cut off" header
cannot "opus.npz: the array 'encoder_l1_self_Wq' is .8, 32., but by the settings and the vocabulary it is .16, 16." shape
cannot "opus.npz: 'encoder_l1_self_Wq.npy' in the archive: the archive has two files of this name" twice
cannot "opus.npz: the array 'encoder_l1_self_Wq' is missing" missing
cannot "opus.npz: 'zeros.npy' in the archive: unpacked, the file would be far larger" bomb
cannot "opus.npz: the array 'special:model.yml', Marian's settings, is missing" settings
cannot "opus.npz: the array 'special:model.yml' is cut off: Marian ends it with a NUL" "no NUL"
cannot "opus.npz: " archive
cannot '"type" is "s2s": models/marian.tfg is written for "transformer"' 'type: transformer -> type: s2s'
cannot '"transformer-preprocess" is "n": models/marian.tfg is written for ""' 'transformer-preprocess: "" -> transformer-preprocess: n'
cannot '"tied-embeddings-all" is false' 'tied-embeddings-all: true -> tied-embeddings-all: false'
cannot '"transformer-ffn-depth" is 3' 'ffn-depth: 2 -> ffn-depth: 3'
cannot '"transformer-decoder-autoreg" is "average-attention"' 'self-attention -> average-attention'
cannot '"transformer-ffn-activation" is "gelu"' 'activation: swish -> activation: gelu'
cannot '"transformer-tied-layers" is 1, 1' '  [] ->   [1, 1]'
cannot '"dim-vocabs" is 5, 5, and .* has 19 tokens' '  - 19 ->   - 5'
cannot "special:model.yml:.*an alias" 'type: transformer -> type: *other'
npz break marian/opus.npz changed/opus.npz 'right-left: false -> new-key: 1'
rm -rf more
"$tfc" import changed -o more 2>err.txt || fail "$(cat err.txt)"
grep -q 'warning: "new-key" is left unread' err.txt || fail "no warning: $(cat err.txt)"
rm -r more
npz break marian/opus.npz changed/opus.npz more
"$tfc" import changed -o more 2>err.txt || fail "$(cat err.txt)"
grep -q "1 array of .* is used by nothing in models/marian.tfg: 'Wpos'" err.txt || fail "no warning: $(cat err.txt)"
sed -i '$d' changed/opus.vocab.yml
refuses 1 "opus.vocab.yml has 18 tokens, but the array 'Wemb' of .* has 19 rows" "$tfc" import changed -o no
