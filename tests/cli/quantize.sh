#!/bin/sh
# Quantised runs: a quarter as large, or a seventh, they compute what --dtype of their type computes with the rounded
# params, in every command that takes a run, and as programs; what is refused.
# Usage: quantize.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
shared_runs
export TFC_CACHE="$work/cache"
head -n 60 valid.src >lines
head -n 60 valid.tgt >answers
run=$runs/translator

# check DTYPE TIMES TEXTS SCORE: a run in this type is TIMES smaller, of 60 texts at most TEXTS are others than with the
# run in this type, and scores differ by at most SCORE from those of the run.
check() {
    dtype=$1
    rm -rf small again writer
    "$tfc" quantize "$run" --dtype "$dtype" --keep "**=$dtype" -o small >told
    cat told
    grep -q " params in $dtype: .* times smaller" told || fail "what became of the params is not told"
    grep -q '%$' told || fail "no tensor loses most"
    grep -q '^to compare the runs on a text, use tfc eval on both, or tfc quantize with --source' told || fail "no word on comparing"
    [ -f small/weights/model.safetensors ] || fail "no weights"
    params=$("$tfc" quantize "$run" --dtype "$dtype" --keep "**=$dtype" -o again --json | tr '{' '\n' | awk -F'[:,]' '/"bytes_before"/ { n += $6 } END { print n }')
    cmp small/weights/model.safetensors again/weights/model.safetensors || fail "other bytes the second time"
    bytes=$(stat -c %s small/weights/model.safetensors)
    [ $((bytes * $2)) -lt "$params" ] || fail "$dtype: $bytes bytes in place of $params"
    "$tfc" info small >log
    grep -q "^quantised: 33 of 85 params are $dtype, in weights/model.safetensors" log || fail "info does not say so"
    [ "$(grep -c "^  param .*  $dtype\$" log)" = 33 ] || fail "info does not say which params are $dtype"
    "$tfc" dump small --function decode_step --stage fused | grep -q "quant = .$dtype." || fail "dump shows another type"
    "$tfc" info small/weights/model.safetensors | grep -q 'checksums are right' || fail "no checksums"

    # The same params as f32, computed with in this type.
    "$tfc" export small -o wide.safetensors
    alike="$run --weights wide.safetensors --dtype $dtype"
    "$tfc" translate $alike --input lines >want
    "$tfc" translate "$run" --dtype "$dtype" --input lines | diff - want | grep -c '^<' >others || true
    [ "$(cat others)" -le "$3" ] || fail "$(cat others) of 60 texts are others than with --dtype $dtype"
    "$tfc" translate small --input lines | cmp - want || fail "a quantised run translates otherwise"
    "$tfc" translate small --input lines | cmp - want || fail "a quantised run translates otherwise, warm"
    TFC_CACHE=off "$tfc" translate small --input lines | cmp - want || fail "a quantised run translates otherwise, without a cache"
    "$tfc" translate small --dtype "$dtype" --input lines --with small | cmp - want || fail "an ensemble of one run twice"
    "$tfc" eval $alike --source lines --target answers --json >want.eval
    "$tfc" eval small --source lines --target answers --json | cmp - want.eval || fail "another loss"
    "$tfc" score small --dtype f32 --source lines --target answers >scores
    "$tfc" score "$run" --source lines --target answers | paste - scores |
        awk -v most="$4" '{ d = $1 - $2; if (d > most || d < -most) exit 1; n += d != 0 } END { exit n < 30 }' ||
        fail "scores in f32 of quantised weights"
    "$tfc" compile small -o program
    ./program <lines | cmp - want || fail "a program translates otherwise"
    "$tfc" attend small --source lines --target answers -o attend.html >log 2>&1 || fail "attend: $(cat log)"

    "$tfc" quantize "$runs/generator" --dtype "$dtype" --keep "**=$dtype" -o writer >/dev/null
    "$tfc" export writer -o wide.safetensors
    "$tfc" generate "$runs/generator" --weights wide.safetensors --dtype "$dtype" --temperature 0 --tokens 8 --prompt "a b" >want
    "$tfc" generate writer --temperature 0 --tokens 8 --prompt "a b" | cmp - want || fail "a language model writes otherwise"
}
check int4 3 0 3
check q4_1 3 0 3
check q8_0 2 0 0.3
check int8 2 0 0.3

# Losses, BLEU and error rates on given text are those of tfc eval.
"$tfc" quantize "$run" -o judged --source lines --target answers --json >judged.json
"$tfc" eval "$run" --source lines --target answers --json >before.json
"$tfc" eval judged --source lines --target answers --json >after.json
python3 - <<'END' || fail "other figures than those of tfc eval"
import json
told, before, after = (json.load(open(f"{name}.json")) for name in ("judged", "before", "after"))
assert len(told["params"]) > 50 and told["loss"]["before"] != told["loss"]["after"]
for name in ("loss", "bleu", "accuracy", "symbol_error_rate"):
    assert told[name] == {"before": before[name], "after": after[name]}, name
END
"$tfc" quantize "$runs/generator" --dtype int4 -o nats --text lines | grep -q '^loss .* nats a target token' ||
    fail "no loss of a language model"
printf 'zzz a\n' >one.src
head -n 1 answers >one.tgt
"$tfc" quantize "$run" -o more --source one.src --target one.tgt >told 2>err
[ "$(grep -c 'unknown to the vocabulary' err)" = 1 ] || fail "a note on the text is given twice: $(cat err)"
grep -q 'of 1 sentence$' told || fail "a plural: $(cat told)"
rm -r more
# A checkpoint from elsewhere, as tfc export writes one, is read with and without texts.
"$tfc" export "$run" -o plain.safetensors
"$tfc" quantize "$run" -o more --checkpoint plain.safetensors --source lines --target answers --json >plain.json ||
    fail "a checkpoint of tfc export"
cmp more/weights/model.safetensors judged/weights/model.safetensors || fail "a checkpoint of tfc export: other params"
rm -r more
# docs/quantised.md shows the same lines; which params lose most, and the figures on the text, follow from the training.
form() { sed 's/^  .* %$/  PARAM %/; /^[a-zBLEU ]*  [0-9]/s/[-+]*[0-9][0-9.]*/N/g; s/  */ /g'; }
"$tfc" quantize "$run" -o shown --dtype int4 --source valid.src --target valid.tgt | form >printed
sed -n '/^\$ tfc quantize RUN/,/^```/p' "$root/docs/quantised.md" | sed '1d; $d' | form | diff - printed || fail "docs/quantised.md shows another output"
refuses 2 'target' "$tfc" quantize "$run" -o more --source lines
refuses 2 'reads pairs' "$tfc" quantize "$run" -o more --text lines
refuses 1 'missing' "$tfc" quantize "$run" -o more --source missing --target answers
[ ! -e more ] || fail "a folder is left"

"$tfc" quantize "$run" -o kept --keep 'decoder' --json | tr '{' '\n' | grep '"decoder' | grep -qv '"stays": *"kept"' && fail "what is kept is quantised"
for function in forward encode decode_step; do
    "$tfc" dump kept --function $function --stage fused | grep 'quant = "int8"' >rounded || true
    ! grep '@ decoder\.layer' rounded || fail "$function: products of what is kept are rounded"
    [ $function = decode_step ] || grep -q '@ encoder\.layer' rounded || fail "$function: what is not kept is f32"
done
"$tfc" dump kept --function forward --report | grep -q 'dot in int8: its weights are kept in f32' || fail "no report of what is kept"
"$tfc" info kept | grep -q '^  keep    decoder$' || fail "info does not say what is kept"
"$tfc" translate kept --input lines >want
"$tfc" compile kept -o program
./program <lines | cmp - want || fail "a program of a run with kept params translates otherwise"
# Cached programs are not those of a run that keeps other params, and an embedding that is kept is looked up in f32.
"$tfc" quantize "$run" -o keeps --keep embedding --json | tr '{' '\n' | grep '"embedding"' | grep -q kept || fail "the embedding is not kept"
! "$tfc" dump keeps --function forward --stage fused | grep 'gather .*quant' || fail "a kept table is rounded"
for name in small kept keeps; do
    "$tfc" score $name --source lines --target answers >$name.scores
done
! cmp -s small.scores kept.scores && ! cmp -s small.scores keeps.scores && ! cmp -s kept.scores keeps.scores ||
    fail "--keep changes no answer"
# Params in a type of their own, in the file and in what is computed.
"$tfc" quantize "$run" -o mixed4 --dtype int4 --keep 'encoder=q4_1' --keep embedding=q8_0 >told
grep -q '^  embedding  *q8_0$' told || fail "params in their own type are not told: $(cat told)"
"$tfc" info mixed4 >log
grep -q '^  param   embedding .*  q8_0$' log && grep -q '^  param   encoder.*self.query.weight .*  q4_1$' log &&
    grep -q '^  param   decoder.*self.query.weight .*  int4$' log || fail "info: types of params"
grep -q '^  keep    encoder=q4_1$' log || fail "info: patterns with types"
for function in forward encode decode_step; do
    "$tfc" dump mixed4 --function $function --stage fused | grep -o 'quant = "[a-z0-9_]*"' | sort -u >types
    ! grep -q int8 types && grep -q q8_0 types || fail "$function: types $(cat types)"
done
"$tfc" translate mixed4 --input lines >want
"$tfc" compile mixed4 -o program
./program <lines | cmp - want || fail "a program of mixed types translates otherwise"
"$tfc" export mixed4 -o wide.safetensors
"$tfc" score mixed4 --dtype f32 --source lines --target answers >want
"$tfc" score "$run" --weights wide.safetensors --source lines --target answers | cmp - want || fail "mixed types are read otherwise"
refuses 1 "keep embedding=q3: the type is 'q3'; expected f32|int8|int4|q8_0|q4_1" "$tfc" quantize "$run" -o more --keep embedding=q3
refuses 1 "no param becomes int8; the largest, '.*', stays f32: kept" "$tfc" quantize "$run" -o more --keep '**'
[ ! -e more ] || fail "a folder is left"

# Sizes that are no multiple of a group: a channel's last group has fewer terms, and a table with short rows is looked up
# in f32. Answers are those of --dtype with the run that was quantised, in every bit.
for sizes in "16 int8 int4" "40 int4 q8_0 q4_1"; do
    d=${sizes%% *}
    cat >odd$d.tfg <<END
model odd$d
use transformer
const layers = 1, d_model = $d, d_ff = 51, heads = 1, vocab = 8, p_drop = 0
train { rate = constant(0.003); batch = tokens(400); max_length = 20 }
END
    "$tfc" train odd$d.tfg --out odd$d --source lines --target answers --vocab words:auto --steps 8 --no-bleu >/dev/null 2>&1
    for dtype in ${sizes#* }; do
        "$tfc" quantize odd$d -o odd$d$dtype --dtype $dtype --keep "**=$dtype" --json | tr '{' '\n' >parts
        "$tfc" translate odd$d --dtype $dtype --input lines >want
        "$tfc" translate odd$d$dtype --input lines | cmp - want || fail "d_model $d in $dtype translates otherwise"
        "$tfc" score odd$d --dtype $dtype --source lines --target answers >want
        "$tfc" score odd$d$dtype --source lines --target answers | cmp - want || fail "d_model $d in $dtype: other scores"
        [ $dtype != int4 ] || { # the same, for people
            rm -r odd$d$dtype
            "$tfc" quantize odd$d -o odd$d$dtype --dtype $dtype --keep "**=$dtype" | grep -q 'feed_forward.outer.weight .*an odd number of terms$' ||
                fail "it is not told which matrices stay f32, and why"
        }
        case $dtype in *4*) grep -q '"stays": *"an odd number of terms"' parts || fail "$dtype: 51 terms are pairs" ;; esac
        [ $d = 40 ] || grep '"embedding"' parts | grep -q 'other ops read it, too' || fail "d_model $d in $dtype: the embedding"
    done
done

# Scales below f16's normal numbers: the least that clips nothing, never 0 but of zeros; which params have them.
python3 - <<'EOF2'
import json, struct
raw = open("plain.safetensors", "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
head, data = json.loads(raw[8:8 + n]), bytearray(raw[8 + n:])
head.pop("__metadata__", None)
at = head["encoder.layer.0.feed_forward.inner.weight"]
assert at["shape"][0] % 32 == 0 and at["dtype"] == "F32", at
rows, columns = at["shape"]
for i in range(32):                 # the first group of each output channel: units of 2^-24 that integers hold, and one of 1.5 units
    for j in range(columns):
        value = (7 - i % 8) * 2.0 ** -24 if j else 1.5 * (7 - i % 8) * 2.0 ** -24
        struct.pack_into("<f", data, at["data_offsets"][0] + 4 * (i * columns + j), value)
text = json.dumps(head).encode()
open("tiny.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
EOF2
for dtype in int4 q8_0; do
    "$tfc" quantize "$run" -o tiny$dtype --dtype $dtype --checkpoint tiny.safetensors >told
    grep -A 1 "^scales too small for all bits of f16 *groups, and their error$" told |
        grep -q "^  encoder.layer.0.feed_forward.inner.weight  *[0-9]* of [0-9]*, [0-9.]* %$" || fail "$dtype: which params have small scales: $(cat told)"
    "$tfc" export tiny$dtype -o tiny$dtype.safetensors
    python3 - tiny$dtype.safetensors <<'EOF2' || fail "$dtype: small groups"
import json, struct, sys
def param(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    at = json.loads(raw[8:8 + n])["encoder.layer.0.feed_forward.inner.weight"]
    return at["shape"][1], struct.unpack("<%df" % (at["shape"][0] * at["shape"][1]), raw[8 + n + at["data_offsets"][0]:][:4 * at["shape"][0] * at["shape"][1]])
columns, before = param("tiny.safetensors")
_, after = param(sys.argv[1])
for j in range(columns):
    for i in range(32):
        x, y = before[i * columns + j], after[i * columns + j]
        assert abs(x - y) <= (2.0 ** -24 if not j else 2.0 ** -25), (j, i, x, y)
EOF2
done

# What is compiled has one type: that of members that differ is asked for, and params are rounded once.
refuses 1 'small computes in int8 and .* in f32: an ensemble that is compiled has one type, which --dtype names' \
    "$tfc" compile small --with "$run" -o mixed
refuses 1 "computes in f32 and small in int8" "$tfc" compile "$run" --with small -o mixed
[ ! -e mixed ] || fail "something is left"
"$tfc" compile small --with "$run" --dtype int8 -o mixed 2>err || fail "an ensemble of one type: $(cat err)"
./mixed <lines >mixed.texts
"$tfc" translate small --with "$run" --dtype int8 --input lines | cmp - mixed.texts || fail "a compiled ensemble translates otherwise"
refuses 1 'store bf16 rounds f32, and params are int8 already' "$tfc" compile small --store bf16 -o page.html
refuses 1 'store bf16 rounds f32, and params are int4 already' "$tfc" compile "$run" --dtype int4 --store bf16 -o page.html

refuses 1 'small is there already' "$tfc" quantize "$run" -o small
refuses 1 'small is quantised already (int8)' "$tfc" quantize small -o more
refuses 1 'small/weights is quantised already (int8): take a checkpoint in f32' "$tfc" quantize "$run" -o more --checkpoint small
refuses 1 'cannot read .*step-7' "$tfc" quantize "$run" -o more --checkpoint step-7
"$tfc" quantize "$run" -o more --checkpoint step-60 --json >/dev/null || fail "a checkpoint without its ending"
rm -r more
cp -r small unknown
sed -i 's/"quantised": "int8"/"quantised": "int3"/' unknown/run.json
refuses 1 "\"quantised\" is 'int3'; expected int8" "$tfc" translate unknown --input lines
[ ! -e more ] || fail "a folder is left"
refuses 1 "keep nothing meets no param" "$tfc" quantize "$run" -o more --keep nothing
[ ! -e more ] || fail "a folder is left"
refuses 2 'names the folder of the new run' "$tfc" quantize "$run"
refuses 2 "dtype is 'int3'; expected int8|int4|q8_0|q4_1" "$tfc" quantize "$run" -o more --dtype int3
refuses 1 'is a model that is not trained: train it first' "$tfc" quantize "$root/models/llama.tfg" -o more
"$tfc" train small --source lines --target answers --out tuned --steps 1 --no-bleu >log 2>err || fail "fine-tuning: $(cat err)"
grep -q 'note: small is quantised (int8): the training is in f32' err || fail "no word on rounded params: $(cat err)"
rm -r tuned
refuses 1 'small is quantised (int8) and cannot be resumed: resume the run it was made of' "$tfc" train --out small --resume
[ -f small/weights/model.safetensors ] && [ ! -e small/last.safetensors ] || fail "a quantised run was trained"

# Scales that are missing, or do not fit: no number is made of them.
python3 - <<'EOF'
import json, struct
raw = open("small/weights/model.safetensors", "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
head, data = json.loads(raw[8:8 + n]), raw[8 + n:]
name = next(key[:-5] + ".scale" for key in head if key.endswith(".int8") and len(set(head[key]["shape"])) == 2)
def write(path, head):
    text = json.dumps(head).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
plain = {key: value for key, value in head.items() if key != "__metadata__"}
marked = dict(plain, __metadata__={"quantised": "int8"})
renamed = dict(marked)
renamed["other"] = renamed.pop(name)
write("renamed.safetensors", renamed)
turned = dict(marked)
turned[name] = dict(turned[name], shape=turned[name]["shape"][::-1])
write("turned.safetensors", turned)
write("unmarked.safetensors", plain)
EOF
for file in renamed turned; do
    refuses 1 'its scales or minima are missing, or do not fit it' "$tfc" translate "$run" --weights $file.safetensors --input lines
done
refuses 1 'tensors are missing' "$tfc" translate "$run" --weights unmarked.safetensors --input lines
echo "all is well"
