/* Two libraries of one name in a program: a name is looked up in the libraries in their order, so
 * that all calls reach the first of them, and nothing of the second is used. A library whose next
 * one has its name does not open. Libraries that dlopen or Python loads do not meet: each is looked
 * up by itself. */
#define _GNU_SOURCE
#include "runtime/model/state.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <stdio.h>

/* A static program has no libraries, and need not have these functions. */
#pragma weak dlsym
#pragma weak dladdr

/* The file that has the address; "?": it is unknown. */
static const char *file_of_address(const void *address)
{
    Dl_info info = {0};
    return dladdr && dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
}

/* The `NAME_open_version` that follows this library's in the order in which names are looked up;
 * NULL: none. */
static const void *find_namesake(const TfcModel *model)
{
    enum { LONGEST = 512 };
    char symbol[LONGEST];
    const int n = snprintf(symbol, sizeof symbol, "%s_open_version", model->name);
    return dlsym && n > 0 && n < LONGEST ? dlsym(RTLD_NEXT, symbol) : NULL;
}

int model_refuse_namesake(const TfcModel *model)
{
    const void *other = find_namesake(model);
    return !other ? TFC_OK
                  : tfc_model_fail(
                        TFC_ERROR_VERSION,
                        "the program has two models called %s, in %s and %s, and all calls reach "
                        "the first: compile one of them with --name",
                        model->name, file_of_address(model), file_of_address(other));
}

#else

int model_refuse_namesake(const TfcModel *model)
{
    (void)model;
    return TFC_OK;
}

#endif
