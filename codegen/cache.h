/* Compiled code on disk: a file for each program, and a file for each kernel and native product,
 * which programs share. Files are named after their keys.
 *
 *   header    magic, number of object files and of kernels, sizes, key, checksum
 *   payload   sizes of the object files, the first program's symbol, the object files
 *
 * A file is written beside its place and renamed, so processes that share a folder see only whole
 * files, and the last of two that write the same key wins. What is loaded runs as code: a file
 * counts only if it is a regular file of this user, in a folder of this user, both writable by
 * nobody else, and its key and SHA-256 match (of weights: cache_map). Any other file, damage
 * included, counts as absent. After a program or a text is written, the files used longest ago are
 * removed, until programs and texts take at most `max_bytes`, and kernels and products at most a
 * quarter of that. Threads may read from one Cache at once; one thread at a time may write to
 * it. */
#ifndef CODEGEN_CACHE_H
#define CODEGEN_CACHE_H

#include "codegen/object.h"

enum { CACHE_BYTES = 1 << 30 };

/* Opens the cache in `folder`, which is made if it is absent; NULL: the user's (jit_use_cache).
 * Returns NULL if the user's is off. With a folder that cannot be used the Cache is empty and keeps
 * nothing (cache_note). The Cache lives in the arena; the folder is open until cache_close. */
Cache *cache_open(Arena *arena, const char *folder, int64_t max_bytes);
void cache_close(Cache *cache); /* NULL is allowed */
/* Why the folder cannot be used, or why the last write that failed did; NULL: no such failure, or
 * `cache` is NULL. */
const char *cache_note(const Cache *cache);

/* The objects of a key, in the arena, with the symbol of their first program; false if the cache
 * has none. */
bool cache_get(Cache *cache, const ProgramKey *key, Arena *arena, ObjectSet *out);
void cache_put(Cache *cache, const ProgramKey *key, const ObjectSet *objects);
/* One object file, which programs share. cache_put_part removes no files to stay within the bound;
 * the next cache_put does. */
bool cache_get_part(Cache *cache, const ProgramKey *key, Arena *arena, ObjectFile *out);
void cache_put_part(Cache *cache, const ProgramKey *key, const ObjectFile *file);

/* ---- cache_blocks.c: weights as programs read them ---- */
#define CACHE_BLOCK_BYTES ((int64_t)4 << 30) /* of all blocks, not counted among the programs */
/* Maps a block of `bytes` bytes that was put under the key; writing to it changes no file. The
 * caller unmaps it with cache_unmap. NULL: there is none, or it is damaged: the hash of some of its
 * pages differs, or, if its file was touched since it was used, or the system was restarted, the
 * hash of all bytes (cache_blocks.c says how this is known). */
void *cache_map(Cache *cache, const ProgramKey *key, int64_t bytes);
void cache_unmap(void *memory, int64_t bytes);
/* Adds a block, unless it is larger than CACHE_BLOCK_BYTES or than a quarter of the disk's free
 * space. */
void cache_put_block(Cache *cache, const ProgramKey *key, const void *memory, int64_t bytes);

/* The text that the cache has under the key, copied into the arena; NULL: it has none. */
const char *cache_get_text(Cache *cache, const ProgramKey *key, Arena *arena);
void cache_put_text(Cache *cache, const ProgramKey *key, const char *text);
/* A text from the user's cache, or else what `make` returns, which is then added to the cache. In
 * the arena; NULL: `make` returned NULL, after errors. */
typedef const char *MakeText(const void *context, Arena *arena, Diagnostics *diags);
const char *cache_made_text(const ProgramKey *key, MakeText *make, const void *context,
                            Arena *arena, Diagnostics *diags);
/* Waits until nobody else has the folder locked, and locks it until cache_unlock or cache_close:
 * for work that one process does for all. Returns without a lock if the folder cannot be locked. */
void cache_lock(Cache *cache);
void cache_unlock(Cache *cache);

/* ---- keys: hashes of what a file was made from (llvm/key.c) ---- */
/* The key of a program, from all that its code depends on: the compiler's sources, LLVM's build,
 * the layout of program.h, the target (its cpu is NULL, or one that target_settle left), the
 * pipeline, and the function with its module's dimensions and params. */
ProgramKey key_of(const TargetOptions *target, const Function *function, const char *pipeline);
/* The key of the programs of functions (after the passes), whose symbols begin with the prefix. */
ProgramKey key_of_objects(const TargetOptions *target, const Function *const *functions, int n,
                          const char *prefix);
/* The key of loop IR, in its text form, for a target. */
ProgramKey key_of_loops(const TargetOptions *target, const char *text, size_t length);
/* The key of a fact about this machine, from a text that describes the fact, the compiler's
 * sources, LLVM's build, the processor, and the build of the library's file; library NULL: no
 * library. */
ProgramKey key_of_text(const char *text, const char *library);
/* The key of what a program computes from something, such as a checkpoint; `bytes` bytes at `of`
 * identify that. */
ProgramKey key_of_made(const ProgramKey *program, const void *of, size_t bytes);

#endif
