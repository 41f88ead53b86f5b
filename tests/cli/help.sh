#!/bin/sh
# --help of every command: no line is longer than the terminal is wide, every option is in a group, and what a
# command makes is named by -o, --output and --out.
# Usage: help.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
unset COLUMNS

commands=$("$tfc" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 20 ] || fail "commands: $commands"
# fits FILE COLUMNS WHAT; an option with a long list of choices is one word
fits() { ! LC_ALL=C.UTF-8 grep -E "^.{$(($2 + 1)),}" "$1" | grep -v "^  -[^ ]* [^ ]*|[^ ]*\$" >over.txt || fail "$3: over $2 columns: $(cat over.txt)"; }

"$tfc" --help >help.txt
fits help.txt 80 "tfc --help"
for command in $commands; do
    "$tfc" "$command" --help >plain.txt || fail "$command --help"
    fits plain.txt 80 "$command --help into a file"
    for columns in 50 80 100; do
        COLUMNS=$columns "$tfc" "$command" --help >$columns.txt
        fits $columns.txt $columns "$command --help, COLUMNS=$columns"
    done
    cmp -s plain.txt 80.txt || fail "$command: 80 columns are not the default"
    # The same words, however wide.
    for columns in 50 100; do
        [ "$(tr -s ' \n' '\n\n' <$columns.txt)" = "$(tr -s ' \n' '\n\n' <plain.txt)" ] || fail "$command: other words in $columns columns"
    done
    ! grep -q '^Other:' plain.txt || fail "$command: options without a group (cli/options/groups.def): $(sed -n '/^Other:/,/^$/p' plain.txt)"
    options=$(grep -c '^  -' plain.txt) groups=$(grep -c '^[A-Z][A-Za-z, ()]*:$' plain.txt)
    if [ "$options" -gt 10 ]; then
        [ "$groups" -ge 2 ] && ! grep -q '^Options:' plain.txt || fail "$command: $options options in $groups groups"
    fi
    if grep -q '^  -o, --output ' plain.txt; then
        made="${made:-}$command "
        for name in "-o x" "-ox" "--output x" "--output=x" "--out x" "--out=x"; do
            # shellcheck disable=SC2086  # words
            "$tfc" "$command" $name --help >out.txt 2>err.txt && cmp -s out.txt plain.txt || fail "$command $name: $(cat err.txt)"
        done
    fi
done
[ "$made" = "train prepare translate generate run compile dump align attend report draw quantize export import bug-report " ] ||
    fail "commands with -o: $made"
[ "$(COLUMNS=50 "$tfc" train --help | wc -l)" -gt "$(COLUMNS=100 "$tfc" train --help | wc -l)" ] || fail "the width changes nothing"

# A terminal says how wide it is.
command -v python3 >/dev/null || { echo "no python3: no terminal was tried"; exit 0; }
for columns in 60 90; do
    TERMINAL_COLUMNS=$columns python3 "$root/tests/cli/terminal.py" "$tfc" train --help >seen.txt
    COLUMNS=$columns "$tfc" train --help | cmp -s - seen.txt || fail "a terminal of $columns columns: $(cat seen.txt)"
done
echo "all is well"
