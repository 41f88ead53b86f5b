#!/bin/sh
# Tokens that the vocabulary lacks are told wherever texts become tokens, and a training on mostly such
# tokens is refused. Run: sh tests/cli/unknown.sh build/release/tfc
set -eu
. tests/common.sh
enter_work
i=0
while [ $i -lt 100 ]; do
    echo "red cat $((i % 7)) sees dog $((i % 5))" >>known.src
    echo "rote Katze $((i % 7)) sieht Hund $((i % 5))" >>known.tgt
    echo "привет мир $((i % 7))" >>strange.src
    echo "🙂 🙃 ☂ $((i % 5))" >>strange.tgt
    i=$((i + 1))
done
{ cat known.src && echo "red 🙂 cat"; } >nearly.src
{ cat known.tgt && echo "rote 🙂 Katze"; } >nearly.tgt
cat >phrases.tfg <<'END'
model phrases
use transformer_pre_norm
const vocab = 100, layers = 1, d_model = 16, d_ff = 16, heads = 1, p_drop = 0
train {
  optimizer = adam()
  rate = constant(0.003)
  batch = tokens(400)
  max_length = 64
}
END
"$tfc" train phrases.tfg --source known.src --target known.tgt --valid-source known.src --valid-target known.tgt \
    --vocab auto:60 --steps 2 --no-bleu --out base 2>err || fail "$(cat err)"
! grep -q 'unknown' err || fail "told of a text without: $(cat err)"

# told FILE PATTERN: standard error tells it
told() { grep -q -- "$2" "$1" || fail "no '$2' in: $(cat "$1")"; }
sources="of the sources' tokens (.*) are unknown" targets="of the targets' tokens (.*) are unknown"

# Training: refused above 30 %, and not by --allow-unknown; the share is that of tfc data.
refuses 1 'are unknown to the vocabulary' "$tfc" train base --source strange.src --target strange.tgt --steps 2 --out no
told err.txt "strange.src: .*$sources" && told err.txt "strange.tgt: .*$targets" && told err.txt -- '--allow-unknown'
[ ! -e no/last.safetensors ] || fail "trained all the same"
share=$("$tfc" data strange.src strange.tgt --vocab base | sed -n 's/^Source.*unknown (\([0-9.]*\) .*/\1/p' |
    awk '{ printf "%.1f", $1 }')
told err.txt "$share % of the sources'"
"$tfc" train base --source strange.src --target strange.tgt --steps 2 --no-bleu --allow-unknown --out tuned 2>err ||
    fail "--allow-unknown: $(cat err)"
told err "$targets"
"$tfc" train base --source known.src --target known.tgt --valid-source strange.src --valid-target strange.tgt --steps 1 \
    --no-bleu --out tuned2 2>err || fail "validation: $(cat err)"
told err "strange.src: .*$sources"
# Below half a percent nothing is told.
"$tfc" eval base --source nearly.src --target nearly.tgt --beam 1 >out 2>err || fail "$(cat err)"
! grep -q unknown err || fail "told of so few: $(cat err)"

# Prepared data: told, recorded, and told again where shards are kept; training on it is refused.
"$tfc" prepare --source strange.src --target strange.tgt --vocab base -o p 2>err || fail "$(cat err)"
told err "$sources" && told err "$targets"
"$tfc" prepare --source strange.src --target strange.tgt --vocab base -o p 2>again || fail "$(cat again)"
[ "$(grep unknown err)" = "$(grep unknown again)" ] || fail "kept shards have others: $(cat again)"
refuses 1 'allow-unknown' "$tfc" train phrases.tfg --prepared p --steps 1 --out no2

# Use: the share after the answers.
head -n 2 strange.src | "$tfc" translate base --beam 1 >out 2>err || fail "$(cat err)"
[ "$(wc -l <out)" = 2 ] && told err 'of the tokens (.*) are unknown'
"$tfc" score base --source strange.src --target strange.tgt >out 2>err || fail "$(cat err)"
told err "$sources" && told err "$targets"
"$tfc" eval base --source strange.src --target strange.tgt --beam 1 >out 2>err || fail "$(cat err)"
told err "$sources"
echo "🙂" >prefix
echo "red cat 1" | "$tfc" translate base --beam 1 --prefix prefix >out 2>err || fail "$(cat err)"
told err 'prefix: .*unknown'
echo "red cat 1" | "$tfc" translate base --beam 1 >out 2>err && ! grep -q unknown err || fail "told of nothing"

# The compiled library's text functions, and its Python module.
command -v python3 >/dev/null || exit 0
"$tfc" compile base -o libphrases.so 2>err || fail "$(cat err)"
python3 - <<'END' || fail "Python"
import sys, warnings
sys.path.insert(0, ".")
import phrases
with phrases.Model() as model, warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    model.translate_text("red cat 1 sees dog 2", beam=1)
    tokens, unknown, note = model.unknown()
    assert tokens > 5 and unknown == 0 and note is None and not seen, (tokens, unknown, note)
    model.translate_text("привет мир 1\nred cat", beam=1)
    tokens, unknown, note = model.unknown()
    assert unknown == 2 and "of the text's tokens (%d of %d) are unknown" % (unknown, tokens) in note, (tokens, unknown, note)
    assert len(seen) == 1 and str(seen[0].message) == note, seen
    model.translations(["привет"], beam=1)
    assert len(seen) == 2 and model.unknown()[1] == 1, seen
END
