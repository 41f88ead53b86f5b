#!/bin/sh
# The models of tests/strangers, written from papers by people who did not write tfc: what decodes is trained and chooses
# the argmax of a run over the whole text, what cannot is refused at its line; the others train; those of other data are
# trained, validated and predicted (translated, scored) from tables.
# Usage: strangers_models.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77
export OMP_NUM_THREADS=1
cp "$root"/tests/strangers/*.tfg .
letters_in_steps
printf 'a b\nh\nc e g a c e\nb b b\n' >prompts

# train NAME OPTION…: a run of that name
train() {
    name=$1
    shift
    "$tfc" train "$name.tfg" --out "$name" "$@" 2>err || fail "$name does not train: $(cat err)"
}
argmax() {
    python3 "$root/tests/cli/argmax.py" "$tfc" "$1" decoded >different || fail "$1: other tokens than the argmax: $(cat decoded)"
    [ "$(cat different)" -gt 1 ] || fail "$1: one token again and again shows nothing: $(cat decoded)"
}
writes="causal_a causal_b causal_c causal_d causal_e causal_f causal_g causal_h derive_shape deepseek_moe deltanet gpt_oss minlstm mlstm
    mla prefix_tuning replaced_output two_ahead"
translates="distill ema perceiver performer schedule_free state_steps"
for name in $writes $translates; do # in a moment: what each step computes
    "$tfc" dump "$name.tfg" --function decode_step --stage graph >/dev/null 2>err || fail "$name has no decode_step: $(cat err)"
done
for name in lengths size; do
    refuses 1 "^${name}_decode.tfg:6:[0-9]*: error: $name depends on later positions.*it is the length of the whole text" \
        "$tfc" dump ${name}_decode.tfg --function decode_step --stage graph
done
refuses 1 'gru_scan_wanted.tfg:14:32: error: there is no block or function `scan`' "$tfc" check gru_scan_wanted.tfg
printf 'a b c\n' >three
printf 'a b c d\n' >four
refuses 1 'three:1:1: error: the source has 4 tokens and the target 5, but .* share a ragged dimension' \
    "$tfc" train shared_dim.tfg --source three --target four --vocab words:auto --steps 2 --out no

# Tables: columns behind the inputs.
python3 - <<'END_PYTHON'
import json, random
random.seed(1)
with open("rows.jsonl", "w") as rows:
    for line in open("train.src").read().split("\n")[:60]:
        words = line.split()
        print(json.dumps({"text": line, "back": " ".join(words[::-1]), "tags": line.upper(), "first": words[0], "label": len(words),
                          "sound": [[random.random(), 1] for _ in words], "image": [[[random.random()] * 3] * 16] * 16}), file=rows)
END_PYTHON
table() { # table NAME INPUTS PREDICTION OPTION…: what of the model is fed and predicted
    printf 'use "%s.tfg"\n%s\n%s\n' "$1" "$2" "$3" >"$1_table.tfg"
    predicts=$3 name=$1_table
    shift 3
    train "$name" --data rows.jsonl --valid-data rows.jsonl --steps 4 "$@"
    "$tfc" eval "$name" --data rows.jsonl >out 2>err || fail "$name is not evaluated: $(cat err)"
    if [ -n "$predicts" ]; then
        "$tfc" predict "$name" --input rows.jsonl >out 2>err || fail "$name: $(cat err)"
    else
        "$tfc" score "$name" --data rows.jsonl >out 2>err || fail "$name: $(cat err)"
        [ "$(wc -l <out)" = 60 ] || fail "$name scores $(wc -l <out) of 60 rows"
        "$tfc" translate "$name" --input rows.jsonl --beam 1 >out 2>err || fail "$name: $(cat err)"
    fi
    [ "$(wc -l <out)" = 60 ] || fail "$name answers $(wc -l <out) of 60 rows"
}
table two_sources 'input src : token[B, S~] = column("text"); input src2 : token[B, S~] = column("back")
input tgt : token[B, T~] = column("back")' '' --vocab words:auto
# Tokens that are looked up where none was drawn in their place are a text, with its end.
table bert_mlm 'input tokens : token[B, T~] = column("text")' 'predict word = softmax(logits)' --vocab words:auto
python3 - <<'END_PYTHON' || fail "the text of bert_mlm is not framed"
import json
rows = [json.loads(line)["text"].split() for line in open("rows.jsonl")]
assert all(len(p.split()) == len(r) + 1 for p, r in zip(open("out"), rows))
END_PYTHON
[ -z "$short" ] || exit 0

for name in $writes; do
    case "$name" in # the library's rate grows for a thousand steps
    causal_* | replaced_output) echo 'train { rate = constant(0.003); batch = tokens(2048) }' >>"$name.tfg" ;;
    esac
    steps=40
    [ "$name" != derive_shape ] || steps=4 # sums of embeddings: trained for longer it ends every line at once
    train "$name" --text train.src --vocab words:auto --steps $steps
    "$tfc" generate "$name" --input prompts --temperature 0 --tokens 12 --json >decoded 2>err || fail "$name: $(cat err)"
    argmax "$name"
    "$tfc" compile "$name" -o "$name.o" --emit obj 2>err || fail "compile $name: $(cat err)"
    grep -q _decode_step ./*.h || fail "$name is compiled without decode_step: $(cat err)"
    rm ./*.h
done
for name in $translates; do
    train "$name" --source train.src --target train.tgt --vocab words:auto --steps 40 --accumulate 2
    "$tfc" translate "$name" --input prompts --beam 1 --token-scores >decoded 2>err || fail "$name: $(cat err)"
    argmax "$name"
done
python3 - <<'END_PYTHON' || fail "a state does not count steps"
import json, struct
whole = open("state_steps/last.safetensors", "rb").read()
n = struct.unpack("<Q", whole[:8])[0]
at = json.loads(whole[8:8 + n])["project.steps"]["data_offsets"][0]
assert struct.unpack_from("<f", whole, 8 + n + at) == (40,)
END_PYTHON
for name in state ema schedule_free distill; do
    "$tfc" check $name.tfg --samples 1 >out 2>&1 || fail "$name, whose loss reads states or stops gradients: $(cat out)"
done
"$tfc" info mla >out && grep -q '^decoding caches 144 numbers' out || fail "mla, 3 layers of 32 + 16: $(grep caches out)"

# What generates nothing trains and is evaluated.
cut -c 1 train.src >one.tgt
for name in targets_without_next two_towers classifier; do
    train "$name" --source train.src --target train.tgt --valid-source train.src --valid-target train.tgt --vocab words:auto --steps 4
done
train ctc --source train.src --target one.tgt --vocab words:auto --steps 4
train only_output --text train.src --valid-text train.src --vocab words:auto --steps 4
train shared_dim --source train.src --target train.src --vocab words:auto --steps 4

table tagger 'input src : token[B, S~] = column("text"); input tgt : int[B, S~] = column("tags"); vocab tgt = words' \
    'predict tag = softmax(logits)' --vocab words:auto
table two_towers 'input src : token[B, S~] = column("text"); input tgt : token[B, T~] = column("back")' 'predict vector = a' \
    --vocab words:auto
table multi_source 'input src : token[B, S~] = column("text"); input src2 : token[B, S2~] = column("back")
input tgt : token[B, T~] = column("back")' '' --vocab words:auto
table speech_ctc 'const features = 2; input sound : float[B, S~, features] = column("sound")
input tgt : token[B, T~] = column("first"); vocab tgt = words' 'predict said = softmax(logits)'
table classifier 'input src : token[B, S~] = column("text"); input tgt : token[B, T~] = column("first")' \
    'predict class = softmax(linear as same head(layer_norm as same norm(z), vocab))' --vocab words:auto
table only_output 'input tokens : token[B, T~] = column("text")' 'predict sum = found' --vocab words:auto
table vit 'input image : float[B, 16, 16, 3] = column("image"); input label : int[B] = column("label")' 'predict class = softmax(logits)'
echo "strangers' models: decoded by argmax, refused at their line, fed from tables"
