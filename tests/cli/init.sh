#!/bin/sh
# tfc init: folders of every kind, whose commands work as README.md has them, with trainings of some
# steps; questions on a terminal; what it refuses, and that it leaves nothing then.
# Usage: init.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "there is no python3 to make a terminal"; exit 77; }
enter_work
mkdir "$work/bin"
ln -s "$tfc" "$work/bin/tfc"
PATH=$work/bin:$PATH
words_backwards
paste all.src all.tgt >all.tsv
awk '{ print $0 "\t" (/h/ ? "has h" : "none") }' all.src >labels.tsv
{
    printf 'id,tags,words\n'
    awk '{ t = $0; gsub(/[^ ]*h[^ ]*/, "H", t); gsub(/[^ ]*[a-z][^ ]*/, "O", t); print NR ",\"" t "\"," $0 }' all.src
} >tags.csv
awk '{ split($0, s, "\t"); printf "{\"first\": \"%s\", \"second\": \"%s\"}\n", s[1], s[2] }' all.tsv >twins.jsonl
awk '{ gsub(/ /, ""); print }' all.src | sort -u >words.src
awk '{ gsub(/./, "& "); print toupper($0) }' words.src >words.tgt

# follow FOLDER: the commands that its README.md tells, a minute being some steps
follow() {
    awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$1/README.md" | sed "s/--minutes 15/--steps $2/" >"$1/commands"
    grep -q -- "--steps $2" "$1/commands" || fail "$1/README.md tells no training"
    (cd "$1" && sh -eu ./commands >said 2>errors) || fail "$1/README.md: $(tail -n 20 "$1/errors")"
    [ "$(wc -l <"$1/commands")" -gt 10 ] || fail "$1/README.md has few commands"
    if grep -q '@[a-z_]*@' "$1/model.tfg" "$1/README.md"; then fail "$1: a word was not filled in"; fi
}

# ---- kinds ----
tfc init my-translator --kind translator --source all.src --target all.tgt >out
grep -q "^all.src, all.tgt: 1,200 pairs" out || fail "no survey: $(cat out)"
grep -q "^  data .* to train on, [1-9][0-9]* to validate, [1-9][0-9]* to test$" out || fail "$(cat out)"
cat my-translator/data/*.source | sort >ours
sort all.src | cmp - ours || fail "lines were lost"
sort -u my-translator/data/test.source >held
sort -u my-translator/data/train.source my-translator/data/valid.source >others
[ -z "$(comm -12 held others)" ] || fail "a source is in two parts"
follow my-translator 4
grep -q '^model my_translator$' my-translator/model.tfg || fail "the model's name"
[ -x my-translator/my_translator ] && [ -s my-translator/attention.html ] || fail "no program, no page"
[ "$(wc -l <my-translator/pairs.align)" = "$(wc -l <my-translator/pairs.source)" ] || fail "align"

(printf 'id,en,de\n'; awk -F '\t' '{ print NR ",\"" $1 "\"," $2 }' all.tsv) >all.csv
tfc init columns --kind translator --data all.csv --column source=en --column target=de >out
grep -q '^  table     source is field en, target is field de$' out || fail "the fields: $(cat out)"
diff -r columns/data my-translator/data >out || fail "a table is cut otherwise: $(cat out)"

tfc init named/fresh// --kind translator --data all.tsv >out
grep -q "^model fresh$" named/fresh/model.tfg || fail "the name of a model in a folder given with slashes: $(head -n 3 named/fresh/model.tfg)"
tfc init say --kind pronouncer --source words.src --target words.tgt >out
grep -q -- "--source-vocab chars:auto --vocab words:auto" say/README.md || fail "symbols apart are words"
follow say 4
[ -s say/libsay.so ] && [ -s say/say.h ] || fail "no library"
awk '{ gsub(/ /, ""); print }' words.tgt >joined.tgt
tfc init joined --kind pronouncer --source words.src --target joined.tgt >out
grep -q -- "--source-vocab chars:auto --vocab chars:auto" joined/README.md || fail "letters in a row are characters"

tfc init book --kind language-model --text all.src >out
[ "$(cat book/data/train.txt book/data/valid.txt book/data/test.txt | cmp - all.src && echo same)" = same ] ||
    fail "the text's parts are not in order"
follow book 4
[ -s book/libbook.so ] || fail "no library"

# measured NAME FOLDER: what tfc eval said of a figure, without decimals
measured() { sed -n "s/^$1 *\([0-9]*\).*/\1/p" "$2/said"; }

tfc init sort-it/ --kind classifier --data labels.tsv --minutes 15 >out
grep -q '^text    characters' out && grep -q '^label   characters' out && ! grep -q -i 'source\|target' out || fail "fields are called otherwise: $(cat out)"
tr '\t' , <labels.tsv >labels.txt
tfc init by_form --kind classifier --data labels.txt >out 2>err || fail "a CSV of another name: $(cat err)"
cmp sort-it/data/train.tsv by_form/data/train.tsv || fail "the CSV has other rows"
grep -q "^  table     text is field 1, label is field 2$" out || fail "$(cat out)"
grep -q "^ *2 different labels$" out && grep -q "classes = 2 " sort-it/model.tfg || fail "labels: $(cat out)"
grep -q "lengths of the sides" out && fail "a label is judged as a translation: $(cat out)"
for part in train valid test; do
    [ "$(head -n 1 sort-it/data/$part.tsv)" = "text	label" ] || fail "the header of $part.tsv"
    tail -n +2 sort-it/data/$part.tsv
done | sort >ours
sort labels.tsv | cmp - ours || fail "rows were lost"
follow sort-it 120
right=$(measured accuracy sort-it)
[ "$right" -gt 85 ] || fail "a classifier learns nothing: $right % right"
tfc check sort-it/model.tfg --samples 1 >out 2>&1 || fail "check: $(cat out)"
[ "$(tail -n 3 sort-it/said | grep -c '"class": \[\["has h\|"class": \[\["none')" = 3 ] || fail "$(tail -n 3 sort-it/said)"

# What only validation or test would have of labels trains.
{
    printf 'label\ttext\n'
    awk '{ print (NR % 20 == 1 ? "first" NR % 3 : NR % 20 == 2 ? "second" : "others") "\t" $0 }' all.src
} >rare.tsv
tfc init rare --kind classifier --data rare.tsv >out
tail -n +2 rare/data/train.tsv | cut -f 2 | sort -u >trained
tail -q -n +2 rare/data/valid.tsv rare/data/test.tsv | cut -f 2 | sort -u >held
[ -z "$(comm -13 trained held)" ] || fail "labels that training does not know: $(comm -13 trained held)"

# CoNLL's columns between blanks, and as a table of the same; cut at tabs, each line would be its own tag.
mkdir conll
(
    cd conll
    printf -- '-DOCSTART- -X- O\n\n' >train.conll
    for name in Ana Bo Cy Dora Emil Fay Gus Hana; do for verb in lives works sings sleeps; do for city in Bern Lima Oslo Accra; do
        printf '%s NNP B-PER\n%s VBZ O\nin IN O\n%s NNP B-LOC\n\n' $name $verb $city
    done; done; done >>train.conll
    (printf 'words\ttags\n'; awk '/^-DOCSTART-/ { next } NF { w = w s $1; t = t s $NF; s = " "; next } w { print w "\t" t; w = t = s = "" }
        END { if (w) print w "\t" t }' train.conll) >train.tsv
    tfc init ner --kind tagger --data train.tsv >out 2>err
    grep -q "^ *3 different tags$" out && [ "$(sed -n 2p train.tsv | cut -f 1)" = "Ana lives in Bern" ] || fail "$(cat out err)"
    ! grep warning err || fail "$(cat err)"
    tfc init read --kind tagger --data train.conll >out 2>err || fail "$(cat err)"
    grep -q "words is field 1, tags is field 3" out || fail "$(cat out)"
    for part in train valid test; do cmp ner/data/$part.tsv read/data/$part.tsv || fail "the file itself gives other data"; done
    (printf 'words\ttags\n'; awk 'NF { print $0 NR "\t" $0 NR }' train.conll) >same.tsv
    tfc init same --kind tagger --data same.tsv >out 2>err || true # its texts are too much alike, too
    grep -q "same.tsv:2.*warning: in 513 of 513 rows, here first, the tags are the words themselves" err || fail "$(cat err)"
)

tfc init mark --kind tagger --data tags.csv >out
grep -q "^  table     words is field words, tags is field tags$" out || fail "$(cat out)"
grep -q "^ *2 different tags$" out || fail "$(cat out)"
follow mark 120
right=$(measured accuracy mark)
tail -n +2 mark/data/test.tsv | awk -F '\t' '{ split($1, w, " "); n = split($2, t, " "); for (i = 1; i <= n; i++) print w[i], "x", t[i]; print "" }' >test.conll
tfc eval mark/run --data mark/data/test.tsv | sed 's/[^ ]*test[.][a-z]*//' >of_table
tfc eval mark/run --data test.conll --column words=1 --column tag=3 | sed 's/[^ ]*test[.][a-z]*//' | cmp - of_table || fail "CoNLL's columns are evaluated otherwise"
tfc predict mark/run --input mark/data/test.tsv >of_table
tfc predict mark/run --input test.conll --column words=1 | cmp - of_table || fail "CoNLL's columns are predicted otherwise"
[ "$right" -gt 90 ] || fail "a tagger learns nothing: $right % right"
tfc check mark/model.tfg --samples 1 >out 2>&1 || fail "check: $(cat out)"
[ "$(tail -n +2 mark/data/test.tsv | head -n 3 | cut -f 2 | wc -w)" = "$(tfc predict mark/run --input mark/sentences.txt | wc -w)" ] ||
    fail "not a tag for each word"

tfc init near --kind embedder --data twins.jsonl >out
grep -q "^near: an embedder" out || fail "$(cat out)"
follow near 60
[ -s near/vectors.npy ] && [ -n "$(measured "recall at 1" near)" ] || fail "$(cat near/said)"
tfc check near/model.tfg --samples 1 >out 2>&1 || fail "check: $(cat out)"

# Other names of fields, compressed, several files; words on their own are read letter by letter.
{
    echo "kind,word"
    awk '{ print (/h/ ? "a, b" : "c") "|" $0 }' words.src | sed 's/^\([^|]*\)|/"\1",/'
} | gzip >words.csv.gz
tfc init letters --kind classifier --data words.csv.gz --column text=word --column label=kind >out
grep -q -- "--vocab chars:auto" letters/README.md && grep -q "	a, b$" letters/data/train.tsv || fail "$(cat out)"
(printf 'message\tteam\n'; grep -v '^text' labels.tsv) >header.tsv
tfc init header --kind classifier --data header.tsv >out 2>err || fail "a header of other names: $(cat err)"
grep -q "header.tsv:1:1: warning: no other row has the label 'team'" err || fail "a header of other names is a row: $(cat err)"
tfc init two --kind classifier --data labels.tsv --data labels.tsv >out
grep -q "^labels.tsv, labels.tsv: 2,400 records" out || fail "$(cat out)"

# Sizes follow the text.
grep -q "layers = 1, d_model = 64" sort-it/model.tfg || fail "$(cat sort-it/model.tfg)"
awk 'BEGIN { for (i = 0; i < 30000; i++) print "a b c d" i "\te f g h" i }' >large.tsv
tfc init large --kind translator --data large.tsv >out
grep -q "layers = 4, d_model = 128" large/model.tfg || fail "$(cat large/model.tfg)"
[ "$(wc -l <large/data/test.source)" = 1000 ] || fail "a thousand are enough to test: $(wc -l large/data/test.source)"

# What training refuses is left out.
{
    cat all.tsv
    printf 'no tab\nbad \377\tbyte\n \tempty\n'
} >faulty.tsv
tfc init faulty --kind translator --data faulty.tsv >out
grep -q "; 3 left out" out || fail "$(tail -n 30 out)"

# ---- refused, and nothing is left ----
ls -d */ >before
sed 's/a/\xe4/' all.tsv >latin.tsv
refuses 1 "lines are not UTF-8: convert the text" tfc init new --kind translator --data latin.tsv
awk 'BEGIN { for (i = 0; i < 150; i++) print "one\tline " i }' >alike.tsv
refuses 1 "150 pairs have too few different sources to keep some of them for validation and a test" tfc init new --kind translator --data alike.tsv
refuses 1 "my-translator is not empty" tfc init my-translator --kind translator --data all.tsv
refuses 1 "all.tsv: a file has that name" tfc init all.tsv --kind translator --data all.tsv
refuses 2 "kind is needed: translator, pronouncer, language-model, classifier, tagger or embedder" tfc init new
refuses 2 "kind poet" tfc init new --kind poet --text all.src
refuses 2 "target is missing: --source needs it" tfc init new --kind translator --source all.src
refuses 2 "begins with --source F and --target F, or --data" tfc init new --kind translator
refuses 2 "begins with --text" tfc init new --kind language-model --data all.tsv
refuses 2 "a table of .text. and .label." tfc init new --kind classifier --source all.src --target all.tgt
refuses 2 "an embedder begins with --data" tfc init new --kind embedder --text all.src
refuses 2 "a language-model reads none" tfc init new --kind language-model --text all.src --column text=1
refuses 1 "expected source=FIELD or target=FIELD" tfc init new --kind translator --data all.tsv --column text=1
refuses 2 "column text is given twice, the second time as .text=2.: an input has one" tfc init new --kind classifier --data labels.tsv --column text=1 --column text=2
# Fields of lines of fastText go by their names, and a header of pairs is an error before anything is written.
awk 'BEGIN { for (i = 0; i < 200; i++) print "__label__" (i % 2 ? "up" : "down") " word" i " more" i }' >fasttext.txt
tfc init fast --kind classifier --data fasttext.txt >told.txt 2>&1 || fail "$(cat told.txt)"
[ "$(sed -n 2p fast/data/train.tsv | cut -f 2 | grep -c -x 'up\|down')" = 1 ] || fail "lines of fastText: $(head -n 3 fast/data/train.tsv)"
(printf 'English,German\n'; awk 'BEGIN { for (i = 0; i < 200; i++) print "the cat " i ",die Katze " i }') >headed.csv
refuses 1 "headed.csv:1:1: error: this line looks like a header: --column source=English --column target=German read the fields" \
    tfc init headed --kind translator --data headed.csv
[ ! -e headed ] || fail "a header: the folder is written"
tfc init headed --kind translator --data headed.csv --column source=English --column target=German >told.txt 2>&1 || fail "$(cat told.txt)"
rm -r fast headed
refuses 1 "are both field 1 of the table" tfc init new --kind classifier --data labels.tsv --column label=1
refuses 1 "expected text=FIELD or label=FIELD" tfc init new --kind classifier --data labels.tsv --column words=1
refuses 1 "tags.csv:1:1: error: the header has no field 'label'" tfc init new --kind classifier --data tags.csv --column text=words
printf 'words\ttags\na b\tX Y\na b c\tX\n' >uneven.tsv
refuses 1 "uneven.tsv:3:1: error: 3 words and 1 tag: each word has one tag" tfc init new --kind tagger --data uneven.tsv
refuses 1 "cannot read none.tsv" tfc init new --kind translator --data none.tsv
head -n 30 all.tsv >few.tsv
refuses 1 "30 pairs are too few" tfc init new --kind translator --data few.tsv
refuses 1 "is that field the label" tfc init new --kind classifier --data large.tsv
awk '{ print $0 "\tsame" }' all.src >same.tsv
refuses 1 "all lines have the same label" tfc init new --kind classifier --data same.tsv
refuses 1 "has 1200 lines, words.tgt has" tfc init new --kind translator --source all.src --target words.tgt
ls -d */ >after
diff before after || fail "a refused project leaves something"

# An empty folder is taken, also the one where we are.
mkdir empty
(cd empty && tfc init . --kind translator --data ../all.tsv >../out) || fail "init ."
[ -s empty/model.tfg ] && grep -q '^model empty$' empty/model.tfg || fail "an empty folder: $(ls empty)"

# ---- on a terminal ----
cat >terminal.py <<'END'
import os, pty, sys
command, answers = sys.argv[1].split(), sys.argv[2].split("|")
pid, terminal = pty.fork()
if not pid:
    os.execvp(command[0], command)
for answer in answers:
    os.write(terminal, (answer + "\n").encode())
said = b""
try:
    while part := os.read(terminal, 4096):
        said += part
except OSError:
    pass
print(said.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
python3 terminal.py "tfc init asked" "poet|1|all.src|all.tgt" >out || fail "questions: $(cat out)"
grep -q "What is it to be?" out && [ -s asked/model.tfg ] || fail "questions: $(cat out)"
python3 terminal.py "tfc init asked2" "classifier| labels.tsv " >out || fail "questions: $(cat out)"
grep -q 'column("label")' asked2/model.tfg || fail "a classifier by its name"
python3 terminal.py "tfc init asked3 --kind translator" "all.tsv" >out && [ -s asked3/model.tfg ] || fail "$(cat out)"
echo "all is well"
