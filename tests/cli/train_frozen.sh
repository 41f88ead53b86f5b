#!/bin/sh
# What trains changes when a run is resumed: params thaw and freeze, and what becomes of the optimizer's slots is told.
# Usage: train_frozen.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_model | sed 's/1100/32/; s/p_drop = 0.2/p_drop = 0/' >model.tfg
words_backwards
"$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --steps 3 --out frozen --freeze encoder \
    2>err.txt || fail "$(cat err.txt)"
cat >values.py <<'END'
import json, struct, sys
def read(path):
    b = open(path, 'rb').read(); n = struct.unpack('<Q', b[:8])[0]; h = json.loads(b[8:8 + n]); h.pop('__metadata__')
    return {k: b[8 + n + t['data_offsets'][0]:8 + n + t['data_offsets'][1]] for k, t in h.items()}
END
resume() { # resume OUT STEPS …
    out=$1 steps=$2
    shift 2
    cp -r frozen "$out"
    "$tfc" train --resume --out "$out" --steps "$steps" "$@" 2>err.txt || fail "$out: $(cat err.txt)"
}

refuses 1 "error: --freeze: it was encoder and is now not given" "$tfc" train --resume --out frozen --steps 6 --only '**'
grep -q "error: --only: it was not given and is now \*\*" err.txt || fail "$(cat err.txt)"

# Thawed: all params move, and their slots are there.
for shards in 1 3; do
    rm -rf thawed
    if [ $shards = 1 ]; then set --; else set -- --shards $shards; fi
    resume thawed 6 --allow-change --only '**' "$@"
    grep -q "note: [0-9]* of the optimizer's tensors, such as 'optimizer.m.encoder[a-z0-9._]*', are not in .*: they begin at 0" err.txt ||
        fail "nothing tells of new slots: $(cat err.txt)"
    python3 - <<'END' || fail "nothing was thawed"
exec(open('values.py').read())
was, now = read('frozen/last.safetensors'), read('thawed/last.safetensors')
encoder = [n for n in was if n.startswith('encoder.') and n.endswith('weight')]
assert encoder and all(was[n] != now[n] for n in encoder), encoder
assert all('optimizer.v.' + n in now and 'optimizer.v.' + n not in was for n in encoder)
END
done
grep -q -- '"--freeze"' thawed/run.json && fail "run.json still has --freeze"
"$tfc" train --resume --out thawed --steps 7 2>err.txt || fail "what was thawed does not go on: $(cat err.txt)"

# Frozen while it goes on: told, and the params stay.
resume colder 6 --allow-change --freeze encoder --freeze decoder
grep -q "such as 'optimizer.m.decoder[a-z0-9._]*', belong to params that do not train now: they are dropped" err.txt ||
    fail "nothing tells of dropped slots: $(cat err.txt)"
python3 - <<'END' || fail "frozen params have moved"
exec(open('values.py').read())
was, now = read('frozen/last.safetensors'), read('colder/last.safetensors')
still = [n for n in was if n.startswith(('encoder.', 'decoder.'))]
assert still and all(was[n] == now[n] for n in still) and was['embedding'] != now['embedding']
END

# Without a change nothing is dropped or added, and nothing told.
resume same 4
! grep -q "optimizer's tensors" err.txt || fail "$(cat err.txt)"
