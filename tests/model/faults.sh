#!/bin/sh
# Every allocation and every call on files of a compiled library fails in turn (faults.c), with
# AddressSanitizer; and each place in the library from which such a call is made has failed.
# Usage: faults.sh TFC CC ARCHIVE FLAGS   (the runtime compiled with these flags)
set -eu
. tests/common.sh
cc=$2 archive=$(realpath "$3") flags=$4
tests=$root/tests/model
# What can fail, and what else the library might call one day, which would go unnoticed.
names="malloc calloc realloc aligned_alloc posix_memalign strdup asprintf mmap
    pthread_key_create pthread_setspecific pthread_atfork pthread_attr_init pthread_create arena_try_new arena_alloc arena_array arena_copy
    arena_strdup arena_strndup arena_printf arena_vprintf
    open openat read getentropy fstat stat lstat access readlink write fsync close rename unlink fcntl"
others='valloc|memalign|pvalloc|reallocarray|strndup|vasprintf|getline|getdelim|fopen|fdopen|tmpfile
    creat|pread|pwrite|writev|ftruncate|mkstemp|mkdir|opendir|realpath|getcwd
    dup|dup2|pipe|link|symlink|fallocate|msync|mremap|sem_init'
wraps=$(printf ' -Wl,--wrap=%s' $names free munmap)

enter_work
functions=forward,loss,train_step,encode,decode_step,alignment
{ printf '<unk>\n<pad>\n<s>\n</s>\n'; seq 4096; } >words.txt
"$tfc" compile "$tests/failing.tfg" -o failing.o --vocab words.txt --function $functions
cat >speaking.tfg <<'END'
model speaking
use language_model
const vocab = 8, layers = 1, d_model = 4, heads = 2, context = 8
train { max_length = context }
END
printf '# characters\n<pad>\n<unk>\n<s>\n</s>\n\\n\na\nb\nc\n' >characters.txt
printf 'abcab\ncab\n' >said
for seed in 1 2; do
    "$tfc" train speaking.tfg --text said --vocab characters.txt --steps 1 --seed $seed --out speaking$seed \
        2>training || fail "$(cat training)"
done
"$tfc" compile speaking1 --with speaking2 -o speaking.o # an ensemble
cat >predicting.tfg <<'END'
model predicting
const vocab = 8, d_model = 4
dim B, S, T
input said : token[B, S~] = column("said")
input sounds : int[B, T~] = column("sounds")
vocab sounds = words
param embedding : [vocab, d_model] = normal(0, 1)
logits = linear as head(embedding[said], 3)
loss = ctc_loss(logits, sounds)
predict sound = softmax(logits)
predict token = said
train { batch = tokens(100) }
END
printf 'said\tsounds\nabcab\ta b a\ncab\ta b\n' >sounds.tsv
"$tfc" train predicting.tfg --data sounds.tsv --vocab characters.txt --steps 1 --out predicting 2>training ||
    fail "$(cat training)"
"$tfc" compile predicting -o predicting.o --function predict
# Texts from columns; the last rows of a shift are kept.
cat >describing.tfg <<'END'
model describing
const vocab = 8, d = 4
dim B, S, F, T
input image : float[B, 2] = column("image")
input src : token[B, S~] = column("said")
input kind : int[B] = column("kind")
vocab kind = words
input frames : float[B, F~] = column("frames")
input tgt : token[B, T~] = column("text")
param embedding : [vocab, d] = normal(0, 1)
param kinds : [2, d] = normal(0, 1)
seen = linear as picture(image, d) + kinds[kind]
heard = mean(frames, 1)
x = embedding[tgt] + shift(embedding[tgt], T) + mean(embedding[src], 1) + reshape(seen, [B, 1, d])
output logits = linear as head(x * reshape(heard, [B, 1, 1]), vocab)
loss = cross_entropy(logits, next(tgt))
train { batch = tokens(100) }
END
printf 'image\tsaid\tkind\tframes\ttext\n0 1\tabcab\todd\t1 2\tab\n1 0\tcab\teven\t1\tca\n' >described.tsv
"$tfc" train describing.tfg --data described.tsv --vocab characters.txt --steps 1 --out describing 2>training ||
    fail "$(cat training)"
"$tfc" compile describing -o describing.o --function encode,decode_step
# A SentencePiece model.
printf 'ab ba abba\nbab abab\ncab bac\n' >letters
"$tfc" train "$root/models/multi30k_small.tfg" --set layers=1 --set d_model=8 --set heads=2 --source letters --target letters \
    --vocab auto:9 --out run --steps 1 2>training || fail "no vocabulary: $(cat training)"
cp run/vocab.model pieces
cat >filed.tfg <<'END'
model filed
dim B
input x : f32[B, 4]
param w : [4, 4] = load("filed.safetensors", "w")
output y = x @ w
END
"$tfc" compile filed.tfg -o filed.o
$cc -g -O1 $flags -I. -I"$root" "$tests/faults.c" "$tests/faults_calls.c" "$tests/faults_columns.c" "$tests/faults_wrap.c" failing.o filed.o speaking.o predicting.o describing.o \
    "$archive" -o faults \
    -no-pie -Wl,--gc-sections $wraps -pthread -lm

# A file that fits, and some that do not.
"$tfc" compile "$tests/failing.tfg" -o libfailing.so --vocab words.txt --function $functions
nm -D --undefined-only libfailing.so >imports
for other in $others; do
    ! grep -wE "$other" imports || fail "the library calls what no fault is made for"
done
cat >initial.c <<'END'
#include "failing.h"
int main(void)
{
    failing *model;
    return failing_open_new(1, &model) || failing_save(model, "saved.safetensors");
}
END
cc initial.c -o initial -I. -L. -lfailing -Wl,-rpath,"$work"
./initial
# as another program would write it: no checksums
LC_ALL=C sed 's/"xxh64_blocks":/"other_blocks":/' saved.safetensors >foreign.tensors
LC_ALL=C sed 's/"dtype":"F32"/"dtype":"I32"/g' foreign.tensors >integers.safetensors
LC_ALL=C sed 's/"dtype":"F32"/"dtype":"Q32"/' foreign.tensors >unknown.safetensors
LC_ALL=C sed 's/"shape":\[4\]/"shape":[3]/' foreign.tensors >sizes.safetensors
LC_ALL=C sed 's/"shape":\[4,4\]/"shape":[16 ]/' foreign.tensors >shapes.safetensors
LC_ALL=C sed 's/"bias":/"bios":/' foreign.tensors >names.safetensors
header() { # LENGTH TEXT: a file of that header and eight bytes of data
    printf '%b' "\\0$(printf %o $(($1 % 256)))\\0$(printf %o $(($1 / 256)))\\0\\0\\0\\0\\0\\0"
    printf '%s12345678' "$2"
}
whole() { header ${#1} "$1"; }
head -c 2000 saved.safetensors >short.safetensors
header 65535 '{}' >beyond.safetensors
printf '\377\377\377\377\0\0\0\0{}' >claims.safetensors
whole '{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}}' >rank.safetensors
whole '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,16]}}' >outside.safetensors
whole '{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}' >hole.safetensors
whole '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' >rest.safetensors
whole '{"__metadata__":{"a":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' >meta.safetensors
whole '{"a":[1,2,3,4,5,6,7,8,9,10]}' >list.safetensors
whole '{"\u0001":1,"\u0001":2}' >twice.safetensors
whole '{"a":NaN}' >nan.safetensors
: >empty.safetensors
ln -s target.safetensors link.safetensors
cp saved.safetensors target.safetensors
ln -s loop loop
bad=$(ls ./*.safetensors "$root"/tests/fuzz/seeds/safetensors/* | grep -v '/\(saved\|link\|target\)\.')
[ -z "$short" ] || bad=
export OMP_NUM_THREADS=1
./faults saved.safetensors link.safetensors absent.safetensors loop . $bad >seen || fail "see above"

if [ -n "$short" ]; then
    echo "one call in thirteen failed, files that do not fit aside"
    exit 0
fi
# Where the library calls what can fail: the address that each call returns to.
objdump -d --no-show-raw-insn faults | awk '
    /^ *[0-9a-f]+:/ { if (called) print substr($1, 1, length($1) - 1), called; called = "" }
    /call.*<__wrap_[a-z_]+>$/ { called = $NF; gsub(/<__wrap_|>/, "", called) }' | sort >places
awk '$3 > 0 { print $1, $2 }' seen | sort >failed
[ -s places ] || fail "no places"
# What files of tfc train alone have; what is looked for where a param has a megabyte; tags of words in pieces, matrices
# that an index chooses, and columns along dimensions made of others, which no model here has; what JSON begins with that
# is no header, which has a brace; what is said of a file over its budget of memory; records of JSON lines, which
# no model here reads.
elsewhere='make_meta|cut_json_records|read_json_words|read_texts|diag_about|is_fresh|count_dropped|find_place|memory_find_file|keep_words|position_ids|grouped_bind|words_lengths|wrong_beginning'
comm -23 places failed | grep -v ' \(free\|munmap\)$' >missed || true # which cannot fail
while read -r place name; do
    echo "$name $(addr2line -e faults -fp "0x$place" | sed 's/ at .*\// /')"
done <missed | grep -vE " faults(_calls|_columns)?\.c:| ($elsewhere) " >unreached || true
[ ! -s unreached ] || fail "these never failed: $(cat unreached)"
echo "$(wc -l <failed) places failed, $(wc -l <unreached) did not"
