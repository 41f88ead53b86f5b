#!/bin/sh
# What cannot be decoded token by token is refused in the words of the model, at its line: the length of the
# text that is being made, tables of positions, other inputs along its dimension.
# Usage: not_stepwise.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# refuses_step NAME LINE:COLUMN MESSAGE: the model on standard input
refuses_step() {
    cat >"$1.tfg"
    refuses 1 "^$1.tfg:$2: error: $3" "$tfc" dump "$1.tfg" --function decode_step --stage graph
    ! grep -q '~ against' err.txt || fail "$1: $(cat err.txt)"
}
refuses_step lengths 5:40 'lengths depends on later positions, so the model cannot decode token by token: it is the length of the whole text' <<'END'
model m
use language_model
const vocab = 64, layers = 1, d_model = 32, heads = 4, context = 64
block decoder(text) {
  x = embed as _(text) * reshape(float(lengths(T)), [B, 1, 1])
  repeat layers as layer { x = decoder_layer as _(x) }
  return layer_norm as norm(x)
}
END
"$tfc" dump lengths.tfg --function forward --stage graph >/dev/null || fail "the whole text has lengths"
refuses_step size 4:27 'size depends on later positions, so the model cannot decode token by token: it is the length of the whole text' <<'END'
model m
use language_model
const vocab = 64, layers = 1, d_model = 32, heads = 4, context = 64
block decoder(text) { x = size(T) * 0.01; return embed as _(text) * x }
END
# Scores that are -inf are masked; what they are taken from is +inf there.
scores() { # EXPRESSION
    cat <<END
model m
use language_model
const vocab = 64, layers = 1, d_model = 32, heads = 4, context = 64
block decoder_layer(x) {
  s = x @ transpose(x)
  return x + softmax($1) @ x
}
END
}
scores 's - mask(s, causal(T))' | refuses_step subtracted 6:14 \
    'softmax in layer.0 depends on later positions, .* nothing shows that its operand is -inf'
refuses_step along 6:17 'softmax in layer.0 cannot be computed a position at a time: it runs along positions, of which a step has the newest alone' <<'END'
model m
use language_model
const vocab = 64, layers = 1, d_model = 32, heads = 4, context = 64
block decoder_layer(x) {
  s = x @ transpose(x)
  w = transpose(softmax(transpose(s) + mask(s, causal(T))))
  return x + (w * select(causal(T), 1, 0)) @ x
}
END
for masked in 's + mask(s, causal(T))' 'mask(s, causal(T)) - s'; do
    scores "$masked" >masked.tfg
    "$tfc" dump masked.tfg --function decode_step --stage graph >/dev/null || fail "masked: $masked"
done
# A length is not 0, whether it divides or is what a power below 0 or a logarithm is taken of.
for scaled in 'x / n' 'x / n ^ 0.5' 'x * n ^ -0.5' 'x * rsqrt(n)' 'x * log(n)' 'x * log(n) ^ -2'; do
    cat >scaled.tfg <<END
model m
use transformer_pre_norm
const vocab = 64, layers = 2, d_model = 32, heads = 4, d_ff = 32
block encoder_layer(x) { n = reshape(lengths(S), [B, 1, 1]); return $scaled }
END
    "$tfc" dump scaled.tfg --function decode_step --stage graph >/dev/null || fail "lengths of the source: $scaled"
done
# Nobody asked for decoding: it is left out.
scores s >undecodable.tfg
"$tfc" check undecodable.tfg --samples 1 >out.txt 2>err.txt || fail "check of a model that does not decode: $(cat out.txt)"
grep -q '^skipped  token by token' out.txt || fail "check says: $(cat out.txt)"
grep -q 'undecodable.tfg:6:14: warning: softmax in layer.0 depends on later positions' err.txt || fail "check: $(cat err.txt)"
"$tfc" compile undecodable.tfg -o undecodable.o --emit obj 2>err.txt || fail "compile: $(cat err.txt)"
grep -q 'undecodable.tfg:6:14: note: encode and decode_step are left out: softmax' err.txt || fail "compile says: $(cat err.txt)"
grep -q m_forward m.h && ! grep -q decode_step m.h || fail "decode_step is in the header"
refuses 1 '^undecodable.tfg:6:14: error: softmax' "$tfc" compile undecodable.tfg -o undecodable.o --emit obj --function decode_step
refuses_step beside 4:7 'this input cannot be computed a position at a time: it has the dimension of what is generated' <<'END'
model m
const vocab = 64, d = 8
dim B, T
input src : token[B, T~]
input tgt : token[B, T~]
param e : [vocab, d] = normal(0, 1)
output logits = (e[src] + e[tgt]) @ transpose(e)
loss = cross_entropy(logits, next(tgt))
END
# Nor did anybody who trains, measures or reports such a model of pairs.
cat >sees.tfg <<'END'
model sees
use transformer
const vocab = 20, layers = 1, d_model = 16, heads = 2, d_ff = 16
block decoder_mask() { return true }
END
printf 'a b c\nb c d a\n' >pairs.txt
why='the model cannot go on with a text token by token (tfc check tells why'
"$tfc" train sees.tfg --source pairs.txt --target pairs.txt --valid-source pairs.txt --valid-target pairs.txt \
    --vocab words:auto --steps 1 --out run >out.txt 2>err.txt || fail "train: $(cat err.txt)"
grep -qF "validations keep no translations: $why; --no-bleu leaves" err.txt || fail "train says: $(cat err.txt)"
told() { # WORDS COMMAND…: the command succeeds, with the one note
    words=$1
    shift
    "$tfc" "$@" >out.txt 2>err.txt || fail "$1: $(cat err.txt)"
    test "$(grep -cF "note: $words: $why)" err.txt)" = 1 || fail "$1 says: $(cat err.txt)"
}
told 'no BLEU and no exact matches' eval run --source pairs.txt --target pairs.txt
grep -q '^perplexity ' out.txt && ! grep -q BLEU out.txt || fail "eval prints: $(cat out.txt)"
told 'the report shows no translations' report run -o report.html

# What decoding keeps: keys and values of 16 numbers in each of 1 layer, of the source once a text.
"$tfc" info sees.tfg | grep -qx 'cannot go on with a text token by token: tfc check tells why' || fail "info of a model that does not decode"
sed '/^block/d' sees.tfg >steps.tfg
"$tfc" info steps.tfg >out.txt
grep -qx 'decoding caches 32 numbers, 128 bytes, a position' out.txt || fail "info: $(tail -n 1 out.txt)"
test "$(grep -c '^  cached  .*16 numbers a position$' out.txt) $(grep -c '^  kept    memory.*S~.*, once a text$' out.txt)" = '2 2' ||
    fail "info: $(tail -n 6 out.txt)"
echo "what is not computed a position at a time is refused in the model's words"
