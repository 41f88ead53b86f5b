#!/bin/sh
# Text in a compiled library: what its functions answer is what tfc translate and tfc
# generate answer, for pieces, words and characters, with one vocabulary or one a side; the
# examples; arguments and vocabularies that are not allowed.
# Usage: compile_text.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export OMP_NUM_THREADS=1
cat >pronounce.tfg <<'END'
model pronounce
use transformer
const vocab = 8, layers = 1, d_model = 32, d_ff = 64, heads = 2, p_drop = 0
train { rate = inverse_sqrt(peak = 0.01, warmup = 40); batch = tokens(600); max_length = 64 }
END
cat >speak.tfg <<'END'
model speak
use language_model
const vocab = 8, layers = 1, d_model = 32, heads = 2, context = 16
train { rate = inverse_sqrt(peak = 0.01, warmup = 40); batch = tokens(400); max_length = context }
END
words_backwards
# Lines of other lengths, with words that were not seen, without any, and with a return.
{ cat valid.src; printf '\na   b\nh g zz \303\251\n \t\n\r\na b c\r\nb a\n'; } >lines
train() { # MODEL RUN OPTION …
    model=$1 run=$2
    shift 2
    "$tfc" train "$model.tfg" --out "$run" --steps 200 --seed 3 --no-bleu "$@" 2>"$run.err" ||
        fail "$run: $(cat "$run.err")"
}
# library RUN NAME OPTION …: in a folder RUN.lib
library() {
    run=$1 name=$2
    shift 2
    mkdir -p "$run.lib"
    "$tfc" compile "$run" -o "$run.lib/lib$name.so" "$@" || fail "$run is not compiled"
}
# build RUN NAME PROGRAM OPTION …: PROGRAM.c with the library of the run
build() {
    run=$1 name=$2 program=$3
    shift 3
    $CC "$@" "$root/$program.c" -o "$run.lib/$(basename "$program")" -I"$run.lib" -L"$run.lib" -l"$name" \
        -Wl,-rpath,"$work/$run.lib"
}

# Python needs numpy for arrays alone.
arrays=$(python_with_numpy)
python=${arrays:-$(command -v python3 || true)}
[ -z "${TFC_RUNTIME:-}" ] || arrays='' python='' # an instrumented library is loaded by instrumented programs alone
export PYTHONDONTWRITEBYTECODE=1

# Translation.
kinds="auto:20 words:auto chars:auto sides"
[ -z "$short" ] || kinds="auto:20 words:auto"
for kind in $kinds; do
    run=${kind%%:*}
    case $kind in
    sides) options="--vocab words:auto --source-vocab auto:20" edit='2a use source_embedding' ;;
    *) options="--vocab $kind" edit= ;;
    esac
    sed "$edit" pronounce.tfg >"$run.tfg"
    # shellcheck disable=SC2086  # words
    train $run $run --source train.src --target train.tgt $options
    library $run pronounce
    build $run pronounce examples/translate_text
    build $run pronounce tests/cli/compile_text_misuse -DNAME=pronounce -DHEADER='"pronounce.h"' \
        -DTEXT=pronounce_translate_text -DTRANSLATES
    "$tfc" translate $run --input lines >expected
    [ "$(sort -u expected | wc -l)" -gt 20 ] || fail "$kind: few answers"
    $run.lib/translate_text <lines >answers
    cmp answers expected || fail "$kind: text is translated otherwise"
    $run.lib/compile_text_misuse 'a b c' || fail "$kind: arguments that are not allowed"
    if [ -n "$python" ]; then
        PYTHONPATH=$run.lib "$python" "$root/examples/translate_text.py" <lines | cmp - expected ||
            fail "$kind: Python translates otherwise"
    fi
    "$tfc" compile $run -o $run.lib/translator
    $run.lib/translator <lines | cmp - expected || fail "$kind: the program translates otherwise"
    "$tfc" translate $run --input lines --beam 2 >expected
    $run.lib/translator --beam 2 <lines | cmp - expected || fail "$kind: the program, beam 2"
done
# The ways to decode, as tfc translate has them.
sed 's/ .*//' lines | head -n 12 >begun
{ echo; sed -n '2,3p' begun; yes b | head -n 3; sed -n '7,12p' begun; } >prefixes
head -n 12 lines >some
for options in '--nbest 3' '--beam 2 --length-penalty 0' '--max-tokens 2' '--no-repeat-ngram 1' \
    '--repetition-penalty 4' '--sample --seed 3 --top-k 3 --temperature 2' '--sample --top-p 0.5 --nbest 2' \
    '--sample --best-of 4 --temperature 3' '--prefix prefixes' '--prefix prefixes --alternatives 3'; do
    for run in words auto; do
        # shellcheck disable=SC2086  # words
        "$tfc" translate $run --input some $options >expected
        # shellcheck disable=SC2086
        $run.lib/translator $options <some | cmp - expected || fail "$run: the program, $options"
    done
done
refuses 2 "\-\-best-of is for --sample" words.lib/translator --best-of 3
refuses 2 "leave --nbest out" words.lib/translator --alternatives 3 --nbest 2
refuses 2 "\-\-repetition-penalty takes a number from 1 to 1000, not 'x'" words.lib/translator --repetition-penalty x
refuses 2 "\-\-beam takes a whole number from 1 to 1024, not '0'" words.lib/translator --beam 0
head -n 3 prefixes >few
refuses 1 "few has no line 4" sh -c "words.lib/translator --prefix few <some"
refuses 1 "prefixes: it has more lines than the text" sh -c "head -n 3 some | words.lib/translator --prefix prefixes"
# What the program is given wrongly; files of other systems; ids.
refuses 1 "line 2: byte 1 of utf8 is 0xff" sh -c "printf 'a\n \377\n' | auto.lib/translator"
refuses 1 "translator: line 2 has [0-9]* tokens, the model takes 64" \
    sh -c "{ echo a; yes a | head -n 200 | tr '\n' ' '; } | words.lib/translator"
refuses 2 "there is no option '--id'.*" words.lib/translator --id
[ "$(printf '\357\273\277a b\r\nc' | words.lib/translator)" = "$(printf 'a b\nc\n' | words.lib/translator)" ] ||
    fail "a mark of the byte order, or returns"
echo 4 5 6 | words.lib/translator --ids | grep -q '^[0-9 ]*$' || fail "--ids"
# Several instruction sets; what the library needs and exports.
library words pronounce --cpu x86-64-v2,x86-64-v3
"$tfc" translate words --input lines >expected
for level in 2 3; do
    TFC_CPU_LEVEL=$level words.lib/translate_text <lines | cmp - expected || fail "x86-64-v$level"
done
if [ -z "${TFC_RUNTIME:-}" ]; then # an instrumented library needs the sanitizers' own
    ! ldd auto.lib/libpronounce.so | grep -E 'stdc\+\+|sentencepiece|pcre|utf8proc' || fail "it needs too much"
    nm -D --defined-only auto.lib/libpronounce.so | grep -v ' pronounce_' && fail "other names are exported"
    nm -D --undefined-only auto.lib/libpronounce.so |
        grep -wE 'abort|_?exit|__assert_fail|raise|puts|putchar|f?printf|stderr|stdout' &&
        fail "the library can end the process, or print"
fi

# Going on with a text: longer than the model sees at once, in a stream without end.
kinds="chars:auto auto:20"
[ -z "$short" ] || kinds=chars:auto
for kind in $kinds; do
    run=speak-${kind%%:*}
    train speak $run --text train.src --vocab $kind
    library $run speak
    cat >speak.c <<'END'
#include "speak.h"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    speak *model;
    speak_session *session;
    const char *text;
    if (speak_open(NULL, &model) || speak_session_new(model, &session) ||
        speak_generate_text(session, NULL, argv[1], (int64_t)strlen(argv[1]), &text, NULL))
        return fprintf(stderr, "%s\n", speak_error_detail()), 1;
    puts(text);
    return argc != 2;
}
END
    $CC speak.c -o $run.lib/say -I$run.lib -L$run.lib -lspeak -Wl,-rpath,"$work/$run.lib"
    for prompt in 'a b' '' 'h g f
a b c d e f g h a b c d e f g h
c'; do
        "$tfc" generate $run --prompt "$prompt" >expected
        $run.lib/say "$prompt" | cmp - expected || fail "$kind goes on otherwise with '$prompt'"
    done
    "$tfc" compile $run -o $run.lib/speaker
    head -n 9 lines >prompts
    echo >>prompts
    "$tfc" generate $run --input prompts >expected 2>/dev/null
    $run.lib/speaker <prompts | cmp - expected || fail "$kind: the program goes on otherwise"
    "$tfc" generate $run --input prompts --seed 7 --tokens 30 >expected 2>/dev/null
    $run.lib/speaker --seed 7 --tokens 30 <prompts | cmp - expected || fail "$kind: --seed, --tokens"
    # A first token is one token, also of a text in several parts.
    if [ $kind = chars:auto ]; then
        first=$(sed -n 9p $run/vocab.txt) # behind the line that says they are characters
        $run.lib/speaker --first 7 --eos 1 --tokens 60 --temperature 0 <<END >found
a b
END
        $run.lib/speaker --eos 1 --tokens 59 --temperature 0 <<END | cmp - found || fail "the first token comes again"
a b$first
END
    fi
    build $run speak tests/cli/compile_text_misuse -DNAME=speak -DHEADER='"speak.h"' \
        -DTEXT=speak_generate_text
    $run.lib/compile_text_misuse 'a b c' || fail "$kind: arguments that are not allowed"
done

# Python: lists of lines, settings, mistakes; going on with a text; arrays.
if [ -n "$python" ]; then
    "$tfc" translate words --input valid.src --beam 2 >expected
    cat >lists.py <<'END'
import pronounce
lines = open("valid.src").read().split("\n")[:-1]
with pronounce.Model() as model:
    print("\n".join(model.translate_text(lines, beam=2)))
    some, prefix = ([line[:-1] for line in open(name)] for name in ("some", "prefixes"))
    alternatives = model.translations(some, prefix=prefix, alternatives=3)
    with open("alternatives", "w") as file:
        for line, results in enumerate(alternatives):
            for result in results:
                assert abs(sum(result.each) - result.log_probability) < 1e-9
                file.write("%d ||| %s\n" % (line, result.text))
    chosen = model.translate_text(some, prefix=prefix)
    assert all(text.startswith(begin) for text, begin in zip(chosen, prefix))
    try:
        model.translate_text("a\0")
    except pronounce.Error as error:
        assert error.args[0] == 6 and "no NUL" in error.args[1]
END
    PYTHONPATH=words.lib "$python" lists.py | cmp - expected || fail "lists of lines in Python"
    "$tfc" translate words --input some --prefix prefixes --alternatives 3 | sed 's/ ||| [^|]*$//' |
        cmp - alternatives ||
        fail "alternatives in Python"
    "$tfc" generate speak-chars --prompt 'a b
c' --seed 4 --tokens 30 >expected
    PYTHONPATH=speak-chars.lib "$python" -c 'import speak
print(speak.Model().generate_text("a b\nc", seed=4, length_extra=30))' | cmp - expected ||
        fail "Python goes on otherwise"
fi
if [ -n "$arrays" ]; then
    "$arrays" "$root/tests/cli/compile_python.py" words.lib pronounce || fail "arrays in Python"
    mkdir aligned.lib
    "$tfc" compile words -o aligned.lib/libpronounce.so --function encode,decode_step,alignment || fail "it is not compiled"
    "$tfc" translate words --input some --attention --json >aligned.json
    PYTHONPATH=aligned.lib "$arrays" "$root/tests/cli/compile_aligned.py" some aligned.json || fail "alignments in Python"
fi

# Without a run; without what text needs.
"$tfc" export words -o words.safetensors
"$tfc" compile words.tfg --set vocab=12 --weights words.safetensors --vocab words/vocab.txt -o libpronounce.so
grep -q translate_text pronounce.h || fail "--vocab gives no text functions"
"$tfc" compile words --function forward -o libpronounce.so
grep -q translate_text pronounce.h && fail "text without decoding"
"$tfc" compile words.tfg --set vocab=12 -o libpronounce.so
grep -q translate_text pronounce.h && fail "text without a vocabulary"
refuses 1 "\-\-token is for --vocab: add that, or leave --token out" "$tfc" compile words --token begin=a -o a.so
refuses 1 "the vocabulary has 12 tokens, but the model's logits have 8" \
    "$tfc" compile words.tfg --vocab words/vocab.txt -o a.so
[ -n "$arrays" ] || [ -n "${TFC_RUNTIME:-}" ] || { echo "skipped: there is no Python with numpy"; exit 77; }
