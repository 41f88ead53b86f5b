#!/bin/sh
# tfc data: each kind of fault in a small corpus, planted faults in larger ones, ways to give texts,
# wrong usage and arbitrary bytes.
# Usage: data.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
export LC_ALL=C.UTF-8

look() { "$tfc" data "$@" >out.txt 2>err.txt || fail "data $*: $(cat err.txt)"; }
# says PATTERN: in what was printed
says() { grep -qE -- "$1" out.txt || fail "no '$1' in: $(cat out.txt)"; }
silent() { ! grep -qE -- "$1" out.txt || fail "'$1' in: $(cat out.txt)"; }
# found NAME LINES: so many of that kind, in JSON
found() {
    sed 's/{"name"/\n&/g' out.txt | grep -q "^{\"name\": \"$1\".*\"lines\": $2," ||
        fail "$1 is not found $2 times: $(sed 's/{"name"/\n&/g' out.txt | grep "\"$1\"")"
}

# Every kind, by hand. Lines 1 … 14 of two files.
printf '\357\273\277a house by the sea\n\nthe  Same\n the same\nHamburg\nit is it\ngr\374n\ngroÃŸ Ã–l â€™\n' >a.src
printf 'lost \357\277\275\nbell\a\nfish &amp; chips\r\n<b>bold</b>\nthe same\nnew\n' >>a.src
printf 'ein Haus\nx\nDasselbe\ndasselbe\nHamburg\nit is it\ngrün\ngroß\n' >a.tgt
printf 'verloren\nGlocke\nFisch\nfett\nanders\nganz neu\n' >>a.tgt
printf 'NEW\nit was\nthe same\n' >v.src
printf 'ganz  neu\ngrün\nneu\n' >v.tgt
look a.src a.tgt --valid-source v.src --valid-target v.tgt --line-limit 1000 --json
for row in "not_utf8 1" "mojibake 1" "replacement 1" "control 1" "markup 2" "too_long 0" "no_tab 0" \
    "empty 1" "duplicate 1" "copy 1" "overlap 1" "overlap_source 3" "overlap_target 1" \
    "same_source 1" "same_target 0" "crlf 1" "byte_order_mark 1" "ratio 0" "swapped 0"; do
    found $row
done
python3 -m json.tool out.txt >/dev/null || fail "no JSON"

# A text that the tokenizer gives up on.
cat >grows.json <<J
{"version": "1.0", "added_tokens": [], "normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": "$(printf '%100s' | tr ' ' b)"},
 "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
 "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "b": 1, "c": 2}, "unk_token": "<unk>"}}
J
(echo "b c"; printf '%1000s\n' | tr ' ' a) >grows.txt
look grows.txt --lines --vocab grows.json
says '^texts or records that a training refuses +1 +50.00 %$'
says "the tokenizer's steps make it more than 32 times as long"

look --source a.src --target a.tgt --valid-source v.src --valid-target v.tgt --examples 1
says '^a.src, a.tgt: 14 pairs$'
says '^Of 3 pairs of validation, the training text has 1 .33.33 %.; sources 2, targets 2\.$'
says '^bytes that are not UTF-8 +1 +7.14 %$'
says 'line 7, source, byte 3: 0xfc: gr\\xfcn  \|  grün'
says 'line 10, source, byte 5: bell\\x07  \|  Glocke'
says 'line 4, as line 3: '
says 'line 14, validation, line 1: new  \|  ganz neu'
says 'not looked for'
look a.src a.tgt --line-limit 8 --examples 0 --json
found too_long 6

# A clean text is told to be clean.
printf 'one\ntwo\n' >c.txt
look c.txt --lines
says '^Nothing to mend\.$'
look --text c.txt --valid-text v.src --valid again=c.txt
says '^Of 2 lines of again, the training text has 2 .100'
: >none.txt
look none.txt
says '^none.txt: 0 lines$'
look none.txt none.txt
says '^none.txt, none.txt: 0 pairs$'

# Few pairs have a typical ratio, too.
printf 'ab\nabcd\nab\n' >r.src
printf 'abcd\nabcdefgh\nabcde\n' >r.tgt
look r.src r.tgt
says '^A target typically has (1\.99|2\.00) times the characters of its source\.$'

# What looks like mojibake and is none; and what is, in other scripts.
printf '%s\n' '„groß“ und „SPÖ“ – ÖVP' '«déjà», «là»' 'CAFÉ» NÃO' 'mit Äž 20 Ü° Maß²' 'naïve…' 'Ä“' >natural.txt
look natural.txt --json
found mojibake 0
printf '%s\n' 'Ð¿Ñ€Ð¸Ð²ÐµÑ‚' 'ä½ å¥½' 'ðŸ˜€' 'Å¼Ã³Å‚w' 'Â£5' 'Ã–sterreich' >mojibake.txt
look mojibake.txt --json
found mojibake 6
found control 0

# Lines that come again are faults of lines that stand alone, not of a text.
printf 'x\n\nx\n' >p.txt
look p.txt
says '^Nothing to mend'
look p.txt --lines
says '^  duplicates: keep one'

# Columns, a translation memory, pipes.
printf 'a b\tc d\textra\nno tab\n' >p.tsv
look p.tsv --json
found no_tab 1
found crlf 0
printf '<tmx><body><tu><tuv xml:lang="en"><seg>A dog.</seg></tuv><tuv xml:lang="de"><seg>Ein Hund.</seg></tuv></tu></body></tmx>' >p.tmx
look p.tmx --languages en,de --valid me=p.tsv
says '^p.tmx: 1 pair$'
"$tfc" data - --lines <p.txt | grep -q '^-: 3 lines$' || fail "no standard input"
mkfifo pipe
cat a.tgt >pipe &
look a.src pipe
says '14 pairs'

# Tokens.
printf 'one\ntwo\nthree\n' >words.txt
printf 'one two\none four two three\n' >t.txt
look t.txt --vocab words:words.txt --max-length 4 --json
found unknown 1
found over_length 1
look t.txt --vocab words:words.txt --max-length 4
says "line 2, 'four': one four two three"
says '^vocabulary: .* 1 unknown .16.667 %.$'

# What cannot be looked at.
refuses 1 'cannot read absent' "$tfc" data absent
refuses 2 '\. is a folder: give the file of a text' "$tfc" data .
refuses 1 'v.src has 3 lines, c.txt has 2' "$tfc" data v.src c.txt
printf '\037\213\010 and so on' >z.gz
refuses 1 'compressed by gzip' "$tfc" data z.gz
printf '\377\376a\000' >utf16
refuses 1 'UTF-16' "$tfc" data utf16
refuses 1 'names the sources' "$tfc" data p.tmx
refuses 1 'makes a vocabulary, and a finished one is needed' "$tfc" data c.txt --vocab auto:100
refuses 2 'is needed' "$tfc" data
refuses 2 'in place of' "$tfc" data c.txt --text c.txt
refuses 2 'target is missing: --source needs it' "$tfc" data --source c.txt
refuses 2 'text is in place of pairs (--data)' "$tfc" data --text c.txt --data p.tsv
refuses 2 'valid-text is in place of pairs (--valid-data)' "$tfc" data c.txt --valid-text c.txt --valid-data p.tsv
refuses 2 'compared with pairs' "$tfc" data c.txt --valid-data p.tsv
refuses 2 'NAME=FILE' "$tfc" data c.txt --valid c.txt
refuses 2 'vocab is needed' "$tfc" data c.txt --max-length 4
refuses 2 'is for --text' "$tfc" data p.tsv --lines

# Any bytes.
for seed in 1 2 3 4 5 6 7 8; do
    python3 - $seed <<'END'
import random, sys
r = random.Random(int(sys.argv[1]))
parts = [b"\n", b"\n", b"\t", b" ", b"\r\n", b"\0", b"\xef\xbb\xbf", b"\xc3\x83\xc2\xbc", b"\xe2\x80", b"&#", b"</", b"word ", b"\xf4\x8f\xbf\xbf"]
open("fuzz.tsv", "wb").write(b"".join(r.choice(parts) if r.random() < .5 else r.randbytes(r.randint(0, 9)) for _ in range(r.choice([3, 400, 9000]))))
END
    look fuzz.tsv --json --examples 100000 --line-limit 300 --vocab words:words.txt --max-length 9 --valid-data fuzz.tsv
    python3 -m json.tool out.txt >/dev/null || fail "no JSON of seed $seed"
    look fuzz.tsv --examples 100000
    look --text fuzz.tsv --lines
done

# Planted faults: in a corpus made up, and in a real one where it is.
mkdir made real
python3 "$root/tests/cli/data.py" "$tfc" made made/a made/b made/ta made/tb --generate ||
    fail "planted faults of a generated corpus"
data=$root/../shared/data/multi30k
if [ -d "$data" ]; then
    for name in train test_2017_flickr; do
        for side in en de; do gunzip -c "$data/$name.$side.gz" >real/$name.$side; done
    done
    python3 "$root/tests/cli/data.py" "$tfc" real real/train.en real/train.de real/test_2017_flickr.en \
        real/test_2017_flickr.de || fail "planted faults of Multi30k"
fi
