#!/bin/sh
# tfc align: the words of a model that has learnt to translate word by word, whatever the pieces they
# are cut into; the layer and head that are asked for; a lexical table; wrong usage.
# Usage: align.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model words
use transformer_pre_norm
const encoder_layers = 0, decoder_layers = 1, d_model = 32, d_ff = 64, heads = 2, vocab = 8
const p_drop = 0, smoothing = 0
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = cosine(peak = 0.01, warmup = 30)
  batch     = tokens(400)
}
END
shared_runs
for part in train valid; do rm $part.tgt && tr a-h A-H <$part.src >$part.tgt; done

# is_aligned FILE: nine words in ten lie on their own
is_aligned() {
    paste -d '|' valid.src "$1" | awk -F '|' '{
        n = split($1, word, " "); m = split($2, link, " ")
        if (n != m) { print "line " NR ": " m " links of " n " words"; bad = 1 }
        for (t = 1; t <= m; t++) {
            split(link[t], side, "-"); words++
            if (side[2] != t - 1) { print "line " NR ": " link[t]; bad = 1 }
            right += side[1] == side[2]
        }
    } END { print right " of " words; exit bad || right < 0.9 * words }' || fail "$1 is not aligned"
}
"$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --out run --steps 400 2>err ||
    fail "$(cat err)"
"$tfc" align run --source valid.src --target valid.tgt --shortlist lex --output links 2>err || fail "$(cat err)"
is_aligned links
grep -q 'aligned by decoder.layer.0.cross, layer 0, the most confident (0\.[0-9]*)' err || fail "$(cat err)"
"$tfc" align run --source valid.src --target valid.tgt --layer 0 2>err | cmp - links || fail "another layer 0"
[ -s err ] && fail "told what was asked for: $(cat err)"
awk 'NF != 3 || $3 <= 0 || $3 > 1 { bad = 1 }
     { of[$2] += $3; if (toupper($2) == $1 && $3 > 0.8) right++ }
     END { for (s in of) if ((of[s] - 1) ^ 2 > 1e-8) bad = 1; exit bad || right != 8 }' lex || fail "$(cat lex)"

# A head is one of the mean: where both look at a word with more than half, the mean does.
for head in 0 1; do
    "$tfc" align run --source valid.src --target valid.tgt --layer 0 --head $head >head.$head || fail "head $head"
done
"$tfc" align run --source valid.src --target valid.tgt --at read --layer 0 >read || fail "--at read"
cmp -s read links && fail "--at read gives the same"

# Sides without words give empty lines; unequal sides and a missing one are told.
printf 'a b\n\nc\n' >three.src
printf 'A B\nC\n\n' >three.tgt
"$tfc" align run --source three.src --target three.tgt --layer 0 >three || fail "empty lines"
[ "$(sed -n 's/ .*//p' three | wc -l)/$(wc -l <three)/$(sed -n '2,3p' three | tr -d '\n')" = 1/3/ ] || fail "$(cat three)"
refuses 2 "target is missing: --source needs it" "$tfc" align run --source three.src
refuses 2 "give --layer too" "$tfc" align run --source three.src --target three.tgt --head 1
refuses 1 "the model has 1 layer that attends to its source: give 0" "$tfc" align run --source three.src --target three.tgt --layer 1
refuses 1 "has 2 heads" "$tfc" align run --source three.src --target three.tgt --layer 0 --head 2
refuses 1 "lines" "$tfc" align run --source three.src --target valid.tgt
refuses 1 "cannot read none (--source): there is no such file" "$tfc" align run --source none --target valid.tgt

# Words of several pieces, blanks of any width, and a character that the pieces' normal form splits.
sed 's/[a-h]/&x&y/g' train.src >pieces.src
sed 's/[A-H]/&x&y/g' train.tgt >pieces.tgt
for side in src tgt; do head -n 100 valid.$side | sed 's/[a-hA-H]/&x&y/g; s/ /   /g' >pieces.valid.$side; done
"$tfc" train model.tfg --source pieces.src --target pieces.tgt --vocab auto:40 --out pieces --steps 2 2>err || fail "$(cat err)"
"$tfc" align pieces --source pieces.valid.src --target pieces.valid.tgt >pieces.links 2>err || fail "$(cat err)"
paste -d '|' valid.src pieces.links | awk -F '|' '{ n = split($1, w, " "); if (split($2, l, " ") != n) bad = 1
    for (t = 1; t <= n; t++) { split(l[t], side, "-"); if (side[2] != t - 1 || side[1] < 0 || side[1] >= n) bad = 1 }
} END { exit bad }' || fail "$(head -n 3 pieces.links)"
printf 'axay ½ ﬁ bxby\n' >odd.src
printf 'AxAy ½ BxBy\n' >odd.tgt
"$tfc" align pieces --source odd.src --target odd.tgt 2>/dev/null >odd || fail "odd"
[ "$(wc -w <odd)" = 3 ] || fail "$(cat odd)"

refuses 1 "no attention of its target over a source" "$tfc" align "$runs/generator" --source three.src --target three.tgt
