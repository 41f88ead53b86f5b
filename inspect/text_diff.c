/* Which lines of two texts differ: a longest common subsequence of lines (Hunt and McIlroy 1976),
 * by a table, as models are short. */
#include "inspect/run_page.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 4000, AROUND = 2 };

/* DiffText: a copy of a text, cut into lines. */
typedef struct DiffText {
    char *copy;
    const char **lines;
    int n;
} DiffText;

/* Edit: a line of a alone ('-'), of b alone ('+') or of both (' '). */
typedef struct Edit {
    char kind;
    const char *line;
} Edit;

static DiffText split(const char *text)
{
    size_t length = strlen(text);
    DiffText result = {.copy = memory_resized(NULL, length + 1),
                       .lines = memory_resized(NULL, MOST_LINES * sizeof *result.lines)};
    memcpy(result.copy, text, length + 1);
    for (char *at = result.copy; *at && result.n < MOST_LINES;) {
        result.lines[result.n++] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = 0;
    }
    return result;
}

/* common[i * (m + 1) + j]: of the lines of a from i and of b from j, how many are in both, in
 * order. */
static int find_edits(const DiffText *a, const DiffText *b, short *common, Edit *edits)
{
    int n = a->n, m = b->n, count = 0;
    for (int i = n - 1; i >= 0; i--)
        for (int j = m - 1; j >= 0; j--) {
            short down = common[(i + 1) * (m + 1) + j], right = common[i * (m + 1) + j + 1];
            common[i * (m + 1) + j] = !strcmp(a->lines[i], b->lines[j])
                                          ? (short)(common[(i + 1) * (m + 1) + j + 1] + 1)
                                      : down > right ? down
                                                     : right;
        }
    for (int i = 0, j = 0; i < n || j < m;)
        if (i < n && j < m && !strcmp(a->lines[i], b->lines[j]))
            edits[count++] = (Edit){' ', a->lines[i++]}, j++;
        else if (i < n && (j == m || common[(i + 1) * (m + 1) + j] >= common[i * (m + 1) + j + 1]))
            edits[count++] = (Edit){'-', a->lines[i++]};
        else
            edits[count++] = (Edit){'+', b->lines[j++]};
    return count;
}

static bool is_near(const Edit *edits, int n, int at)
{
    for (int i = at - AROUND; i <= at + AROUND; i++)
        if (i >= 0 && i < n && edits[i].kind != ' ')
            return true;
    return false;
}

static bool put_edits(const Edit *edits, int n, Text *out)
{
    bool any = false, gap = false;
    for (int i = 0; i < n; i++) {
        if (!is_near(edits, n, i)) {
            gap = any;
            continue;
        }
        if (gap)
            text_string(out, "<span class=\"gap\">⋯</span>\n");
        gap = false;
        any = true;
        const char *class = edits[i].kind == '-' ? "del" : edits[i].kind == '+' ? "ins" : "same";
        text_add(out, "<span class=\"%s\">%c ", class, edits[i].kind);
        text_markup(out, edits[i].line);
        text_string(out, "</span>\n");
    }
    return any;
}

bool text_diff_put(const char *a, const char *b, Text *out)
{
    DiffText x = split(a), y = split(b);
    size_t cells = (size_t)(x.n + 1) * (size_t)(y.n + 1);
    short *common = memory_zeroed(cells, sizeof *common);
    Edit *edits = memory_resized(NULL, (size_t)(x.n + y.n + 1) * sizeof *edits);
    bool any = put_edits(edits, find_edits(&x, &y, common, edits), out);
    if (!any && strcmp(a, b)) {
        text_add(out, "The first %d lines are the same; what follows is not.\n", x.n);
        any = true;
    }
    free(edits);
    free(common);
    free(x.lines);
    free(x.copy);
    free(y.lines);
    free(y.copy);
    return any;
}
