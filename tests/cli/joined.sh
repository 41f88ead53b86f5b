#!/bin/sh
# Sequences joined along ragged axes: parts come back as they were; a summary token gives what a model gives that is fed
# the longer text; a classifier with one trains and predicts; registers in an encoder decode; a prefix language model
# trains, and its decoder is refused by name.
# Usage: joined.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77

cat >tensors.py <<'END'
import json, struct, sys
FORMS = {"F32": "f", "I32": "i"}
def read(path):
    whole = open(path, "rb").read()
    n = struct.unpack("<Q", whole[:8])[0]
    out = {}
    for name, entry in json.loads(whole[8:8 + n]).items():
        if name != "__metadata__" and entry["dtype"] in FORMS:
            a, b = entry["data_offsets"]
            out[name] = (entry["shape"], list(struct.unpack(
                "<%d%s" % ((b - a) // 4, FORMS[entry["dtype"]]), whole[8 + n + a:8 + n + b])))
    return out
def write(path, tensors):
    header, data = {}, b""
    for name, (kind, shape, values) in tensors.items():
        part = struct.pack("<%d%s" % (len(values), FORMS[kind]), *values)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
END

# Parts, and every second position, up and down.
cat >parts.tfg <<'END'
dim B, S, T, C = 1 + S, M = C + T + 1, U = 2 * S
input x : float[B, S~, 2]
input y : float[B, T~, 2]
param a : [2, 2] = normal(0, 1)
z = concat([x, reshape(a, [1, 2, 2]), y * 2], 1)
w = split(z, [S, 2, T], 1)
output joined = z
output apart = sum(abs(w[0] - x)) + sum(abs(w[1] - a)) + sum(abs(w[2] - y * 2))
output behind = slice(z, 1, C, 3)
twice = lookup(x, S, int(floor(position(U) / 2)))
output halved = sum(abs(lookup(twice, U, 2 * position(S)) + lookup(twice, U, 2 * position(S) + 1) - 2 * x))
loss = sum(tanh(z @ a)) + sum(exp(twice * 0.3)) + sum(sin(w[1] * w[1])) + sum(first(z, M) * last(z, M))
END
"$tfc" check parts.tfg >checked || fail "$(cat checked)"
python3 - <<'END'
from tensors import *
write("in.safetensors", {"x": ("F32", [3, 4, 2], [float(i) for i in range(24)]), "x.lengths": ("I32", [3], [4, 0, 1]),
                         "y": ("F32", [3, 2, 2], [100.0 + i for i in range(12)]), "y.lengths": ("I32", [3], [0, 2, 1])})
write("a.safetensors", {"a": ("F32", [2, 2], [-1, -2, -3, -4])})
END
"$tfc" run parts.tfg --weights a.safetensors --in in.safetensors --out out.safetensors 2>err || fail "$(cat err)"
python3 - <<'END' || fail "parts"
from tensors import *
out = read("out.safetensors")
s, t = [4, 0, 1], [0, 2, 1]
for b in range(3):
    x = [[8 * b + 2 * i, 8 * b + 2 * i + 1] for i in range(s[b])]
    y = [[2 * (100 + 4 * b + 2 * i), 2 * (101 + 4 * b + 2 * i)] for i in range(t[b])]
    z = x + [[-1, -2], [-3, -4]] + y
    shape, joined = out["joined"]
    row = [joined[(b * shape[1] + i) * 2:(b * shape[1] + i) * 2 + 2] for i in range(shape[1])]
    assert row == z + [[0, 0]] * (shape[1] - len(z)), (b, row, z)
    behind = out["behind"][1][6 * b:6 * b + 6]
    assert behind == sum((z + [[0, 0]] * 9)[s[b] + 1:s[b] + 4], []), (b, behind)
assert out["apart"][1] == [0] and out["halved"][1] == [0]
END

# A summary token before the text, and the same model fed the longer text.
classifier() { # DIMS INPUT START
    cat <<END
use attention
const vocab = 12, classes = 2, d_model = 16, d_ff = 32, heads = 2
dim B, $1
input text : token[B, $2~] = column("text")
input label : int[B] = column("label")
vocab label = words
param embedding : [vocab, d_model] = normal(0, 0.3)
$3
x = start + learned_positions(C, d_model, 9)
repeat 2 as layer {
  x = layer_norm as n1(x + attention as self(x, x, true))
  x = layer_norm as n2(x + feed_forward(x))
}
logits = linear as head(first(x, C), classes)
predict class = softmax(logits)
loss = cross_entropy(logits, label)
train { rate = constant(0.003); batch = sentences(16) }
END
}
classifier 'S, C = 1 + S' S 'param summary : [d_model] = normal(0, 0.3)
start = concat([reshape(summary, [1, 1, d_model]), embedding[text]], 1)' >summary.tfg
classifier C C 'start = embedding[text]' >fed.tfg
# Whether there is an a, anywhere.
python3 - <<'END'
import json, random
random.seed(5)
for name, n in ("train", 300), ("valid", 60):
    with open(name + ".jsonl", "w") as out:
        for i in range(n):
            words = [random.choice("bcdef") for _ in range(random.randint(1, 6))]
            if i % 2:
                words[random.randrange(len(words))] = "a"
            print(json.dumps({"text": " ".join(words), "label": "with" if i % 2 else "without"}), file=out)
END
"$tfc" train summary.tfg --data train.jsonl --valid-data valid.jsonl --vocab words:auto --steps 120 --validate-every 120 \
    --out run --seed 3 2>err || fail "$(cat err)"
"$tfc" predict run --input valid.jsonl >told 2>err || fail "$(cat err)"
python3 - <<'END' || fail "predictions: $(head -3 told)"
import json
wanted = [json.loads(line)["label"] for line in open("valid.jsonl")]
got = open("told").read().split("\n")[:-1]
assert len(got) == len(wanted)
right = sum(w in (g.split()[0].strip('"'), json.loads(g)["class"] if g[0] == "{" else "") for w, g in zip(wanted, got))
assert right >= 57, right
END
"$tfc" compile run -o libsummary.so 2>err || fail "$(cat err)"
"$tfc" train summary.tfg --data train.jsonl --vocab words:auto --steps 3 --out small --seed 3 --memory 1500K 2>err || fail "$(cat err)"
"$tfc" train summary.tfg --data train.jsonl --vocab words:auto --steps 3 --out whole --seed 3 2>err || fail "$(cat err)"
"$tfc" train summary.tfg --data train.jsonl --vocab words:auto --steps 3 --out parts --seed 3 --shards 3 2>err || fail "$(cat err)"
python3 - <<'END' || fail "recomputed, and by shards"
import glob
from tensors import *
whole, small, parts = (read(glob.glob(run + "/last*")[0]) for run in ("whole", "small", "parts"))
assert whole == small
for name in whole:
    if name in ("summary", "embedding", "head.weight"):
        assert all(abs(a - b) < 1e-4 for a, b in zip(whole[name][1], parts[name][1])), name
END
python3 - <<'END'
import glob
from tensors import *
weights = read(glob.glob("run/last*")[0])
summary = weights.pop("summary")[1]
shape, rows = weights["embedding"]
weights["embedding"] = [11, 16], rows + summary  # the summary is token 10
weights = {name: ("F32", *value) for name, value in weights.items()}
write("fed.safetensors", weights)
write("short.safetensors", {"text": ("I32", [3, 5], [4, 5, 6, 7, 8, 9, 4, 0, 0, 0, 6, 6, 6, 0, 0]), "text.lengths": ("I32", [3], [5, 2, 3]),
                            "label": ("I32", [3], [0, 1, 0])})
write("long.safetensors", {"text": ("I32", [3, 6], [10, 4, 5, 6, 7, 8, 10, 9, 4, 0, 0, 0, 10, 6, 6, 6, 0, 0]), "text.lengths": ("I32", [3], [6, 3, 4]),
                           "label": ("I32", [3], [0, 1, 0])})
END
last=$(ls run/last*)
for type in f32 bf16; do
    "$tfc" run summary.tfg --set vocab=10 --weights "$last" --dtype $type --in short.safetensors --out short.out 2>err || fail "$(cat err)"
    "$tfc" run fed.tfg --set vocab=11 --weights fed.safetensors --dtype $type --in long.safetensors --out long.out 2>err || fail "$(cat err)"
    python3 - <<'END' || fail "a summary token and the longer text differ"
from tensors import *
a, b = read("short.out"), read("long.out")
assert a["class"][0] == [3, 2] and all(abs(p - q) < 1e-6 for p, q in zip(a["class"][1], b["class"][1])), (a, b)
END
done

# Registers in an encoder; every second position of another, for the decoder.
cat >registers.tfg <<'END'
use transformer
const vocab = 12, layers = 1, d_model = 16, d_ff = 32, heads = 2, registers = 3, p_drop = 0
dim R = registers + S, P = (R + 1) / 2
param register : [registers, d_model] = normal(0, 1)
block encoder(tokens) {
  x = concat([reshape(register, [1, registers, d_model]), embed_source(tokens)], 1)
  repeat encoder_layers as layer { x = encoder_layer(x) }
  return lookup(x, R, 2 * position(P)) + lookup(x, R, 2 * position(P) + 1)
}
block encoder_mask() { return true }
block cross_mask() { return true }
train { rate = constant(0.003); batch = sentences(16) }
END
"$tfc" check registers.tfg >checked || fail "$(cat checked)"
grep -q '^ok .*token by token' checked || fail "registers do not decode: $(cat checked)"
python3 - <<'END'
import random
random.seed(1)
lines = [" ".join(random.choice("abcdef") for _ in range(random.randint(1, 6))) for _ in range(60)]
open("lines", "w").write("\n".join(lines) + "\n")
END
"$tfc" train registers.tfg --source lines --target lines --vocab words:auto --steps 30 --validate-every 0 --out copies 2>err || fail "$(cat err)"
"$tfc" translate copies --input lines --beam 3 >beams 2>err || fail "$(cat err)"
while read -r line; do echo "$line" | "$tfc" translate copies --beam 3; done <lines 2>err | head -5 >alone
head -5 beams | cmp -s - alone || fail "sentences alone and in a batch: $(head -5 beams) $(cat alone)"
"$tfc" compile copies -o copies_program 2>err || fail "$(cat err)"
./copies_program --beam 3 <lines >compiled 2>err || fail "$(cat err)"
cmp -s beams compiled || fail "a compiled translator with registers answers otherwise"

# A prefix language model: the source sees itself, the target all before it.
cat >prefix.tfg <<'END'
use attention
const vocab = 12, d_model = 16, d_ff = 32, heads = 2, p_drop = 0
dim B, S, T, M = S + T
input src : token[B, S~]
input tgt : token[B, T~]
param embedding : [vocab, d_model] = normal(0, 0.3)
x = embedding[concat([src, tgt], 1)] + learned_positions(M, d_model, 20)
of_source = reshape(position(M), [1, 1, M]) < reshape(int(lengths(S)), [B, 1, 1])
allowed = reshape(causal(M), [1, 1, M, M]) or reshape(of_source, [B, 1, 1, M])
repeat 2 as layer {
  x = layer_norm as n1(x + attention as self(x, x, allowed))
  x = layer_norm as n2(x + feed_forward(x))
}
source, y = split(x, [S, T], 1)
output logits = y @ transpose(embedding)
loss = cross_entropy(logits, next(tgt))
train { rate = constant(0.01); batch = sentences(20) }
END
"$tfc" train prefix.tfg --source lines --target lines --valid-source lines --valid-target lines --no-bleu --vocab words:auto \
    --steps 100 --validate-every 50 --out prefix 2>err || fail "$(cat err)"
grep -q max_length.*10 prefix/run.json || fail "20 positions for both: $(cat prefix/run.json)"
"$tfc" score prefix --source lines --target lines >scores 2>err || fail "$(cat err)"
python3 - <<'END' || fail "a prefix language model does not learn: $(head -3 scores)"
scores = [float(line.split()[0]) for line in open("scores")]
tokens = sum(len(line.split()) + 1 for line in open("lines"))
assert len(scores) == 60 and -sum(scores) / tokens < 0.7, -sum(scores) / tokens
END
"$tfc" translate prefix --input lines >translated 2>err || fail "$(cat err)" # before_text.sh compares its tokens
[ "$(wc -l <translated)" = 60 ] || fail "a prefix language model translates 60 lines: $(wc -l <translated)"

# Mistakes.
joins() { # DIMS EXPRESSION MESSAGE
    printf 'dim A, B, S, T%s\ninput x : float[B, S~, 2]\ninput y : float[A, T~, 2]\ninput n : float[B, 2]\noutput z = %s\n' "$1" "$2" >wrong.tfg
    refuses 1 "$3" "$tfc" check wrong.tfg
}
joins '' 'concat([x, x, full([B, 1, 2], 0)], 1)' 'no dimension is as long as the parts together; `dim C = 1 + 2 \* S` makes one'
joins ', C = 1 + S' 'concat([n, x], 1)' 'all parts must have the same number of axes, unlike f32\[B, 2\] and f32\[B, S~, 2\]'
joins ', C = 1 + S' 'concat([full([B, 1, 3], 0), x], 1)' 'f32\[B, S~, 2\] does not continue f32\[B, 1, 3\] along axis 1'
joins ', C = 1 + S' 'split(concat([full([1, 1, 2], 0), x], 1), [2, S], 1)[0]' 'the parts together are not as long as C~'
joins '' 'split(x, 2, 1)[0]' 'S~ cannot be cut into 2 equal parts; `split(x, \[1, S\], axis)` says how long they are'
joins ', C = 1 + S' 'slice(x, 1, 0 - 1, S)' 'elements -1 to '
echo "joined sequences: parts, summaries, registers, prefixes"
