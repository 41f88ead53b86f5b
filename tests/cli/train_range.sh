#!/bin/sh
# Gradients and rates at the ends of f32's range: the norm does not overflow before the gradient does, in pieces or not, and
# a step whose update would is none, in training and in compiled libraries.
# Usage: train_range.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
words_backwards

model() { # model GRADIENT OPTIMIZER CLIP RATE
    cat <<END
model pairs
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8, p_drop = 0
param w : [16] = zeros
loss = cross_entropy(logits, next(tgt), label_smoothing = smoothing) + sum(w) * $1
train { optimizer = $2; rate = constant($4); batch = tokens(400); clip_norm = $3; report_every = 1 }
END
}
train() { # train OUT …
    out=$1
    shift
    rm -rf "$out"
    "$tfc" train pairs.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --steps 2 --out "$out" "$@"
}

# The norm of 16 gradients of 3e19 is 1.2e20, and w goes along with the rate: each of 2 steps -0.1 / 4.
for optimizer in 'sgd(momentum = 0)' 'adam()'; do
    model 3e19 "$optimizer" 1 0.1 >pairs.tfg
    for pieces in "" "--shards 2" "--accumulate 2"; do
        # shellcheck disable=SC2086
        train run $pieces 2>err.txt || fail "$optimizer $pieces: $(cat err.txt)"
        [ "$(sed -n 's/.*"gradient_norm": 1.2\(0*[0-9]*\)e+20.*/norm/p' run/log.jsonl | wc -l)" = 2 ] ||
            fail "$optimizer $pieces: another norm: $(cat run/log.jsonl)"
    done
    python3 - "$optimizer" <<'END' || fail "$optimizer: w is another"
import json, struct, sys
b = open('run/last.safetensors', 'rb').read(); n = struct.unpack('<Q', b[:8])[0]; a, z = json.loads(b[8:8 + n])['w']['data_offsets']
w = struct.unpack('<16f', b[8 + n + a:8 + n + z])
want = -0.05 if sys.argv[1].startswith('sgd') else -0.2
assert all(abs(x - want) < 1e-5 for x in w), w
END
done

# What Adam keeps of a gradient is its square, which f32 has to hold: without clipping this is too much. So is a norm
# beyond f32, clipped or not.
model 3e19 'adam()' 0 0.1 >pairs.tfg
for pieces in "" "--shards 2" "--accumulate 2"; do
    # shellcheck disable=SC2086
    refuses 1 "step 1: the norm of the gradient, or the update that it makes, is infinite" train run $pieces
done
model 3e38 'sgd()' 1 0.1 >pairs.tfg
refuses 1 "step 1: the norm of the gradient.* is infinite" train run
refuses 1 "step 1: the norm of the gradient.* is infinite" train run --shards 2

# An update beyond f32 of a gradient within it.
model 3e37 'sgd()' 0 1000 >pairs.tfg
for pieces in "" "--shards 2" "--accumulate 2"; do
    # shellcheck disable=SC2086
    refuses 1 "step 1: the norm of the gradient, or the update that it makes, is infinite" train run $pieces
done

# A library's step with such a rate gives an error and leaves all as it was.
model 1 'adam()' 1 0.1 >pairs.tfg
"$tfc" compile pairs.tfg --function train_step -o libpairs.so 2>err.txt || fail "$(cat err.txt)"
cat >rates.c <<'END'
#include "pairs.h"
#include <math.h>
#include <stdio.h>
int main(void)
{
    const double rates[] = {0.01, 1e300, -1e300, NAN, INFINITY, 1e38, 3e38, 0.01};
    const int32_t lengths[] = {2}, source[] = {4, 5}, next[] = {5, 1};
    pairs *model;
    pairs_session *session;
    if (pairs_open_new(3, &model) || pairs_session_new(model, &session))
        return 1;
    for (int i = 0; i < 8; i++) {
        pairs_train_step_in in = {.seed = 1, .B = 1, .S_lengths = lengths, .T_lengths = lengths, .src = source, .tgt = source,
                                  .tgt_next = next, .rate = rates[i]};
        pairs_train_step_out out;
        int status = pairs_train_step(session, &in, &out);
        printf("%d %d %s\n", status, (int)pairs_steps(model), status ? pairs_error_detail() : "");
        char name[32];
        snprintf(name, sizeof name, "%d.safetensors", i);
        if (pairs_save(model, name))
            printf("not saved: %s\n", pairs_error_detail());
    }
    return 0;
}
END
cc rates.c -o rates -I. -L. -lpairs -Wl,-rpath,. || fail "cc"
./rates >out.txt || fail "rates: $(cat out.txt)"
echo "0 6 6 6 6 9 9 0" | tr ' ' '\n' >expected.txt
cut -d ' ' -f 1 out.txt | cmp - expected.txt || fail "other statuses: $(cat out.txt)"
[ "$(grep -c ".rate. is [-a-z0-9+]*, which is not finite as f32" out.txt)" = 4 ] || fail "$(cat out.txt)"
for i in 1 2 3 4 5 6; do
    cmp 0.safetensors $i.safetensors || fail "the refused step $i has changed something"
done
! cmp -s 0.safetensors 7.safetensors || fail "the last step changed nothing"
