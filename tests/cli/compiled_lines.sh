#!/bin/sh
# The lines that a compiled program reads: those that are there are answered together, as tfc translate answers them; one
# that comes alone is answered at once; those before a fault are answered.
# Usage: compiled_lines.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
shared_runs
"$tfc" compile "$runs/translator" -o program

# More than one window, with empty lines, and the same text in one window less.
for i in 1 2 3; do
    cat "$runs/train.src"
    echo
done >lines.txt
[ "$(wc -l <lines.txt)" -gt 600 ] || fail "too few lines"
cut -d ' ' -f 1 lines.txt | sed 's/d/b c/' >begun.txt
for way in "" "--nbest 2" "--sample --seed 4" "--prefix begun.txt"; do
    "$tfc" translate "$runs/translator" $way --input lines.txt >want.txt
    ./program $way <lines.txt | cmp - want.txt || fail "other answers: $way"
done

# A writer that waits for each answer.
mkfifo asked answered
./program <asked >answered &
exec 3>asked 4<answered
for line in "a b c" "" "d"; do
    echo "$line" >&3
    read -r answer <&4
    [ "$answer" = "$(echo "$line" | ./program)" ] || fail "of '$line': $answer"
done
exec 3>&-
wait
! read -r answer <&4 || fail "after the end: $answer"
exec 4<&-

# fault ANSWERS TEXT OPTION …: of the lines in faulty.txt the first ANSWERS are answered, then TEXT is told.
fault() {
    answers=$1 text=$2 status=0
    shift 2
    ./program "$@" <faulty.txt >out.txt 2>err.txt || status=$?
    [ $status = 1 ] && grep -qF -- "$text" err.txt || fail "$text: status $status: $(cat err.txt)"
    head -n "$answers" faulty.txt | ./program >want.txt 2>err.txt
    cmp out.txt want.txt || fail "$text: answers"
}
printf 'a b\nb c\n\377\nc\n' >faulty.txt
fault 2 "line 3: byte 0 of utf8 is 0xff: that is not UTF-8"
printf 'a b\nb\0c\nc\n' >faulty.txt
fault 1 "line 2: byte 1 of utf8 is 0x00: a text has no NUL"
{ head -n 300 lines.txt && yes a | head -n 100 | tr '\n' ' ' && printf '\na\n'; } >faulty.txt
fault 300 "line 301 has 101 tokens, the model takes 20 at most"
# The first fault is the one that is told, behind the answers before it.
{ printf 'a b\nb c\n\377\n' && head -c 1000001 /dev/zero | tr '\0' a; } >faulty.txt
fault 2 "line 3: byte 0 of utf8 is 0xff: that is not UTF-8"
./program <faulty.txt 2>&1 | tail -n 1 | grep -q "line 3: byte 0" || fail "the fault stands before the answers"
head -n 4 lines.txt >faulty.txt
printf '\n\n' >two.txt
fault 2 "two.txt has no line 3" --prefix two.txt

# Answers that cannot be written, few and more than a buffer has.
if [ -w /dev/full ]; then
    for lines in 3 600; do
        head -n $lines lines.txt >some.txt
        status=0
        ./program <some.txt >/dev/full 2>err.txt || status=$?
        [ $status = 1 ] && grep -q "cannot write" err.txt || fail "a full disk, $lines lines: status $status: $(cat err.txt)"
    done
fi

# Marks of the byte order, returns and prefixes are read as tfc translate reads them.
printf '\357\273\277a b\r\n\r\nc\r\r\nb' >marked.txt
printf '\357\273\277c\r\na\nb\nd' >begun.txt
for way in "" "--prefix begun.txt" "--nbest 2"; do
    "$tfc" translate "$runs/translator" $way --input marked.txt >want.txt
    ./program $way <marked.txt 2>err.txt | cmp - want.txt || fail "a marked text, $way: $(cat err.txt)"
done
printf '\357\273\277' >faulty.txt
[ -z "$(./program <faulty.txt | od -c -A n)" ] || fail "a mark alone is a line"
{ cat faulty.txt && head -c 1000000 /dev/zero | tr '\0' ' ' && printf '\r\n'; } | ./program >out.txt || fail "a mark counts towards a line"
printf 'a\n' >faulty.txt
status=0
./program --prefix two.txt <&- 2>err.txt || status=$?
[ $status = 1 ] && grep -q "standard input: Bad file descriptor" err.txt || fail "no standard input: $(cat err.txt)"

# Prompts.
"$tfc" compile "$runs/generator" -o writer
head -n 40 lines.txt >prompts.txt
printf '\na b' >>prompts.txt
for way in "" "--seed 7 --temperature 2 --tokens 50"; do
    "$tfc" generate "$runs/generator" $way --input prompts.txt >want.txt
    ./writer $way <prompts.txt | cmp - want.txt || fail "other continuations: $way"
done
echo "all is well"
