/* The subcommands (commands.def), each a table and a function of its own file, NAME.c. */
#ifndef CLI_COMMANDS_COMMANDS_H
#define CLI_COMMANDS_COMMANDS_H

#include "cli/options/common.h"

#define COMMAND(name) extern const Command command_##name;
#include "cli/commands/commands.def"

/* All of them, in the order of tfc --help. (main.c) */
extern const Command *const commands[];
extern const int command_count;

#endif
