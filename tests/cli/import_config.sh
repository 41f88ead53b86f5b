#!/bin/sh
# What the JSON files of a published folder may say: values out of range are refused by their key, added tokens are read,
# and a head is compared with the embedding by its values.
# Usage: import_config.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"
make() { python3 "$root/tests/cli/llama_cpp.py" "$1" "$2"; }
make llama llama
cp -r llama changed

# KEY VALUE what is expected
while read -r key value expected; do
    sed "s/\"$key\": [^,}]*/\"$key\": $value/" llama/config.json >changed/config.json
    refuses 1 "\"$key\" is .*: expected $expected" "$tfc" import changed -o no
    [ ! -e no ] || fail "$key: a folder is left"
    [ "$(grep -c . err.txt)" = 1 ] || fail "$key is refused more than once: $(cat err.txt)"
done <<'END'
num_attention_heads -4 a whole number from 1 to 65536
num_attention_heads 2.5 a whole number from 1 to 65536
num_key_value_heads 0 a whole number from 1
num_hidden_layers 0 a whole number from 1 to 10000
num_hidden_layers 1000000000 a whole number from 1 to 10000
hidden_size 1e9 a whole number from 1 to 1048576
intermediate_size true a whole number from 1
vocab_size -1 a whole number from 1
max_position_embeddings 99999999999 a whole number from 1
rms_norm_eps -1e-5 a number from 1e-20 to 1
rope_theta "big" a number from 1e-6
tie_word_embeddings 3 true or false
END

# Labels: of words none has a blank.
make bert tags
cp "$root/tests/fixtures/bert_tags_published.safetensors" tags/model.safetensors
rm tags/modules.json
labels() { # labels JSON PATTERN
    tr '\n' ' ' <"$root/tests/fixtures/published/bert_tags.json" | sed "s/\"pad_token_id\": 39/\"pad_token_id\": 0/; s/\"id2label\": {[^}]*}/\"id2label\": $1/" >tags/config.json
    refuses 1 "$2" "$tfc" import tags -o no
    [ ! -e no ] || fail "labels $1: a folder is left"
}
five='"1": "b", "2": "c", "3": "d", "4": "e"'
labels "{\"0\": \"a b\", $five}" "config.json: error: \"id2label\": the label of 0, 'a b', has a blank in it"
labels "{\"0\": \"e\", $five}" '"id2label": 0 and 4 have the same label, .e.'
labels "{\"0\": \"\", $five}" '"id2label": the label of 0 is no text, is empty'
labels "{\"0\": 7, $five}" '"id2label": the label of 0 is no text'
labels "{\"0\": \"a\\\\tb\", $five}" '"id2label": the label of 0 .* a tab in it'
labels "{\"5\": \"a\", $five}" '"id2label": expected the ids 0 to 4, each once'
labels "{\"-1\": \"a\", $five}" '"id2label": expected the ids 0 to 4, each once'
labels "{\"00\": \"a\", \"0\": \"x\", $five}" '"id2label": expected the ids 0 to 5, each once'
labels '{"0": "one"}' '"id2label": it has one label, so that all words would have the same'
labels '["a", "b"]' '"id2label": expected an object with a label for each id'
labels "{\"0\": \"a\", $five, \"5\": \"f\"}" "'classifier.weight' is [[]5, 16[]], but"
labels "{\"0\": \"a\", $five, \"5\": \"f\"}, \"label2id\": {\"a\": 1}" 'warning: "label2id" names other labels than "id2label"'
labels "{\"0\": \"a\", $five, \"5\": \"f\"}, \"num_labels\": 7" 'warning: "num_labels" is 7, and "id2label" has 6, which'
labels 'null, "num_labels": 1' '"id2label": it is absent, and "num_labels" is no number of labels from 2'

# Tokens that a SentencePiece model lacks, with a gap between them.
make padded padded
cat >padded/tokenizer_config.json <<'END'
{"added_tokens_decoder": {"299": {"content": "zebra", "special": false}, "297": {"content": "<|user|>", "special": true},
  "0": {"content": "<unk>", "special": true}}}
END
"$tfc" import padded -o padded.run 2>err.txt || fail "$(cat err.txt)"
[ ! -s err.txt ] || fail "$(cat err.txt)"
echo "the zebra" >text.txt
"$tfc" score padded.run --text text.txt --token-scores | grep -q '\["zebra", ' || fail "an added token is not read"
"$tfc" export padded.run -o padded.gguf
for token in zebra '<|user|>'; do grep -qaF "$token" padded.gguf || fail "a GGUF lacks $token"; done
echo '{"zebra": 296, "other": 5}' >padded/added_tokens.json
rm padded/tokenizer_config.json
"$tfc" import padded -o again 2>err.txt || fail "$(cat err.txt)"
grep -q "the added token 'other' has the id 5, which is '<0x02>' in the tokenizer" err.txt || fail "$(cat err.txt)"
"$tfc" score again --text text.txt --token-scores | grep -q '\["zebra", ' || fail "an added token is not read"

# A head that is tied, and stored once more in another type: nothing is said of it.
sed 's/"tie_word_embeddings": false/"tie_word_embeddings": true/' llama/config.json >changed/config.json
for other in 0 1; do
    python3 - llama/model.safetensors changed/model.safetensors $other <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header, body = json.loads(data[8:8 + size]), data[8 + size:]
parts = {name: (at["dtype"], at["shape"], body[slice(*at["data_offsets"])]) for name, at in header.items()}
dtype, shape, table = parts["model.embed_tokens.weight"]
short = b"".join(table[i + 2:i + 4] for i in range(0, len(table), 4))
parts["model.embed_tokens.weight"] = ("F32", shape, b"".join(b"\0\0" + short[i:i + 2] for i in range(0, len(short), 2)))
parts["lm_head.weight"] = ("BF16", shape, short[:-1] + bytes([short[-1] ^ int(sys.argv[3])]))
out, at = {}, 0
for name, (dtype, shape, content) in parts.items():
    out[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(content)]}
    at += len(content)
text = json.dumps(out).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + b"".join(content for _, _, content in parts.values()))
END
    rm -rf tied
    "$tfc" import changed -o tied 2>err.txt || fail "$(cat err.txt)"
    [ "$(grep -c "is another than the embedding" err.txt)" = $other ] || fail "a tied head, $other: $(cat err.txt)"
done
# Weights of two bytes an element come back so, also after training, unless all of their bits are wanted.
python3 - llama/model.safetensors changed/model.safetensors <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header, body = json.loads(data[8:8 + size]), data[8 + size:]
out, halves = {}, b""
for name, at in header.items():
    content = body[slice(*at["data_offsets"])]
    is_norm = "norm" in name
    if not is_norm:
        content = b"".join(content[i + 2:i + 4] for i in range(0, len(content), 4))
    out[name] = {"dtype": "F32" if is_norm else "BF16", "shape": at["shape"], "data_offsets": [len(halves), len(halves) + len(content)]}
    halves += content
text = json.dumps(out).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + halves)
END
cp llama/config.json changed
"$tfc" import changed -o halves
"$tfc" export halves --format hf -o back 2>err.txt || fail "$(cat err.txt)"
grep -q "written in the types of the published weights" err.txt || fail "$(cat err.txt)"
tensors() {
    python3 - "$1" <<'END'
import hashlib, json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
for name, at in sorted(json.loads(data[8:8 + size]).items()):
    if name != "__metadata__":
        print(name, at["dtype"], at["shape"], hashlib.sha256(data[8 + size:][slice(*at["data_offsets"])]).hexdigest())
END
}
tensors changed/model.safetensors >there.txt
tensors back/model.safetensors | diff - there.txt || fail "tensors of two bytes come back otherwise"
yes "the hen is on the sea" | head -n 20 >text.txt
"$tfc" train halves --out tuned --text text.txt --steps 2 --batch-tokens 100 2>err.txt || fail "$(cat err.txt)"
"$tfc" export tuned --format hf -o given 2>err.txt || fail "$(cat err.txt)"
tensors given/model.safetensors >tuned.txt
cut -d ' ' -f 1-2 there.txt >types.txt
cut -d ' ' -f 1-2 tuned.txt | diff - types.txt || fail "trained weights have other types"
! cmp -s there.txt tuned.txt || fail "training changed nothing"
"$tfc" export tuned --format hf --type f32 -o whole 2>err.txt || fail "$(cat err.txt)"
! tensors whole/model.safetensors | grep -q BF16 || fail "not all bits were written"
refuses 2 "type q8_0 is for --format gguf; hf takes f32, f16 or bf16" "$tfc" export tuned --format hf --type q8_0 -o no
echo "import_config: refused by key"
