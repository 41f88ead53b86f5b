#!/bin/sh
# One sequence that the text ends: source and target, prompts, an earlier segment. Decoding computes what stands before
# the text once, chooses the argmax of whole runs, in beams and in compiled models, and what reads the text from
# there is refused at its line.
# Usage: before_text.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77
export OMP_NUM_THREADS=1

# model NAME DIMS INPUTS: the lines on standard input make x [B, T~, d_model]
model() {
    { printf 'model %s\nuse attention\nconst vocab = 30, d_model = 16, heads = 2, p_drop = 0\ndim %s\n%s\ninput tgt : token[B, T~]\n' \
        "$1" "$2" "$3"
      printf 'param e : [vocab, d_model] = normal(0, 0.3)\n'
      cat
      printf 'logits = x @ transpose(e)\noutput logits\nloss = cross_entropy(logits, next(tgt))\ntrain { rate = constant(0.01); batch = tokens(2048) }\n'
    } >"$1.tfg"
}
layer='x = layer_norm(x + attention as self(x, x, sees))'
source='input src : token[B, S~]'

# A source without a word is before nothing; rows after 32 tokens are moved.
model one 'B, S, T, M = S + T' "$source" <<END
i = reshape(position(M), [M, 1])
sees = reshape(position(M) <= i or position(M) < reshape(lengths(S), [B, 1, 1]), [B, 1, M, M])
x = concat([e[src], e[tgt]], 1) + sinusoid(M, d_model)
repeat 2 as layer { $layer }
x = shift(x, M, 1) + x
x = slice(x, 1, S, T)
END
model prompt 'B, T, C = 3 + T' '' <<END
param prompt : [3, d_model] = normal(0, 1)
sees = causal(C)
x = concat([reshape(prompt, [1, 3, d_model]), e[tgt]], 1) + sinusoid(C, d_model)
repeat 2 as layer { $layer }
x = slice(x, 1, 3, T)
END
sed 's/tgt/tokens/g' prompt.tfg >tokens && mv tokens prompt.tfg
model both 'B, S, T, C = 2 + S, M = C + T' "$source" <<END
param prompt : [2, d_model] = normal(0, 1)
of_source = position(M) < reshape(int(lengths(C)), [B, 1, 1])
sees = reshape(of_source or position(M) <= reshape(position(M), [M, 1]), [B, 1, M, M])
x = concat([reshape(prompt, [1, 2, d_model]), e[src], e[tgt]], 1) + sinusoid(M, d_model)
$layer
x = slice(x, 1, C, T)
END
model memory 'B, S, T, M = S + T' "$source" <<END
sees = position(M) <= reshape(position(T), [T, 1]) + reshape(int(lengths(S)), [B, 1, 1])
old = e[src]
x = e[tgt]
repeat 2 as layer {
  all = concat([stop_gradient(old), x], 1)
  old = layer_norm(old + attention as old_self(old, old, causal(S)))
  x = layer_norm(x + attention as self(x, all, reshape(sees, [B, 1, T, M])))
}
END
# Keys and values that are made of a latent: it is kept, of what stands before the text, too.
model latent 'B, S, T, M = S + T' "$source" <<END
i = reshape(position(M), [M, 1])
sees = reshape(position(M) <= i or position(M) < reshape(lengths(S), [B, 1, 1]), [B, 1, M, M])
x = concat([e[src], e[tgt]], 1) + sinusoid(M, d_model)
repeat 2 as layer {
  c = rms_norm as latent(linear as down(x, 4))
  q = heads_of(linear as query(x, 32), 4)
  k = heads_of(linear as key(c, 32, bias = false), 4)
  v = heads_of(linear as value(c, 32, bias = false), 4)
  x = layer_norm(x + linear as output(join_heads(softmax(mask(q @ transpose(k) / 3, sees)) @ v), d_model))
}
x = slice(x, 1, S, T)
END
"$tfc" info latent.tfg >out || fail "$(cat out)"
grep -q "cached  *layer.1.latent .*M'.*, 4\\], 4 numbers" out && grep -qx 'decoding caches 8 numbers, 32 bytes, a position' out ||
    fail "latents before a text are not kept: $(cat out)"
grep -q "where   M' = S + P: positions before the text, then its own" out || fail "$(cat out)"
for name in one prompt both memory latent; do
    "$tfc" dump $name.tfg --function decode_step --stage graph >$name.step 2>err || fail "$name: $(cat err)"
    grep -q "cache.0.*M''*\"~\|cache.0.*C''*\"~" $name.step || fail "$name: no cache along the whole: $(cat $name.step)"
    [ -z "$short" ] || [ $name = one ] || continue
    "$tfc" check $name.tfg --samples 1 >out 2>err || fail "$name: $(cat out err)"
    grep -q '^ok *token by token' out || fail "$name is not decoded: $(cat out err)"
done

# What would have to be computed anew with each token.
refuses_text() { # refuses_text NAME LINE:COLUMN REASON
    refuses 1 "^$1.tfg:$2: error: .*$3" "$tfc" dump "$1.tfg" --function decode_step --stage graph
}
model behind 'B, S, T, M = S + T' "$source" <<END
x = concat([e[tgt], e[src]], 1)
x = x + 0
x = slice(x, 1, 0, T)
END
refuses_text behind '8:[0-9]*' 'nothing shows that the positions it looks up are not after its own'
model reads_text 'B, S, T, M = S + T' "$source" <<END
sees = reshape(position(M) <= reshape(position(M), [M, 1]) or position(M) <= reshape(int(lengths(S)), [B, 1, 1]), [B, 1, M, M])
x = concat([e[src], e[tgt]], 1)
$layer
x = slice(x, 1, S, T)
END
refuses_text reads_text '10:[0-9]*' 'nothing shows that its operand is -inf where the key comes after the query'
model first_word 'B, S, T, M = S + T' "$source" <<END
x = concat([e[src], e[tgt]], 1)
x = x + lookup(x, M, reshape(int(lengths(S)), [B, 1]))
x = slice(x, 1, S, T)
END
refuses_text first_word '9:[0-9]*' 'nothing shows that the positions it looks up are not after its own'
model doubled 'B, T, M = 2 * T' '' <<END
x = lookup(e[tgt], T, int(position(M) / 2))
x = slice(x, 1, 0, T)
END
refuses_text doubled '8:[0-9]*' 'the dimension M is made of T, along which tokens are generated'
[ -z "$short" ] || exit 0

letters_in_steps
printf 'a b\nh\nc e g a c e\nb b b\n' >prompts
for name in one both memory; do
    "$tfc" train $name.tfg --source train.src --target train.tgt --vocab words:auto --steps 250 --out $name 2>err || fail "$name: $(cat err)"
    "$tfc" translate $name --input prompts --beam 1 --token-scores >decoded 2>err || fail "$name: $(cat err)"
    different=$(python3 "$root/tests/cli/argmax.py" "$tfc" $name decoded) || fail "$name: other tokens than the argmax: $(cat decoded)"
    [ "$different" -gt 3 ] || fail "$name: $different tokens again and again show little: $(cat decoded)"
    "$tfc" translate $name --input prompts --beam 4 >together
    while read -r line; do printf '%s\n' "$line" | "$tfc" translate $name --beam 4; done <prompts >alone
    cmp -s together alone || fail "$name: another translation beside others: $(cat together alone)"
    "$tfc" compile $name -o $name.exe --emit exe 2>err || fail "$name: $(cat err)"
    ./$name.exe --beam 4 <prompts >got 2>err || fail "$name compiled: $(cat err)"
    cmp -s got together || fail "$name compiled translates otherwise: $(cat got)"
done
"$tfc" train prompt.tfg --text train.src --vocab words:auto --steps 250 --out prompt 2>err || fail "prompt: $(cat err)"
"$tfc" generate prompt --input prompts --temperature 0 --tokens 50 --json >decoded 2>err || fail "prompt: $(cat err)"
[ "$(python3 "$root/tests/cli/argmax.py" "$tfc" prompt decoded)" -gt 3 ] || fail "prompt: $(cat decoded)"
"$tfc" generate prompt --input prompts --temperature 0 --tokens 50 >expected
"$tfc" compile prompt -o prompt.exe --emit exe 2>err || fail "prompt: $(cat err)"
./prompt.exe --temperature 0 --tokens 50 <prompts >got 2>err || fail "prompt compiled: $(cat err)"
cmp -s got expected || fail "prompt compiled continues otherwise: $(cat got)"
"$tfc" compile prompt -o libprompt.so 2>err || fail "prompt: $(cat err)"
grep -q 'prompt_decode_begin' prompt.h || fail "the library begins no texts: $(cat prompt.h)"
! grep -q 'prompt_encode(' prompt.h || fail "the library asks for sources: $(cat prompt.h)"

# The same texts by C in one file and by WebAssembly.
"$tfc" translate both --input prompts --beam 4 >expected
"$tfc" compile both --emit c -o both.c 2>err || fail "C: $(cat err)"
cat >answer.c <<'END'
#include "both.h"
#include <stdio.h>
#include <string.h>
int main(void)
{
    both *model;
    both_session *session;
    both_generation settings;
    const char *answer;
    char line[100];
    int status = both_open(NULL, &model);
    if (!status)
        status = both_session_new(model, &session);
    if (!status)
        status = both_generation_defaults(model, &settings);
    settings.beam = 4;
    while (!status && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        status = both_translate_text(session, &settings, line, (int64_t)strlen(line), &answer, NULL);
        puts(status ? both_error_detail() : answer);
    }
    return status;
}
END
gcc -std=gnu11 -O1 -fopenmp-simd -ffp-contract=off -march=native both.c answer.c -o answer -pthread -lm 2>err || fail "C: $(cat err)"
./answer <prompts >got || fail "C: $(cat got)"
cmp -s got expected || fail "C translates otherwise: $(cat got)"
without=
for need in clang-19 wasm-ld-19 node; do command -v $need >/dev/null || without="WebAssembly ($need)"; done
[ -e /usr/include/wasm32-wasi ] || without="WebAssembly (wasi-libc)"
if [ -z "$without" ]; then
    "$tfc" compile both --emit js -o package 2>err || fail "WebAssembly: $(cat err)"
    node --input-type=module -e '
        const model = await (await import(process.argv[1])).load()
        for (const {text} of model.answers(process.argv[2], {beam: 4})) console.log(text)
    ' "$work/package/index.js" "$(cat prompts)" >got 2>err || fail "WebAssembly: $(cat err)"
    cmp -s got expected || fail "WebAssembly translates otherwise: $(cat got)"
fi

# ONNX: logits of forward, and token by token behind what encode gives.
if command -v node >/dev/null && [ -e "$root/build/npm/node_modules/onnxruntime-node" ]; then
    ort() { (cd "$root" && node tests/cli/onnx.mjs "$@") 2>err || fail "$name: $(cat err)"; }
    for name in one prompt both memory; do
        for function in forward encode decode_step; do
            "$tfc" export $name --format onnx --function $function -o $name.$function.onnx || fail "$name: no $function"
        done
        ort inputs "$work/$name.forward.onnx" "$work/$name.in" 10
        "$tfc" run $name --function forward --in $name.in --out $name.out 2>err || fail "$name: $(cat err)"
        ort forward "$work/$name.forward.onnx" "$work/$name.in" "$work/$name.out"
        ort steps "$work/$name.encode.onnx" "$work/$name.decode_step.onnx" "$work/$name.in" "$work/$name.out"
    done
else
    without="$without, ONNX (no onnxruntime-node in build/npm)"
fi
[ -z "$without" ] || echo "not run: $without"
echo "before the text: computed once, decoded by argmax, refused where it reads the text"
