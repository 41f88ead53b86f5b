#!/bin/sh
# Training by several processes (mpirun): the same bits for any number of ranks, for either MPI and
# when a run goes on with another number; what goes wrong on a rank ends all with its name.
# Usage: ranks.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_model >model.tfg
words_backwards
head -n 40 train.src >valid.src
head -n 40 train.tgt >valid.tgt
text="--source train.src --target train.tgt --vocab words:auto --seed 3 --threads 1"
find_mpis
numbers="1 2 3 8" dtypes="f32 bf16"
[ -z "$short" ] || { found=" ${found##* }" numbers=3 dtypes=bf16; }

# The same bits: one process that cuts as many pieces, and any number of ranks.
"$tfc" train model.tfg $text --shards 8 --out alone --steps 12 2>err.txt || fail "$(cat err.txt)"
for mpi in $found; do
    for n in $numbers; do
        launch $mpi $n "$tfc" train model.tfg $text --out $mpi$n --steps 12 2>err.txt || fail "$mpi, $n ranks: $(cat err.txt)"
        cmp alone/last.safetensors $mpi$n/last.safetensors || fail "$mpi: $n ranks learn otherwise"
        [ "$(grep -c "done at step 12" err.txt)" = 1 ] || fail "more than one rank tells: $(cat err.txt)"
    done
    grep -q "cut into 8 shards for the ranks" err.txt || fail "no word of the shards: $(cat err.txt)"
    [ "$(sed 's/"tokens_per_second.*//' $mpi"3"/log.jsonl)" = "$(sed 's/"tokens_per_second.*//' alone/log.jsonl)" ] ||
        fail "$mpi: another log"
done

"$tfc" train --verify "${found##* }3" >out.txt 2>err.txt || fail "what ranks trained is not repeated: $(cat err.txt)"
grep -q "3: steps 1 to 12 repeated, the same bits: " out.txt || fail "$(cat out.txt)"

# Embeddings of several blocks, of which a batch has some rows: one that the logits use, too, and one that only
# gathers read; with batches of two, clipped.
{ sed 's/d_ff = 1100/d_ff = 40/' model.tfg; cat <<'END'; } >rows.tfg
param codes : [vocab, d_model] = normal(0, 0.1)
block embed_source(tokens) { return embedding[tokens] * sqrt(d_model) + codes[tokens] }
END
awk 'BEGIN { srand(1); for (i = 0; i < 300; i++) { s = ""; for (k = 0; k < 5; k++) s = s "w" int(1200 * rand()) " "; print s } }' >words.txt
for dtype in $dtypes; do
    set -- --source words.txt --target words.txt --vocab words:auto --seed 3 --threads 1 --steps 4 --accumulate 2 --dtype $dtype
    "$tfc" train rows.tfg "$@" --shards 8 --out rows-$dtype 2>err.txt || fail "$(cat err.txt)"
    for n in $numbers; do
        rm -rf rows
        launch ${found##* } $n "$tfc" train rows.tfg "$@" --out rows 2>err.txt || fail "rows, $n ranks: $(cat err.txt)"
        cmp rows-$dtype/last.safetensors rows/last.safetensors || fail "rows in $dtype: $n ranks learn otherwise"
    done
done

refuses_by_ranks() { # refuses_by_ranks PATTERN COMMAND …
    pattern=$1
    shift
    launch $mpi 2 "$@" 2>err.txt && fail "ran: $*"
    grep -q "$pattern" err.txt || fail "expected '$pattern': $(cat err.txt)"
}
# unlike.sh COMMAND … -- OTHER …: rank 1 runs the other command
cat >unlike.sh <<'END'
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}} part=0
for word; do
    shift
    if [ "$word" = -- ]; then
        part=1
    elif [ "$rank" = $part ]; then
        set -- "$@" "$word"
    fi
done
exec "$@"
END
# What only the first message between ranks can tell ends all at once, by its name, with either MPI.
train="$tfc train model.tfg $text --out no"
for mpi in $found; do
    began=$(date +%s)
    refuses_by_ranks "rank 1 on .*: error: the command is 'translate' here and 'train' on rank 0: all ranks need the same" \
        sh unlike.sh $train --steps 2 -- "$tfc" translate alone --input train.src --output no.txt
    refuses_by_ranks "rank 1 on .*: error: --steps is '3' here and '2' on rank 0" \
        sh unlike.sh $train --steps 2 -- $train --steps 3 --memory 1G
    grep -q -e --memory err.txt && fail "memory may be another: $(cat err.txt)"
    refuses_by_ranks "train: --steps is 'some'; expected a whole number" \
        sh unlike.sh $train --steps 2 -- $train --steps some
    [ $(($(date +%s) - began)) -le 20 ] || fail "$mpi: unlike ranks ended after $(($(date +%s) - began)) s"
    [ ! -e no ] && [ ! -e no.txt ] || fail "$mpi: something was written"
done

# Ranks of different processors, where their bits are the same; the run's record has both.
if "$tfc" --version | grep -q '^bits  *common' && [ "$(uname -m)" = x86_64 ]; then
    mpi=${found##* } native="$tfc train model.tfg $text --gemm native --out mixed-cpus --steps 3"
    "$tfc" train model.tfg $text --gemm native --shards 8 --out one-cpu --steps 3 2>err.txt || fail "$(cat err.txt)"
    launch $mpi 2 sh unlike.sh $native -- $native --cpu x86-64-v3 2>err.txt || fail "other processors: $(cat err.txt)"
    [ "$("$tfc" info mixed-cpus | grep -c '^  on ')" = 2 ] || fail "not both processors: $("$tfc" info mixed-cpus)"
    hash=$("$tfc" info mixed-cpus --hash)
    [ "$hash" = "$("$tfc" info one-cpu --hash)" ] || fail "other processors: other bits than one process: $hash"
    refuses_by_ranks "verify repeats a run in one process" "$tfc" train --verify mixed-cpus
    rm -rf mixed-cpus
    refuses_by_ranks "error: bits is 'its own: the processor has no fused multiply-add' here and 'common' on rank 0" \
        sh unlike.sh $native -- $native --cpu x86-64-v2
fi

if [ -n "$short" ]; then
    "$tfc" train model.tfg $text --shards 8 --out onward --steps 6 2>err.txt || fail "$(cat err.txt)"
    launch ${found##* } 2 "$tfc" train --resume --out onward --steps 12 2>err.txt || fail "resumed by two ranks: $(cat err.txt)"
    cmp alone/last.safetensors onward/last.safetensors || fail "one process, then two ranks"
    echo "ranks:$found: the same bits"
    exit 0
fi

# A rank whose process is another program never connects.
for mpi in $found; do
    refuses_by_ranks "a rank on .*: not all ranks have connected within 3 s: one has ended, runs another program, or hangs; all ranks end" \
        sh unlike.sh $train --steps 2 --rank-timeout 3 -- sleep 20
    [ ! -e no ] || fail "$mpi: something was written"
done

# Prepared data that is mixed into prepared data, in several windows of both.
paste train.src train.tgt >all.tsv
head -n 400 all.tsv >main.tsv
tail -n 150 all.tsv >more.tsv
"$tfc" prepare --data main.tsv --vocab words:auto --rows-per-shard 30 --window-rows 120 -o main 2>err.txt || fail "$(cat err.txt)"
"$tfc" prepare --data more.tsv --vocab main --rows-per-shard 20 --window-rows 50 -o more 2>err.txt || fail "$(cat err.txt)"
set -- --prepared main --mix more:0.7 --seed 3 --threads 1 --steps 20
"$tfc" train model.tfg "$@" --shards 8 --out mixed 2>err.txt || fail "$(cat err.txt)"
for n in 2 3; do
    launch ${found##* } $n "$tfc" train model.tfg "$@" --out mixed$n 2>err.txt || fail "mixed, $n ranks: $(cat err.txt)"
    cmp mixed/last.safetensors mixed$n/last.safetensors || fail "mixed: $n ranks learn otherwise"
done

# What ranks wait for, and one timeline of all; without the overlap nothing is another.
set -- $found
for n in 2 3; do
    rm -rf traced
    launch $1 $n "$tfc" train model.tfg $text --out traced --steps 12 --trace trace.json --report-every 6 2>err.txt ||
        fail "$(cat err.txt)"
    cmp alone/last.safetensors traced/last.safetensors || fail "$n ranks learn otherwise with a trace"
    grep -q "waits [0-9]* % for ranks, [0-9]* % for the network" err.txt || fail "no word of waiting: $(cat err.txt)"
    grep -q '"waited_for_ranks": [0-9.e-]*, "waited_for_network": [0-9.e-]*, ' traced/log.jsonl ||
        fail "$(cat traced/log.jsonl)"
    rank=0
    while [ $rank -lt $n ]; do
        grep -q "\"process_name\".*\"rank $rank on " trace.json || fail "rank $rank is not in the trace"
        grep -q "\"name\": \"sum gradients\".*\"pid\": $((rank + 1))," trace.json || fail "no sums of rank $rank"
        grep -q "\"name\": \"accumulate\".*\"pid\": $((rank + 1))," trace.json || fail "no steps of rank $rank"
        rank=$((rank + 1))
    done
    python3 -c 'import json; json.load(open("trace.json"))' || fail "the trace is no JSON"
done

# The network between them, and what follows for more.
launch $1 2 "$tfc" bench "$root/models/multi30k_tiny.tfg" --set layers=1 --batch 4 --source-length 4 --target-length 4 --steps 1 \
    --threads 1 --ranks >bench.txt 2>err.txt || fail "$(cat err.txt)"
grep -q "Gbit/s each way, .* until a message arrives, measured" bench.txt || fail "$(cat bench.txt)"
[ "$(grep -c " 1024 " bench.txt)" = 1 ] || fail "more than one rank tells: $(cat bench.txt)"

# Gradients as bf16 between ranks: the same each time, near the others, and one process alone is as ever.
for out in rounded again; do
    launch $1 2 "$tfc" train model.tfg $text --gradients bf16 --out $out --steps 40 2>err.txt || fail "$(cat err.txt)"
done
cmp rounded/last.safetensors again/last.safetensors || fail "rounded gradients: another model the second time"
"$tfc" train model.tfg $text --shards 8 --out exact --steps 40 2>err.txt || fail "$(cat err.txt)"
! cmp -s rounded/last.safetensors exact/last.safetensors || fail "nothing was rounded"
loss() { sed -n 's/.*"step": 40, .*"loss": \([0-9.]*\),.*/\1/p' "$1/log.jsonl" | tail -n 1; }
awk -v a="$(loss rounded)" -v b="$(loss exact)" 'BEGIN { exit !(a > 0.97 * b && a < 1.03 * b) }' ||
    fail "rounded gradients: loss $(loss rounded), not $(loss exact)"
"$tfc" train model.tfg $text --shards 8 --gradients bf16 --out one --steps 12 2>err.txt || fail "$(cat err.txt)"
cmp alone/last.safetensors one/last.safetensors || fail "one process rounds"
grep -q '"gradients between ranks": "bf16"' rounded/run.json || fail "run.json does not tell of bf16"

# A number that is none names the rank that computed it.
{ grep -v "clip_norm" model.tfg | sed '/^train/i param w : [8] = zeros\nloss = cross_entropy(logits, next(tgt)) + sqrt(sum(w * w))'; } >zeros.tfg
! launch $1 2 "$tfc" train zeros.tfg $text --out zeros --steps 2 2>err.txt || fail "a NaN was learnt from"
grep -q "error: step 1: the gradient of 'w' is not a number, as rank 0 on .* computed it" err.txt || fail "$(cat err.txt)"
[ ! -e zeros/last.safetensors ] || fail "a checkpoint was written"

# Messages that come 0.1 to 20 ms later, at random.
mpi=$1
slow_tfc $mpi
for n in 2 3 8; do
    launch $mpi $n slow/tfc train model.tfg $text --out slow$n \
        --steps 12 2>err.txt || fail "slow, $n ranks: $(cat err.txt)"
    cmp alone/last.safetensors slow$n/last.safetensors || fail "slow: $n ranks learn otherwise"
done

# Of a training in bf16 weights go between ranks as bf16, while validations and checkpoints, which read them as f32,
# have what one process has: at steps that validate, save or do both, and when another number of ranks goes on.
late() { # late N COMMAND …
    n=$1
    shift
    launch $mpi "$n" slow/tfc "$@" 2>err.txt || fail "slow, $n ranks: $(cat err.txt)"
}
halves="$text --dtype bf16 --valid-source valid.src --valid-target valid.tgt --validate-every 4 --save-every 3"
halves="$halves --keep 20 --average 3"
"$tfc" train model.tfg $halves --shards 8 --out halves --steps 16 2>err.txt || fail "$(cat err.txt)"
figures() { sed 's/"tokens_per_second.*"valid_loss"/"valid_loss"/; s/"seconds": [0-9.e-]*, //' "$1/log.jsonl"; }
[ "$(figures halves | grep -v '"averaged"' | grep -c '"valid_loss"')" = 4 ] || fail "not four validations: $(cat halves/log.jsonl)"
for n in 2 3 8; do
    launch $mpi $n "$tfc" train model.tfg $halves --out halves$n --steps 16 2>err.txt || fail "$(cat err.txt)"
    for file in halves/*.safetensors; do
        cmp "$file" "halves$n/$(basename "$file")" || fail "bf16, $n ranks: another $file"
    done
    [ "$(figures halves)" = "$(figures halves$n)" ] || fail "bf16, $n ranks: another log: $(cat halves$n/log.jsonl)"
done
late 3 train model.tfg $halves --out halves-on --steps 4
launch $mpi 2 "$tfc" train --resume --out halves-on --steps 16 2>err.txt || fail "$(cat err.txt)"
cmp halves/last.safetensors halves-on/last.safetensors || fail "bf16: 3 ranks, then 2"
[ "$(figures halves | tail -n 1)" = "$(figures halves-on | tail -n 1)" ] || fail "bf16, 3 ranks, then 2: another log"
for dtype in f32 bf16; do
    SENT=$dtype.sent late 2 train model.tfg $text --dtype $dtype --out $dtype-sent --steps 12
done
# Of 153,000 weights in products 2 bytes less in each of 12 updates; what is saved is not sent.
awk '{ sent[NR > 2] += $1 } END { less = sent[0] - sent[1]; exit !(NR == 4 && less > 3.62e6 && less < 3.72e6) }' \
    f32.sent bf16.sent ||
    fail "sent in f32 and bf16: $(cat f32.sent bf16.sent | tr '\n' ' ')"

# start N OUT [OPTION…]: a long training, and when it has saved, the process of rank 1 is $victim.
cat >note.sh <<'END'
echo $$ >"pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
exec "$@"
END
start() {
    n=$1 out=$2
    shift 2
    rm -f pid.*
    launch $mpi "$n" sh note.sh "$tfc" train model.tfg $text --out "$out" --save-every 1 --steps 100000 "$@" >/dev/null 2>err.txt &
    job=$!
    tries=0
    while [ ! -e "$out/last.safetensors" ] && [ $tries -lt 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    victim=$(cat pid.1)
}

# Another version of tfc: the program with another number in it.
version=$("$tfc" --version | sed -n '1s/^tfc //p')
mkdir other
for file in tfc $(basename -a "$(dirname "$tfc")"/tfc-*.so); do cp "$(dirname "$tfc")/$file" other; done
LC_ALL=C sed "s/$(echo "$version" | sed 's/[.]/[.]/g')/$(echo "$version" | sed 's/^./9/')/g" "$tfc" >other/tfc
sed 's/a/b/' train.src >other.src
for mpi in $found; do
    # Accumulation, bf16, validation and an average.
    set -- $text --shards 5 --accumulate 3 --dtype bf16 --valid-source valid.src --valid-target valid.tgt \
        --validate-every 4 --save-every 2 --average 2
    "$tfc" train model.tfg "$@" --out whole-$mpi --steps 8 2>err.txt || fail "$(cat err.txt)"
    launch $mpi 4 "$tfc" train model.tfg "$@" --out shared-$mpi --steps 8 2>err.txt || fail "$(cat err.txt)"
    for file in last best average; do
        cmp whole-$mpi/$file.safetensors shared-$mpi/$file.safetensors || fail "bf16: another $file"
    done

    # A rank that is killed ends all; another number goes on.
    start 3 killed-$mpi
    kill -KILL "$victim"
    wait $job && fail "a training without a rank goes on"
    step=$("$tfc" info killed-$mpi | sed -n 's/^ *last *step \([0-9]*\)$/\1/p')
    [ "$step" -gt 0 ] || fail "no step in what was killed"
    launch $mpi 2 "$tfc" train --resume --out killed-$mpi --steps $((step + 5)) 2>err.txt || fail "$(cat err.txt)"
    "$tfc" train model.tfg $text --shards 8 --out through-$mpi --steps $((step + 5)) 2>err.txt || fail "$(cat err.txt)"
    cmp through-$mpi/last.safetensors killed-$mpi/last.safetensors || fail "killed at step $step, resumed by two ranks"
    "$tfc" train --resume --out killed-$mpi --steps $((step + 6)) 2>err.txt || fail "one process goes on: $(cat err.txt)"

    # What is another on a rank is told before the first step, by its name.
    refuses_by_ranks "rank 1 on .*: error: the version of tfc is '9.* here and '$version' on rank 0" \
        sh unlike.sh $train --steps 2 -- other/$(echo "$train" | sed 's|.*/||') --steps 2
    refuses_by_ranks "rank 1 on .*: error: --valid-text is 'given 1 time' here and 'not given' on rank 0" \
        sh unlike.sh $train --steps 2 -- $train --steps 2 --valid-text train.src
    refuses_by_ranks "rank 1 on .*: error: the text of --source is '" \
        sh unlike.sh $train --steps 2 -- $(echo "$train" | sed 's/train.src/other.src/') --steps 2
    # A rank that runs something else, or nothing of tfc's, is waited for as long as --rank-timeout says.
    for first in 0 1; do
        set -- "$tfc" --version -- $train --steps 2 --rank-timeout 2
        [ $first = 0 ] || set -- $train --steps 2 --rank-timeout 2 -- "$tfc" --version
        began=$(date +%s)
        launch $mpi 2 sh unlike.sh "$@" >out.txt 2>err.txt && fail "ran beside tfc --version"
        [ $(($(date +%s) - began)) -le 20 ] || fail "it took $(($(date +%s) - began)) s to notice"
    done
    # How each computes, and what each writes, is its own.
    launch $mpi 2 sh unlike.sh $train$mpi --steps 12 -- $(echo "$train$mpi" | sed 's/--threads 1//') --steps 12 --threads 2 \
        --memory 1G --rank-timeout 0 --json-summary one.json 2>err.txt || fail "unlike machines: $(cat err.txt)"
    cmp alone/last.safetensors no$mpi/last.safetensors || fail "$mpi: unlike machines learn otherwise"
    refuses_by_ranks "gradients between ranks: it was bf16 and is now f32" \
        "$tfc" train rounded --resume --steps 42 --gradients f32
    refuses_by_ranks "shards 1 leaves 2 ranks nothing to share" "$tfc" train model.tfg $text --shards 1 --out no --steps 2
    sed 's/adam(.*)/sgd(momentum = 0)/; /clip_norm/d; s/constant(0.003)/constant(1000)/' model.tfg >wild.tfg
    refuses_by_ranks "step [0-9]*: the .* is " "$tfc" train wild.tfg $text --out wild-$mpi --steps 20
    [ "$(grep -c "error: step" err.txt)" = 1 ] || fail "not one rank tells: $(cat err.txt)"

    # Translating: the same text, in order; a line that cannot be read is told once.
    { cat train.src; printf 'a \377 b\n'; cat train.src; } >long.src
    "$tfc" translate alone --input long.src --output one.txt --batch-tokens 60 --keep-going 2>one.err || fail "$(cat one.err)"
    launch $mpi 3 "$tfc" translate alone --input long.src --output shared.txt --batch-tokens 60 --keep-going 2>err.txt ||
        fail "$(cat err.txt)"
    cmp one.txt shared.txt || fail "$mpi: another translation"
    grep -F long.src: err.txt | cmp one.err - || fail "$mpi: another word of the bad line: $(cat err.txt)" # an MPI says more
    launch $mpi 2 "$tfc" translate alone --input train.src --prefix train.tgt --output forced.txt 2>err.txt ||
        fail "$(cat err.txt)"
    "$tfc" translate alone --input train.src --prefix train.tgt --output one.txt 2>err.txt || fail "$(cat err.txt)"
    cmp one.txt forced.txt || fail "$mpi: prefixes"
    refuses_by_ranks "standard input reaches rank 0 alone" "$tfc" translate alone

    # A rank that hangs ends all, with its name.
    start 3 hung-$mpi --rank-timeout 3
    kill -STOP "$victim"
    began=$(date +%s)
    wait $job && fail "a training goes on beside a rank that hangs"
    [ $(($(date +%s) - began)) -le 30 ] || fail "it took $(($(date +%s) - began)) s to notice"
    grep -q "error: rank 1 on .*: nothing was heard of it for 3 s" err.txt || fail "not told: $(cat err.txt)"

    # Asked to stop, all save and end.
    start 2 stopped-$mpi
    kill -TERM "$victim"
    status=0
    wait $job || status=$?
    grep -q "interrupted at step [0-9]* and saved" err.txt || fail "not saved: $(cat err.txt)"
    [ $status = 3 ] || fail "ended with $status, not 3"
done
echo "ranks:$found: the same bits"
