#!/bin/sh
# Files of weights of other programs, as --weights and tfc import take them. tests/driver/test_formats.c compares their
# tensors with those programs' own; here the same model from another file answers the same.
# Usage: formats.sh TFC   (from the project's root)
set -eu
. tests/common.sh
formats=$root/tests/fixtures/formats
cd "$work"

# A GGUF is a whole model. The same params in Hugging Face's folder, with the tokenizer that was in the GGUF.
"$tfc" import "$formats/llama.gguf" -o gguf 2>err.txt || fail "$(cat err.txt)"
[ ! -s err.txt ] || fail "import says: $(cat err.txt)"
[ "$(readlink gguf/weights)" = "$formats/llama.gguf" ] || fail "the GGUF was copied"
mkdir folder
cp gguf/published/tokenizer* folder
sed 's/"eos_token_id": .*\]/"eos_token_id": 2/' "$root/tests/fixtures/published/llama.json" >folder/config.json
cp "$formats/llama.safetensors" folder/model.safetensors
"$tfc" import folder -o hf 2>err.txt || fail "$(cat err.txt)"
printf 'ab cd\nabcd\n\nhij abab cd\n' >prompts.txt
greedy="--input prompts.txt --tokens 12 --temperature 0 --json"
"$tfc" generate gguf $greedy >a.txt
"$tfc" generate hf $greedy | cmp - a.txt || fail "a GGUF continues otherwise than its folder"
grep -q '"chat_template": "{{ messages }}"' gguf/published/tokenizer_config.json || fail "no chat template"
"$tfc" import "$formats/llama.gguf" -o copied --copy
[ ! -L copied/weights ] || fail "the GGUF was not copied"
"$tfc" generate copied $greedy | cmp - a.txt || fail "a copied GGUF continues otherwise"

# Exported, it is the same file's tensors again, in any type, and continues the same in those that round nothing.
for type in f32 bf16 f16 q8_0 q4_0; do
    "$tfc" export gguf -o $type.gguf --type $type 2>$type.txt || fail "$type: $(cat $type.txt)"
    "$tfc" import $type.gguf -o $type.run 2>err.txt || fail "$type: $(cat err.txt)"
done
"$tfc" generate f32.run $greedy | cmp - a.txt || fail "an exported GGUF continues otherwise"
"$tfc" info "$formats/llama.gguf" | sort >there.txt
"$tfc" info f32.gguf | sort | diff - there.txt || fail "an exported GGUF has other tensors"
grep -q "is written as F16: its rows of 16 are not whole blocks of Q4_0" q4_0.txt || fail "$(cat q4_0.txt)"
mkdir again # general.name is that of the run
"$tfc" import f32.gguf -o again/gguf
"$tfc" export again/gguf -o again.gguf
cmp f32.gguf again.gguf || fail "a GGUF that is imported and exported is another file"
# A quantised run keeps what import kept, and its GGUF has the same integers; what is kept stays f32. Either word
# names the format of int4. (Rows of whole blocks: a wider model.)
mkdir wide
cp gguf/published/tokenizer* wide
python3 - folder/config.json wide <<'END'
import array, json, random, struct, sys
config = json.load(open(sys.argv[1]))
config.update(hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1)
config.pop("head_dim", None)
json.dump(config, open(sys.argv[2] + "/config.json", "w"))
layer = {"input_layernorm": [32], "post_attention_layernorm": [32], "self_attn.q_proj": [32, 32], "self_attn.k_proj": [16, 32],
         "self_attn.v_proj": [16, 32], "self_attn.o_proj": [32, 32], "mlp.gate_proj": [64, 32], "mlp.up_proj": [64, 32],
         "mlp.down_proj": [32, 64]}
vocab = config["vocab_size"]
shapes = {"model.embed_tokens.weight": [vocab, 32], "model.norm.weight": [32], "lm_head.weight": [vocab, 32]}
shapes.update({f"model.layers.0.{name}.weight": shape for name, shape in layer.items()})
random.seed(7)
header, data = {}, array.array("f")
for name, shape in shapes.items():
    begin, count = 4 * len(data), shape[0] * (shape[1] if len(shape) > 1 else 1)
    data.extend(random.uniform(-1, 1) for _ in range(count))
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, 4 * len(data)]}
text = json.dumps(header).encode()
open(sys.argv[2] + "/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data.tobytes())
END
"$tfc" import wide -o wide_run 2>err.txt || fail "the wider model: $(cat err.txt)"
for type in q8_0 int4:q4_0; do
    rm -rf small back
    "$tfc" quantize wide_run --dtype ${type%:*} --keep embedding -o small >out.txt 2>err.txt || fail "$type: $(cat err.txt)"
    "$tfc" export small -o small.gguf 2>err.txt || fail "$type: $(cat err.txt)"
    "$tfc" export small -o typed.gguf --type ${type#*:} 2>err.txt || fail "$type: $(cat err.txt)"
    cmp small.gguf typed.gguf || fail "$type is not what an export takes by itself"
    "$tfc" info small.gguf >out.txt
    grep -q 'token_embd.weight *f32' out.txt || fail "$type: what is kept: $(cat out.txt)"
    grep -qi "attn_q.weight *${type#*:}" out.txt || fail "$type: $(cat out.txt)"
    "$tfc" import small.gguf -o back 2>err.txt || fail "$type: $(cat err.txt)"
    for run in small back; do "$tfc" export $run -o $run.safetensors --format safetensors; done
    python3 - <<'END' || fail "$type: other values than the run's"
import array, json, struct
def tensors(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    at = {name: t["data_offsets"] for name, t in json.loads(data[8:8 + size]).items() if name != "__metadata__"}
    return {name: array.array("f", data[8 + size + a:8 + size + b]) for name, (a, b) in at.items()}
small, back = tensors("small.safetensors"), tensors("back.safetensors")
assert small == back and len(small) > 5
END
done
"$tfc" quantize wide_run --dtype q4_0 --keep embedding -o by_name >out.txt 2>err.txt || fail "$(cat err.txt)"
cmp small/weights/model.safetensors by_name/weights/model.safetensors || fail "q4_0 is not int4"
"$tfc" export gguf -o other.gguf --type int4 2>err.txt && "$tfc" export gguf -o typed.gguf --type q4_0 2>err.txt &&
    cmp other.gguf typed.gguf || fail "--type int4: $(cat err.txt)"
# Of several types: each matrix is written, and computed by the run of such a GGUF, in its own.
"$tfc" quantize wide_run --dtype int4 --keep embedding --keep '**.value=q8_0' -o finer >out.txt 2>err.txt || fail "$(cat err.txt)"
"$tfc" export finer -o finer.gguf 2>err.txt && "$tfc" info finer.gguf >out.txt || fail "several types: $(cat err.txt)"
grep -qi 'attn_v.weight *q8_0' out.txt && grep -qi 'attn_q.weight *q4_0' out.txt || fail "several types: $(cat out.txt)"
"$tfc" import finer.gguf -o finer_back >out.txt 2>err.txt || fail "$(cat err.txt)"
grep -q 'matrices are Q4_0, Q8_0: commands compute them in int4, q8_0' out.txt err.txt || fail "import: $(cat out.txt err.txt)"
"$tfc" info finer_back >out.txt
grep -q '^  keep .*value.weight=q8_0$' out.txt && grep -q '^  keep    embedding=f32$' out.txt || fail "types of a GGUF: $(cat out.txt)"
for run in finer finer_back; do
    "$tfc" dump $run --function forward --stage fused | grep -o 'quant = "[a-z0-9_]*"' | sort | uniq -c >$run.types
done
grep -q q8_0 finer.types && grep -q int4 finer.types && cmp finer.types finer_back.types || fail "$(cat finer_back.types)"
for width in rope.dimension_count attention.value_length; do # without the second llama.cpp takes another
    grep -qa "llama.$width" f32.gguf || fail "the GGUF does not say $width"
    python3 - f32.gguf "llama.$width" >other.gguf <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[data.index(sys.argv[2].encode()) + len(sys.argv[2]) + 4] ^= 6
sys.stdout.buffer.write(data)
END
    refuses 1 "$width is 2, but heads are 4 wide" "$tfc" import other.gguf -o no
done
refuses 2 "type is for --format gguf and hf" "$tfc" export gguf -o x.safetensors --type f16

# Elements beyond a type of two bytes: an error names the param, and nothing is written.
cat >enlarge.py <<'END'
import json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
size = struct.unpack("<Q", data[:8])[0]
place = json.loads(data[8:8 + size])["model.layers.0.mlp.gate_proj.weight"]
assert place["dtype"] == "F32"
at = 8 + size + place["data_offsets"][0] + 8
data[at:at + 4] = struct.pack("<f", float(sys.argv[2]))
sys.stdout.buffer.write(data)
END
for element in 65519 65520 -70000 3.4e38; do
    python3 enlarge.py "$formats/llama.safetensors" $element >large.safetensors
    for out in in_f16/f16 in_f16.gguf/f16 in_q8_0.gguf/q8_0 in_bf16/bf16 in_bf16.gguf/bf16 in_f32.gguf/f32; do
        type=${out#*/} out=${out%/*}
        format=gguf
        [ "$out" != "${out%.gguf}" ] || format=hf
        status=0
        rm -rf "$out"
        "$tfc" export hf --weights large.safetensors --format $format --type $type -o "$out" >out.txt 2>err.txt || status=$?
        case $element-$type in
        65520-f16 | 65520-q8_0 | -70000-f16 | -70000-q8_0 | 3.4e38-f16 | 3.4e38-q8_0 | 3.4e38-bf16)
            [ $status = 1 ] && [ ! -e "$out" ] &&
                grep -q "the param 'layer.0.feed_forward.gate.weight' ('model.layers.0.mlp.gate_proj.weight' there) has the element .*, which B*b*[Ff]16 cannot hold: --type f32 writes it" err.txt ||
                fail "$element in $type: status $status: $(cat err.txt)"
            ;;
        *) [ $status = 0 ] || fail "$element in $type: $(cat err.txt)" ;;
        esac
    done
done
"$tfc" export hf --format hf -o kept.folder
cp kept.folder/model.safetensors kept.safetensors
refuses 1 "which f16 cannot hold" "$tfc" export hf --weights large.safetensors --format hf --type f16 -o kept.folder
cmp kept.folder/model.safetensors kept.safetensors || fail "an export that was refused has changed the folder"

# Each architecture: the same file again from a run of it, and the same tensors in it. (tests/cli/llama_cpp.sh compares what
# llama.cpp computes from it.)
kinds="llama31 gemma3_text bert phi3"
[ -n "$short" ] || kinds="$kinds linear yarn olmo2 qwen3 gemma gemma2 gpt2 t5"
for kind in $kinds; do
    python3 "$root/tests/cli/llama_cpp.py" $kind $kind
    "$tfc" import $kind -o $kind.run 2>err.txt && "$tfc" export $kind.run -o $kind.gguf 2>err.txt || fail "$kind: $(cat err.txt)"
    mkdir -p again && "$tfc" import $kind.gguf -o again/$kind.run 2>err.txt || fail "$kind: $(cat err.txt)"
    [ ! -s err.txt ] || fail "$kind: $(cat err.txt)"
    "$tfc" export again/$kind.run -o again.gguf 2>err.txt || fail "$kind: $(cat err.txt)"
    if grep -qa phi3.run $kind.gguf; then fail "llama.cpp looks for Phi-3's tokens in a model of this name"; fi
    cmp $kind.gguf again.gguf || fail "$kind: a GGUF that is imported and exported is another file"
    case $kind in
    t5) answer="translate --beam 1 --input prompts.txt" ;;
    bert) answer="predict --input prompts.txt" ;;
    *) answer="generate $greedy" ;;
    esac
    # shellcheck disable=SC2086  # a command and its options
    for run in $kind.run again/$kind.run; do
        "$tfc" ${answer%% *} $run ${answer#* } >"answer.$(echo $run | tr / .)" 2>err.txt || fail "$kind: $(cat err.txt)"
    done
    cmp answer.$kind.run answer.again.$kind.run || fail "$kind: the model from a GGUF answers otherwise"
    case $kind in gemma*) continue ;; esac # whose gains are larger by 1, and so rounded
    "$tfc" export $kind.run -o one.safetensors && "$tfc" export again/$kind.run -o other.safetensors
    cmp one.safetensors other.safetensors || fail "$kind: other tensors"
done

# What a GGUF cannot say is refused by the key that says it; tensors that lie in one another, or unaligned, are refused.
sed 's/"query_pre_attn_scalar": 32/"query_pre_attn_scalar": 33/' gemma3_text/config.json >changed.json
cp changed.json gemma3_text/config.json
"$tfc" import gemma3_text -o changed.run
refuses 1 '"query_pre_attn_scalar" is 33, which a GGUF of gemma3 does not say: its readers compute 32' \
    "$tfc" export changed.run -o no.gguf
caps() { # caps KIND KEY=VALUE…: what refuses the GGUF of that config.json
    rm -rf caps caps.run
    python3 "$root/tests/cli/llama_cpp.py" "$1" caps
    python3 - "$@" <<'END'
import json, sys
config = json.load(open("caps/config.json"))
for word in sys.argv[2:]:
    key, value = word.split("=")
    config[key] = json.loads(value)
json.dump(config, open("caps/config.json", "w"))
END
    "$tfc" import caps -o caps.run 2>err.txt || fail "$(cat err.txt)"
}
for key in attn_logit_softcapping=50 final_logit_softcapping=30 sliding_window=4096; do
    caps gemma2 "${key%=*}=null"
    refuses 1 "\"${key%=*}\" is null, which a GGUF of gemma2 does not say: its readers compute ${key#*=}" \
        "$tfc" export caps.run -o no.gguf
done
caps gemma3_text attn_logit_softcapping=20.5
refuses 1 '"attn_logit_softcapping" is 20.5, which a GGUF of gemma3 does not say: its readers compute null' \
    "$tfc" export caps.run -o no.gguf
caps gemma3_text final_logit_softcapping=10
"$tfc" export caps.run -o caps.gguf 2>err.txt && rm -rf changed.run && "$tfc" import caps.gguf -o changed.run || fail "$(cat err.txt)"
grep -q '^const logit_cap = 10' changed.run/model.tfg || fail "the cap is lost: $(cat changed.run/model.tfg)"
for change in 0:overlaps 4:'no multiple of the alignment, 32'; do
    python3 - f32.gguf "${change%%:*}" >other.gguf <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
name = b"blk.1.attn_norm.weight"
at = data.index(name) + len(name) + 4 + 8 + 4
offset = struct.unpack_from("<Q", data, at)[0]
struct.pack_into("<Q", data, at, offset + 4 if sys.argv[2] == "4" else 0)
sys.stdout.buffer.write(data)
END
    refuses 1 "${change#*:}" "$tfc" import other.gguf -o no
done

# A bare file: what model it is stands beside it, or in the folder of --config.
"$tfc" import "$formats/llama.safetensors" --config folder -o bare
"$tfc" generate bare $greedy | cmp - a.txt || fail "a bare file continues otherwise"
cp "$formats/llama.gguf" folder/w.gguf
"$tfc" import folder/model.safetensors -o beside
"$tfc" generate beside $greedy | cmp - a.txt || fail "a file beside its config.json continues otherwise"
"$tfc" import folder/w.gguf --config folder/config.json -o other
"$tfc" generate other $greedy | cmp - a.txt || fail "a GGUF with another configuration continues otherwise"
refuses 1 "is a file of weights, which says nothing of its model, and there is no config.json beside it" \
    "$tfc" import "$formats/llama.safetensors" -o no
refuses 1 "config is for a file of weights, and folder is a folder" "$tfc" import folder --config folder -o no
mkdir named
cp folder/tokenizer* named
cp folder/config.json named/small.json
"$tfc" import folder/model.safetensors --config named/small.json -o of_name
"$tfc" generate of_name $greedy | cmp - a.txt || fail "a configuration of another name continues otherwise"
"$tfc" export of_name --format hf -o of_name.hf
cmp of_name.hf/config.json folder/config.json || fail "another config.json comes back"
refuses 1 "w.gguf: error: " "$tfc" import folder/model.safetensors --config folder/w.gguf -o no
: >own.tfg
refuses 1 "config own.tfg: a model of your own takes the file by --weights" \
    "$tfc" import folder/model.safetensors --config own.tfg -o no
refuses 1 "its architecture is 'none'" "$tfc" import "$formats/blocks.gguf" -o no
[ ! -e no ] || fail "a folder is left"

# All commands read all formats, and say what a file has.
"$tfc" info "$formats/blocks.gguf" >info.txt
grep -q 'q6_k  *Q6_K\[2, 512\]' info.txt || fail "$(cat info.txt)"
"$tfc" export hf -o params.safetensors
cat >model.tfg <<'END'
model line
param w : [2, 3, 4] = zeros
dim B
input x : f32[B, 4]
output y = x @ transpose(w[0])
weights { w = "cube" }
END
cat >x.py <<'END'
import struct, sys
sys.stdout.buffer.write(struct.pack("<Q", 66) + b'{"x": {"dtype": "F32", "shape": [1, 4], "data_offsets": [0, 16]}}' .ljust(66))
sys.stdout.buffer.write(struct.pack("<4f", 1, 2, 3, 4))
END
python3 x.py >x.safetensors
for file in arrays.npz packed.npz arrays.safetensors; do
    "$tfc" run model.tfg --weights "$formats/$file" --in x.safetensors --out "$file.out" || fail "$file"
    cmp "$file.out" arrays.npz.out || fail "$file computes otherwise"
done

# An archive that ends early, and one whose directory gives to an entry the place of another.
head -c 900 "$formats/torch.pt" >cut.pt
python3 - "$formats/torch.pt" >swapped.pt <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
places, at = [], 0
while (at := data.find(b"PK\1\2", at)) >= 0:
    places.append(at + 42)
    at += 4
data[places[2]:places[2] + 4] = data[places[1]:places[1] + 4]
sys.stdout.buffer.write(data)
END
for file in cut swapped; do
    refuses 1 "$file.pt is an archive, of PyTorch or zip, that is cut off or damaged: download it again" "$tfc" info $file.pt
done

# A byte of a tensor changed in an archive: the checksum that the archive has of it is compared when it is read.
cat >matrix.tfg <<'END'
model matrix
dim B
input x : float[B, 3]
param matrix : [3, 5]
output y = x @ matrix
END
python3 - "$formats" <<'END'
import json, struct, sys, zipfile
header = json.dumps({"x": {"dtype": "F32", "shape": [1, 3], "data_offsets": [0, 12]}}).encode()
open("x.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<3f", 1, 2, 3))
for archive in "arrays.npz", "packed.npz":
    data = bytearray(open(sys.argv[1] + "/" + archive, "rb").read())
    entry = zipfile.ZipFile(sys.argv[1] + "/" + archive).getinfo("matrix.npy")
    data[entry.header_offset + 30 + len("matrix.npy") + entry.compress_size - 9] ^= 4
    open(archive, "wb").write(data)
END
"$tfc" run matrix.tfg --weights "$formats/arrays.npz" --in x.safetensors --out y.safetensors
refuses 1 "arrays.npz is damaged: the checksum of 'matrix' does not match" "$tfc" run matrix.tfg --weights arrays.npz \
    --in x.safetensors --out y.safetensors
refuses 1 "packed.npz: 'matrix.npy' in the archive: it is " "$tfc" run matrix.tfg --weights packed.npz --in x.safetensors \
    --out y.safetensors
refuses 1 "arrays.npz is damaged: the checksum of 'matrix' does not match" "$tfc" run matrix.tfg --in arrays.npz --out y.safetensors

# llama.cpp computes no window in models of LLaMA's kind: ours comes back from the file.
mkdir windows
sed 's/"sliding_window": 3/"sliding_window": 5/' "$root/tests/fixtures/published/mistral.json" >windows/config.json
cp "$root/tests/fixtures/mistral_published.safetensors" windows/model.safetensors
cp folder/tokenizer* windows
"$tfc" import windows -o windows.run 2>err.txt || fail "$(cat err.txt)"
"$tfc" export windows.run -o windows.gguf 2>err.txt || fail "$(cat err.txt)"
grep -q '"sliding_window": llama.cpp computes texts of more than 5 tokens without it, in models of llama' err.txt ||
    fail "nothing is said of the window: $(cat err.txt)"
"$tfc" import windows.gguf -o windows.back
grep -q "const window = 5" windows.back/model.tfg || fail "the window does not come back"
echo "formats: a model from any file"
