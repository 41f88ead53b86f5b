# The runtime's C files as parts of one C file, of which tfc compile --emit c takes those that a model needs
# (driver/compile/one_file.c), as a linker takes files from an archive:
#
#   awk -v root=FOLDER -f one_file.awk FILE.c...    the files with their paths below the folder, as includes say them
#
# A part is a system header, a header, or a file; parts stand in an order in which one C file may have them:
#
#   \fNAME                  <stdio.h>, base/arena.h, base/arena.c
#   the public names that it defines, a blank between two
#   the names of parts that it needs: what it includes, and what defines a name that stands in it
#   its text, in which includes of parts are gone, and all that headers declare is static
#
# The files are read line by line: what one declares for all begins in the first column, as clang-format has it.

BEGIN {
    for (i = 1; i < ARGC; i++)
        note_definitions(ARGV[i])
    for (i = 1; i < ARGC; i++) {
        text[ARGV[i]] = sprintf("\n/* ======== %s ======== */\n\n", ARGV[i])
        put_file(ARGV[i], ARGV[i], "source")
        sources[++n_sources] = ARGV[i]
    }
    for (i = 1; i <= n_systems; i++)
        put_part(systems[i])
    for (i = 1; i <= n_headers; i++)
        put_part(headers[i])
    for (i = 1; i <= n_sources; i++)
        put_part(sources[i])
    exit 0
}

function put_part(part) { printf "\f%s\n%s\n%s\n%s", part, names[part], needs[part], text[part] }

function need(part, other) {
    if (part == other || ((part, other) in is_needed))
        return
    is_needed[part, other] = 1
    needs[part] = needs[part] (needs[part] == "" ? "" : " ") other
}

# ---- names ----

function first_word(line) { return match(line, /^[A-Za-z0-9_]+/) ? substr(line, 1, RLENGTH) : "" }

# The name that a line in the first column declares for all files: what stands before its first bracket, of a constant
# before its bracket or "=", of a thread's variable also before its ";", or in the brackets of a macro that defines it; "":
# none. by_macro, after_name: how it is declared.
function public_name(line,    at, before) {
    if (line !~ /^([A-Za-z]|_Thread_local )/ || first_word(line) ~ /^(static|typedef|enum|struct|union|extern|static_assert)$/)
        return ""
    at = match(line, /[(\[=;]/)
    if (!at || substr(line, at, 1) !~ (line ~ /^const / ? "[[(=]" : line ~ /^_Thread_local / ? "[[=;]" : "[[(]"))
        return ""
    before = substr(line, 1, at - 1)
    sub(/ +$/, "", before)
    by_macro = before == first_word(line)
    if (by_macro)
        return first_word(substr(line, at + 1))
    after_name = substr(line, at, 1)
    return match(before, /[A-Za-z0-9_]+$/) ? substr(before, RSTART) : ""
}

function note_definitions(path,    line, name) {
    while ((getline line < (root "/" path)) > 0) {
        name = public_name(line)
        if (name == "" || owner[name] == path)
            continue
        owner[name] = path
        names[path] = names[path] (names[path] == "" ? "" : " ") name
    }
    close(root "/" path)
}

# Every name of the line outside of comments and quotes, of a header those within braces: the others are declared, not
# called.
function need_names(part, path, line, within_braces,    word, c) {
    while (line != "") {
        if (in_comment[path]) {
            if (!(c = index(line, "*/")))
                return
            in_comment[path] = 0
            line = substr(line, c + 2)
        } else if (match(line, /^[A-Za-z0-9_]+/)) {
            word = substr(line, 1, RLENGTH)
            line = substr(line, RLENGTH + 1)
            if (word in owner && (depth[path] > 0 || !within_braces))
                need(part, owner[word])
        } else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^'([^'\\]|\\.)*'/)) {
            line = substr(line, RLENGTH + 1)
        } else {
            c = substr(line, 1, 1)
            in_comment[path] = substr(line, 1, 2) == "/*"
            depth[path] += (c == "{") - (c == "}")
            line = substr(line, in_comment[path] ? 3 : 2)
        }
    }
}

# ---- files ----

# A file's text, which becomes the part's. kind: source, header, or table, which stands wherever it is included.
function put_file(part, path, kind,    line, macros, n, i, defined, if_depth, guarded, lines) {
    depth[path] = in_comment[path] = 0
    n = if_depth = guarded = lines = 0
    while ((getline line < (root "/" path)) > 0) {
        lines++
        need_names(part, path, line, kind != "source")
        if (line !~ /^#/) {
            put_declaration(part, line, kind)
            continue
        }
        if (line ~ /^#define (_GNU_SOURCE|_POSIX_C_SOURCE|_DEFAULT_SOURCE)/) # the whole file has them
            continue
        if (kind == "header") { # its guard
            if (line ~ /^#ifndef .*_H$/ && !guarded && !if_depth) {
                guarded = 1
                continue
            }
            if (line ~ /^#define .*_H$/ || (guarded && !if_depth && line ~ /^#endif/))
                continue
        }
        if (line ~ /^#include_next/) {
            put(part, "#include " substr(line, index(line, "<")))
            continue
        }
        if (line ~ /^#include "/ || (line ~ /^#include </ && !if_depth)) {
            include(part, line)
            continue
        }
        if (kind == "source" && line ~ /^#define /) { # gone after the file
            defined = first_word(substr(line, 9))
            for (i = 1; i <= n && macros[i] != defined; i++)
                ;
            macros[i] = defined
            n = i > n ? i : n
        }
        if (kind == "source" && line ~ /^#undef /)
            for (i = 1; i <= n; i++)
                if (macros[i] == first_word(substr(line, 8)))
                    macros[i--] = macros[n--]
        put(part, line)
        if_depth += (line ~ /^#if/) - (line ~ /^#endif/)
    }
    close(root "/" path)
    if (!lines) {
        printf "one_file.awk: cannot read %s\n", path > "/dev/stderr"
        exit 1
    }
    for (i = 1; i <= n; i++)
        put(part, "#undef " macros[i])
}

function put(part, line) { text[part] = text[part] line "\n" }

# A declaration of a header is of this file alone, and so is a constant or a thread's variable that all may see.
function put_declaration(part, line, kind,    name) {
    name = public_name(line)
    if (kind == "header" && line ~ /^extern / && line !~ /^extern "/)
        line = "static" substr(line, 7)
    else if (name != "" && !by_macro && (kind == "header" || (kind == "source" && line ~ /^(const|_Thread_local) / && after_name != "(")))
        line = "static " line
    put(part, line)
}

function include(part, line,    name) {
    name = line
    gsub(/^#include ["<]|[">].*$/, "", name)
    if (line ~ /^#include </) {
        if (!("<" name ">" in text))
            add_system("<" name ">", name)
        need(part, "<" name ">")
    } else if (name !~ /\.h$/) {
        put_file(part, name, "table")
    } else {
        if (!(name in text)) {
            text[name] = ""
            put_file(name, name, "header")
            headers[++n_headers] = name
        }
        need(part, name)
    }
}

# A system header, and what stands for it where a system has none: a file of runtime/wasi.
function add_system(part, name,    own, line, has_own) {
    own = "runtime/wasi/" name
    has_own = (getline line < (root "/" own)) > 0
    close(root "/" own)
    text[part] = ""
    if (has_own) {
        put(part, "#if defined(__wasi__)")
        put_file(part, own, "header")
        put(part, "#else")
    }
    put(part, "#include " part)
    if (has_own)
        put(part, "#endif")
    systems[++n_systems] = part
}
