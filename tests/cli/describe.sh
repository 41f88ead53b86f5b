#!/bin/sh
# The manual page and the completions know every command and option of --help.
# Usage: describe.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"

for form in man bash zsh; do
    "$tfc" help --$form >$form || fail "help --$form"
done
# The names of options in --help: "  -o, --output FILE  …" is two, "  -O0|2" is -O.
names() { sed -n 's/^  \(-.*\)/\1/p' | sed 's/  .*//' | tr ',' '\n' | sed -n 's/^ *\(--[^ ]*\|-[a-zA-Z]\).*/\1/p'; }
commands=$("$tfc" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 11 ] || fail "commands: $commands"
sed 's/\\-/-/g' man >plain
for command in $commands; do
    grep -q "^\.SS tfc $command " man || fail "man: no $command"
    grep -q "^    $command) # " zsh || fail "zsh: no $command"
    # What the program says of one command, and each description's part of it.
    "$tfc" $command --help | names | grep -v -e '^-h$' -e '^--help$' >options || fail "$command has no options"
    awk -v c="$command" '/^\.S/ { on = $2 == "tfc" && $3 == c } on' plain >man.part
    awk -v c="$command" '/^    [a-z]*\)/ { on = $1 == c ")" } on' zsh >zsh.part
    for option in $(cat options); do
        grep -q -- "^\(.fB-o.fR, \)*.fB$option.fR" man.part || fail "man: no $command $option"
        grep -q -- "$option[+=[]" zsh.part || fail "zsh: no $command $option"
    done
done
if command -v groff >/dev/null; then
    groff -man -ww -Tutf8 man >/dev/null 2>complaints
    [ ! -s complaints ] || fail "groff: $(cat complaints)"
fi
if command -v man >/dev/null; then
    man --warnings -l ./man >shown 2>complaints && [ ! -s complaints ] || fail "man: $(cat complaints)"
    grep -q "EXIT STATUS" shown || fail "man shows: $(head -5 shown)"
fi
if command -v zsh >/dev/null; then
    zsh -n zsh || fail "zsh"
fi

# What bash would offer for the words given; the last one is being typed.
offers() {
    bash -c 'source ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tfc; printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}
mkdir run
: >model.tfg
: >other.txt
[ "$(offers tfc tra)" = "$(printf 'train\ntranslate')" ] || fail "tra: $(offers tfc tra)"
[ "$(offers tfc train model.tfg --dt)" = --dtype ] || fail "--dt"
[ "$(offers tfc train --dtype b)" = bf16 ] || fail "--dtype b"
[ "$(offers tfc bench --mode = d)" = decode ] || fail "--mode=d"
[ "$(offers tfc train --source ot)" = other.txt ] || fail "--source ot"
[ "$(offers tfc bench '' | grep '[.]')" = model.tfg ] || fail "bench: $(offers tfc bench '')"
[ "$(offers tfc compile '' | grep -c -e '[.]tfg' -e run)" = 2 ] || fail "compile: $(offers tfc compile '')"
[ "$(offers tfc train -o r)" = run ] || fail "train -o r: $(offers tfc train -o r)"
[ "$(offers tfc translate r)" = run/ ] || fail "translate r"
[ "$(offers tfc help ev)" = eval ] || fail "help ev"
[ -z "$(offers tfc train --steps '')" ] || fail "--steps"
for command in $commands; do
    "$tfc" $command --help | names | sort >said
    offers tfc $command - | sort >offered
    cmp -s said offered || fail "bash: $command: $(diff said offered)"
done

# The same of a real zsh, by the tab of a terminal.
if command -v zsh >/dev/null; then
    mkdir functions
    cp zsh functions/_tfc
    zsh_offers() { zsh -f "$root/tests/cli/offers.zsh" "$work/functions" "$@"; }
    [ "$(zsh_offers tfc tra)" = "$(printf 'train\ntranslate')" ] || fail "zsh: tra: $(zsh_offers tfc tra)"
    [ "$(zsh_offers tfc train model.tfg --dt)" = --dtype ] || fail "zsh: --dt"
    [ "$(zsh_offers tfc train --dtype b)" = bf16 ] || fail "zsh: --dtype b"
    [ "$(zsh_offers tfc bench --mode=d)" = decode ] || fail "zsh: --mode=d"
    [ "$(zsh_offers tfc train --source ot)" = other.txt ] || fail "zsh: --source ot"
    [ "$(zsh_offers tfc bench '' | grep '[.]')" = model.tfg ] || fail "zsh: bench"
    [ "$(zsh_offers tfc translate r)" = run ] || fail "zsh: translate r"
    [ "$(zsh_offers tfc translate run -o ot)" = other.txt ] || fail "zsh: -o ot"
    [ "$(zsh_offers tfc help ev)" = eval ] || fail "zsh: help ev"
else
    echo "no zsh: its completion was not tried"
fi
echo "all is well"
