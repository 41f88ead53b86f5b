#!/bin/sh
# Dimensions made of others: their lengths in tfc check, tfc run, training and compiled functions; what does not fit them
# is refused.
# Usage: made_dims.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# A chain of dimensions, each declared before what it is made of, is as deep as calls may be.
awk 'BEGIN { print "dim B, S\ninput t : token[B, S~]\noutput y = float(t)"
             for (i = 0; i < 500; i++) printf "dim D%d = D%d + 1\n", i, i + 1
             print "dim D500 = S + 1" }' >deep.tfg
refuses 1 "deep.tfg:.* error: expressions and calls are nested too deeply" "$tfc" info deep.tfg
command -v python3 >/dev/null || exit 77
prints() { # prints WHAT FLAG…: the C program that these make prints what `expected` has
    what=$1
    shift
    $CC "$@" -o printer 2>err || fail "$(cat err)"
    ./printer >got || fail "$(cat got)"
    cmp -s got expected || fail "$what: $(cat got)"
}

cat >made.tfg <<'END'
model made
dim B, S, T, C = 1 + S, M = C + T, P = (S + 1) / 2, N = (S - 3) / 2 + 1
input x : float[B, S~, 2]
input y : float[B, T~]
input z : float[B, C~]
output all = lengths(C) + 100 * lengths(M) + 10000 * lengths(P) + 1000000 * lengths(N)
output total = size(M) + size(P) * 1000 + 0 * (sum(x) + sum(y))
output places = broadcast(reshape(float(position(M)), [1, M]), [B, M])
output same = z * 2
END
"$tfc" check made.tfg >checked || fail "$(cat checked)"

cat >tensors.py <<'END'
import json, struct, sys
def read(name):
    whole = open("out.safetensors", "rb").read()
    n = struct.unpack("<Q", whole[:8])[0]
    entry = json.loads(whole[8:8 + n])[name]
    a, b = entry["data_offsets"]
    return entry["shape"], list(struct.unpack("<%df" % ((b - a) // 4), whole[8 + n + a:8 + n + b]))
def write(tensors):
    header, data = {}, b""
    for name, kind, shape, values in tensors:
        part = struct.pack("<%d%s" % (len(values), {"F32": "f", "I32": "i"}[kind]), *values)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open("in.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
def inputs(z_rows, z_lengths=None):
    count = 3 * z_rows
    write([("x", "F32", [3, 6, 2], [1.0] * 36), ("x.lengths", "I32", [3], [6, 0, 3]),
           ("y", "F32", [3, 4], [1.0] * 12), ("y.lengths", "I32", [3], [2, 4, 0]),
           ("z", "F32", [3, z_rows], [float(i) for i in range(count)])] +
          ([("z.lengths", "I32", [3], z_lengths)] if z_lengths else []))
END
run() { "$tfc" run made.tfg --in in.safetensors --out out.safetensors; }
for lengths in None '[7, 1, 4]'; do
    python3 -c "from tensors import *; inputs(9, $lengths)"
    run || fail "tensors of the formula's lengths"
    python3 - <<'END' || fail "lengths"
from tensors import *
s, t = [6, 0, 3], [2, 4, 0]
c = [1 + n for n in s]
m = [a + b for a, b in zip(c, t)]
p = [(n + 1) // 2 for n in s]
n = [max(0, a - 3 + 2) // 2 for a in s]
assert read("all")[1] == [a + 100 * b + 10000 * d + 1000000 * e for a, b, d, e in zip(c, m, p, n)], read("all")
assert read("total")[1] == [sum(m) + 1000 * sum(p)]
shape, places = read("places")
assert shape == [3, 9] and places == [i if i < m[b] else 0 for b in range(3) for i in range(9)], places
shape, same = read("same")
assert shape == [3, 7] and same == [2 * (9 * b + i) if i < c[b] else 0 for b in range(3) for i in range(7)], same
END
done
python3 -c 'from tensors import *; inputs(9, [7, 2, 4])'
refuses 1 "row 1 of 'z' has the length 2, but along C = 1 + S it is 1" run
python3 -c 'from tensors import *; inputs(6)'
refuses 1 "'z' has 6 positions along dimension 1, but 7 are needed" run

# What is kept of one formula is not taken for another: programs that differ in nothing else.
for formula in '3 * S' '2 + S' '3 + S' '(S + 3) / 2' '(S + 3) / 3'; do
    printf 'dim B, S, C = %s\ninput x : float[B, S~]\noutput l = lengths(C)\n' "$formula" >other.tfg
    TFC_CACHE=kept "$tfc" check other.tfg >checked 2>&1 || fail "C = $formula: $(cat checked)"
done

# Texts of training are as long as the table allows.
cat >lm.tfg <<'END'
model summary
const vocab = 9, d = 8
dim B, S, C = 1 + S
input text : token[B, S~]
param e : [vocab, d] = normal(0, 1)
x = e[text] + 0 * mean(broadcast(reshape(learned_positions(C, d, 6), [1, C, d]), [B, C, d]), 1)
output logits = x @ transpose(e)
loss = cross_entropy(logits, next(text))
train { rate = constant(0.001) }
END
printf '%s\n' 'a b c d' 'a b c d a' 'a b c d a b' >text
"$tfc" train lm.tfg --text text --vocab words:auto --steps 2 --out run --dtype bf16 --shards 2 2>err || fail "$(cat err)"
grep -q '"max_length": 5' run/run.json || grep -q 'max_length.*5' run/run.json || fail "$(cat run/run.json)"
refuses 1 "it adds up positions, and nothing shows that its operand is 0 where the key comes after the query" "$tfc" generate run --prompt 'a b'

cat >fed.tfg <<'END'
model fed
dim B, S, C = 1 + S
input x : float[B, S~] = column("x")
input y : float[B, C~] = column("y")
loss = mean(x) + mean(y)
END
printf '{"x": [1, 2], "y": [1, 2, 3]}\n{"x": [1, 2], "y": [1, 2]}\n' >data.jsonl
refuses 1 "data.jsonl:2:1: error: .y. has 2 positions, but its dimension C, which is made of others, has 3 here" \
    "$tfc" train fed.tfg --data data.jsonl --steps 1 --out no
[ ! -e no ] || fail "a refused training leaves a folder"
cat >framed.tfg <<'END'
model framed
dim B, S, T, P = S + T
input src : token[B, S~]
input tgt : token[B, P~]
param e : [9, 8] = normal(0, 1)
logits = e[tgt] @ transpose(e)
output logits
loss = cross_entropy(logits, next(tgt)) + 0 * sum(e[src])
input other : float[B, T~]
END
refuses 1 "no text feeds .tgt.: its dimension .P. is made of others" "$tfc" train framed.tfg --source text --target text --vocab words:auto --steps 1 --out no

# Columns and predictions along one: labels of every second frame.
cat >frames.tfg <<'END'
model frames
const classes = 3
dim B, S, C = S / 2, U = 2 * C
input sound : float[B, S~, 2] = column("sound")
input label : int[B, C~] = column("labels")
logits = linear as out(lookup(sound, S, 2 * position(C)), classes)
predict frame = softmax(logits)
predict level = sum(lookup(sound, S, position(U)), -1)
loss = cross_entropy(logits, label)
train { rate = constant(0.03); batch = tokens(64) }
END
python3 - <<'END'
import json, random
random.seed(2)
with open("frames.jsonl", "w") as rows:
    for i in range(40):
        sound = [[int(random.random() * 3) - 1, 1] for _ in range(1 + i % 9)]
        json.dump({"sound": sound, "labels": [sound[2 * k][0] + 1 for k in range(len(sound) // 2)]}, rows)
        rows.write("\n")
END
"$tfc" train frames.tfg --data frames.jsonl --valid-data frames.jsonl --steps 150 --out frames 2>err || fail "$(cat err)"
"$tfc" eval frames --data frames.jsonl >evaluated 2>err || fail "$(cat err)"
grep -q '^accuracy  *100.00 %' evaluated || fail "labels along a made dimension are not learnt: $(cat evaluated err)"
"$tfc" predict frames --input frames.jsonl --json >predicted 2>err || fail "$(cat err)"
python3 - <<'END' || fail "predictions along a made dimension: $(head -n 3 predicted)"
import json
rows, predicted = ([json.loads(line) for line in open(name)] for name in ("frames.jsonl", "predicted"))
assert len(rows) == len(predicted)
for row, p in zip(rows, predicted):
    n = len(row["sound"]) // 2
    assert len(p["level"]) == 2 * n and all(abs(a - sum(b)) < 1e-5 for a, b in zip(p["level"], row["sound"])), p
    assert [best[0][0] for best in p["frame"]] == row["labels"], p
END

# A length that no array has is refused by name.
cat >over.tfg <<'END'
model over
dim B, S, C = 65536 * S + 5
input x : float[B, S~]
output z = sum(x) + float(size(C))
END
python3 -c "from tensors import *; write([('x', 'F32', [1, 40000], [0.0] * 40000)])"
refuses 1 'in.safetensors: the dimension C = 5 + 65536 \* S would be longer than 2^31 - 1' \
    "$tfc" run over.tfg --in in.safetensors --out out.safetensors

# What is longer than a table of positions is refused, in whatever shape the positions are.
cat >table.tfg <<'END'
model table
dim B, S, T, M = S + T
param w : [8, 2] = normal(0, 1)
input x : float[B, S~, 2]
input y : float[B, T~, 2]
output z = concat([x, y], 1) + w[1 + reshape(position(M), [1, M])]
END
sum_of_lengths() { # sum_of_lengths T
    python3 -c "from tensors import *; write([('x', 'F32', [1, 4, 2], [0.0] * 8), ('y', 'F32', [1, $1, 2], [0.0] * 2 * $1)])"
}
sum_of_lengths 3
"$tfc" run table.tfg --in in.safetensors --out out.safetensors 2>err || fail "seven of seven positions: $(cat err)"
sum_of_lengths 4
refuses 1 "'M' is 8 long along M, but the model's table 'w' has 7 positions" \
    "$tfc" run table.tfg --in in.safetensors --out out.safetensors
"$tfc" compile table.tfg -o libtable.so 2>err || fail "$(cat err)"
cat >table.c <<'END'
#include "table.h"
#include <stdio.h>
int main(void)
{
    table *model;
    table_session *session;
    int32_t s[] = {4, 1}, t[] = {3, 2};
    float x[32] = {0};
    table_forward_in in = {.B = 2, .S_lengths = s, .T_lengths = t, .x = x, .y = x};
    table_forward_out out;
    if (table_open_new(1, &model) || table_session_new(model, &session))
        return 1;
    for (; t[0] < 5; t[0]++)
        printf("%s\n", table_forward(session, &in, &out) ? table_error_detail() : "taken");
    table_session_free(session);
    table_close(model);
    return 0;
}
END
printf 'taken\nthe dimension M is 8 long, but the model has 7 positions\n' >expected
prints "a compiled function takes more positions than it has" table.c -L. -ltable -Wl,-rpath,"$work"

# Compiled functions: callers give the lengths of what is not made.
"$tfc" compile made.tfg -o libmade.so 2>err || fail "$(cat err)"
grep -q '/\* C~ = 1 + S \*/' made.h && grep -q 'P~ = (1 + S) / 2, rounded down' made.h || fail "$(cat made.h)"
! grep -q C_lengths made.h || fail "lengths of C are asked for"
cat >main.c <<'END'
#include "made.h"
#include <stdio.h>
int main(void)
{
    made *model;
    made_session *session;
    int32_t s[] = {2, 0}, t[] = {1, 3};
    float x[4] = {1, 1, 1, 1}, y[4] = {0}, z[4] = {1, 2, 3, 4};
    made_forward_in in = {.B = 2, .S_lengths = s, .T_lengths = t, .x = x, .y = y, .z = z};
    made_forward_out out;
    if (made_open_new(1, &model) || made_session_new(model, &session))
        return 1;
    for (int i = 0; i < 2; i++) {
        if (made_forward(session, &in, &out))
            return printf("%s\n", made_error_detail()), 1;
        printf("%.0f %.0f %.0f %.0f", out.all[0], out.all[1], out.total, out.same[3]);
        for (int k = 0; k < 8; k++)
            printf(" %.0f", out.places[k]);
        printf("\n");
    }
    int32_t many[] = {2147483647, 0};
    in.S_lengths = many;
    printf("%s\n", made_forward(session, &in, &out) ? "refused" : "taken");
    made_session_free(session);
    made_close(model);
    return 0;
}
END
printf '10403 401 1008 8 0 1 2 3 0 1 2 3\n10403 401 1008 8 0 1 2 3 0 1 2 3\nrefused\n' >expected
prints "a compiled function" main.c -L. -lmade -Wl,-rpath,"$work"
mkdir one && cp main.c one
"$tfc" compile made.tfg --emit c -o one/made.c 2>err || fail "$(cat err)"
prints "C source" -O1 one/main.c one/made.c -lm -pthread
if python3 -c 'import numpy' 2>/dev/null && [ -z "${TFC_RUNTIME:-}" ]; then
    PYTHONDONTWRITEBYTECODE=1 python3 - <<'END' || fail "Python"
import numpy, made
session = made.Model(seed=1)
x = [numpy.ones((2, 2), "f4"), numpy.ones((0, 2), "f4")]
y = [numpy.zeros(1, "f4"), numpy.zeros(3, "f4")]
z = [numpy.array([1, 2, 3], "f4"), numpy.array([4], "f4")]
out = session.forward(x=x, y=y, z=z)
assert out["total"] == 1008 and list(out["all"]) == [10403, 401]
assert [list(row) for row in out["same"]] == [[2, 4, 6], [8]]
assert [list(row) for row in out["places"]] == [[0, 1, 2, 3], [0, 1, 2, 3]]
try:
    session.forward(x=x, y=y, z=[z[0], z[0]])
    raise AssertionError("other lengths are taken")
except ValueError as error:
    assert "the dimension C" in str(error), error
END
fi
echo "dimensions made of others: lengths by formula, wherever they are made"
