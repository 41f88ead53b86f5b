/* Translation memories (TMX 1.4b, Localization Industry Standards Association 2005) as pairs.
 *
 *   <tu><tuv xml:lang="en"><seg>A dog.</seg></tuv><tuv xml:lang="de"><seg>Ein Hund.</seg></tuv></tu>
 *
 * Codes of other programs within a segment (bpt, ept, it, ph, ut) are left out; blanks and ends of
 * lines become one blank. Files are in UTF-8, UTF-16, Latin-1 or Windows-1252, as their first line says. */
#ifndef RUNTIME_DATA_TMX_H
#define RUNTIME_DATA_TMX_H

#include "base/diag.h"

/* Whether a file is called as one: FILE.tmx, in letters of either case. */
bool tmx_is_name(const char *path);
/* `languages`: "en,de", the sources' and the targets'; en means en-GB and so on, too. A text of
 * lines "source TAB target" under the file's name, in the arena; units that lack a side are left
 * out, with a warning. NULL after an error that names the file, and the line if it is not XML. */
const Source *tmx_parse(Diagnostics *diags, Arena *arena, const Source *file, const char *languages);

#endif
