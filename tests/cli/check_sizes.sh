#!/bin/sh
# tfc check reads a model at its own sizes before it reduces them: reduced ones may fit where these do not.
# Usage: tests/cli/check_sizes.sh TFC
set -eu
. tests/common.sh
enter_work
cat >heads.tfg <<'M'
model heads
use transformer
const vocab = 30, layers = 1, heads = 3, d_model = 256
M
refuses 1 "the number of heads must divide the width" "$tfc" check heads.tfg
