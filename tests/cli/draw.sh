#!/bin/sh
# tfc draw: positions are those of their formulas, masks have as many places as windows and causality leave,
# the rate is greatest at the end of the warm-up; models of every kind; wrong usage.
# Usage: draw.sh TFC   (from the project's root)
set -eu
. tests/common.sh
models=$root/models
enter_work

draw() { "$tfc" draw "$@" 2>err || fail "draw $*: $(cat err)"; }
count() { grep -c "class=\"$1\"" "$2"; }

if [ -n "$short" ]; then # a picture of each kind
    for what in positions masks schedule graph; do
        draw "$models/multi30k_tiny.tfg" --what $what -o $what.svg
        python3 -c 'import sys, xml.dom.minidom as xml; xml.parse(sys.argv[1])' $what.svg || fail "$what is not well-formed"
    done
    [ "$(count plot positions.svg)" -gt 0 ] && [ "$(count plot schedule.svg)" -gt 0 ] || fail "a picture has no plot"
    [ "$(count masked masks.svg)" -gt 0 ] || fail "no place is masked"
    params=$("$tfc" info "$models/multi30k_tiny.tfg" | sed -n 's/.*params, \([0-9]*\) numbers/\1/p')
    [ "$(sed -n 's/.*font-size="15">.*: \([0-9,]*\) params.*/\1/p' graph.svg | tr -d ,)" = "$params" ] || fail "params are not $params"
    exit 0
fi

# 12 tokens: a decoder's token sees itself and what is before it.
draw "$models/transformer_base.tfg" --what masks -o masks.svg
[ "$(count masked masks.svg)" = 66 ] || fail "$(count masked masks.svg) places are masked, not 66"
[ "$(count seen masks.svg)" = 366 ] || fail "$(count seen masks.svg) places are seen, not 366"
grep -q 'decoder.layer.0.self × 6' masks.svg || fail "six layers alike are not told"
# 8 tokens to each side, too: 6 places each of encoder and cross attention at both ends, and 6 of the decoder's.
draw "$models/restricted.tfg" --what masks -o windows.svg
[ "$(count masked windows.svg)" = $((12 + 72 + 12)) ] || fail "$(count masked windows.svg) places are outside of windows"
draw "$models/transformer_base.tfg" --what masks --source-length 5 --target-length 3 -o small.svg
[ "$(count masked small.svg)" = 3 ] && [ "$(count seen small.svg)" = $((25 + 6 + 15)) ] || fail "other lengths"

draw "$models/transformer_base.tfg" --what positions -o sines.svg
draw "$models/llama.tfg" --what positions -o turns.svg
draw "$models/transformer_base.tfg" --what schedule -o rate.svg
python3 - <<'END' || fail "the pictures are not what the formulas say"
import math, re, xml.dom.minidom as xml

def plots(path):
    """Of each plot, the values of its lines."""
    found = []
    for svg in xml.parse(path).getElementsByTagName("svg"):
        if svg.getAttribute("class") != "plot":
            continue
        axes = [[float(v) for v in svg.getAttribute("data-" + a).split()] for a in "xy"]
        at = lambda axis, v: axis[0] + (v - axis[2]) / (axis[3] - axis[2]) * (axis[1] - axis[0])
        lines = []
        for line in svg.getElementsByTagName("path"):
            points = re.findall(r"[ML]([\d.-]+) ([\d.-]+)", line.getAttribute("d"))
            if line.getAttribute("class").startswith("line ") and len(points) > 1:
                lines.append([(at(axes[0], float(x)), at(axes[1], float(y))) for x, y in points])
        found.append(lines)
    return found

def near(line, formula):
    assert len(line) == 64, len(line)
    for t, (x, y) in enumerate(line):
        assert abs(x - t) < 0.1 and abs(y - formula(t)) < 0.02, (t, x, y, formula(t))

[sines] = plots("sines.svg")  # encoder and decoder have the same
for line, dimension in zip(sines, (0, 102, 204, 306, 408)):
    near(line, lambda t: math.sin(t / 10000 ** (dimension / 512)))
cosines, sines = plots("turns.svg")
for i, dimension in enumerate((0, 6, 12, 18, 24)):
    near(cosines[i], lambda t: math.cos(t / 10000 ** (2 * dimension / 64)))
    near(sines[i], lambda t: math.sin(t / 10000 ** (2 * dimension / 64)))
[[rate, mark]] = plots("rate.svg")
peak = max(rate, key=lambda p: p[1])
assert abs(peak[0] - 4000) < 200 and abs(mark[0][0] - 4000) < 100, (peak, mark)
assert abs(peak[1] - 512 ** -0.5 * 4000 ** -0.5) < 2e-5, peak
END

# The model's blocks: as many params as tfc info tells, each in one box, and told where others share it; layers that are alike
# in one box, in the model's order; the encoder leads to the block that reads it.
for model in transformer_base gpt llama bert t5 phonemes; do
    draw "$models/$model.tfg" --what graph -o graph.svg
    told=$("$tfc" info "$models/$model.tfg" | sed -n 's/.*params, \([0-9]*\) numbers/\1/p')
    [ "$(sed -n 's/.*font-size="15">.*: \([0-9,]*\) params.*/\1/p' graph.svg | tr -d ,)" = "$told" ] || fail "$model: params are not $told"
    python3 - $model "$told" <<'END' || fail "$model: other boxes"
import re, sys, xml.dom.minidom as xml
model, told = sys.argv[1], int(sys.argv[2])
svg = xml.parse("graph.svg").documentElement
of = lambda parent, tag: [node for node in parent.childNodes if node.nodeName == tag]
words = lambda box: [text.firstChild.data for text in of(box, "text")]
boxes = svg.getElementsByTagName("g")
assert sum(int(box.getAttribute("data-params")) for box in of(svg, "g")) == told, "params are not counted once"
users = [words(box)[0] for box in boxes if "embedding (shared)" in words(box)[1].split(", ", 9)[-1]]
assert users == {"transformer_base": ["embed_source", "embed_target", "project"], "t5": ["encoder", "decoder", "project"],
                 "phonemes": ["embed_target", "project"], "bert": ["encoder", "predict"]}.get(model, []), users
uses = [text for box in boxes for text in words(box) if "shared: " in text]
assert len(uses) == (model != "llama"), uses
arrows = [re.fullmatch(r"M[\d. ]+h[\d.]+V([\d.]+)H([\d.]+)", path.getAttribute("d")) for path in of(svg, "path")]
ends = [[float(n) for n in arrow.groups()] for arrow in arrows if arrow]
def holds(box, y, x):
    left, top, height = (float(of(box, "rect")[0].getAttribute(name)) for name in ("x", "y", "height"))
    return left - 3 < x < left and top < y < top + height
read = [words(box)[0] for y, x in ends for box in boxes if holds(box, y, x)]
assert read == (["cross"] if model in ("transformer_base", "t5", "phonemes") else []), read
END
done
draw "$models/transformer_base.tfg" --what graph -o graph.svg
[ "$(grep -c '>layer × 6<' graph.svg)" = 2 ] || fail "layers that are alike are not one box"
sed -n 's/.*font-weight="bold">\([a-z_]*\)<.*/\1/p' graph.svg | tr '\n' ' ' | grep -q 'embed_source positions self self_norm feed_forward feed_norm' ||
    fail "another order: $(sed -n 's/.*font-weight="bold">\([a-z_]*\)<.*/\1/p' graph.svg | tr '\n' ' ')"

for model in gpt bert t5 bart marian multi30k_tiny; do
    draw "$models/$model.tfg" --what masks -o $model.svg
    draw "$models/$model.tfg" --what schedule --steps 1000 -o $model.svg
done
draw "$models/gpt.tfg" --what positions -o learned.svg
grep -q 'positions' learned.svg || fail "no learned positions"

refuses 1 "t5.tfg: the model has no vectors of positions" "$tfc" draw "$models/t5.tfg" --what positions -o no.svg
refuses 1 "it is not there\|cannot read" "$tfc" draw nothing.tfg --what masks -o no.svg
refuses 2 "what is missing: positions, masks, schedule or graph" "$tfc" draw "$models/gpt.tfg" -o no.svg
refuses 2 "what" "$tfc" draw "$models/gpt.tfg" --what picture -o no.svg
[ ! -e no.svg ] || fail "a picture was written"
echo "all is well"
