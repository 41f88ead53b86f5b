# Prints a page with the output of its commands in the places of what it shows (tests/cli/docs.sh tells
# the forms). Commands run in the folder in which awk does; variable work is a folder for files of awk's.
# With blocks=1 it follows the page as a reader does (tests/cli/tutorials.sh tells the marks): blocks of
# commands are run as they come, and what stands for a file is written to it.
function run(command,    file, line, text) {
    if (command in known) return known[command]
    if (system(shell(command)) != 0)
        complain("a command shown exits with a failure: " command)
    file = work "/output"
    while ((getline line <file) > 0) text = text line # RS: the whole file, with its last newline
    if (text != "" && text !~ /\n$/) text = text "\n"
    close(file)
    if (text == "") complain("a command shown prints nothing: " command)
    return known[command] = text
}
function shell(command) {
    printf "%s\n", command >(work "/command")
    close(work "/command")
    return "sh -eu " work "/command >" work "/output 2>" work "/errors </dev/null"
}
function complain(what) {
    printf "%s: %s\n", FILENAME, what >"/dev/stderr"
    system("tail -n 40 " work "/errors >&2")
    failed = 1
}
function words(s) { gsub(/[ \n]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }
function give(n) { printf "%s", substr(rest, 1, n); rest = substr(rest, n + 1) }
function give_block() { while (rest != "" && rest !~ /^ *```/) give(index(rest "\n", "\n")) }
# The text of the mark "<!-- NAME: text -->" with which the rest begins; it is printed.
function take_mark(name,    end, text) {
    end = index(rest, "-->")
    text = substr(rest, length(name) + 8, end - length(name) - 8)
    gsub(/\n/, " ", text)
    give(end + 2)
    return text
}
function show(command,    end, old, new) {
    if (match(rest, /^\n *```[a-z]*\n/)) {
        give(RLENGTH)
        printf "%s", run(command)
        while (rest != "" && rest !~ /^ *```/) rest = substr(rest, index(rest "\n", "\n") + 1)
    } else if ((end = index(rest, "<!-- end -->"))) {
        old = substr(rest, 1, end - 1)
        new = words(run(command))
        printf "%s", words(old) == new ? old : new
        rest = substr(rest, end)
    } else
        complain("a command shown has neither a block nor an end: " command)
}
# Text in place of other text, also where it has characters that mean something in patterns.
function replace(text, from, to,    at, out) {
    while ((at = index(text, from))) {
        out = out substr(text, 1, at - 1) to
        text = substr(text, at + length(from))
        replaced[from] = 1
    }
    return out text
}
function follow_block(    block, i) {
    give(7)
    block = substr(rest, 1, index(rest, "\n```"))
    give_block()
    if (skip || failed) { skip = 0; return }
    for (i = 1; i <= n_changes; i++) block = replace(block, from[i], to[i])
    delete known
    if (system(shell(block)) != 0) complain("these commands exit with a failure:\n" block)
}
function obey(what,    at, file) {
    sub(/ $/, "", what)
    if (what == "skip") skip = 1
    else if ((at = index(what, " -> "))) {
        from[++n_changes] = substr(what, 1, at - 1)
        to[n_changes] = substr(what, at + 4)
    } else if (sub(/^file /, "", what) && match(rest, /^\n```[a-z]*\n/)) {
        give(RLENGTH)
        printf "%s", substr(rest, 1, index(rest, "\n```")) >what
        close(what)
        give_block()
    } else if (what !~ /^(needs|shown with) /)
        complain("an unknown mark of a test: " what)
}
function first(a, b) { return a && (!b || a < b) ? a : b }
BEGIN { RS = "\001" }
{
    rest = $0
    for (;;) {
        shown = index(rest, "<!-- shown: ")
        test = blocks ? index(rest, "<!-- test: ") : 0
        block = blocks ? index(rest, "\n```sh\n") : 0
        at = first(first(shown, test), block)
        if (!at) break
        give(at - 1)
        if (at == block) follow_block()
        else if (at == shown) show(take_mark("shown"))
        else obey(take_mark("test"))
    }
    printf "%s", rest
    for (i = 1; i <= n_changes && !failed; i++)
        if (!(from[i] in replaced)) complain("no block has: " from[i])
}
END { exit failed }
