#!/bin/sh
# scripts/test and scripts/setup, with stand-ins for what they call: how many tests run at a
# time, what is said and when, what is counted.
# Usage: scripts.sh TFC   (from the project's root)
set -eu
. tests/common.sh
mkdir -p "$work/scripts" "$work/bin"
cp scripts/test scripts/setup "$work/scripts"
stand_in() { cat >"$work/$1" && chmod +x "$work/$1"; }
cd "$work"

# ---- scripts/test ----
mv scripts/setup scripts/real_setup
stand_in scripts/setup </dev/null
stand_in scripts/build </dev/null
# The second line comes when the first has been read.
stand_in bin/ctest <<'END'
#!/bin/sh
echo "$OMP_NUM_THREADS thread; ctest $*" >>called
echo "1/6 Test  #2: ir.test_text ...................   Passed    0.17 sec"
for i in 1 2 3 4 5 6 7 8 9 10; do grep -q ir.test_text said && break; sleep 0.2; done
grep -q ir.test_text said && echo "2/6 Test  #3: cli.seen .......................   Passed    0.17 sec"
echo "3/6 Test  #4: cli.cross ......................***Skipped   0.20 sec"
[ "$2" = release ] || echo "4/6 Test  #5: cli.bad ........................***Failed    0.20 sec"
[ "$2" = release ] || echo "5/6 Test  #6: cli.slow .......................***Timeout 600.00 sec"
echo "6/6 Test  #7: cli.gone .......................Subprocess aborted***Exception:   0.20 sec"
echo "50% tests passed, 3 tests failed out of 6"
exit 8
END
status=0
processors=$(env -u OMP_NUM_THREADS nproc)
PATH=$work/bin:$PATH OMP_NUM_THREADS=1 scripts/test release asan-ubsan >said || status=$?
[ $status = 1 ] || fail "scripts/test: exit status $status where tests fail"
[ "$(cat called)" = "1 thread; ctest --preset release -j $processors
1 thread; ctest --preset asan-ubsan -j $processors" ] || fail "scripts/test: $(cat called)"
grep -q cli.seen said || fail "scripts/test says nothing until the end: $(cat said)"
[ "$(tail -n 1 said)" = "4 passed, 4 failed, 2 skipped" ] || fail "scripts/test counts: $(cat said)"

stand_in bin/ctest <<'END'
#!/bin/sh
echo "1/1 Test  #2: ir.test_text ...................   Passed    0.17 sec"
echo "100% tests passed, 0 tests failed out of 1"
END
PATH=$work/bin:$PATH scripts/test >said || fail "scripts/test: all passed: $(cat said)"
[ "$(tail -n 1 said)" = "2 passed, 0 failed, 0 skipped" ] || fail "scripts/test: $(cat said)"

# ---- scripts/setup ----
mv scripts/real_setup scripts/setup
stand_in bin/dpkg-query <<'END'
#!/bin/sh
case $* in *ninja*) exit 1 ;; *) echo "install ok installed" ;; esac
END
stand_in bin/id </dev/null
echo 'echo 0' >bin/id
stand_in bin/sleep </dev/null
stand_in bin/apt-cache <<'END'
#!/bin/sh
echo "  Candidate: 1.2"
END
stand_in bin/apt-get <<'END'
#!/bin/sh
[ "$1" = update ] && exit 0
echo "Unpacking ninja-build"
for i in 1 2 3 4 5 6 7 8 9 10; do grep -q " s: Unpacking" said && break; /bin/sleep 0.2; done
[ ! -e broken ] || { echo "no space left"; exit 100; }
END
PATH=$work/bin:$PATH scripts/setup >said 2>&1 || fail "scripts/setup: $(cat said)"
grep -q "missing, and are installed now.*" said && grep -q "ninja-build" said || fail "scripts/setup does not say what it does: $(cat said)"
grep -q "[0-9]0 s: Unpacking ninja-build" said || fail "scripts/setup is silent while it installs: $(cat said)"
grep -q "^setup: installed: ninja-build$" said || fail "scripts/setup: $(cat said)"
: >broken
PATH=$work/bin:$PATH scripts/setup >said 2>&1 && fail "scripts/setup: a failure is passed over"
grep -q "no space left" said || fail "scripts/setup: $(cat said)"
echo "all is well"
