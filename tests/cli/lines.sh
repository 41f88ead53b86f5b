#!/bin/sh
# scripts/lines: what it counts, and where tests and benchmarks stand; scripts/tests-of: which tests are a file's;
# scripts/messages: which messages no test has.
# Usage: lines.sh TFC   (from the project's root)
set -eu
. tests/common.sh
[ "$(scripts/tests-of --near driver/run/record.c | tr '\n' ' ')" = "driver.test_record fuzz.folder " ] ||
    fail "$(scripts/tests-of --near driver/run/record.c)"
scripts/tests-of --pattern runtime/data/prepared.c | grep -q '^^(data' || fail "$(scripts/tests-of --pattern runtime/data/prepared.c)"
# Each message of tfc stands in a test.
if [ -e "$root/.git" ]; then
    scripts/messages >"$work/said" || fail "$(cat "$work/said")"
fi
scripts/tests-of --pattern driver/run/prediction.c | grep -qF several_predictions || fail "tests of a file of predictions"
mkdir -p "$work/scripts" "$work/driver/run" "$work/tests" "$work/bench"
cp scripts/lines scripts/messages "$work/scripts"
cd "$work"
printf 'a\nb\n' >driver/run/a.c
printf 'a\n' >driver/a.h
printf 'a\n' >tests/a.c
printf 'a\n' >bench/a.py
printf 'a\n' >driver/notes.md # no code
git init -q .
git add .
printf 'a\n' >driver/unknown.c # to git
[ "$(scripts/lines | tr -s ' ')" = "driver 3 lines 2 files
product 3 lines 2 files
bench 1 lines 1 files
tests 1 lines 1 files" ] || fail "$(scripts/lines)"
[ "$(scripts/lines driver | tr -s ' ')" = "run 2 lines 1 files
. 1 lines 1 files
sum 3 lines 2 files" ] || fail "$(scripts/lines driver)"

cat >driver/run/a.c <<'C'
#define HINT ": leave it out"
bool say(Job *job, int n)
{
    text_put(out, "no message, though it has words");
    return job_error(job, "%d lines are seen by a test", n) ||
           job_error(job, "%s: this one is "
                          "seen by nobody", job->name) ||
           job_error(job, "one" HINT " for a while") || job_error(job, "no test can show it");
}
C
echo '# lines are seen by' >tests/a.c
printf '# a comment\nno test can show it|the reason\n' >tests/unseen_messages.txt
says() { # says STATUS TEXT
    status=0
    scripts/messages >said || status=$?
    [ $status = "$1" ] && [ "$(cat said)" = "$2" ] || fail "status $status: $(cat said)"
}
says 1 "driver/run/a.c:6: %s: this one is seen by nobody
driver/run/a.c:8: one%s for a while
4 messages, of which 2 stand in no test; tests/unseen_messages.txt names 1"
echo '# one is seen by nobody, and leave it out for a while' >>tests/a.c
says 0 "4 messages, of which 0 stand in no test; tests/unseen_messages.txt names 1"
echo '# no test can show it' >>tests/a.c
says 1 "tests/unseen_messages.txt: seen by a test, or gone: no test can show it
4 messages, of which 0 stand in no test; tests/unseen_messages.txt names 1"
