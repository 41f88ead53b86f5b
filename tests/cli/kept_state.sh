#!/bin/sh
# What decoding keeps beside keys and values: the last rows that convolutions read, and latents. Each hypothesis of a
# beam search has its own: its score is that of its whole text. So has a compiled library.
# Usage: kept_state.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77
letters_in_steps
cat >kept.tfg <<'END'
model kept
use transformer
const vocab = 20, layers = 1, d_model = 32, heads = 4, p_drop = 0, rank = 8
block latent(x, allowed) {
  c = linear as down(x, rank, bias = false)
  k = heads_of(linear as k_up(c, d_model, bias = false), heads)
  v = heads_of(linear as v_up(c, d_model, bias = false), heads)
  q = heads_of(linear as query(x, d_model, bias = false), heads)
  return linear as output(join_heads(softmax(mask(q @ transpose(k) * 8 ^ -0.5, allowed)) @ v), d_model)
}
block decoder_layer(y, memory) {
  y = y + conv as c(y, 4) + token_shift as t(y)
  y = add_norm as self_norm(y, latent as self(y, decoder_mask()))
  y = add_norm as cross_norm(y, attention as cross(y, memory, cross_mask()))
  return add_norm as feed_norm(y, conv as full(y, 2, d_model))
}
train { rate = constant(0.003); batch = tokens(1024) }
END
"$tfc" info kept.tfg >info || fail "info"
grep -q 'cached .*self.down .*f32\[B, P~, 8\], 8 numbers a position' info || fail "the latent is not kept: $(cat info)"
grep -q 'cached .*f32\[B, 3, 32\], the last 3 rows' info || fail "not the last three rows: $(cat info)"
grep -q 'cached .*f32\[B, 1, 32\], the last 1 row$' info || fail "not the last row: $(cat info)"
grep -q 'decoding caches 8 numbers' info || fail "more is kept: $(cat info)"
"$tfc" train kept.tfg --source train.src --target train.tgt --vocab words:auto --steps 60 --out run 2>err || fail "$(cat err)"
printf 'a b c d\nh\nc e g a c e g\nb b b\n\na d f\n' >lines
for beam in 1 4; do
    "$tfc" translate run --input lines --beam $beam --nbest $beam --token-scores >"beam$beam" 2>err || fail "$(cat err)"
done
cat >pairs.py <<'END'
import json, sys
beam, sources = sys.argv[1], open("lines").read().split("\n")
with open(f"beam{beam}") as file:
    found = [line for line in map(json.loads, file) if line["text"] and sources[line["line"]]]
if len(sys.argv) > 2:
    with open(f"score{beam}") as file:
        whole = [json.loads(line)["tokens"] for line in file]
    assert len(whole) == len(found) >= 3 * int(beam), (len(whole), len(found))
    for line, scores in zip(found, whole):
        for (token, have), (other, want) in zip(line["tokens"], scores, strict=True):
            assert token == other and abs(have - want) < 1e-4, (line, scores)
else:
    with open(f"src{beam}", "w") as src, open(f"tgt{beam}", "w") as tgt:
        for line in found:
            src.write(sources[line["line"]] + "\n")
            tgt.write(line["text"] + "\n")
END
for beam in 1 4; do
    python3 pairs.py $beam
    "$tfc" score run --source src$beam --target tgt$beam --token-scores >score$beam 2>err || fail "$(cat err)"
    python3 pairs.py $beam scores || fail "beam $beam: a hypothesis has other scores than its text"
done
[ -z "$short" ] || exit 0

# Compiled, and as one file of C: the same texts.
grep . lines >texts
"$tfc" translate run --input texts >plain
"$tfc" compile run --emit exe -o kept 2>err || fail "$(cat err)"
./kept <texts >compiled || fail "compiled"
cmp -s plain compiled || fail "compiled: $(diff plain compiled)"
"$tfc" compile run --emit c -o kept.c 2>err || fail "$(cat err)"
sed 's/pronounce/kept/g' "$root/examples/translate_text.c" >text.c
cc -std=gnu11 -O1 -fopenmp-simd -ffp-contract=off -I. kept.c text.c -lm -pthread -o one 2>err || fail "$(cat err)"
./one <texts >compiled || fail "as C"
cmp -s plain compiled || fail "as C: $(diff plain compiled)"
