#!/bin/sh
# Mistakes that people make, and what tfc says: the rows of tests/mistakes.txt, and what needs more than a command.
# Usage: mistakes.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work" # with the library that the program finds itself
unset TFC_LIBRARY

cat >m.tfg <<'M'
model m
use transformer_pre_norm
const vocab = 30, layers = 1, d_model = 8, d_ff = 8, heads = 1
train { rate = constant(0.003); batch = tokens(300); max_length = 20 }
M
sed 's/constant(0.003)/cosine(peak = 0.003)/' m.tfg >falls.tfg
cat >loads.tfg <<'M'
model loads
const vocab = 30
dim B, S
input tokens : token[B, S~]
param table : [vocab, 8] = load("w.safetensors", "a")
param out : [8, vocab] = load("w.safetensors", "b")
output logits = table[tokens] @ out
loss = cross_entropy(logits, next(tokens))
M
printf 'module "good"\nfunc "f" {\n}\n' >good.tir
mkdir nothing && echo '{}' >nothing/config.json
# A model of columns with one line more: the mistakes of tests/mistakes.txt in what feeds it and what it predicts.
while IFS='|' read -r name line; do
    cat >fed_"$name".tfg <<M
model fed
dim B, S
input src : token[B, S~] = column("text")
input image : float[B, 4] = column("image")
param e : [30, 4]
output x = mean(e[src], 1)
$line
M
done <<'L'
two|input label : int[B] = column("label", "tag")
number|input label : int[B] = column(3)
empty|input label : int[B] = column("")
name|input label : int[B] = label
batch|input label : int[4] = column("label")
value|label = column("label")
input|vocab scr = words
floats|vocab image = words
twice|vocab src = words; vocab src = shared
next|vocab next(src) = words
other|vocab src = word
file|vocab src = "words.txt"
block|block f(x) { predict p = softmax(x); return x }
taken|predict x = image
table|predict p = e
classes|predict p = softmax(transpose(e[src]))
axis|predict p = softmax(image, 0)
truth|predict p = image > 0
bare|predict image
ends|input label : int[B, S~] = column("label", ends = 1)
end|input weight : float[B, S~] = column("weight", end = "x")
pairs|input bias : float[B, S~, S~] = column("bias")
predicts_pairs|input y : float[B, S~] = column("y"); loss = mean(x); predict pair = reshape(y, [B, S, 1]) * reshape(y, [B, 1, S])
end_int|input label : int[B, S~] = column("label", end = 1)
bool|input seen : bool[B] = column("seen"); loss = mean(x * x)
word|input word : token[B, 4] = column("word"); loss = mean(x * x)
gone|input gone : int[B] = missing("age")
gone_two|input gone : float[B] = missing("age", "income")
set_int|input tag : int[B] = column("tag", many = "|")
set_mark|input tag : bool[B, 4] = column("tag", many = "ab")
set_shared|input tag : bool[B, 4] = column("tag", many = "|"); vocab tag = shared
set_places|predict p = many(e[src])
L
# Sets of labels, and tables of them.
cat >sets.tfg <<'M'
model sets
const vocab = 30, n = 2
dim B, S
input text : token[B, S~] = column("text")
input tags : bool[B, n] = column("labels", many = "|")
param e : [vocab, n] = normal(0, 0.1)
logits = reshape(mean(e[text], 1), [B, n])
loss = binary_cross_entropy(logits, tags)
predict tag = many(logits)
train { rate = constant(0.01); batch = tokens(100); max_length = 20; optimizer = adam(0.9, 0.98) }
M
printf 'text\tlabels\na b\tred|blue\nb\tred\n' >sets.tsv
printf 'text\tlabels\na b\tred|gren\n' >sets_other.tsv
printf '{"text": "a", "labels": ["red", 3]}\n' >sets_mixed.jsonl
printf '{"text": "a", "labels": ["red\\nblue"]}\n' >sets_break.jsonl
printf '{"text": ["a", "b"], "labels": ["red"]}\n' >sets_text.jsonl
printf '__label__red a b __label__blue\n' >sets_behind.txt
printf '__label__red __label__blue a b\n' >sets_lines.txt

# And in how words of the language are used.
while IFS='|' read -r name line; do
    cat >words_"$name".tfg <<M
model words_$name
use attention
const vocab = 50, d_model = 8
dim B, S
input src : token[B, S~] = column("text")
param embedding : [vocab, d_model] = normal(0, 0.1)
x = embedding[src]
$line
output y = mean(x, 1)
loss = mean(x * x)
M
done <<'L'
far_label|far = cross_entropy(linear as h(x, vocab), shift(src, S, -1))
scan|z = scan(x, 3)
gru|z = gru(x)
gather|z = gather(x, top_k(x, 2))
cat|z = cat([x, x], 1)
moe|z = moe(x, 4, 2, 8)
argmin|z = argmin(x)
called|z = embedding(src)
shift|z = shift(x, 1)
first|z = first(x, 1)
last|z = last(x, B)
lookup|z = lookup(x, B, 0)
lookup_dim|z = lookup(x, S, S)
half|z = shift(x, S, 0.5)
conv|z = conv(src, 3)
experts|z = mixture_of_experts(src, 4, 2, 8)
half_expert|z = mixture_of_experts(x, 4, 1.5, 8)
flip|z = flip(x, S)
concat|z = concat([embedding, x], 1)
pick|z = pick(x, top_k(reshape(embedding, [vocab, d_model, 1]), 1))
pick_last|z = pick(x, -1)
pick_one|z = pick(x, 1)
scatter|z = scatter(x, -2, argmax(x))
top|z = top_k(x, B)
top_two|v, i = top_k(x, 2)
top_row|z = x[top_k(x, 2)]
made|dim C = int(S / 2)
ragged|dim C~ = S + 1
rows|z = mean(x, 1) - reshape(mean(x, 1), [B, d_model])
pairs|z = reshape(lengths(S), [B, 1]) == reshape(lengths(S), [1, B])
L
# And tables of positions that are too short for the texts.
while IFS='|' read -r name line; do
    cat >far_"$name".tfg <<M
model far
const vocab = 30
dim B, S, M = 2 * S, U = 65536 * S, V = 65536 * U
input tokens : token[B, S~]
param e : [vocab, 8]
param place : [2, 8]
param out : [8, vocab]
x = e[tokens]
$line
output logits = x @ out
loss = cross_entropy(logits, next(tokens))
M
done <<'L'
minus|x = x + place[position(S) - 1]
reversed|x = x + place[reshape(int(lengths(S)), [B, 1]) - 1 - position(S)]
made|x = slice(concat([x, x], 1) + place[position(M) - reshape(int(lengths(S)), [B, 1])], 1, S, S)
twice|x = x + place[2 * position(S)]
over|add_loss(mean(lookup(x, S, position(V))))
length|x = x + reshape(place[int(lengths(S))], [B, 1, 8])
L
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
head -n 1 t.txt >one.txt
tr '\n' '\r' <t.txt >mac.txt
printf 'ok\tok\nno tab here\n' >ntab.tsv
paste t.txt t.txt >pairs.tsv
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '%s\tthe cat %s sleeps\t%s\tdie Katze %s ruht\n' $i $i 9$i $i; done >ids.tsv
(printf 'nr,english,no,german\n'; tr '\t' ',' <ids.tsv) >ids.csv
(printf 'English\tGerman\n'; cut -f 2,4 ids.tsv) >head.tsv
(printf 'question\tanswer\n'; cut -f 2,4 ids.tsv) >asked.tsv
cut -f 2 ids.tsv >cats.txt
cp cats.txt copied.txt
cut -f 1 ids.tsv >numbers.txt
: >empty.txt
gzip -k t.txt
head -c 100000000 /dev/zero | gzip >bomb.gz # 97 kB
iconv -f UTF-8 -t UTF-16 t.txt >u16.txt
printf 'PK\003\004\024\000' >book.xlsx
printf 'PAR1\025\004\025' >t.parquet
printf '\177ELF\377\001\001\000\r\000\377\n' >tool
printf 'model short\nuse language_model\nconst vocab = 30, layers = 1, d_model = 8, heads = 1, context = 2\n' >short.tfg
cat >blind.tfg <<'M'
model blind
use language_model
const vocab = 30, layers = 1, d_model = 8, heads = 1, context = 32
block attention(x, memory, allowed) {
  k = heads_of(linear as key(memory, d_model), heads)
  return linear as output(join_heads(softmax(scores as _(k, k)) @ k), d_model)
}
M
# A label of 4 where there are four classes.
cat >labels.tfg <<'M'
model labels
dim B
input label : int[B] = column("label")
param scores : [1, 4]
logits = broadcast(scores, [B, 4])
loss = cross_entropy(logits, label)
M
printf '\100\0\0\0\0\0\0\0{"label":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}      \4\0\0\0' >label.safetensors
printf 'label\n0\n4\n' >label.tsv
printf 'gut\nschlecht \377 hier\n' >bad.txt
printf 'a\nb\nc\n' >list.voc
printf '<blank>\nx\ny\n' >blank.txt
echo "not weights" >w.npz
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n' >w.pth
printf '\n<!DOCTYPE html>\n' >page.bin
printf '\202\001' >w.msgpack
published_minilm minilm
"$tfc" import minilm -o vectors 2>err.txt || fail "$(cat err.txt)"
cp -r vectors whole
cp -r whole lost
ln -sfn nowhere lost/weights
echo 'block unit(v) { return v * 2 }' >>vectors/model.tfg
memory() { # memory ENCODING
    printf '<?xml version="1.0" encoding="%s"?><tmx version="1.4"><header/><body><tu>' "$1"
    printf '<tuv xml:lang="en"><seg>it costs \200 5</seg></tuv><tuv xml:lang="de"><seg>Gr\374\337e</seg></tuv></tu></body></tmx>\n'
}
memory koi8-u >k.TMX
memory windows-1252 >w.TMX

T="train m.tfg --source t.txt --target t.txt --vocab words:auto --out x"
train() { # train MODEL RUN OPTION …
    model=$1 run=$2
    shift 2
    "$tfc" train "$model" --source t.txt --target t.txt --vocab words:auto --out "$run" "$@" 2>err.txt || fail "$run: $(cat err.txt)"
}
train m.tfg run --steps 3
train falls.tfg falls --steps 3
train m.tfg broken --steps 6 --save-every 2
for name in last step-6; do # another file, for last is a link to the newest step
    head -c 900 broken/$name.safetensors >cut
    rm broken/$name.safetensors
    mv cut broken/$name.safetensors
done

mkdir gptq answers
printf '{"model_type": "llama", "quantization_config": {"quant_method": "gptq", "bits": 4}}' >gptq/config.json
printf '{"model_type": "bert", "architectures": ["BertForQuestionAnswering"]}' >answers/config.json
mkdir gpt
printf '{"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "vocab_size": 20, "n_positions": 16,
  "activation_function": "gelu_new", "scale_attn_by_inverse_layer_idx": true}' >gpt/config.json
cp -r run stranger
sed -i 's/^  "arguments": \[/&\n    "--trace", "trace.json",/' stranger/run.json
cp -r run generated
sed -i '2i\  "generation": ["beams=4"],' generated/run.json
cp -r run cold
sed -i '2i\  "generation": ["temperature=-1"],' cold/run.json

# A chain of files, each of which uses the next.
i=0
while [ $i -lt 18 ]; do
    echo "use \"deep$((i + 1)).tfg\"" >deep$i.tfg
    i=$((i + 1))
done
# A run whose model uses a file beside it, and weights whose index names such a file.
cp -r run outsider
echo 'block twice(x) { return 2 * x }' >blocks.tfg
echo 'use "../blocks.tfg"' >>outsider/model.tfg
mkdir shards
printf '{"weight_map": {"embedding": "../w.safetensors"}}' >shards/model.safetensors.index.json
# Labels of five classes, prepared.
sed 's/4/5/' labels.tfg >five.tfg
"$tfc" prepare five.tfg --data label.tsv -o five >out.txt 2>err.txt || fail "$(cat err.txt)"
# Files of weights that take more memory than they should, or are damaged.
python3 - <<'END'
import struct, zipfile
def field(number, data):
    size, n = b"", len(data)
    while n > 127:
        size, n = size + bytes([n & 127 | 128]), n >> 7
    return bytes([number << 3 | 2]) + size + bytes([n]) + data
def onnx(name, graph):
    open(name, "wb").write(b"\x08\x08" + field(2, b"x") + field(7, graph))
tensor = b"\x10\x01" + field(8, b"w")
onnx("many.onnx", b"".join(field(1, field(1, b"w") + field(2, b"n%x" % i) + field(4, b"Identity")) for i in range(300000)) +
     field(5, b"\x08\x01" + tensor + field(9, bytes(4))))
onnx("dims.onnx", field(5, b"\x08\x01" * 9 + tensor + field(9, bytes(4))))
onnx("same.onnx", field(1, field(1, b"w") + field(2, b"v") + field(4, b"Identity")) + field(5, b"\x08\x01" + tensor + field(9, bytes(4))))
onnx("more.onnx", field(5, b"\x08\x01" + tensor + field(9, bytes(8))))
onnx("both.onnx", field(5, b"\x08\x01" + tensor + field(9, bytes(4)) + field(4, bytes(4))))
onnx("short.onnx", field(5, b"\x08\x04" + tensor + field(9, bytes(4))))
open("blocks.gguf", "wb").write(b"GGUF" + struct.pack("<IQQ Q1sI Q I Q", 3, 1, 0, 1, b"w", 1, 33, 8, 0) + bytes(64))
onnx("cut.onnx", field(5, field(1, b"\xff") + tensor + field(9, bytes(4))))
with zipfile.ZipFile("zeros.npz", "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("w.npy", b"\x93NUMPY\x01\x00" + b"\x76\x00" +
                  b"{'descr': '<f4', 'fortran_order': False, 'shape': (25000000,), }".ljust(117) + b"\n" + bytes(100000000))
END

# Weights so large that no number comes out, and no scale in f16 holds them: a checkpoint without checksums.
cp -r run loud
rm loud/step-*
python3 - <<'END'
import json, os, struct
with open("run/last.safetensors", "rb") as file:
    data = bytearray(file.read())
size = struct.unpack("<Q", data[:8])[0]
header, body = json.loads(data[8:8 + size]), data[8 + size:]
header["__metadata__"].pop("xxh64_blocks")
for name, at in header.items():
    if name != "__metadata__" and not name.startswith("optimizer."):
        first, last = at["data_offsets"]
        body[first:last] = struct.pack("<f", 3e38) * ((last - first) // 4)
text = json.dumps(header).encode()
os.remove("loud/last.safetensors")
with open("loud/last.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + body)
END
"$tfc" train sets.tfg --data sets.tsv --vocab words:auto --out sets --steps 1 2>err.txt || fail "$(cat err.txt)"
cp -r whole typed
printf '[]' >typed/published/types.json
printf 'w0 <image_soft_token>\n' >soft.txt
printf '{"text": null, "labels": ["red"]}\n' >nulls.jsonl
printf '{"x": [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], "label": "a b c d"}\n' >ctc.jsonl
cat >ctc.tfg <<'M'
model ctc
dim B, S, T
input x : float[B, S~, 4] = column("x")
input label : int[B, T~] = column("label")
vocab label = words
param w : [4, 3]
loss = mean(ctc(log_softmax(x @ w), label))
M
# Three consts of the value 2, one of which says how many classes there are.
cat >heads.tfg <<'M'
model heads_first
use attention
const vocab = 30, heads = 2, layers = 2, classes = 2
dim B, S
input text : token[B, S~] = column("text")
input label : int[B] = column("label")
vocab label = words
param e : [vocab, 8] = normal(0, 0.1)
param depth : [layers] = 1
x = reshape(mean(e[text], 1), [B, heads, 8 / heads])
logits = linear as head(reshape(x, [B, 8]) * sum(depth), classes)
loss = cross_entropy(logits, label)
M
printf 'text\tlabel\na\tup\nb\tdown\nc\tleft\n' >kinds.tsv
cat >kind.tfg <<'M'
model kind
dim B
input label : int[B] = column("kind")
input price : float[B] = column("price")
param w : [1, 3] = normal(0, 0.1)
loss = mean(cross_entropy(reshape(price, [B, 1]) @ w, label))
M
printf 'kind,price\nup,1\n' >kind.csv
printf 'kind;price\n1;3,5\n' >comma.csv
printf 'kind,price\n1,\n' >priceless.csv
cat >weather.tfg <<'M'
model weather
dim B
input x : float[B, 3] = column("temp", "hum", "wind")
param w : [3, 1] = normal(0, 0.1)
loss = mean((x @ w) * (x @ w))
M
printf 'temp,hum,wind\n1,lots,3\n' >lots.csv
printf 'temp,hum,wind\n12,,3\n' >dry.csv
printf 'temp,humidity,wind\n1,2,3\n' >renamed.csv
printf 'English text,Deutsch\na b,c\n' >p.csv
(printf 'id,English text,Deutsch\n'; cut -f 1,2,4 ids.tsv | tr '\t' ',') >texts.csv
printf 'the DT\ncat NN\n\na DT\ndog NN\n' >tags.txt
cat >rank8.tfg <<'M'
model rank8
dim B, S
input x : float[B, S~, 2, 2, 2, 2, 2, 2]
y = sum(x) * reshape(float(position(S)), [1, 1, 1, 1, 1, 1, 1, S])
output z = max(exp(transpose(x, 1, 7)) + y, 0)
M
cat >lengths.tfg <<'M'
model lengths
dim B, S
input tokens : token[B, S~]
param e : [9, 4] = normal(0, 1)
block add(x) {
  param lengths : [4] = normal(0, 1)
  return x + lengths
}
output y = add as tokens(e[tokens])
M

# Damaged files and folders of other programs.
python3 "$root/tests/cli/mistakes_inputs.py"
"$tfc" import "$root/tests/fixtures/beyond_rows" -o beyond 2>err.txt || fail "$(cat err.txt)"
"$tfc" train m.tfg --source t.txt --target t.txt --vocab beyond/tokenizer.json --token end=w1 --token begin=w2 --token pad=w3 \
    --allow-unknown --out soft --steps 1 2>err.txt || fail "$(cat err.txt)"
"$tfc" import cased -o capitals 2>err.txt || fail "$(cat err.txt)"
for folder in hanzi frameless uncut short_words; do
    "$tfc" import $folder -o $folder.run 2>err.txt || fail "$(cat err.txt)"
done
printf 'model one\ndim B\ninput x : float[B, 4]\nparam w : [1, 4]\noutput y = x * w\n' >one.tfg
printf 'model spare\ndim B, S\ninput t : token[B, S~]\nparam e : [30, 4]\nparam unused : [3]\noutput x = mean(e[t], 1)\n' >spare.tfg
sed 's/^output //; s/load([^)]*)/zeros/' loads.tfg >headless.tfg

rows=0 before=
while IFS='|' read -r want message words; do
    case $want in '' | '#'*) continue ;; esac
    rows=$((rows + 1)) status=0
    if [ "$words" != "$before" ]; then # several rows tell of one message
        eval "\"\$tfc\" $words" >out.txt 2>err.txt </dev/null || status=$?
        before=$words
    else
        status=$was
    fi
    was=$status
    [ $status = "$want" ] || fail "tfc $words: exit status $status, not $want: $(cat err.txt)"
    grep -qF -- "$message" err.txt || fail "tfc $words: no '$message' in: $(cat err.txt)"
done <"$root/tests/mistakes.txt"
"$tfc" info words_pairs.tfg >out.txt 2>err.txt || fail "rows that are paired on purpose: $(cat err.txt)"
[ $rows -ge 50 ] || fail "only $rows mistakes"

# Of equal weights an ONNX file has one, and the names of all.
"$tfc" info same.onnx >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "^  v  *f32" out.txt && grep -q "^  w  *f32" out.txt || fail "equal weights: $(cat out.txt)"
# A file that is not there is told once, whatever reads it.
[ "$("$tfc" train loads.tfg --text t.txt --lines --vocab words:auto --out z 2>&1 | grep -c "cannot read w.safetensors")" = 1 ] ||
    fail "a missing file is told again"
# Counts agree with their nouns.
"$tfc" train m.tfg --source one.txt --target one.txt --vocab words:auto --out one --steps 1 2>err.txt || fail "$(cat err.txt)"
grep -q ": 1 row of text" err.txt || fail "one row: $(cat err.txt)"
[ "$(grep -o 'epoch [0-9]*' err.txt | head -n 1)" = "epoch $(number epoch <one/log.jsonl)" ] || fail "another epoch in the log: $(cat err.txt)"
# Windows-1252, and what prepare tells of a translation memory: the file's own bytes.
"$tfc" prepare --data w.TMX --languages en,de --vocab words:auto -o memory 2>err.txt || fail "$(cat err.txt)"
grep -q "\"bytes\": $(wc -c <w.TMX)" memory/prepared.json && grep -q "$(sha256sum <w.TMX | cut -c 1-64)" memory/prepared.json ||
    fail "another file: $(cat memory/prepared.json)"
grep -q "€" memory/vocab.txt && grep -q "Grüße" memory/vocab.txt || fail "letters of Windows-1252: $(cat memory/vocab.txt)"
# What prepare leaves out.
printf 'a b\ta b\n\tb\na b c d\ta\n' >three.tsv
"$tfc" prepare --data three.tsv --vocab words:auto --max-length 3 -o left 2>err.txt || fail "$(cat err.txt)"
grep -q "1 of 3 lines left out for an empty side" err.txt && grep -q "1 of 3 lines left out that are longer than 3 tokens" err.txt ||
    fail "left out: $(cat err.txt)"
# A token that a tokenizer of whole words lacks is named as a word.
cat >words.json <<'J'
{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null,
 "decoder": null, "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "b": 2}, "unk_token": "<unk>"}}
J
echo "a green b" >green.txt
"$tfc" data green.txt --vocab words.json >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "'green'" out.txt || fail "a missing word: $(cat out.txt)"
# score --keep-going answers each line in its form.
printf 'a b\n\377\n' >odd.txt
"$tfc" score run --source odd.txt --target odd.txt --keep-going --token-scores >out.txt 2>/dev/null || fail "score"
[ "$(tail -n 1 out.txt)" = '{"line": 1, "log_probability": null}' ] || fail "score: $(cat out.txt)"
# A closed stream is not the next file that is opened.
refuses 1 "<standard input>: error: Bad file descriptor" sh -c '"$0" translate run <&-' "$tfc"
refuses 1 "cannot write the results: Bad file descriptor" sh -c '"$0" info run >&-' "$tfc"
# On a terminal translate says what it waits for.
cat >terminal.py <<'P'
import os, pty, sys
pid, terminal = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
os.write(terminal, b"a b\n\x04")
said = b""
try:
    while part := os.read(terminal, 4096):
        said += part
except OSError:
    pass
os.waitpid(pid, 0)
print(said.decode())
P
python3 terminal.py "$tfc" translate run >out.txt
grep -q "waiting for lines on this terminal: Ctrl-D ends them" out.txt || fail "a terminal: $(cat out.txt)"
echo "all is well"
