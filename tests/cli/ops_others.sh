#!/bin/sh
# The other half of ops.sh: two tests of half the time.
# Usage: ops_others.sh TFC   (from the project's root)
exec tests/cli/ops.sh "$1" others
