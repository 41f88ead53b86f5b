/* The commands and options of this program as a man page and as completions for bash and zsh, and
 * the settings of decoding and training as tables: made from the tables that parse them (tfc help
 * --man, --bash, --zsh, --settings). */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

typedef struct Describer Describer;
/* The describer for a form: "man", "bash", "zsh" or "settings". NULL for any other word. */
const Describer *find_describer(const char *form);
/* Prints the whole text on standard output; returns an exit status. */
int describe_program(const Describer *describer);

#endif
