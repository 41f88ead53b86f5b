#!/bin/sh
# one_of(word, words): a word that is none of those known is refused at the constant that it comes from.
# Usage: tests/cli/one_of.sh TFC
set -eu
. tests/common.sh
enter_work
cp "$root"/models/*.tfg .

for word in longerope Linear "linear "; do
    refuses 1 "rope_type. is the string \"$word\", but it can be \"default\", \"linear\", \"dynamic\", .*\"longrope\" alone" \
        "$tfc" info llama.tfg --set "rope_type=\"$word\""
done
refuses 1 'did you mean "linear"?' "$tfc" info llama.tfg --set 'rope_type="linaer"'
refuses 1 'is the number 3, but' "$tfc" info llama.tfg --set rope_type=3
cat >long.tfg <<'M'
model long
use "llama.tfg"
const rope_type = "longerope"
M
refuses 1 'long.tfg:3:7.*rope_type. is the string "longerope"' "$tfc" info long.tfg
grep -q 'llama.tfg:[0-9:]* note: it is read here' err.txt || fail "$(cat err.txt)"
for word in default linear dynamic ntk yarn llama3 longrope; do
    "$tfc" info llama.tfg --set "rope_type=\"$word\"" >out.txt 2>err.txt || fail "$word: $(cat err.txt)"
done
cat >list.tfg <<'M'
model list
const word = "a"
output y = one_of(word, "a")
M
refuses 1 'one_of. takes a list of strings, not the string "a"' "$tfc" info list.tfg
