# What the shell tests share: ". tests/common.sh" in a test that is run from the project's
# root with the path of tfc as its first argument.
# shellcheck shell=sh disable=SC2034  # variables for those tests
tfc=$(realpath "$1") || exit 1
root=$(pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
short=${TFC_SHORT:-} # set: the few cases that guard a change (tests/tiers.txt)
: "${CC:=cc}" # with flags where compiled models are instrumented
small="--set vocab=40 --set layers=1 --set d_model=32 --set d_ff=64 --set heads=2"

# Whether $tfc was built with AddressSanitizer, which reserves terabytes of addresses: it cannot run under ulimit -v.
sanitized() { grep -q __asan_init "$tfc"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

# On to the work folder, where a test writes models that use the project's library.
enter_work() {
    cd "$work" || exit 1
    export TFC_LIBRARY="$root/models/lib"
}

# refuses STATUS PATTERN COMMAND …: the command ends so, with such a message
refuses() {
    want=$1 pattern=$2
    shift 2
    status=0
    "$@" >"$work/out.txt" 2>"$work/err.txt" || status=$?
    [ $status = "$want" ] || fail "$*: exit status $status, not $want: $(cat "$work/err.txt")"
    grep -q -- "$pattern" "$work/err.txt" || fail "$*: no '$pattern' in: $(cat "$work/err.txt")"
}

# shared_runs: $runs, the folder of what tests/runs.sh trains, made where it is not there yet; links to its texts. A test
# that writes into a run copies it first.
shared_runs() {
    runs=$(dirname "$tfc")/runs
    (cd "$root" && tests/runs.sh "$tfc" "$runs") || fail "no runs to share"
    ln -s "$runs"/*.src "$runs"/*.tgt .
}

# backwards_with P_DROP [SIZES]: a small model that learns to say a line backwards (words_backwards); standard input has
# its train block, and what else it has.
backwards_with() {
    printf 'model backwards\nuse transformer\nconst %s, vocab = 8\nconst p_drop = %s\n' \
        "${2:-layers = 1, d_model = 16, d_ff = 32, heads = 2}" "$1"
    cat
}
backwards_model() {
    backwards_with 0.2 "layers = 1, d_model = 32, d_ff = 1100, heads = 2" <<'END_MODEL'
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = constant(0.003)
  batch     = tokens(300)
  clip_norm = 1
}
END_MODEL
}

# Text to train on, words read backwards: all.src and all.tgt, and the same in two parts,
# train.src and train.tgt, and 100 lines of valid.src and valid.tgt.
words_backwards() {
    awk 'BEGIN { srand(7); for (i = 0; i < 1200; i++) { n = 2 + int(rand() * 5); s = t = "";
         for (k = 0; k < n; k++) { w = substr("abcdefgh", 1 + int(rand() * 8), 1);
         s = s (k ? " " : "") w; t = w (k ? " " : "") t }
         print s > "all.src"; print t > "all.tgt" } }'
    for side in src tgt; do
        head -n 1100 all.$side >train.$side
        tail -n 100 all.$side >valid.$side
    done
}

# 600 lines of letters in steps of 1 to 3, train.src, and backwards, train.tgt: there is something to learn in few steps.
letters_in_steps() {
    awk 'BEGIN { srand(5); for (i = 0; i < 600; i++) { at = int(rand() * 8); step = 1 + int(rand() * 3); s = t = "";
         for (n = 3 + int(rand() * 6); n > 0; n--) { w = substr("abcdefgh", 1 + at % 8, 1); at += step;
         s = s (s ? " " : "") w; t = w (t ? " " : "") t }
         print s >"train.src"; print t >"train.tgt" } }'
}

launch() { # launch MPI N COMMAND …: N ranks
    mpi=$1 n=$2
    shift 2
    case $mpi in
    openmpi) mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -np "$n" "$@" ;;
    mpich) mpirun.mpich -np "$n" "$@" ;;
    esac
}
# $found: the MPIs that start something here; ends a test where there is none.
find_mpis() {
    export OMPI_MCA_btl_vader_single_copy_mechanism=none # a container may forbid the other way
    export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # MPI's libraries keep some of their memory
    found=
    for mpi in openmpi mpich; do
        command -v mpirun.$mpi >/dev/null && [ -e "$(dirname "$tfc")/tfc-$mpi.so" ] || continue
        if launch $mpi 2 timeout 30 true >started.txt 2>&1; then
            found="$found $mpi"
        else
            echo "$mpi starts nothing here: $(cat started.txt)"
        fi
    done
    [ -n "$found" ] || { echo "skipped: no MPI"; exit 77; }
}
# The program with a transport that is late, or fails (tests/cli/slow_transport.c): slow/tfc, for this MPI.
slow_tfc() {
    mkdir -p slow
    cp "$tfc" slow/tfc
    cc -shared -fPIC -I"$root" "$root/tests/cli/slow_transport.c" -o "slow/tfc-$1.so" -ldl
    export REAL_TRANSPORT="$(dirname "$tfc")/tfc-$1.so"
}

# The tensors of a checkpoint, without the header (which holds the seconds).
tensors() {
    header=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    tail -c +$((header + 9)) "$1"
}
# same_tensors CHECKPOINT CHECKPOINT WHAT
same_tensors() {
    tensors "$1" >"$work/tensors.1" && tensors "$2" >"$work/tensors.2" || fail "no tensors in $1 or $2"
    cmp "$work/tensors.1" "$work/tensors.2" || fail "$3"
}

# dead_links PAGE: the files that a page in Markdown links to and that are not there.
dead_links() {
    { grep -oE '\]\([^):#]+[)#]' "$1" || true; } | sed 's/^](//; s/[)#]$//' | sort -u | while read -r link; do
        [ -e "$(dirname "$1")/$link" ] || echo "$1: the link $link leads nowhere"
    done
}

# number NAME: that field of each line of JSON that has it
number() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p"; }

# in_browsers SCRIPT ARGUMENT …: a page's test in Chromium, and in Firefox where npm's puppeteer-core
# drives it (scripts/setup --tests); BROWSER names the one.
in_browsers() {
    if ! command -v node >/dev/null || ! command -v chromium >/dev/null; then
        echo "the page was not opened: no node or no chromium"
        return
    fi
    BROWSER=chromium node "$@" || fail "$1 in Chromium"
    if [ -n "$short" ]; then
        return 0
    elif command -v firefox-esr >/dev/null && [ -e "$root/build/npm/node_modules/puppeteer-core" ]; then
        HOME=$work BROWSER=firefox node "$@" || fail "$1 in Firefox"
    else
        echo "the page was not opened in Firefox: no firefox-esr, or no puppeteer-core in build/npm"
    fi
}

# generate_program NAME FLAG…: a C program of that compiled model, NAME_says PROMPT TOKENS (tests/cli/generate.c)
generate_program() {
    compiled=$1
    shift
    $CC -DMODEL="$compiled" -DHEADER="\"$compiled.h\"" -I. "$root/tests/cli/generate.c" "$@" -o "${compiled}_says" ||
        fail "generate.c with $compiled"
}

# peak_of COMMAND …: the most memory that it takes, in kilobytes; its output goes nowhere
peak_of() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@" || fail "$*"
}

# user_of COMMAND …: the least processor time of three runs of it, in milliseconds; its output goes nowhere
user_of() {
    python3 -c 'import resource, subprocess, sys
times = [0.0]
for _ in range(3):
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
    times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
print(round(1000 * min(after - before for before, after in zip(times, times[1:]))))' "$@" || fail "$*"
}

# The first Python that has numpy; nothing where there is none.
python_with_numpy() {
    for name in python3 /usr/bin/python3; do
        if $name -c 'import numpy' 2>/dev/null; then
            echo $name
            return
        fi
    done
}

# published_minilm FOLDER: an encoder of sentences in the form of MiniLM's folder: mean over tokens, of length 1.
published_minilm() {
    cp -r "$root/tests/fixtures/headless_bert/hf" "$1"
    mkdir "$1/1_Pooling"
    cat >"$1/modules.json" <<'END'
[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
 {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]
END
    echo '{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}' >"$1/1_Pooling/config.json"
    echo '{"max_seq_length": 12, "do_lower_case": false}' >"$1/sentence_bert_config.json"
}
