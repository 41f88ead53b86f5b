/* What figures that stand alone are drawn with: on white paper, their fonts the reader's own. */
#ifndef INSPECT_SVG_H
#define INSPECT_SVG_H

#include "base/text.h"

/* The beginning, up to white paper of that size, in pixels. title: NULL for none; defs: elements
 * that others refer to, or NULL. The figure ends with "</svg>\n". */
void svg_begin(const char *title, double width, double height, int font, const char *defs,
               Text *out);
/* attributes: of the text element */
void svg_text(double x, double y, const char *attributes, const char *text, Text *out);
/* Text that runs upwards from (x, y). */
void svg_text_upwards(double x, double y, const char *attributes, const char *text, Text *out);
/* "#rrggbb": of two colours, the second one's part `at`, 0 to 1. */
void svg_colour(const int from[3], const int to[3], double at, Text *out);

#endif
