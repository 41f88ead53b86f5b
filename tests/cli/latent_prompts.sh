#!/bin/sh
# Prompts of a model that caches latents: texts that are fed many positions at once make keys and values of them, beside
# texts that are fed few. What follows is the argmax of whole texts, alone and beside others, compiled, in bf16 and int8.
# (reference.latent has the numbers.)
# Usage: latent_prompts.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77
letters_in_steps
cp "$root/tests/strangers/mla.tfg" .
sizes="--set layers=2 --set heads=2 --set d_model=32 --set d_ff=64 --set q_rank=16 --set kv_rank=16 --set d_nope=8 --set d_v=8 --set d_rope=4"

# 16 (8 + 8) / (2 * 16 - 8 - 8) = 16
"$tfc" info mla.tfg $sizes >info || fail "$(cat info)"
grep -qx 'a text that is fed 16 positions or more at once makes keys and values of what is cached' info || fail "$(cat info)"
"$tfc" info mla.tfg >info && ! grep "at once" info >/dev/null || fail "equal work in both orders: $(cat info)"
"$tfc" info mla.tfg $sizes --set kv_rank=33 --set d_nope=32 --set d_v=32 >info && ! grep "at once" info >/dev/null || fail "what is never fed at once: $(cat info)"
"$tfc" dump mla.tfg $sizes --function decode_step --report >report 2>&1 || fail "$(cat report)"
"$tfc" dump mla.tfg $sizes --function decode_step --stage fused >fused 2>err || fail "$(cat err)"
[ "$(grep -c '= attention' fused)" = 2 ] || fail "the attention of many positions is not fused: $(cat fused)"

"$tfc" train mla.tfg --text train.src --vocab words:auto --steps 80 --validate-every 0 $sizes --out run 2>err || fail "$(cat err)"
awk 'BEGIN { n = split("5 15 17 40 18 90 3", lengths); for (i = 1; i <= n; i++) { s = "";
     for (k = 0; k < lengths[i] - 1; k++) s = s (k ? " " : "") substr("abcdefgh", 1 + (k * (i + 1) + i) % 8, 1); print s } }' >prompts
continue_by() { "$tfc" generate run --input "$1" --tokens 12 --temperature 0 --token stop=none --json --dtype "$2" 2>err; }
continue_by prompts f32 >decoded || fail "$(cat err)"
different=$(python3 "$root/tests/cli/argmax.py" "$tfc" run decoded) || fail "other tokens than the argmax: $(cat decoded)"
[ "$different" -gt 3 ] || fail "one token again and again shows nothing: $(cat decoded)"
[ -z "$short" ] || exit 0
n=0
while read -r line; do
    n=$((n + 1))
    echo "$line" >alone
    continue_by alone f32 | sed 's/"line": *0/"line": '$((n - 1))'/' >>by_one || fail "$(cat err)"
done <prompts
cut -d, -f2- decoded >together && cut -d, -f2- by_one >apart
cmp -s together apart || fail "beside others: $(diff together apart)"
for dtype in bf16 int8; do
    continue_by prompts $dtype >rounded || fail "$dtype: $(cat err)"
    [ "$(grep -c '"end": *"length"' rounded)" = 7 ] || fail "$dtype: $(cat rounded)"
done

sed 's/ *$//' prompts >lines
"$tfc" generate run --input lines --tokens 12 --temperature 0 --token stop=none >plain 2>err || fail "$(cat err)"
"$tfc" compile run --emit exe -o kept 2>err || fail "$(cat err)"
./kept --tokens 12 --temperature 0 <lines >compiled 2>err || fail "compiled: $(cat err)"
cmp -s plain compiled || fail "compiled: $(diff plain compiled)"
