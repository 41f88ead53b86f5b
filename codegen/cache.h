/* Compiled code on disk: a file for each program, and one for each kernel, which programs share;
 * named after their keys.
 *
 *   header    magic, number of object files and of kernels, size, key, checksum
 *   payload   the first program's symbol and the object files
 *
 * A file is written beside its place and renamed, so processes that share a folder see
 * only whole files, and the last of two that write the same key wins. What is loaded runs
 * as code: a file counts only if it is a regular file of this user, in a folder of this user,
 * both writable by nobody else, and its key and SHA-256 match. Any other
 * file, damage included, counts as absent. The folder has a bound, and kernels a quarter of it:
 * after a program is written, the files used longest ago are removed. */
#ifndef CODEGEN_CACHE_H
#define CODEGEN_CACHE_H

#include "codegen/object.h"

enum { CACHE_BYTES = 1 << 30 };

/* `folder` is made if it is absent; NULL: the user's (jit_use_cache). NULL if the
 * user's is off. The Cache lives in the arena, and holds the folder open. */
Cache *cache_open(Arena *arena, const char *folder, int64_t max_bytes);
void cache_close(Cache *cache);
/* Why nothing can be kept, or NULL. */
const char *cache_note(const Cache *cache);

/* Objects of one key, in the arena, with the symbol of their first program; false if there are
 * none. */
bool cache_get(Cache *cache, const ProgramKey *key, Arena *arena, ObjectSet *out);
void cache_put(Cache *cache, const ProgramKey *key, const ObjectSet *objects);
/* One object file, which programs share. cache_put_part removes nothing to stay within the bound;
 * cache_put of a program with that file does. */
bool cache_get_part(Cache *cache, const ProgramKey *key, Arena *arena, ObjectFile *out);
void cache_put_part(Cache *cache, const ProgramKey *key, const ObjectFile *file);

/* ---- cache_blocks.c: weights as programs read them ---- */
#define CACHE_BLOCK_BYTES ((int64_t)4 << 30) /* of all blocks, not counted among the programs */
/* A block as it was put, mapped; writing to it changes no file. cache_unmap unmaps it. NULL: there
 * is none. */
void *cache_map(Cache *cache, const ProgramKey *key, int64_t bytes);
void cache_unmap(void *memory, int64_t bytes);
void cache_put_block(Cache *cache, const ProgramKey *key, const void *memory, int64_t bytes);

/* A text in the cache, copied into the arena; NULL if there is none. */
const char *cache_get_text(Cache *cache, const ProgramKey *key, Arena *arena);
void cache_put_text(Cache *cache, const ProgramKey *key, const char *text);
/* A text in the user's cache, or else what `make` returns, which is then kept for the next process.
 * In the arena; NULL after errors of `make`. */
typedef const char *MakeText(const void *context, Arena *arena, Diagnostics *diags);
const char *cache_made_text(const ProgramKey *key, MakeText *make, const void *context,
                            Arena *arena, Diagnostics *diags);
/* Waits until no other process has the folder locked, and locks it until cache_unlock or
 * cache_close: for work that one process does for all. */
void cache_lock(Cache *cache);
void cache_unlock(Cache *cache);

/* ---- keys: hashes of what a file was made from (llvm/key.c) ---- */
/* The key of a program, from all that its code depends on: this build of the compiler, LLVM, the
 * layout of program.h, the target (its cpu NULL or one that target_settle left), the pipeline, and
 * the function with its module's dimensions and params. */
ProgramKey key_of(const TargetOptions *target, const Function *function, const char *pipeline);
/* The key of functions after the passes, whose symbols begin with the prefix. */
ProgramKey key_of_objects(const TargetOptions *target, const Function *const *functions, int n,
                          const char *prefix);
/* The key of loop IR, in its text form, for a target. */
ProgramKey key_of_loops(const TargetOptions *target, const char *text, size_t length);
/* The key of a fact about this machine, from a text that describes it, this build, the processor,
 * and the build of the library's file; library NULL: none. */
ProgramKey key_of_text(const char *text, const char *library);
/* The key of what a program computes from something that the bytes identify, such as a
 * checkpoint. */
ProgramKey key_of_made(const ProgramKey *program, const void *of, size_t bytes);

#endif
