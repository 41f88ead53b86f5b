/* The sections of the report of training runs. */
#include "inspect/run_page.h"

#include "inspect/inspect.h"

#include <stdlib.h>
#include <string.h>

extern const char run_html[], run_css[], run_js[];

/* Names of params may break behind their dots. */
static void put_breakable(const char *text, Text *out)
{
    for (const char *dot;
         (dot = strchr(text, '.')) && strchr("abcdefghijklmnopqrstuvwxyz_*", dot[1]) && dot[1];
         text = dot + 1) {
        Text part = {0};
        text_put(&part, text, (size_t)(dot + 1 - text));
        text_markup(out, part.data);
        text_string(out, "<wbr>");
        text_free(&part);
    }
    text_markup(out, text);
}

static void put_cell(const char *tag, const char *text, const char *class, Text *out)
{
    text_add(out, "<%s%s%s%s>", tag, *class ? " class=\"" : "", class, *class ? "\"" : "");
    put_breakable(text, out);
    text_add(out, "</%s>", tag);
}

static const char *class_of(const char *cell)
{
    bool is_number = strchr("0123456789-+", cell[0]) && cell[0];
    return is_number || !strncmp(cell, "–", 3) ? "number" : "";
}

static void put_table(const RunTable *table, Text *out)
{
    size_t columns = table->heads.count, rows = columns ? table->cells.count / columns : 0;
    if (!rows)
        return;
    text_string(out, "<figure class=\"table\"><figcaption>");
    text_markup(out, table->title);
    text_string(out, "</figcaption>\n<div class=\"wide\"><table><thead><tr>");
    for (size_t c = 0; c < columns; c++)
        put_cell("th", table->heads.data[c], class_of(table->cells.data[c]), out);
    text_string(out, "</tr></thead>\n<tbody>");
    for (size_t r = 0; r < rows; r++) {
        text_string(out, "<tr>");
        for (size_t c = 0; c < columns; c++) {
            const char *cell = table->cells.data[r * columns + c];
            put_cell("td", cell, class_of(cell), out);
        }
        text_string(out, "</tr>\n");
    }
    text_string(out, "</tbody></table></div>\n");
    if (table->note) {
        text_string(out, "<p class=\"note\">");
        text_markup(out, table->note);
        text_string(out, "</p>\n");
    }
    text_string(out, "</figure>\n");
}

/* A row of a class: its name, its counts, and how many there are. The share of a cell is its
 * colour's strength (run.css). */
static void put_matrix_row(const RunMatrix *m, int64_t right, Text *out)
{
    const int64_t *counts = m->counts + right * m->n;
    int64_t sum = 0;
    for (int64_t p = 0; p < m->n; p++)
        sum += counts[p];
    text_string(out, "<tr>");
    put_cell("th", m->names[right], "", out);
    for (int64_t p = 0; p < m->n; p++) {
        text_add(out, "<td class=\"%s\" style=\"--share:%.3f\">", p == right ? "right" : "wrong",
                 sum ? (double)counts[p] / (double)sum : 0);
        if (counts[p])
            text_add(out, "%lld", (long long)counts[p]);
        text_string(out, "</td>");
    }
    text_add(out, "<td class=\"number\">%lld</td></tr>\n", (long long)sum);
}

static void put_matrix(const RunMatrix *m, Text *out)
{
    text_string(out, "<figure class=\"table\"><figcaption>");
    text_markup(out, m->title);
    text_string(out,
                "</figcaption>\n<div class=\"wide\"><table class=\"matrix\"><thead><tr><th></th>");
    for (int64_t p = 0; p < m->n; p++) {
        text_string(out, "<th><span>");
        text_markup(out, m->names[p]);
        text_string(out, "</span></th>");
    }
    text_string(out, "<th class=\"number\">all</th></tr></thead>\n<tbody>");
    for (int64_t right = 0; right < m->n; right++)
        put_matrix_row(m, right, out);
    text_string(out, "</tbody></table></div>\n");
    if (m->note) {
        text_string(out, "<p class=\"note\">");
        text_markup(out, m->note);
        text_string(out, "</p>\n");
    }
    text_string(out, "</figure>\n");
}

/* ---- runs side by side ---- */

static const char *value_of(const RunView *run, const char *name)
{
    for (size_t i = 0; i < run->details.count; i++)
        if (!strcmp(run->details.data[i].name, name))
            return run->details.data[i].value;
    return NULL;
}

static bool differs(const RunView *runs, size_t n, const char *name)
{
    const char *first = value_of(&runs[0], name);
    for (size_t r = 1; r < n; r++) {
        const char *value = value_of(&runs[r], name);
        if (!first != !value || (first && strcmp(first, value)))
            return true;
    }
    return false;
}

/* Rows in the order of the run that has the name first. */
static void put_details(const RunView *runs, size_t n, Text *out)
{
    text_string(
        out,
        "<section id=\"runs\"><h2>Runs</h2>\n<div class=\"wide\"><table class=\"runs\"><thead><tr><th></th>");
    for (size_t r = 0; r < n; r++) {
        text_add(out, "<th><span class=\"swatch dot%zu\"></span>", r % 6);
        text_markup(out, runs[r].name);
        text_string(out, "</th>");
    }
    text_string(out, "</tr></thead><tbody>\n");
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < runs[r].details.count; i++) {
            const RunDetail *detail = &runs[r].details.data[i];
            bool is_shown = false;
            for (size_t before = 0; before < r; before++)
                is_shown = is_shown || value_of(&runs[before], detail->name);
            if (is_shown)
                continue;
            text_add(out, "<tr%s>",
                     detail->is_told && n > 1 && differs(runs, n, detail->name)
                         ? " class=\"differs\""
                         : "");
            put_cell("th", detail->name, "", out);
            for (size_t c = 0; c < n; c++) {
                const char *value = value_of(&runs[c], detail->name);
                put_cell("td", value ? value : "–", "", out);
            }
            text_string(out, "</tr>\n");
        }
    text_string(out, "</tbody></table></div>\n");
    if (n > 1)
        text_string(
            out, "<p class=\"note\">Marked rows are what these runs were told differently.</p>\n");
    text_string(out, "</section>\n");
}

static void put_differences(const RunView *runs, size_t n, Text *out)
{
    for (size_t r = 1; r < n; r++) {
        text_string(out, r == 1 ? "<section id=\"differences\"><h2>Models compared</h2>\n" : "");
        text_string(out, "<h3>");
        text_markup(out, runs[0].name);
        text_string(out, " → ");
        text_markup(out, runs[r].name);
        text_string(out, "</h3>\n");
        Text diff = {0};
        if (text_diff_put(runs[0].model, runs[r].model, &diff))
            text_add(out, "<pre class=\"diff\">%s</pre>\n", diff.data);
        else
            text_string(out, "<p>The text of both models is the same.</p>\n");
        text_free(&diff);
    }
    text_string(out, n > 1 ? "</section>\n" : "");
}

/* ---- one run ---- */

static void put_pair(const char *name, const char *text, Text *out)
{
    if (!text)
        return;
    text_add(out, "<tr><th>%s</th>", name);
    put_cell("td", text, "", out);
    text_string(out, "</tr>\n");
}

/* What the model made of a line; breaks of a continuation as marks. */
static void put_made(const char *text, Text *out)
{
    if (!*text) {
        put_cell("td", "(nothing)", "note", out);
        return;
    }
    text_string(out, "<td>");
    for (;;) {
        size_t length = strcspn(text, "\n");
        Text line = {0};
        text_put(&line, text, length);
        text_markup(out, line.data);
        text_free(&line);
        if (!text[length])
            break;
        text_string(out, " <span class=\"break\">↵</span> ");
        text += length + 1;
    }
    text_string(out, "</td>");
}

/* Steps whose text is that of the step before are left out, but for the last. */
static void put_sample(const RunSample *sample, Text *out)
{
    text_add(out, "<table class=\"sample\"><caption>line %lld</caption>\n",
             (long long)sample->line);
    put_pair("prompt", sample->prompt, out);
    put_pair(sample->prompt ? "the line" : "source", sample->source, out);
    for (size_t i = 0; i < sample->n; i++) {
        if (i && i + 1 < sample->n && !strcmp(sample->texts[i], sample->texts[i - 1]))
            continue;
        text_add(out, "<tr><th>step %lld</th>", (long long)sample->steps[i]);
        put_made(sample->texts[i], out);
        text_string(out, "</tr>\n");
    }
    put_pair("reference", sample->target, out);
    text_string(out, "</table>\n");
}

static void put_commands(const RunView *run, Text *out)
{
    text_string(out, "<h3>Commands</h3>\n<pre class=\"commands\">");
    for (size_t i = 0; i < run->commands.count; i++) {
        text_markup(out, run->commands.data[i]);
        text_string(out, "\n");
    }
    text_string(out, "</pre>\n");
}

static void put_run(const RunView *run, Text *out)
{
    text_string(out, "<section class=\"run\"><h2>");
    text_markup(out, run->name);
    text_string(out, "</h2>\n");
    for (size_t i = 0; i < run->notes.count; i++) {
        text_string(out, "<p class=\"note\">");
        text_markup(out, run->notes.data[i]);
        text_string(out, "</p>\n");
    }
    if (run->samples.count)
        text_add(out, "<h3>The same %s, as training went on</h3>\n<div class=\"samples\">\n",
                 run->samples.data[0].prompt ? "beginnings, continued" : "sentences");
    for (size_t i = 0; i < run->samples.count; i++)
        put_sample(&run->samples.data[i], out);
    text_string(out, run->samples.count ? "</div>\n" : "");
    text_string(out, "<div class=\"tables\">\n");
    for (size_t i = 0; i < run->matrices.count; i++)
        put_matrix(&run->matrices.data[i], out);
    for (size_t i = 0; i < run->tables.count; i++)
        put_table(&run->tables.data[i], out);
    text_string(
        out,
        "</div>\n<details><summary>The model</summary>\n<div class=\"both\"><pre class=\"model\">");
    text_markup(out, run->model);
    text_string(out, "</pre>");
    text_string(out, run->drawing ? run->drawing : "");
    text_string(out, "</div></details>\n");
    put_commands(run, out);
    text_string(out, "</section>\n");
}

void run_page_put(const RunView *runs, size_t n, int renew, Text *out)
{
    Text body = {0};
    text_add(&body, "<main data-renew=\"%d\">\n<header><h1>", renew);
    for (size_t r = 0; r < n; r++) {
        text_string(&body, r ? ", " : "");
        text_markup(&body, runs[r].name);
    }
    text_string(&body, "</h1><button id=\"theme\"></button></header>\n");
    run_plots_put(runs, n, &body);
    put_details(runs, n, &body);
    put_differences(runs, n, &body);
    for (size_t r = 0; r < n; r++)
        put_run(&runs[r], &body);
    text_string(&body, "</main>\n");
    page_fill(&(PageParts){run_html, run_css, run_js}, &body, out);
    text_free(&body);
}
