#!/bin/sh
# What a terminal is given of names and texts that others chose: no control characters, no changes of direction; files and
# pipes have the bytes as they are.
# Usage: terminal.sh TFC   (from the project's root)
set -eu
. tests/common.sh
export NO_COLOR=1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
enter_work

# C1's CSI in UTF-8 and as a byte, DEL, ESC, a bell, an override of the direction, marks of it
csi=$(printf '\302\233') order=$(printf '\342\200\256') mark=$(printf '\330\234') del=$(printf '\177') escape=$(printf '\033') bell=$(printf '\007')
evil="x${csi}2J${order}np.${mark}y$del"
shown='x\xc2\x9b2J\xe2\x80\xaenp.\xd8\x9cy\x7f'

# on_terminal WANTED COMMAND …: what the terminal is given has WANTED, and no control character but line breaks and tabs
on_terminal() {
    wanted=$1
    shift
    python3 "$root/tests/cli/terminal.py" "$@" >seen.txt || true
    grep -qF -- "$wanted" seen.txt || fail "$*: no '$wanted' on the terminal: $(head -c 2000 seen.txt | od -c | head -40)"
    ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]\\|\302[\200-\237]\\|\342\200[\216\217\252-\256]\\|\342\201[\246-\251]\\|\330\234')" seen.txt ||
        fail "$*: the terminal is given control characters: $(od -c seen.txt | head -40)"
}
# raw COMMAND …: a pipe has the name as it is
raw() { "$@" 2>err.txt | grep -qF -- "$evil" || fail "$*: not as it is in a pipe: $(cat err.txt)"; }

# Labels of a stranger.
cat >classes.tfg <<'END'
model classes
const vocab = 16, classes = 2, d = 8
dim B, S
input text : token[B, S~] = column("text")
input kind : int[B] = column("kind")
vocab kind = words
param embedding : [vocab, d] = normal(0, 1)
logits = linear as head(reshape(mean(embedding[text], 1), [B, d]), classes)
loss = cross_entropy(logits, kind)
predict class = softmax(logits)
train { rate = constant(0.1); batch = tokens(300); max_length = 12; optimizer = adam(0.9, 0.98) }
END
long=$(printf '%03000d' 0 | tr 0 z)
{ printf 'text\tkind\n'; for i in 1 2 3 4 5 6; do printf 'a b\t%s\nc d\tlong%s\n' "$evil" "$long"; done; } >all.tsv
# What tfc draws itself is drawn: the line of progress.
python3 "$root/tests/cli/terminal.py" "$tfc" train classes.tfg --data all.tsv --vocab words:auto --out classes --steps 40 >seen.txt ||
    fail "$(cat seen.txt)"
grep -q "$(printf '\r\033\\[Kstep ')" seen.txt || fail "no line of progress: $(od -c seen.txt | head -20)"
printf 'a b\nc d\n' >lines.txt
on_terminal "$shown" "$tfc" predict classes --input lines.txt
grep -q 'longz* … z*' seen.txt && [ "$(wc -c <seen.txt)" -lt 1500 ] || fail "a long label is not cut: $(cat seen.txt)"
on_terminal "$shown" "$tfc" predict classes --input lines.txt --json
on_terminal "$shown" "$tfc" predict classes --input lines.txt --tsv /dev/stdout
raw "$tfc" predict classes --input lines.txt
raw "$tfc" predict classes --input lines.txt --tsv /dev/stdout
"$tfc" predict classes --input lines.txt --tsv values.tsv
grep -qF -- "$evil" values.tsv && grep -qF -- "long$long" values.tsv || fail "not as it is in a file"
on_terminal "$shown" "$tfc" data classes.tfg --data all.tsv
"$tfc" compile classes -o program 2>err.txt || fail "$(cat err.txt)"
on_terminal "$shown" sh -c './program <lines.txt'
./program <lines.txt | grep -qF -- "$evil" || fail "a program: not as it is in a pipe"

# Tokens, as they come: a prompt is the first; characters of two and three bytes between them.
awk -v e="$escape[2J$bell$del$csi$order" 'BEGIN { for (i = 0; i < 200; i++) print "aé" e "✓b" }' >evil.txt
"$tfc" train "$root/models/gpt.tfg" --text evil.txt --vocab chars:auto --out lm --steps 2 --batch-tokens 256 \
    --set layers=1 --set d_model=16 --set heads=2 --set context=32 2>err.txt || fail "$(cat err.txt)"
on_terminal 'aé\x1b[2J\x07✓' "$tfc" generate lm --prompt "aé$escape[2J$bell✓" --tokens 40 --temperature 5
printf 'a%s\n' "$escape" >prompts.txt
on_terminal 'a\x1b' "$tfc" generate lm --input prompts.txt --tokens 4
"$tfc" generate lm --prompt "a$escape" --tokens 1 | grep -q "$escape" || fail "a prompt: not as it is in a pipe"

# Names in tables, messages, texts of models.
python3 - "$evil" <<'P'
import json, struct, sys
names = [sys.argv[1], "n" * 5000 + "\n\x1b"]
head = {name: {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i, name in enumerate(names)}
head["__metadata__"] = {sys.argv[1]: "\x1b]0;title\x07"}
head = json.dumps(head).encode()
open("names.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + bytes(8))
P
on_terminal "$shown" "$tfc" info names.safetensors
[ "$(wc -c <seen.txt)" -lt 2000 ] && grep -q '^  n* … n*\\n\\x1b' seen.txt || fail "a long name is not cut: $(cat seen.txt)"
"$tfc" info names.safetensors | grep -qE '^  n{5000}\\n\\x1b' || fail "a long name is cut in a pipe"
on_terminal "cannot read $shown" "$tfc" info "$evil"
printf 'model bad\nx = "%s" +\n' "$evil" >bad.tfg
on_terminal 'x?2J?np.?y?' "$tfc" info bad.tfg

# Colours of messages: on a terminal that has them, unless NO_COLOR says no; the rest of the message is as without.
messages() { # VARIABLE=VALUE …: what a terminal is given of a warning's, an error's and a usage error's message
    env -u NO_COLOR "$@" python3 "$root/tests/cli/terminal.py" "$tfc" info bad.tfg || true
    env -u NO_COLOR "$@" python3 "$root/tests/cli/terminal.py" "$tfc" info --nonsense || true
}
printf 'model bad\nuse "%s.tfg"\nx = zerso(3) +\n' "$evil" >bad.tfg
messages TERM=xterm >coloured.txt
messages TERM=xterm NO_COLOR=1 >plain.txt
messages TERM=xterm NO_COLOR= | cmp -s - coloured.txt || fail "an empty NO_COLOR takes the colours away"
messages TERM=dumb | cmp -s - plain.txt || fail "a dumb terminal has colours"
messages TERM= | cmp -s - plain.txt || fail "a terminal without a name has colours"
! grep -q "$escape" plain.txt || fail "NO_COLOR: $(od -c plain.txt | head -20)"
sed "s/$escape\[[0-9;]*m//g" coloured.txt | cmp - plain.txt || fail "colours change the message"
for piece in "$escape\[1;31merror:$escape\[m " "$escape\[1;31m^~*\$" "$escape\[1;31mtfc: info: $escape\[mthere is no option"; do
    grep -q "$piece" coloured.txt || fail "no $(printf %s "$piece" | od -c | head -3) in $(od -c coloured.txt | head -30)"
done
"$tfc" info bad.tfg 2>&1 | grep -q "$escape" && fail "colours in a pipe"

# The line of progress has the time left in 80 columns, and in few, and is never longer than the terminal is wide.
head -c 400000 /dev/zero | tr '\0' 'a' | fold -w 60 >long.txt
for columns in 80 30; do
    TERMINAL_COLUMNS=$columns python3 "$root/tests/cli/terminal.py" "$tfc" train "$root/models/gpt.tfg" --text long.txt \
        --vocab chars:auto -o "lm$columns" --steps 100000 --minutes 0.012 --threads 1 --batch-tokens 256 --report-every 100000 \
        --set layers=1 --set d_model=16 --set heads=2 --set context=32 >seen.txt || fail "$(cat seen.txt)"
    # what is drawn over; the last report stays, and is a line of its own
    python3 -c 'import re, sys
print(*re.findall("\r\x1b\\[K(step [^\r\n]*)(?=\r)", sys.stdin.read()), sep="\n")' <seen.txt >lines.txt
    [ -s lines.txt ] || fail "no line of progress in $columns columns: $(od -c seen.txt | head -20)"
    [ "$(wc -l <lines.txt)" -gt 1 ] && [ "$(wc -L <lines.txt)" -lt $columns ] || fail "$columns columns: $(cat lines.txt)"
    grep -q '[0-9]:[0-9]* left$' lines.txt || fail "$columns columns: no time left: $(cat lines.txt)"
done

echo "all is well"
