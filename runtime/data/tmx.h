/* Translation memories (TMX 1.4b, Localization Industry Standards Association 2005) as pairs.
 *
 *   <tu><tuv xml:lang="en"><seg>A dog.</seg></tuv>
 *       <tuv xml:lang="de"><seg>Ein Hund.</seg></tuv></tu>
 *
 * Codes of other programs within a segment (bpt, ept, it, ph, ut) are left out; a run of blanks and
 * line breaks becomes one blank. Files are in UTF-8, UTF-16, Latin-1 or Windows-1252, as their
 * first line says. */
#ifndef RUNTIME_DATA_TMX_H
#define RUNTIME_DATA_TMX_H

#include "base/diag.h"

/* Whether a file's name ends in .tmx, in letters of either case. */
bool tmx_is_name(const char *path);
/* The pairs as a text of lines "source TAB target", with the file's name, in the arena.
 * `languages`: of sources and targets, "en,de"; en also stands for each of its regions, such as
 * en-GB. Units that lack a side are left out, with a warning. NULL after an error that names the
 * file, and the line if it is not XML. */
const Source *tmx_parse(Diagnostics *diags, Arena *arena, const Source *file,
                        const char *languages);

#endif
