#!/bin/sh
# Published folders as they come: files that stand for others, are cut off, missing, unreadable or of another model. Each is
# refused by a message that names the file and what to do, and no folder is left.
# Usage: import_damage.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"
command -v python3 >/dev/null || exit 77
python3 "$root/tests/cli/llama_cpp.py" llama whole
pointer='version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9000000\n'

# broken PATTERN COMMAND: a copy of the folder in which the command has run
broken() {
    rm -rf broken
    cp -r whole broken
    (cd broken && eval "$2")
    refuses 1 "$1" "$tfc" import broken -o no
    ! ls -d no* >/dev/null 2>&1 || fail "$2: a folder is left: $(ls -d no*)"
}
# config PATTERN SED: with another config.json
config() { broken "$1" "sed -i 's/$2/' config.json"; }

for file in config.json tokenizer.model model.safetensors tokenizer_config.json generation_config.json; do
    broken "$file.* is a Git LFS pointer, .* fetch that" "printf '$pointer' >$file"
    broken "$file.* is a page of HTML: .*download the file" "echo ' <!DOCTYPE html><html>' >$file"
    broken "cannot read .*$file: it is a link to a file that is not there" "rm -f $file && ln -s nowhere $file"
    broken "cannot read .*$file: Too many levels" "rm -f $file && ln -s $file $file"
    broken "cannot read .*$file: not a regular file" "rm -f $file && mkfifo $file"
    broken "cannot read .*$file" "rm -f $file && mkdir $file"
done

broken "model.safetensors: .*cut off or damaged: download" "head -c 200000 ../whole/model.safetensors >model.safetensors"
broken "model.safetensors: .*cut off within its header: download" "head -c 300 ../whole/model.safetensors >model.safetensors"
broken "no weights: .*; it has model-00001-of-00002.safetensors, but no index of such parts" \
    "mv model.safetensors model-00001-of-00002.safetensors"
broken "no weights: .*; model.safetensors.incomplete was not downloaded to its end" "mv model.safetensors model.safetensors.incomplete"
broken "no weights: .*; adapter_model.safetensors changes another model: merge" "mv model.safetensors adapter_model.safetensors"
broken "no weights: .*; if weights.safetensors has them, name that file" "mv model.safetensors weights.safetensors"
broken "no tokenizer that is read: .*tokenizer.json$" "mv tokenizer.model merges.txt"
broken "name its file broken.gguf in place of the folder" "rm config.json && touch broken.gguf"
refuses 1 "there is no such folder (download a model of a hub first" "$tfc" import some/model -o no
refuses 1 "cannot read /dev/zero: not a regular file" "$tfc" import /dev/zero -o no
refuses 1 "cannot make the folder whole/config.json: a file has that name" "$tfc" import whole -o whole/config.json/no

# What JSON has not, and what a model is not.
config "config.json: error: it begins with a byte order mark: save it as UTF-8" '^{/\xEF\xBB\xBF{'
broken "config.json: error: it is UTF-16: save it as UTF-8" "printf '\377\376{\0' >config.json"
config "config.json: error: 'NaN', which is no value of JSON, at byte" '^{/{"init_std": NaN, '
config "config.json: error: '-Infinity', which is no value of JSON, at byte" '^{/{"init_std": -Infinity, '
config "config.json: error: the key 'vocab_size' a second time at byte" '^{/{"vocab_size": 3, '
config "config.json: error: \"hidden_size\" is 64, which is no multiple of \"num_attention_heads\", 3" '"num_attention_heads": 4/"num_attention_heads": 3'
config "\"num_attention_heads\" is 4, which is no multiple of \"num_key_value_heads\", 3" '"num_key_value_heads": 2/"num_key_value_heads": 3'
config "\"num_hidden_layers\" is 65536: expected a whole number from 1 to 10000" '"num_hidden_layers": 2/"num_hidden_layers": 65536'
config "\"vocab_size\" is 1e+40: expected a whole number" '"vocab_size": [0-9]*/"vocab_size": 10000000000000000000000000000000000000000'
# An odd width of heads is no mistake of one key: the model says so, and what it was made of.
config "config.json: note: the model is made of the values here" '"num_attention_heads": 4, "num_key_value_heads": 2/"num_attention_heads": 64, "num_key_value_heads": 64'

# The limit of a tokenizer that has none, as transformers writes it.
rm -rf broken
cp -r whole broken
echo '{"model_max_length": 1000000000000000019884624838656}' >broken/tokenizer_config.json
"$tfc" import broken -o run 2>err.txt || fail "an integer that no machine has: $(cat err.txt)"

# A GGUF: errors are of it, not of the folder that it becomes for a moment.
"$tfc" export run -o model.gguf
gguf() { # gguf PATTERN KEY FORMAT VALUE: another number behind a key
    python3 - "$2" "$3" "$4" <<'END'
import struct, sys
data, (key, form, value) = open("model.gguf", "rb").read(), sys.argv[1:]
at = data.index(key.encode()) + len(key) + 4
number = struct.pack(form, float(value) if form == "<f" else int(value))
open("other.gguf", "wb").write(data[:at] + number + data[at + len(number):])
END
    refuses 1 "^$1" "$tfc" import other.gguf -o no
    ! ls -d no* >/dev/null 2>&1 || fail "$2: a folder is left"
}
gguf 'other.gguf: error: "num_hidden_layers" is 0: expected' llama.block_count '<I' 0
gguf 'error: .*other.gguf: its llama.attention.layer_norm_rms_epsilon is no number' llama.attention.layer_norm_rms_epsilon '<f' nan
gguf 'error: .*other.gguf: its llama.rope.freq_base is no number' llama.rope.freq_base '<f' inf
python3 - "$root/tests/fixtures" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from gguf_file import *
write_gguf("m-00002-of-00003.gguf", [("split.no", U16, 1), ("split.count", U16, 3)], [("a", [4], F32, bytes(16))])
END
refuses 1 "it is one of 3 parts of a model: join them" "$tfc" import m-00002-of-00003.gguf -o no

# A disk that is full, and folders without permission.
mkdir small
if mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    trap 'umount "$work/small"; rm -rf "$work"' EXIT
    refuses 1 "cannot write .*weights/model.safetensors: No space left" "$tfc" import whole -o small/no --copy
    [ -z "$(ls -A small)" ] || fail "a full disk keeps $(ls -A small)"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 . whole
    mkdir -m 777 all
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
    chmod 0 whole/tokenizer.model
    refuses 1 "cannot read .*tokenizer.model: Permission denied" nobody "$tfc" import whole -o all/no
    refuses 1 "cannot make the folder no: Permission denied" nobody "$tfc" import broken -o no
    [ -z "$(ls -A all)" ] || fail "kept: $(ls -A all)"
fi
echo "import_damage: each refused by its file"
