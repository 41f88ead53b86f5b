/* Keys of compiled programs; see cache.h. */
#define _GNU_SOURCE
#include "codegen/cache.h"

#include "base/sha256.h"
#include "codegen/target.h"
#include "ir/text.h"

#include <assert.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

static_assert(sizeof(ProgramKey) == SHA256_BYTES, "a key is one SHA-256");

static void add_number(Sha256 *sha, int64_t number) { sha256_add(sha, &number, sizeof number); }

static void add_text(Sha256 *sha, const char *text, size_t length)
{
    add_number(sha, (int64_t)length);
    sha256_add(sha, text, length);
}

/* A file of code that was built or installed anew has another size or time. */
static void add_file(Sha256 *sha, const char *path)
{
    struct stat info;
    if (!path || stat(path, &info))
        memset(&info, 0, sizeof info);
    add_number(sha, (int64_t)info.st_size);
    add_number(sha, (int64_t)info.st_mtim.tv_sec);
    add_number(sha, (int64_t)info.st_mtim.tv_nsec);
}

static void add_build(Sha256 *sha)
{
    unsigned version[3];
    Dl_info llvm;
    LLVMGetVersion(&version[0], &version[1], &version[2]);
    sha256_add(sha, version, sizeof version);
    add_file(sha, "/proc/self/exe");
    add_file(sha, dladdr((void *)(uintptr_t)LLVMGetVersion, &llvm) ? llvm.dli_fname : NULL);
    add_number(sha, sizeof(TfcProgram));
    add_number(sha, sizeof(TfcStep));
    add_number(sha, sizeof(TfcKernelArgs));
}

static void add_target(Sha256 *sha, const Target *target)
{
    char *triple = LLVMGetTargetMachineTriple(target->machine);
    add_text(sha, triple, strlen(triple));
    LLVMDisposeMessage(triple);
    add_text(sha, target->cpu, strlen(target->cpu));
    add_text(sha, target->features, strlen(target->features));
    add_number(sha, target->vector_bits);
    add_number(sha, target->scalar);
    add_number(sha, target->opt_level);
}

/* The function alone, with the module's dimensions and params. */
static void add_function(Sha256 *sha, const Function *function)
{
    Function *only = (Function *)function;
    Module alone = *function->module;
    Text text = {0};
    alone.functions.data = &only;
    alone.functions.count = 1;
    ir_print_module(&alone, &text);
    add_text(sha, text.data, text.length);
    text_free(&text);
}

ProgramKey key_of(const Target *target, const Function *function, const char *pipeline)
{
    ProgramKey key;
    Sha256 sha;
    sha256_init(&sha);
    add_build(&sha);
    add_target(&sha, target);
    add_text(&sha, pipeline, strlen(pipeline));
    add_function(&sha, function);
    sha256_finish(&sha, key.hash);
    return key;
}
