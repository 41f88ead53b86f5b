#!/bin/sh
# scripts/check-includes finds what breaks the law: another room, a path that is not there, two files that include each
# other, unless one says why; two types of one name.
# Usage: include_law.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"
for room in base ir frontend passes codegen oracle inspect driver check runtime cli docs; do mkdir -p $room; done
printf '## Rooms\nbase/ ir/\nIncludes go one way\n\n| room | sees |\n| --- | --- |\n| `base` | nothing |\n| `ir` | what `base` sees |\n' >docs/ARCHITECTURE.md
file() { printf '%s\n' "$2" >"$1"; }
law() { "$root/scripts/check-includes" "$work" >told 2>&1; }

file base/low.h ''
file base/low.c '#include "base/low.h"'
file ir/high.h '#include "base/low.h"'
file ir/high.c '#include "ir/high.h"'
law || fail "a tree as the law says: $(cat told)"

breaks() { # PATTERN: the law names it
    law && fail "not found: $1"
    grep -q -- "$1" told || fail "no '$1' in: $(cat told)"
}
file base/low.c '#include "ir/high.h"'
breaks 'base may not include "ir/high.h"'
file base/low.c '#include "base/gone.h"'
breaks '"base/gone.h" is not a path'

# A source's include counts as its header's.
file ir/other.h '#include "ir/high.h"'
file ir/other.c '#include "ir/other.h"'
file ir/high.c '#include "ir/other.h"'
file base/low.c '#include "base/low.h"'
breaks 'ir/high and ir/other include each other'
file ir/high.c '#include "ir/other.h" /* each other: the two halves of a pass */'
law || fail "with a reason: $(cat told)"
file ir/high.c '#include "ir/other.h" /* each other: */'
breaks 'ir/high and ir/other include each other'

# A header alone is a part of the file whose source includes it.
file ir/high.c '#include "ir/other.h"'
rm ir/other.c
law || fail "a header without a source: $(cat told)"

# A type that a header shows has its name alone; two files may each have one that none shows.
file base/low.c 'typedef struct Part {
    int n;
} Part;'
file base/more.c "$(cat base/low.c)"
law || fail "two types that no header shows: $(cat told)"
file ir/high.h "$(cat base/low.c)"
breaks 'type Part is defined in base/low.c base/more.c ir/high.h'
rm base/more.c
file base/low.c ''
law || fail "one type: $(cat told)"
for type in 'typedef struct Part Part;
struct Part {
    int n;
};' 'typedef int Part;' 'typedef VEC(int) Part;' 'typedef bool Part(int n, void *context);' 'typedef struct Part { int n; } Part;'; do
    file base/low.c "$type"
    breaks 'type Part is defined in base/low.c ir/high.h'
done
file base/low.c ''
file base/low.h 'typedef struct Part Part; /* high.h */'
law || fail "a type that another header defines: $(cat told)"
