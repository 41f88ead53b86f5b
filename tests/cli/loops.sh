#!/bin/sh
# Loop IR of every kernel of every model, also of tests/models: what is printed parses back to the same text; the
# passes one after the other, by `tfc opt`, give what `tfc dump --stage loops` shows; mistakes are told. For several
# processors, as vectors differ. Usage: loops.sh TFC   (from the project's root)
set -u
. tests/common.sh
failed=0
complain() { # and goes on
    echo "FAILED: $*"
    failed=1
}
all=$("$tfc" opt --list | sed '1,/^of loop IR/d' | cut -d' ' -f1 | paste -sd, -)
[ -n "$all" ] || fail "opt --list tells of no pass over loop IR"

# walk CPU MODEL ARGUMENTS…
walk() {
    cpu=$1
    shift
    "$tfc" dump "$@" --stage loops --after built --cpu "$cpu" -o "$work/built.loop" 2>"$work/errors" &&
        "$tfc" dump "$@" --stage loops --cpu "$cpu" -o "$work/done.loop" 2>"$work/errors" ||
        { complain "dump $* --cpu $cpu"; cat "$work/errors"; return; }
    grep -q '^kernel @' "$work/done.loop" || complain "$* has no kernel"
    for file in built done; do
        "$tfc" opt "$work/$file.loop" >"$work/again" 2>"$work/errors" && cmp -s "$work/again" "$work/$file.loop" ||
            { complain "$* --cpu $cpu: $file does not parse back"; head -n 5 "$work/errors"; }
    done
    "$tfc" opt "$work/built.loop" --passes "$all" --cpu "$cpu" >"$work/again" 2>"$work/errors" &&
        cmp -s "$work/again" "$work/done.loop" ||
        { complain "$* --cpu $cpu: the passes one by one give something else"; diff "$work/again" "$work/done.loop" | head -n 5; }
}

# Comments that name the model's lines are all that --lines adds.
"$tfc" dump models/multi30k_tiny.tfg $small --stage loops --lines -o "$work/lines.loop" &&
    "$tfc" dump models/multi30k_tiny.tfg $small --stage loops -o "$work/done.loop" || complain "dump --lines"
refuses 2 "lines is for --stage loops" "$tfc" dump models/multi30k_tiny.tfg --stage llvm --lines
[ "$(grep -c '  # attention.tfg:[0-9]*$' "$work/lines.loop")" -gt 4 ] || complain "--lines names no line"
sed 's/  # [a-z0-9_]*\.tfg:[0-9]*$//' "$work/lines.loop" | cmp -s - "$work/done.loop" || complain "--lines adds more"
"$tfc" opt "$work/lines.loop" | cmp -s - "$work/done.loop" || complain "what --lines gives does not parse back"

for model in models/*.tfg tests/models/*.tfg; do
    few="--set layers=2"
    "$tfc" dump "$model" $few >/dev/null 2>&1 || few=
    walk x86-64-v4 "$model" $few
done
walk x86-64-v3 models/multi30k_tiny.tfg $small --dtype bf16
walk sapphirerapids models/multi30k_tiny.tfg $small --dtype bf16
walk x86-64 models/gpt.tfg --set layers=1 --function decode_step

cd "$work" || exit 1
printf 'kernel @k(ptr %%0) {\n  f32 %%1 = load %%2 align 4\n}\n' >wrong.loop
refuses 1 'wrong.loop:2:' "$tfc" opt wrong.loop
printf 'kernel @k(ptr %%0) {\n  return\n}\n' >right.loop
refuses 1 "did you mean 'hoist'" "$tfc" opt right.loop --passes hoits
refuses 1 "did you mean 'hoist'" "$tfc" dump "$root/models/gpt.tfg" --stage loops --after hoits
[ $failed = 0 ] && echo "all is well"
exit $failed
