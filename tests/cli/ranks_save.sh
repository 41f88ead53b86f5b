#!/bin/sh
# Checkpoints that ranks write together: a rank that is killed while it writes, or whose disk is full, leaves the
# one before whole; a folder that not all have is told before the first step.
# Usage: ranks_save.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
find_mpis

backwards_model >model.tfg
# The second of the trained params is rank 1's.
cat >far.tfg <<'END_MODEL'
model far
const vocab = 8, d = 2
dim B, T
input tokens : token[B, T~]
frozen param embedding : [vocab, d] = normal(0, 0.5)
param out : [d, vocab] = normal(0, 0.5)
param w : [8] = ones
output logits = embedding[tokens] @ out
loss = cross_entropy(logits, next(tokens)) + sum(relu(w - 2))
train { optimizer = adam(eps = 0); rate = constant(0.1); batch = tokens(300) }
END_MODEL
words_backwards
text="--source $work/train.src --target $work/train.tgt --vocab words:auto --seed 3 --threads 1 --save-every 2"
"$tfc" train model.tfg $text --shards 8 --out alone --steps 8 2>err.txt || fail "$(cat err.txt)"

# one.sh WHAT COMMAND …: with that trouble on rank 1
cat >one.sh <<'END_SCRIPT'
trouble=$1
shift
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" != 1 ] || export TROUBLE="$trouble"
exec "$@"
END_SCRIPT
# apart.sh COMMAND …: rank 1 is in another folder, as on a machine of its own
cat >apart.sh <<'END_SCRIPT'
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" != 1 ] || cd apart
exec "$@"
END_SCRIPT
mkdir apart

# step RUN: of its last checkpoint, which is whole
step() {
    "$tfc" info "$1/last.safetensors" >info.txt || fail "$1: $(cat info.txt)"
    grep -q "checksums are right" info.txt || fail "$1: $(cat info.txt)"
    sed -n 's/^ *step  *//p' info.txt
}
# goes_on N RUN: from step 4, as if nothing had been
goes_on() {
    [ "$(step "$2")" = 4 ] || fail "$2: the last checkpoint is of step $(step "$2")"
    launch $mpi "$1" "$tfc" train --resume --out "$2" --steps 8 2>err.txt || fail "$2, resumed: $(cat err.txt)"
    for file in step-6 step-8 last; do
        cmp "alone/$file.safetensors" "$2/$file.safetensors" || fail "$2, resumed by $1 ranks: another $file"
    done
}

for mpi in $found; do
    slow_tfc $mpi
    # The third checkpoint of three: killed before rank 1 writes, and after, when the file has only to be renamed.
    for trouble in "killed 6" "killed 7" "late 7"; do
        rm -rf run
        ! launch $mpi 3 sh one.sh "$trouble" slow/tfc train model.tfg $text --out run --steps 8 >/dev/null 2>err.txt ||
            fail "$trouble: a training without a rank goes on"
        goes_on 2 run
    done

    # A disk that is full where a rank writes.
    rm -rf run
    ! launch $mpi 3 sh one.sh "full 7" slow/tfc train model.tfg $text --out run --steps 8 2>err.txt ||
        fail "a full disk: ended well"
    grep -q "rank 1 on .*: error: cannot write run/step-6.safetensors: File too large" err.txt ||
        fail "a full disk: $(cat err.txt)"
    ! ls run/*.tmp-* 2>/dev/null || fail "a full disk: left behind"
    [ ! -e run/step-6.safetensors ] || fail "a full disk: a checkpoint all the same"
    goes_on 4 run

    # A folder that rank 1 has not, or that is another there: told before anything is computed.
    for there in none folder; do
        rm -rf run apart/run
        [ $there = none ] || mkdir apart/run
        ! launch $mpi 2 sh apart.sh "$tfc" train "$work/model.tfg" $text --out run --steps 8 2>err.txt ||
            fail "two disks: ended well"
        grep -q "rank 1 on .*: error: cannot write run/last.safetensors, which rank 0 has begun: No such file or directory; .* -o has" err.txt ||
            fail "two disks: $(cat err.txt)"
        ! ls run/*.tmp-* run/*.safetensors apart/run/* 2>/dev/null || fail "two disks: left behind"
    done

    # A param that an update made no number (0 / 0, as its gradient is 0) is told by the rank that has it.
    rm -rf run
    ! launch $mpi 2 "$tfc" train far.tfg --text "$work/train.src" --lines --vocab words:auto --out run --steps 1 2>err.txt ||
        fail "a NaN: ended well"
    grep -q "rank 1 on .*: error: run/step-1.safetensors: 'w' is not finite: 8 of its 8 values, number 1 the first, is NaN" err.txt ||
        fail "a NaN: $(cat err.txt)"
    ! ls run/*.tmp-* run/*.safetensors 2>/dev/null || fail "a NaN: saved"
done
echo "ranks:$found: checkpoints are whole or not there"
