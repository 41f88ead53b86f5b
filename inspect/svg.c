/* Drawing with SVG's elements. */
#include "inspect/svg.h"

#include <math.h>

void svg_begin(const char *title, double width, double height, int font, const char *defs,
               Text *out)
{
    text_add(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"%d\">\n",
        width, height, width, height, font);
    if (title) {
        text_string(out, "<title>");
        text_markup(out, title);
        text_string(out, "</title>\n");
    }
    if (defs)
        text_add(out, "<defs>%s</defs>\n", defs);
    text_string(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

static void put_text(const char *text, Text *out)
{
    text_markup(out, text);
    text_string(out, "</text>\n");
}

void svg_text(double x, double y, const char *attributes, const char *text, Text *out)
{
    text_add(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    put_text(text, out);
}

void svg_text_upwards(double x, double y, const char *attributes, const char *text, Text *out)
{
    text_add(out, "<text transform=\"translate(%.1f %.1f) rotate(-90)\"%s%s>", x, y,
             *attributes ? " " : "", attributes);
    put_text(text, out);
}

void svg_colour(const int from[3], const int to[3], double at, Text *out)
{
    text_string(out, "#");
    for (int c = 0; c < 3; c++)
        text_add(out, "%02x", (int)lround(from[c] + at * (to[c] - from[c])));
}
