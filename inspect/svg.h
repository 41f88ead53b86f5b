/* Drawing figures that are SVG files of their own: on white, in fonts of the reader's system. */
#ifndef INSPECT_SVG_H
#define INSPECT_SVG_H

#include "base/text.h"

/* The beginning of a figure of that size, in pixels, with a white background. title: NULL for none;
 * defs: elements that others refer to, or NULL. The caller ends the figure with "</svg>\n". */
void svg_begin(const char *title, double width, double height, int font, const char *defs,
               Text *out);
/* Text at (x, y). attributes: of the text element, such as a font-size; "" for none. */
void svg_text(double x, double y, const char *attributes, const char *text, Text *out);
/* Text that runs upwards from (x, y). */
void svg_text_upwards(double x, double y, const char *attributes, const char *text, Text *out);
/* "#rrggbb": the colour between `from` (at = 0) and `to` (at = 1). */
void svg_colour(const int from[3], const int to[3], double at, Text *out);

#endif
