#!/bin/sh
# Two ranks with a network between them, each in a network namespace of its own: the same bits at any
# bandwidth, and a link that is cut ends both. Skipped where namespaces cannot be made.
# Usage: ranks_network.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

skip() {
    echo "skipped: $*"
    exit 77
}
PATH=$PATH:/usr/sbin:/sbin
[ -e "$(dirname "$tfc")/tfc-openmpi.so" ] || skip "no Open MPI"
for program in ip tc unshare mpirun.openmpi; do
    command -v $program >/dev/null || skip "no $program"
done
one=tfc-$$-1 two=tfc-$$-2
remove() {
    for space in $one $two; do
        ip netns pids $space 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
        ip netns del $space 2>/dev/null || true
    done
}
trap "remove; rm -rf $work" EXIT
ip netns add $one 2>/dev/null && ip netns add $two || skip "no network namespaces here"
ip link add w$$a netns $one type veth peer name w$$b netns $two 2>/dev/null || skip "no veth devices here"
ip -n $one addr add 10.77.1.1/24 dev w$$a
ip -n $two addr add 10.77.1.2/24 dev w$$b
for link in $one:lo $one:w$$a $two:lo $two:w$$b; do ip -n ${link%:*} link set ${link#*:} up; done

# Open MPI starts the second machine by this, in the place of ssh.
cat >agent.sh <<END
shift
exec ip netns exec $two unshare --uts sh -c "hostname two; \$*"
END
chmod +x agent.sh
supervisor=
launch() { # launch COMMAND …
    $supervisor ip netns exec $one unshare --uts sh -c 'hostname one; exec "$@"' launch \
        mpirun.openmpi --allow-run-as-root --bind-to none -np 2 -host 10.77.1.1:1,10.77.1.2:1 \
        --mca plm_rsh_agent "sh $PWD/agent.sh" --mca btl tcp,self --mca btl_tcp_if_include 10.77.1.0/24 \
        --mca oob_tcp_if_include 10.77.1.0/24 "$@"
}
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # MPI's libraries keep some of their memory
launch hostname >started.txt 2>&1 || skip "Open MPI starts nothing here: $(cat started.txt)"
[ "$(grep -x -e one -e two started.txt | sort | tr "\n" " ")" = "one two " ] || fail "not on two machines: $(cat started.txt)"

backwards_with 0.2 "layers = 1, d_model = 32, d_ff = 1100, heads = 2" >model.tfg <<'END'
train {
  rate  = constant(0.003)
  batch = tokens(300)
}
END
words_backwards
text="--source train.src --target train.tgt --vocab words:auto --seed 3 --threads 1 --shards 4"
"$tfc" train model.tfg $text --out alone --steps 12 2>err.txt || fail "$(cat err.txt)"
for rate in 0 10gbit 1gbit 100mbit 5mbit; do
    [ $rate = 0 ] || ip netns exec $one tc qdisc replace dev w$$a root tbf rate $rate burst 64kb latency 50ms 2>/dev/null ||
        continue
    launch "$tfc" train model.tfg $text --out $rate --steps 12 2>err.txt || fail "$rate: $(cat err.txt)"
    cmp alone/last.safetensors $rate/last.safetensors || fail "$rate: another model"
    rates="${rates:-}, $rate"
done
ip netns exec $one tc qdisc del dev w$$a root 2>/dev/null || true

# mpirun waits for a machine that is gone; tfc launch does not.
supervisor="$tfc launch --retries 0 --"
launch "$tfc" train model.tfg $text --out cut --save-every 1 --steps 100000 --rank-timeout 4 >/dev/null 2>err.txt &
job=$!
tries=0
while [ ! -e cut/last.safetensors ] && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
ip -n $one link set w$$a down
began=$(date +%s)
while kill -0 $job 2>/dev/null && [ $(($(date +%s) - began)) -lt 60 ]; do sleep 0.2; done
kill -0 $job 2>/dev/null && fail "after a minute without a network it still runs: $(cat err.txt)"
wait $job && fail "a training without a network ends well"
grep -q "error: rank [01] on .*: nothing was heard of it for 4 s" err.txt || fail "not told: $(cat err.txt)"
"$tfc" info cut | grep -q "last  *step [1-9]" || fail "nothing is left of it"
echo "the same bits over a network (none${rates#, 0}); a cut link ends all after $(($(date +%s) - began)) s"
