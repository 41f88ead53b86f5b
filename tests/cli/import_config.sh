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
done <<'END'
num_attention_heads -4 a whole number from 1 to 65536
num_attention_heads 2.5 a whole number from 1 to 65536
num_key_value_heads 0 a whole number from 1
num_hidden_layers 0 a whole number from 1 to 65536
num_hidden_layers 1000000000 a whole number from 1 to 65536
hidden_size 1e9 a whole number from 1 to 1048576
intermediate_size true a whole number from 1
vocab_size -1 a whole number from 1
max_position_embeddings 99999999999 a whole number from 1
rms_norm_eps -1e-5 a number from 1e-20 to 1
rope_theta "big" a number from 1e-6
tie_word_embeddings 3 true or false
END

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
echo "import_config: refused by key"
