#!/bin/sh
# scripts/lines: what it counts, and where tests and benchmarks stand; scripts/tests-of: which tests are a file's;
# scripts/messages: which messages no test has.
# Usage: lines.sh TFC   (from the project's root)
set -eu
. tests/common.sh
[ "$(scripts/tests-of --near driver/run/record.c | tr '\n' ' ')" = "driver.test_record fuzz.folder " ] ||
    fail "$(scripts/tests-of --near driver/run/record.c)"
scripts/tests-of --pattern runtime/data/prepared.c | grep -q '^^(data' || fail "$(scripts/tests-of --pattern runtime/data/prepared.c)"
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
bool say(Job *job, int n)
{
    text_put(out, "no message, though it has words");
    return job_error(job, "%d lines are seen by a test", n) ||
           job_error(job, "%s: this one is "
                          "seen by nobody", job->name);
}
C
echo '# lines are seen by' >tests/a.c
[ "$(scripts/messages)" = "driver/run/a.c:5: %s: this one is seen by nobody
2 messages, of which 1 stand in no test" ] || fail "$(scripts/messages)"
