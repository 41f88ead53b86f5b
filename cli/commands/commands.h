/* The subcommands, each a table and a function of its own file, NAME.c. */
#ifndef CLI_COMMANDS_COMMANDS_H
#define CLI_COMMANDS_COMMANDS_H

#include "cli/options/common.h"

extern const Command command_train, command_translate, command_generate, command_score,
    command_eval, command_run, command_compile, command_dump, command_opt, command_check,
    command_bench, command_tune, command_info, command_export, command_import, command_launch,
    command_prepare, command_align, command_data, command_attend, command_init, command_report,
    command_draw, command_bug_report;

/* All of them, in the order of tfc --help. (main.c) */
extern const Command *const commands[];
extern const int command_count;

#endif
