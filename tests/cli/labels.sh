#!/bin/sh
# Labels of classes that there are not: tfc run, tables, prepared data and compiled libraries refuse them alike, and a
# refused training step changes nothing. Labels below 0 are none; other uses of a number bound nothing.
# Usage: labels.sh TFC   (from the project's root)
set -eu
. tests/common.sh
python=$(python_with_numpy)
[ -n "$python" ] || { echo "skipped: no Python with numpy"; exit 77; }
enter_work

# Four classes; a kind of six, which is looked up, and another of two, in one input.
cat >ce.tfg <<'END'
model ce
dim B
input x : float[B, 3] = column("x")
input label : int[B] = column("label")
input kinds : int[B, 2] = column("kinds")
param six : [6, 4] = normal(0, 1)
param two : [2, 4] = normal(0, 1)
a, b = split(kinds, 2)
output logits = linear as l(x, 4) + reshape(six[a] + two[b], [B, 4])
loss = cross_entropy(logits, label)
predict class = softmax(logits)
train { rate = constant(0.01); batch = sentences(8) }
END
cat >sounds.tfg <<'END'
model sounds
dim B, T, L
input frames : float[B, T~, 2] = column("frames")
input phones : int[B, L~] = column("phones")
output logits = linear as l(frames, 5)
loss = ctc_loss(logits, phones)
train { rate = constant(0.01); batch = sentences(8) }
END
# A class of its own, 9, says that there is no label: the model leaves it out itself.
cat >ignores.tfg <<'END'
model ignores
dim B
input x : float[B, 4]
input label : int[B]
hit = reshape(label, [B, 1]) == position(4)
output total = sum(select(hit, log_softmax(x), 0))
END

# tensors NAME:TYPE:SHAPE:VALUES … >in.safetensors
tensors() {
    "$python" - "$@" >in.safetensors <<'END'
import json, struct, sys
header, data = {}, b""
for word in sys.argv[1:]:
    name, kind, shape, values = word.split(":")
    numbers = [float(v) if kind == "F32" else int(v) for v in values.split(",")]
    part = struct.pack("<%d%s" % (len(numbers), "f" if kind == "F32" else "i"), *numbers)
    header[name] = {"dtype": kind, "shape": [int(n) for n in shape.split("x")], "data_offsets": [len(data), len(data) + len(part)]}
    data += part
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
sys.stdout.buffer.write(struct.pack("<Q", len(text)) + text + data)
END
}
run() { "$tfc" run "$@" --in in.safetensors --out out.safetensors; }
ce() { tensors x:F32:2x3:1,2,3,4,5,6 "label:I32:2:$1" "kinds:I32:2x2:$2"; }

# ---- tfc run ----
ce 3,-100 0,0,5,1
run ce.tfg || fail "labels that are right"
for wrong in 4 2147483647; do
    ce "0,$wrong" 0,0,5,1
    refuses 1 "in.safetensors: 'label' \[1\] is $wrong; labels go from 0 to 3, and below 0 there is none" run ce.tfg
    refuses 1 "'label' \[1\] is $wrong" run ce.tfg --grad
done
ce 0,0 0,0,5,2
refuses 1 "'kinds' \[1, 1\] is 2; ids go from 0 to 1" run ce.tfg
ce 0,0 0,0,6,1
refuses 1 "'kinds' \[1, 0\] is 6; ids go from 0 to 5" run ce.tfg
tensors frames:F32:1x3x2:1,2,3,4,5,6 phones:I32:1x2:1,4
run sounds.tfg || fail "phones that are right"
for wrong in 0 5 -1; do # 0 is the blank
    tensors frames:F32:1x3x2:1,2,3,4,5,6 "phones:I32:1x2:1,$wrong"
    refuses 1 "'phones' \[0, 1\] is $wrong; labels go from 1 to 4" run sounds.tfg
done
tensors x:F32:2x4:1,2,3,4,5,6,7,8 label:I32:2:9,1
run ignores.tfg || fail "a number that the model leaves out"

# ---- tables ----
table() { printf 'x\tlabel\tkinds\n1 2 3\t0\t0 0\n3 2 1\t%s\t5 1\n1 1 1\t%s\t%s\n' "$1" "$2" "$3"; }
table 3 -1 '0 1' >right.tsv
table 3 4 '0 1' >label.tsv
table 3 0 '1 2' >kind.tsv
"$tfc" train ce.tfg --data right.tsv --steps 2 --out run 2>err.txt || fail "a table without a label: $(cat err.txt)"
refuses 1 'label.tsv:4:7: error: 4 is not from 0 to 3, as `label` must be; below 0 there is no label' \
    "$tfc" train ce.tfg --data label.tsv --steps 2 --out no
refuses 1 'kind.tsv:4:11: error: 2 is not from 0 to 1, as `kinds` must be' "$tfc" train ce.tfg --data kind.tsv --steps 2 --out no
"$tfc" eval run --data right.tsv >eval.txt || fail "eval"
grep -q 'accuracy' eval.txt || fail "no accuracy: $(cat eval.txt)"
sed 's/linear as l(x, 4)/linear as l(x, 5)/; s/, 4\]/, 5]/g' ce.tfg >five.tfg
"$tfc" prepare five.tfg --data label.tsv -o prepared >out.txt 2>&1 || fail "prepare: $(cat out.txt)"
refuses 1 'row 3: `label` has 4; labels go from 0 to 3' "$tfc" train ce.tfg --prepared prepared --steps 2 --out no
"$tfc" train five.tfg --prepared prepared --steps 2 --out prepared-run 2>err.txt || fail "prepared: $(cat err.txt)"

# ---- a library: C ----
"$tfc" compile ce.tfg -o libce.so 2>err.txt || fail "$(cat err.txt)"
grep -q 'label; .*labels go from 0 to 3, and below 0 there is none' ce.h || fail "the header: $(grep label ce.h)"
grep -q 'kinds; .*ids go from 0 to 1 in elements 1 to 1 of each 2' ce.h || fail "the header: $(grep kinds ce.h)"
cat >c.c <<'END'
#include "ce.h"
#include <stdio.h>
#include <string.h>
static float weights[64];
static int all_weights(ce *model, float *out)
{
    int n = 0;
    for (int64_t i = 0; i < ce_parameter_count(model); i++) {
        ce_parameter_info info;
        if (ce_parameter(model, i, &info) || n + info.count > 64)
            return -1;
        memcpy(out + n, info.data, (size_t)info.count * sizeof *out);
        n += (int)info.count;
    }
    return n;
}
static int refused(int status, const char *words)
{
    if (status == ce_ERROR_ARGUMENT && strstr(ce_error_detail(), words))
        return 0;
    fprintf(stderr, "%d (%s), not: %s\n", status, ce_error_detail(), words);
    return 1;
}
int main(void)
{
    ce *model;
    ce_session *session;
    const float x[] = {1, 2, 3, 3, 2, 1};
    int32_t label[] = {3, 4}, kinds[] = {0, 0, 5, 1};
    float after[64];
    int wrong = 0;
    if (ce_open_new(1, &model) || ce_session_new(model, &session))
        return 2;
    int n = all_weights(model, weights);
    ce_train_step_in step = {.seed = 1, .B = 2, .x = x, .label = label, .kinds = kinds, .rate = 0.01};
    ce_train_step_out out;
    ce_loss_in in = {.B = 2, .x = x, .label = label, .kinds = kinds};
    ce_loss_out loss, some;
    wrong += refused(ce_train_step(session, &step, &out), "label 1 of 'label' is 4: labels go from 0 to 3");
    wrong += refused(ce_loss(session, &in, &loss), "label 1 of 'label' is 4: labels go from 0 to 3");
    label[1] = 2147483647;
    wrong += refused(ce_train_step(session, &step, &out), "label 1 of 'label' is 2147483647");
    label[1] = 2;
    kinds[3] = 2;
    wrong += refused(ce_train_step(session, &step, &out), "id 3 of 'kinds' is 2: ids go from 0 to 1 (row 1)");
    if (n < 16 || all_weights(model, after) != n || memcmp(weights, after, (size_t)n * sizeof *after) || ce_steps(model))
        fprintf(stderr, "a refused step has changed the model\n"), wrong++;
    kinds[3] = 1;
    label[1] = -5; /* none: the loss is that of the first row */
    if (ce_loss(session, &in, &loss))
        wrong++;
    in.B = 1;
    if (ce_loss(session, &in, &some) || some.loss != loss.loss)
        fprintf(stderr, "a label below 0 counts: %g, not %g\n", loss.loss, some.loss), wrong++;
    label[1] = 2;
    if (ce_train_step(session, &step, &out) || ce_steps(model) != 1)
        fprintf(stderr, "a step that is right: %s\n", ce_error_detail()), wrong++;
    return wrong != 0;
}
END
$CC c.c -o c -L. -lce -Wl,-rpath,. && ./c || fail "the library"

# ---- Python ----
"$tfc" compile sounds.tfg -o libsounds.so 2>err.txt || fail "$(cat err.txt)"
cat >follows.tfg <<'END'
model follows
use language_model
const vocab = 12, layers = 1, d_model = 8, d_ff = 8, heads = 1
train { rate = constant(0.01) }
END
"$tfc" compile follows.tfg -o libfollows.so 2>err.txt || fail "$(cat err.txt)"
PYTHONPATH=. "$python" - <<'END' || fail "Python"
import numpy
import ce, follows, sounds

def refused(words, call, **given):
    try:
        call(**given)
    except Exception as told:
        assert words in str(told), (words, told)
        return
    raise AssertionError("taken: %r" % given)

model = ce.Model(seed=1)
rows = {"x": [[1, 2, 3], [3, 2, 1]], "kinds": [[0, 0], [5, 1]]}
before = {name: value.copy() for name, value in model.parameters().items()}
refused("label 1 of 'label' is 4: labels go from 0 to 3", model.loss, label=[0, 4], **rows)
refused("label 0 of 'label' is 9: labels go from 0 to 3", model.train_step, seed=1, rate=0.1, label=[9, 0], **rows)
for name, value in model.parameters().items():
    assert numpy.array_equal(value, before[name]), name
assert model.loss(label=[0, -1], **rows)["loss"] == model.loss(label=[0], x=rows["x"][:1], kinds=rows["kinds"][:1])["loss"]
model.train_step(seed=1, rate=0.1, label=[3, 0], **rows)

phones = sounds.Model(seed=1)
frames = [numpy.ones((4, 2), "f4"), numpy.ones((3, 2), "f4")]
assert numpy.isfinite(phones.loss(frames=frames, phones=[[1, 4], []])["loss"])
refused("label 2 of 'phones' is 0: labels go from 1 to 4 (row 1, position 0)", phones.loss, frames=frames, phones=[[1, 4], [0]])
refused("label 1 of 'phones' is 5: labels go from 1 to 4 (row 0, position 1)", phones.loss, frames=frames, phones=[[1, 5], []])

text = follows.Model(seed=1)
assert numpy.isfinite(text.loss(tokens=[[1, 2], [3]], tokens_next=[[2, -100], [-1]])["loss"])
refused("id 1 of 'tokens.next' is 12: ids go from 0 to 11, and below 0 there is none (row 0, position 1)", text.loss,
        tokens=[[1, 2], [3]], tokens_next=[[2, 12], [-1]])
END
echo "all is well"
