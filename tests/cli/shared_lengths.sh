#!/bin/sh
# Inputs that share a ragged dimension: rows of other lengths are refused, with their line, wherever data
# meets a model.
# Usage: shared_lengths.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77

cat >tagger.tfg <<'END'
model tagger
const vocab = 7, d = 8
dim B, S
input src : token[B, S~]
input tgt : token[B, S~]
param e : [vocab, d] = normal(0, 1)
output logits = e[src] @ transpose(e)
loss = cross_entropy(logits, next(tgt))
train { rate = constant(0.001) }
END
printf '%s\n' '<pad>' '<unk>' '<s>' '</s>' a b c >vocab.txt
printf 'a b\na b c\n' >src
printf 'b a\na\n' >uneven
printf 'b a\na c a\n' >even
paste src uneven >uneven.tsv
train() { "$tfc" train tagger.tfg --steps 2 --no-bleu "$@"; }

train --vocab words:vocab.txt --source src --target even --valid-source src --valid-target even --out run 2>err || fail "$(cat err)"
two='src:2:1: error: the source has 4 tokens and the target 2, but the model.s source and target share'
refuses 1 "$two" train --vocab words:vocab.txt --source src --target uneven --out no
refuses 1 "uneven.tsv:2:1: error: the source has 4" train --vocab words:vocab.txt --data uneven.tsv --out no
refuses 1 "uneven.tsv:2:1: error: the source has 4" train --vocab words:vocab.txt --source src --target even --mix uneven.tsv:1 --out no
refuses 1 "$two" train --vocab words:vocab.txt --source src --target even --valid-source src --valid-target uneven --out no
[ ! -e no ] || fail "a refused training leaves a folder"
"$tfc" prepare --source src --target uneven --vocab words:vocab.txt -o rows 2>err || fail "$(cat err)"
refuses 1 'shard-00000.tokens: row 2: the source has 4 tokens and the target 2' train --prepared rows --out no2

for command in score eval align; do
    refuses 1 "$two" "$tfc" $command run --source src --target uneven
done
refuses 1 "$two" "$tfc" attend run --source src --target uneven --json out.json
"$tfc" score run --source src --target uneven --keep-going >scores 2>err || fail "$(cat err)"
grep -q 'src:2:1: warning: the source has 4' err || fail "no warning: $(cat err)"
[ "$(wc -l <scores)" = 2 ] && [ -z "$(tail -n 1 scores)" ] || fail "scores: $(cat scores)"

# tensors NAME=ROW/ROW … >file: of I32
tensors() {
    python3 - "$@" <<'END'
import json, struct, sys
header, data = {}, b""
for word in sys.argv[1:]:
    name, values = word.split("=")
    rows = [[int(v) for v in row.split(",")] for row in values.split("/")]
    shape = [len(rows[0])] if name.endswith(".lengths") else [len(rows), len(rows[0])]
    part = b"".join(struct.pack("<%di" % len(row), *row) for row in rows)
    header[name] = {"dtype": "I32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
    data += part
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
sys.stdout.buffer.write(struct.pack("<Q", len(text)) + text + data)
END
}
run() { "$tfc" run tagger.tfg --in in.safetensors --out out.safetensors; }
tensors src=4,5,6,3 tgt=2,4,5,6 >in.safetensors
run || fail "rows of the same length"
tensors src=4,5,6,3/4,3,0,0 src.lengths=4,2 tgt=2,4,5,6/2,4,0,0 >in.safetensors
run || fail "one tensor's lengths for both"
tensors src=4,5,6,3 tgt=2,4,5,6,4,5 >in.safetensors
refuses 1 "'tgt.next' has 6 positions along S, but 'src' 4: they share this dimension" run
tensors src=4,5,6,3,4,4,4,4,4 tgt=2,4 >in.safetensors
refuses 1 "'tgt.next' has 2 positions along S, but 'src' 9: they share this dimension" run
tensors src=4,5,6/4,5,6 src.lengths=2,3 tgt=2,4,5/2,4,5 tgt.lengths=2,2 >in.safetensors
refuses 1 "row 1 of 'src' has the length 3, but that of 'tgt.next' 2: they share the dimension S" run
echo "shared lengths: rows of other lengths are refused, with their line"
