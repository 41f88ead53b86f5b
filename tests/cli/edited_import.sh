#!/bin/sh
# A run of tfc import whose model takes fewer of the weights' tensors than when it was made is refused.
# Usage: tests/cli/edited_import.sh TFC
set -eu
. tests/common.sh
. tests/published.sh
enter_work

words_backwards
published_marian published
"$tfc" import published -o import 2>err.txt || fail "$(cat err.txt)"
"$tfc" score import --source valid.src --target valid.tgt >scores.txt
refuses 1 "import was imported: there is no training to repeat" "$tfc" train --verify import
sed -i 's/decoder_layers = 2/decoder_layers = 1/' import/model.tfg
refuses 1 "import/model.tfg is not the model of import/weights" "$tfc" score import --source valid.src --target valid.tgt
grep -q "'model.decoder.layers.1.*is there alone" err.txt || fail "no tensor is named: $(cat err.txt)"
