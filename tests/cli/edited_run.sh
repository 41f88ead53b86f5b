#!/bin/sh
# A run whose model.tfg is no longer that of its checkpoint is refused by every command, with the tensors' names; and one
# whose run.json has what no run records: it may be a stranger's, and --resume repeats its options.
# Usage: tests/cli/edited_run.sh TFC
set -eu
. tests/common.sh
enter_work
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
cat >m.tfg <<'M'
model m
use transformer_pre_norm
const vocab = 30, layers = 2, d_model = 8, d_ff = 8, heads = 1
train { batch = tokens(300); max_length = 20 }
M
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --steps 2 --out run 2>err.txt || fail "$(cat err.txt)"
"$tfc" translate run --input t.txt >said.txt
cp -r run edited
sed 's/layers = 2/layers = 1/' m.tfg >edited/model.tfg
while read -r command; do
    # shellcheck disable=SC2086
    refuses 1 "edited/model.tfg is not the model of edited/" "$tfc" $command
    grep -q "decoder.layer.1.*is there alone" err.txt || fail "$command: no tensor is named: $(cat err.txt)"
done <<'COMMANDS'
translate edited --input t.txt
score edited --source t.txt --target t.txt
eval edited --source t.txt --target t.txt
attend edited --source t.txt -o page.html
align edited --source t.txt --target t.txt
compile edited --function forward -o m.ll
export edited -o e.safetensors
run edited --in run/last.safetensors --out out.safetensors
info edited
check edited
draw edited --what graph -o m.svg
dump edited
bench edited --mode forward --batch 2 --source-length 3 --target-length 3
COMMANDS
sed 's/d_ff = 8/d_ff = 12/' m.tfg >edited/model.tfg
refuses 1 "is \[8, 8\] there, \[8, 12\] in the model" "$tfc" translate edited --input t.txt
cp run/model.tfg edited
"$tfc" translate edited --input t.txt | cmp - said.txt || fail "the model as it was is refused"

# A command opens the record of its run once.
cat >opens.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Adds a byte to the file $OPENS where run.json is read. */
static void note(const char *path)
{
    static int (*real)(const char *, int, ...);
    const char *name = strrchr(path, '/'), *opens = getenv("OPENS");
    if (!name || strcmp(name, "/run.json"))
        return;
    real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    int fd = real(opens, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (write(fd, ".", 1) != 1)
        abort();
    close(fd);
}
int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    if ((flags & O_ACCMODE) == O_RDONLY)
        note(path);
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
END
if ! sanitized; then
    "${CC%% *}" -shared -fPIC -O1 -o opens.so opens.c -ldl
    while read -r command; do
        rm -f opens.txt
        # shellcheck disable=SC2086
        OPENS=$PWD/opens.txt LD_PRELOAD="$PWD/opens.so" "$tfc" $command >out.txt 2>err.txt || fail "$command: $(cat err.txt)"
        [ "$(cat opens.txt)" = . ] || fail "tfc $command opens run.json $(wc -c <opens.txt) times"
    done <<'COMMANDS'
translate run --input t.txt
score run --source t.txt --target t.txt
eval run --source t.txt --target t.txt
attend run --source t.txt -o page.html
align run --source t.txt --target t.txt
report run -o report.html
quantize run -o integers --dtype int8
compile run --function forward -o m.ll
export run -o e.safetensors
info run
COMMANDS
fi

# tampered WORD …: the run, whose recorded options these words follow
tampered() {
    words=$(printf '"%s", ' "$@")
    sed "s|^  \"arguments\": \[|&\n    $words|" run/run.json >theirs/run.json
}
cp -r run theirs
# Of all options of tfc train only those of the run itself may stand there: none that names an output.
no_record="allow-change allow-outside hashes help json-summary output resume trace verify" refused=
for option in $("$tfc" train --help | sed -n 's/^  \(-[a-z], \)*--\([a-z-]*\).*/\2/p' | sort); do
    tampered "--$option" --no-such --no-such # the first of them may be the option's value
    refuses 1 "theirs/run.json: \"arguments\": " "$tfc" train theirs --resume
    ! grep -q "theirs/run.json: .*-\(-$option\|${option%utput}\)'* is not an option that a run records" err.txt || refused="$refused $option"
done
[ "$refused" = " $no_record" ] || fail "not recorded are$refused, and not $no_record"
echo precious >kept.txt
for option in --json-summary --trace; do
    tampered $option kept.txt
    refuses 1 "theirs/run.json: \"arguments\": $option is not an option that a run records: remove it" \
        "$tfc" train theirs --resume --steps 3
    grep -qx precious kept.txt || fail "$option: written: $(cat kept.txt)"
done
while IFS='|' read -r message words; do
    # shellcheck disable=SC2086
    tampered $words
    refuses 1 "theirs/run.json: \"arguments\": $message" "$tfc" train theirs --resume --steps 3
done <<'CASES'
there is no option '--no-such'|--no-such 3
--threads is '99999'; expected a whole number from 1 to 1024|--threads 99999
--batch-tokens is '-4'; expected a whole number from 1|--batch-tokens=-4
--dtype is 'int8'; expected f32|--dtype int8
--seed is given twice|--seed 3 --seed 4
'elsewhere' is not an option that a run records|elsewhere
'--' is not an option that a run records|--
CASES
# Other values out of range.
changes() { # changes FILE EDIT MESSAGE OPTION …
    file=$1 edit=$2 message=$3
    shift 3
    rm -rf theirs
    cp -r run theirs
    sed -i "$edit" "theirs/$file"
    ! cmp -s "run/$file" "theirs/$file" || fail "$edit: nothing is changed"
    refuses 1 "theirs/$file$message" "$tfc" train theirs --resume --steps 3 "$@"
}
changes run.json 's/"max_length": "20"/"max_length": "-20"/' ": \"max_length\" is '-20'; expected a whole number from 0 to 1048576"
changes run.json 's/"vocab=[0-9]*"/"vocab"/' " is damaged, or was not written by tfc"
changes run.json 's/"bytes": [0-9]*/"bytes": 9223372036854775807/' " is damaged, or was not written by tfc"
changes log.jsonl 's/"seconds": [^,}]*/"seconds": 1e300/' ": its last line says that the run has trained for 1.*e+298 minutes" --minutes 1
# What run.json holds twice is the same: every command refuses one that contradicts itself.
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --steps 1 --set heads=2 --set heads=4 --out set 2>err.txt || fail "$(cat err.txt)"
"$tfc" info set >/dev/null || fail "a constant that is given twice contradicts nothing"
sed -i '0,/"heads=4"/s//"heads=8"/' set/run.json
for command in info 'translate --input t.txt' 'export -o s.safetensors'; do
    # shellcheck disable=SC2086
    refuses 1 "set/run.json contradicts itself: \"settings\" has 'heads=8', and \"arguments\" has 'heads=4'" \
        "$tfc" ${command%% *} set $(echo "$command" | sed 's/^[a-z]* *//')
done
# Names of texts are any text, and are shown as one.
paste t.txt t.txt >v.tsv
"$tfc" train m.tfg --source t.txt --target t.txt --vocab words:auto --steps 2 --out named \
    --valid "$(printf '$(touch ran)\033[31m')=v.tsv" 2>err.txt || fail "$(cat err.txt)"
"$tfc" train named --resume --steps 3 2>>err.txt || fail "$(cat err.txt)"
"$tfc" info named >>err.txt
! grep -q "$(printf '\033')" err.txt || fail "a name speaks to the terminal: $(cat -v err.txt)"
[ ! -e ran ] || fail "a name was run"
