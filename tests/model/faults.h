/* Faults: the calls with which a compiled library asks the system for memory and files, each
 * made to fail at will (SQLite's method). The library is linked with --wrap=NAME for each of
 * them (faults.sh), so that its own calls come to faults_wrap.c and nobody else's. */
#ifndef TESTS_MODEL_FAULTS_H
#define TESTS_MODEL_FAULTS_H

#include <stdbool.h>
#include <stdio.h>

typedef enum FaultKind { FAULT_MEMORY, FAULT_FILES, FAULT_ANY } FaultKind;

/* The number-th call of the kind from now on fails, and no other (0: none). */
void fault_at(FaultKind kind, long number);
/* The same, and so do all after it. */
void fault_from(FaultKind kind, long number);
/* The same as fault_at, and so do those after it from its place in the program: what was
 * refused and is asked for again. */
void fault_place(FaultKind kind, long number);
/* Ends that; whether a call has failed. */
bool fault_end(void);
/* Calls of the kind since then. */
long fault_calls(void);
/* What was allocated, mapped and opened, and is not freed, unmapped and closed. */
long fault_held(void);
/* A line for each place in the program whose call was seen: its return address, the name of
 * what it called, and how often it failed. */
void fault_report(FILE *out);

#endif
