#!/bin/sh
# The models of docs/papers.md: each is checked and trained for some steps; what decodes chooses, greedily, the argmax of
# a run over the whole text, and the classifier learns and predicts.
# Usage: papers.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || exit 77
export OMP_NUM_THREADS=1
awk '/^```tfg$/ { name = ""; inside = 1; next }
     /^```$/ { inside = 0 }
     inside && !name { name = $2; print name >"names" }
     inside { print >(name ".tfg") }' "$root/docs/papers.md"
[ "$(wc -l <names)" = 10 ] || fail "the page has other models than ten: $(cat names)"
letters_in_steps
printf 'a b\nh\nc e g a c e\nb b b\n' >prompts
awk '{ print "{\"text\": \"" $0 "\", \"label\": \"" (/a/ ? "yes" : "no") "\"}" }' train.src >rows.jsonl
printf 'no\nyes\n' >labels.txt

while read -r name; do
    [ "$name" = longformer ] || "$tfc" dump "$name.tfg" --function decode_step --stage graph >/dev/null 2>err || fail "$name: $(cat err)"
    [ -z "$short" ] || case $name in retnet | canon | longformer | unilm) ;; *) continue ;; esac
    case $name in
    conformer | unilm) set -- --source train.src --target train.tgt ;;
    longformer) set -- --data rows.jsonl --valid-data rows.jsonl ;;
    *) set -- --text train.src ;;
    esac
    "$tfc" train "$name.tfg" "$@" --vocab words:auto --steps 60 --out "$name" 2>err ||
        fail "$name does not train: $(cat err)"
    case $name in
    conformer | unilm) "$tfc" translate "$name" --input prompts --beam 1 --token-scores >decoded 2>err ;;
    longformer) "$tfc" eval longformer --data rows.jsonl >evaluated 2>err ;;
    *) "$tfc" generate "$name" --input prompts --temperature 0 --tokens 12 --json >decoded 2>err ;;
    esac || fail "$name: $(cat err)"
    if [ "$name" != longformer ]; then
        different=$(python3 "$root/tests/cli/argmax.py" "$tfc" "$name" decoded) || fail "$name: other tokens than the argmax: $(cat decoded)"
        [ "$different" -gt 4 ] || fail "$name: $different tokens again and again show little: $(cat decoded)"
    fi
    [ -z "$short" ] || continue
    "$tfc" check "$name.tfg" --samples 1 >out 2>&1 || fail "$name: $(cat out)"
    [ "$name" = longformer ] || grep -q '^ok  *token by token' out || fail "$name is not decoded: $(cat out)"
done <names
awk '$1 == "accuracy" { good = $2 > 95 } END { exit !good }' evaluated || fail "the classifier does not learn: $(cat evaluated)"
echo "ten papers: checked, trained, decoded by argmax"
