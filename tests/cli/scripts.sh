#!/bin/sh
# scripts/test, scripts/budget and scripts/setup, with stand-ins for what they call: how many tests run at a
# time, which tier, what is said and when, what is counted, what is too dear.
# Usage: scripts.sh TFC   (from the project's root)
set -eu
. tests/common.sh
mkdir -p "$work/scripts" "$work/bin"
cp scripts/test scripts/budget scripts/setup "$work/scripts"
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
[ "$(cat called)" = "1 thread; ctest --preset release -L ^(quick|push)$ -j $processors
1 thread; ctest --preset asan-ubsan -L ^(quick|push)$ -j $processors" ] || fail "scripts/test: $(cat called)"
grep -q cli.seen said || fail "scripts/test says nothing until the end: $(cat said)"
[ "$(tail -n 1 said)" = "4 passed, 4 failed, 2 skipped" ] || fail "scripts/test counts: $(cat said)"

stand_in bin/ctest <<'END'
#!/bin/sh
echo "1/1 Test  #2: ir.test_text ...................   Passed    0.17 sec"
echo "100% tests passed, 0 tests failed out of 1"
END
PATH=$work/bin:$PATH scripts/test >said || fail "scripts/test: all passed: $(cat said)"
[ "$(tail -n 1 said)" = "2 passed, 0 failed, 0 skipped" ] || fail "scripts/test: $(cat said)"

# The other tiers; what a preset's tests took; a test or a tier that is too dear, on a machine as quick as the reference.
stand_in bin/ctest <<'END'
#!/bin/sh
echo "$*" >>called
mkdir -p build/release
[ ! -e times ] || cp times build/release/seconds.txt
echo "1/1 Test  #2: ir.test_text ...................   Passed    0.17 sec"
echo "100% tests passed, 0 tests failed out of 1"
END
rm called
PATH=$work/bin:$PATH scripts/test --quick >said || fail "--quick: $(cat said)"
PATH=$work/bin:$PATH scripts/test --all release >said || fail "--all: $(cat said)"
[ "$(cat called)" = "--preset release -L ^quick$ -j $processors
--preset release -j $processors" ] || fail "tiers: $(cat called)"
PATH=$work/bin:$PATH scripts/test --slow >said 2>&1 && fail "there is no tier 'slow'"
grep -q -e "--quick" said || fail "no help: $(cat said)"
budget=$(sed -n 's/^budget=\([0-9]*\) .*/\1/p' scripts/budget)
share=$(awk "BEGIN { printf \"%.1f\", $budget * 0.09 }") dear=$(awk "BEGIN { printf \"%.1f\", $budget * 0.1 + 0.2 }")
for i in 1 2 3 4 5 6 7 8 9 10 11; do echo "test.$i $share"; done >times
PATH=$work/bin:$PATH scripts/test release >said || fail "eleven times nine hundredths are within the budget: $(cat said)"
grep -q "^processor time: [0-9]* s in 11 tests, of a budget of $budget s" said && [ "$(grep -c "^ *$share s  test" said)" = 10 ] ||
    fail "the sums: $(cat said)"
echo "test.12 $share" >>times
PATH=$work/bin:$PATH scripts/test release >said && fail "a tier over its budget passes"
grep -q "too dear: the tests of this tier took" said && [ "$(tail -n 1 said)" = "1 passed, 1 failed, 0 skipped" ] || fail "$(cat said)"
echo "test.dear $dear" >times
PATH=$work/bin:$PATH scripts/test release >said && fail "a test over its share passes"
grep -q "too dear: test.dear took $dear s" said || fail "$(cat said)"
PATH=$work/bin:$PATH scripts/test --all release >said || fail "--all has no budget: $(cat said)"
grep -q "$dear s  test.dear" said || fail "--all says no times: $(cat said)"
rm times
measured=$root/tests/measured
status=0
"$measured" seconds busy.test sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 77' || status=$?
[ $status = 77 ] && awk '$1 != "busy.test" || $2 < 0.01 || $2 > 20 { exit 1 }' seconds || fail "measured: $status, $(cat seconds)"

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
# Without a network: one message, whether the lists are there or not, and not the log.
stand_in bin/apt-get <<'END'
#!/bin/sh
echo "Err:1 http://deb.debian.org/debian bookworm InRelease"
echo "  Temporary failure resolving 'deb.debian.org'"
[ "$1" = update ] && exit 0
echo "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?"
exit 100
END
for candidate in 1.2 '(none)'; do
    printf '#!/bin/sh\necho "  Candidate: %s"\n' "$candidate" >bin/apt-cache
    PATH=$work/bin:$PATH scripts/setup >said 2>said.err && fail "setup without a network"
    [ "$(cat said.err)" = "setup: apt-get cannot reach deb.debian.org: without a network these packages cannot be installed: ninja-build" ] ||
        fail "without a network: $(cat said.err)"
done
# Without apt-get: one message with what is missing.
mkdir plain
for tool in sh dirname mktemp rm cat; do ln -s "$(command -v $tool)" plain/$tool; done
ln -s "$work/bin/dpkg-query" plain/dpkg-query
PATH=$work/plain scripts/setup >said 2>&1 && fail "setup without apt-get"
grep -q "no apt-get.*ninja-build" said && [ "$(wc -l <said)" = 1 ] || fail "without apt-get: $(cat said)"

# ---- scripts/demo ----
"$root/scripts/demo" --help >said 2>said.err || fail "scripts/demo --help ends with $?"
grep -q -- "--fresh: train anew" said && [ ! -s said.err ] || fail "scripts/demo --help: $(cat said said.err)"
status=0
"$root/scripts/demo" --nonsense >said 2>said.err || status=$?
[ $status = 2 ] && [ ! -s said ] && grep -q -- "--fresh" said.err || fail "scripts/demo --nonsense: $status, $(cat said said.err)"

# ---- the commit that is built, in a checkout and in a tarball ----
mkdir -p tree/cmake
cp "$root/cmake/commit.cmake" "$root/cmake/commit.txt" tree/cmake
cp "$root/.gitattributes" tree
commit() { # FOLDER: what its build would say
    cmake -DSOURCE="$work/$1" -DOUT="$work/commit.c" -P "$work/$1/cmake/commit.cmake"
    sed -n 's/^const char tfc_commit\[\] = "\(.*\)";$/\1/p' commit.c
}
[ "$(commit tree)" = unknown ] || fail "the commit without git: $(commit tree)"
if command -v git >/dev/null; then
    git -C tree init -q
    git -C tree add .
    git -C tree -c user.name=t -c user.email=t@localhost commit -qm one
    head=$(git -C tree rev-parse HEAD | cut -c 1-12)
    [ "$(commit tree)" = "$head" ] || fail "the commit is $head, not $(commit tree)"
    git -C tree archive --prefix=taken/ HEAD | tar -x
    [ "$(commit taken)" = "$head" ] || fail "the commit of a tarball is $head, not $(commit taken)"
    echo "# changed" >>tree/cmake/commit.cmake
    [ "$(commit tree)" = "$head and changes" ] || fail "changed since $head: $(commit tree)"
    touch -d "1 hour ago" commit.c
    commit tree >/dev/null
    [ -z "$(find commit.c -mmin -10)" ] || fail "the same commit is written again"
fi
echo "all is well"
