#!/bin/sh
# Params that are not finite: whatever reads weights names the tensor and its first such value.
# Usage: weights_finite.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_model | sed 's/1100/32/' >model.tfg
words_backwards
"$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --steps 1 --out run 2>err.txt || fail "$(cat err.txt)"
"$tfc" export run -o good.safetensors
# As a broken conversion or download leaves it, without checksums, as other programs' files are.
cat >spoil.py <<'END'
import json, struct, sys
src, out, name, number, value, only = sys.argv[1:]
b = bytearray(open(src, 'rb').read()); n = struct.unpack('<Q', b[:8])[0]; h = json.loads(b[8:8 + n])
if only == 'weights':
    h.pop('__metadata__', None)
else:
    h['__metadata__'].pop('xxh64_blocks')
at = 8 + n + h[name]['data_offsets'][0] + 4 * int(number)
b[at:at + 4] = struct.pack('<f', float(value))
j = json.dumps(h).encode(); j += b' ' * (-len(j) % 8)
open(out, 'wb').write(struct.pack('<Q', len(j)) + j + bytes(b[8 + n:]))
END
gain=$(python3 -c "
import json, struct
b = open('good.safetensors', 'rb').read(); h = json.loads(b[8:8 + struct.unpack('<Q', b[:8])[0]])
print(sorted(n for n in h if n.endswith('gain'))[0])")
python3 spoil.py good.safetensors nan.safetensors "$gain" 3 nan weights
python3 spoil.py good.safetensors inf.safetensors embedding 70 inf weights
vocab="--vocab run/vocab.txt"
nan="nan.safetensors: '$gain' is not finite: 1 of its 32 values, number 4 the first, is NaN"
inf="inf.safetensors: 'embedding' is not finite: 1 of its [0-9]* values, number 71 the first, is infinite"
texts="--source valid.src --target valid.tgt"
for file in nan inf; do
    eval "message=\$$file"
    model="model.tfg --weights $file.safetensors $vocab"
    # shellcheck disable=SC2086
    for command in "translate $model --input valid.src" "translate $model --sample --input valid.src" "eval $model $texts" \
        "score $model $texts" "train $model $texts --steps 1 --out no"; do
        refuses 1 "$message" "$tfc" $command
    done
    [ ! -s out.txt ] || fail "$file: an answer: $(cat out.txt)"
    # shellcheck disable=SC2086
    refuses 1 "$message" "$tfc" compile model.tfg --set vocab="$(wc -l <run/vocab.txt)" --weights $file.safetensors -o libmodel.so
done

# A run's checkpoint without checksums.
cp -r run spoilt
for name in last step-1; do
    python3 spoil.py run/last.safetensors spoilt/$name.safetensors "$gain" 3 nan run
done
refuses 1 "'$gain' is not finite" "$tfc" translate spoilt --input valid.src
refuses 1 "'$gain' is not finite" "$tfc" export spoilt -o no.safetensors
"$tfc" translate model.tfg --weights good.safetensors $vocab --input valid.src >out.txt || fail "good weights are refused"

# Weights that are finite, and become infinite where they are rounded to bf16.
if command -v clang-19 >/dev/null && command -v wasm-ld-19 >/dev/null && [ -e /usr/include/wasm32-wasi ]; then
    python3 spoil.py good.safetensors beyond.safetensors embedding 70 -3.4e38 weights
    # shellcheck disable=SC2086
    refuses 1 "the param 'embedding' has the element -3.4e+38, which bf16 cannot hold: leave --store bf16 out" \
        "$tfc" compile model.tfg --set vocab="$(wc -l <run/vocab.txt)" $vocab --weights beyond.safetensors --emit js --store bf16 -o no
    [ ! -e no ] || fail "a package of infinite params"
fi

# Weights that are finite, and whose products are not: an error names the line, no answer is empty, no score is NaN.
python3 spoil.py good.safetensors huge.safetensors embedding 70 3e38 weights
python3 spoil.py good.safetensors large.safetensors embedding 70 1e6 weights
head -n 2 valid.src >two.src
head -n 2 valid.tgt >two.tgt
for case in "huge f32" "large int4"; do
    file=${case% *} type=${case#* }
    model="model.tfg --weights $file.safetensors $vocab --dtype $type"
    # shellcheck disable=SC2086
    for command in "translate $model --input two.src" "translate $model --beam 4 --nbest 2 --input two.src" \
        "translate $model --sample --input two.src" "score $model --source two.src --target two.tgt"; do
        refuses 1 "line [12]: the model gives no numbers: weights .*are too large" "$tfc" $command
        [ ! -s out.txt ] || fail "$command: an answer: $(cat out.txt)"
    done
    # shellcheck disable=SC2086
    refuses 1 "the text: the model gives no numbers" "$tfc" eval $model --source two.src --target two.tgt
    "$tfc" compile run --weights $file.safetensors --dtype $type -o program 2>err.txt || fail "$(cat err.txt)"
    status=0
    ./program <two.src >out.txt 2>err.txt || status=$?
    [ $status = 1 ] && [ ! -s out.txt ] && grep -q '^\./program: line [12]: the model gives no numbers$' err.txt ||
        fail "a program with $file weights in $type: status $status, $(cat out.txt err.txt)"
done
