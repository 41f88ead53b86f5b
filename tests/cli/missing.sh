#!/bin/sh
# Values that are missing: an empty cell, NA, NaN and null are 0 for the input of the field and 1 for the one that asks which
# are missing, the same in every format, in prepared data and in predictions; without such an input they are errors.
# Usage: missing.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >ages.tfg <<'END'
model ages
dim B
input age : float[B] = column("age")
input gone : float[B] = missing("age")
input place : float[B, 2] = column("place")
input nowhere : float[B, 2] = missing("place")
input paid : float[B] = column("paid")
param w : [2] = normal(0, 1)
param v : [2, 1] = normal(0, 1)
seen = concat([reshape(age, [B, 1]), reshape(gone, [B, 1])], -1)
y = reshape(seen @ reshape(w, [2, 1]) + (place + nowhere) @ v, [B])
loss = mean((y - paid) * (y - paid))
predict age_seen = age + 0 * y
predict age_gone = gone + 0 * y
predict all = concat([place, nowhere], -1) + 0 * reshape(y, [B, 1])
train { rate = constant(0.01); batch = sentences(4); optimizer = adam(0.9, 0.98) }
END
cat >a.csv <<'END'
age,place,paid
3,1 2,1
,NA 2,2
NA,NaN null,3
-4.5,0 -1,4
END
tr ',' '\t' <a.csv >a.tsv
cat >a.jsonl <<'END'
{"age": 3, "place": "1 2", "paid": 1}
{"age": null, "place": "NA 2", "paid": 2}
{"age": "NA", "place": "NaN null", "paid": 3}
{"age": -4.5, "place": [0, -1], "paid": 4}
END
for format in csv tsv jsonl; do
    "$tfc" train ages.tfg --data a.$format --out run_$format --steps 3 --seed 2 2>told || fail "$format: $(cat told)"
    cmp run_csv/last.safetensors run_$format/last.safetensors || fail "$format gives other params"
    "$tfc" predict run_csv --input a.$format --json >said
    cat >expected <<'END'
{"line": 0, "age_seen": 3, "age_gone": 0, "all": [1, 2, 0, 0]}
{"line": 1, "age_seen": 0, "age_gone": 1, "all": [0, 2, 1, 0]}
{"line": 2, "age_seen": 0, "age_gone": 1, "all": [0, 0, 1, 1]}
{"line": 3, "age_seen": -4.5, "age_gone": 0, "all": [0, -1, 0, 0]}
END
    cmp said expected || fail "$format: $(cat said)"
done
"$tfc" prepare ages.tfg --data a.csv -o prepared 2>told || fail "$(cat told)"
"$tfc" train ages.tfg --prepared prepared --out run_prepared --steps 3 --seed 2 2>told || fail "$(cat told)"
same_tensors run_csv/last.safetensors run_prepared/last.safetensors "prepared data give other params"

# Several fields are a row of numbers, by their names and by patterns of the header, with the same gaps.
cat >rows.tfg <<'END'
model rows
dim B
input x : float[B, 4] = column("age", "f*", "tax")
input gone : float[B, 4] = missing("age", "f*", "tax")
input paid : float[B] = column("paid")
param w : [4, 1] = normal(0, 1)
y = reshape((x + gone) @ w, [B])
loss = mean((y - paid) * (y - paid))
predict all = concat([x, gone], -1) + 0 * reshape(y, [B, 1])
train { rate = constant(0.01); batch = sentences(4); optimizer = adam(0.9, 0.98) }
END
cat >rows.csv <<'END'
f1;tax;of;f2;paid;age
1;2;9;3;1;40
;NA;9;-3.5;2;
END
sed 's/column("age", "f\*", "tax")/column("age", "f1", "f2", "tax")/; s/missing("age", "f\*", "tax")/missing("age", "f1", "f2", "tax")/' rows.tfg >named.tfg
printf '40 1 3 2 0 0 0 0\n0 0 -3.5 0 1 1 0 1\n' >rows.said
cat >rows.jsonl <<'END'
{"f1": 1, "tax": 2, "f2": 3, "paid": 1, "age": 40}
{"f1": "", "tax": "NA", "f2": -3.5, "paid": 2, "age": null}
END
"$tfc" train rows.tfg --data rows.csv --out rows --steps 3 --seed 2 2>told || fail "rows: $(cat told)"
"$tfc" train named.tfg --data rows.jsonl --out named --steps 3 --seed 2 2>told || fail "named: $(cat told)"
same_tensors rows/last.safetensors named/last.safetensors "fields by their names are other fields"
"$tfc" predict rows --input rows.csv | cmp - rows.said || fail "rows: $("$tfc" predict rows --input rows.csv)"
# A run reads other tables by the names that the training's header had, in their order, and JSON too.
printf 'f3;f2;paid;tax;age;f1\n7;3;1;2;40;1\n7;-3.5;2;NA;;\n' >turned.csv
"$tfc" predict rows --input turned.csv | cmp - rows.said || fail "another order: $("$tfc" predict rows --input turned.csv)"
"$tfc" predict rows --input rows.jsonl | cmp - rows.said || fail "JSON: $("$tfc" predict rows --input rows.jsonl)"
sed 's/f2/f9/' rows.csv >lacks.csv
refuses 1 "the header has no field 'f2'" "$tfc" predict rows --input lacks.csv
"$tfc" prepare rows.tfg --data rows.csv -o prepared_rows 2>told || fail "$(cat told)"
"$tfc" train rows.tfg --prepared prepared_rows --out rows_prepared --steps 3 --seed 2 2>told || fail "$(cat told)"
same_tensors rows/last.safetensors rows_prepared/last.safetensors "prepared rows give other params"
"$tfc" predict rows_prepared --input turned.csv | cmp - rows.said || fail "prepared: $("$tfc" predict rows_prepared --input turned.csv)"
refuses 1 "'f.' is for the header of TSV or CSV: name the keys of JSON one by one" "$tfc" train rows.tfg --data rows.jsonl --out x
# Each field gives as many numbers as the others; a blank is a missing one.
printf 'f1;tax;of;f2;paid;age\n2,5;NA;9;3;1; \n' >comma.csv
refuses 1 "comma.csv:2:1: error: the field 'f1' has 2 numbers, and 'age' 1: fields that feed one input have as many each" "$tfc" predict rows --input comma.csv
echo '{"f1": [2, 5], "tax": 3, "f2": 1, "paid": 1, "age": []}' >comma.jsonl
refuses 1 "the field 'f1' has 2 numbers, and 'age' 0" "$tfc" predict rows --input comma.jsonl
sed '2s/,5//' comma.csv >blank.csv
[ "$("$tfc" predict rows --input blank.csv)" = "0 2 3 0 1 0 0 1" ] || fail "a blank field: $("$tfc" predict rows --input blank.csv)"
# Members of an ensemble are fed alike: fields in another order are refused.
sed 's/"f\*"/"f2", "f1"/' rows.tfg >order.tfg
"$tfc" train order.tfg --data rows.csv --out order --steps 1 2>told || fail "$(cat told)"
refuses 1 ".x. of rows was trained with age,f1,f2,tax, and that of order with age,f2,f1,tax: they cannot be averaged" \
    "$tfc" predict rows --with order --input rows.csv
# A header of many fields takes no longer than it is long.
awk 'BEGIN { n = 50000; for (i = 0; i < n; i++) printf "f%d;", i; print "paid;age;tax"; for (i = 0; i < n; i++) printf "1;"; print "1;1;1" }' >wide.csv
sed 's/B, 4\]/B, 50002]/; s/: \[4, 1\]/: [50002, 1]/' rows.tfg >wide.tfg
timeout 20 "$tfc" data wide.tfg wide.csv >told 2>&1 || fail "a wide header: $(cat told)"
sed 's/f1/g1/; s/f2/g2/' rows.csv >none.csv
refuses 1 "none.csv:1:1: error: the header has no field like 'f.'" "$tfc" train rows.tfg --data none.csv --out x

# Where nobody asks, a missing value is a mistake; so is one of what is to be learnt.
cat >whole.tfg <<'END'
model whole
dim B
input age : float[B] = column("age")
param w : [1] = normal(0, 1)
loss = mean(age * w * age)
train { rate = constant(0.01); batch = sentences(4); optimizer = adam(0.9, 0.98) }
END
refuses 1 "a.csv:3:.: error: the cell of .age. is empty; an input that is .missing(…). of the same fields lets" "$tfc" train whole.tfg --data a.csv --out x
sed '3s/2$/NA/' a.csv >unpaid.csv
refuses 1 "unpaid.csv:3:7: error: 'NA' is no number" "$tfc" train ages.tfg --data unpaid.csv --out x

# Fields whose names are numbers: predict, which reads fewer of them, reads a table as the training did. With --column NUMBER they are
# places.
numbered() { # numbered FIELDS HEADER RECORD EXPECTED
    cat >numbered.tfg <<M
dim B
input x : float[B, 2] = column($1)
input y : float[B] = column("y")
param w : [2] = normal(0, 1)
p = reshape(sum(x * w, 1), [B])
loss = sum((p - y) * (p - y)) / size(B)
predict xs = x + 0 * reshape(p, [B, 1])
M
    printf '%b\n' "$2" "$3" >numbered.tsv
    rm -rf numbered
    "$tfc" train numbered.tfg --data numbered.tsv --steps 1 -o numbered 2>err || fail "numbered: $(cat err)"
    "$tfc" predict numbered --input numbered.tsv --json >out || fail "numbered"
    [ "$(cat out)" = "{\"line\": 0, \"xs\": $4}" ] || fail "$1: $(cat out)"
}
numbered '"1", "2"' '2\t1\ty' '5\t6\t7' '[6, 5]'
numbered '"0", "1"' '0\t1\ty' '5\t6\t7' '[5, 6]'
printf '8\t9\n' | "$tfc" predict numbered --column "x=$(printf '1\t2')" --json >out || fail "numbers that are given"
[ "$(cat out)" = '{"line": 0, "xs": [8, 9]}' ] || fail "numbers that are given: $(cat out)"
numbered '"20*"' 'name\t2019\t2020\ty' 'a\t5\t6\t7' '[5, 6]'
sed -i 's/of 2019/of 2018/' numbered/run.json
refuses 1 'numbered/run.json contradicts itself: "arguments" has the field .x=2019' "$tfc" info numbered
