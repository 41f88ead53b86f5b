/* Build ids; see build_id.h. */
#define _GNU_SOURCE
#include "codegen/build_id.h"

#include "base/byte_source.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct NoteSearch {
    uintptr_t address;
    char path[4096]; /* of the file that is mapped there */
    const unsigned char *id;
    size_t length; /* 0: it has none */
} NoteSearch;

static size_t padded(size_t size, size_t align) { return (size + align - 1) / align * align; }

/* The notes of a segment: of 4 bytes' alignment, or of 8 where the segment says so. What a
 * tool left there that is no note ends the search. */
static void search_notes(NoteSearch *search, const unsigned char *at, size_t size, size_t align)
{
    align = align == 8 ? 8 : 4;
    while (size > sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        size_t before = padded(sizeof *note + note->n_namesz, align);
        size_t all = before + padded(note->n_descsz, align);
        if (all > size)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof "GNU" &&
            !memcmp(at + sizeof *note, "GNU", sizeof "GNU")) {
            search->id = at + before;
            search->length = note->n_descsz;
            return;
        }
        at += all;
        size -= all;
    }
}

/* Whether the object holds the address; if so, the search is filled and ends. */
static int search_object(struct dl_phdr_info *object, size_t size, void *data)
{
    NoteSearch *search = data;
    bool holds = false;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        holds |= part->p_type == PT_LOAD && search->address - begin < part->p_memsz;
    }
    if (!holds)
        return 0;
    const char *path =
        object->dlpi_name && *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
    strncat(search->path, path, sizeof search->path - 1);
    for (int i = 0; i < object->dlpi_phnum && !search->length; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_NOTE)
            search_notes(search, (const unsigned char *)(object->dlpi_addr + part->p_vaddr),
                         part->p_memsz, part->p_align);
    }
    return 1;
}

static void add_bytes(Sha256 *sha, const char *path)
{
    ByteSource s;
    if (byte_source_open(&s, path))
        for (; byte_source_more(&s, BYTE_BLOCK); byte_source_pass(&s, s.length))
            sha256_add(sha, s.data, s.length);
    byte_source_close(&s);
}

static void add_id(Sha256 *sha, const NoteSearch *search)
{
    sha256_add(sha, &(uint64_t){search->length}, sizeof(uint64_t));
    if (search->length)
        sha256_add(sha, search->id, search->length);
    else if (search->path[0])
        add_bytes(sha, search->path);
}

void build_id_add(Sha256 *sha, const void *address)
{
    NoteSearch search = {.address = (uintptr_t)address};
    dl_iterate_phdr(search_object, &search);
    add_id(sha, &search);
}

/* The notes of a file; it may be any file. */
static void search_file(NoteSearch *search, const unsigned char *bytes, size_t size)
{
    ElfW(Ehdr) head;
    if (size < sizeof head)
        return;
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_phentsize != sizeof(ElfW(Phdr)))
        return;
    for (size_t i = 0; i < head.e_phnum && !search->length; i++) {
        ElfW(Phdr) part;
        size_t at = i * sizeof part;
        if (head.e_phoff > size || size - head.e_phoff < at + sizeof part)
            return;
        memcpy(&part, bytes + head.e_phoff + at, sizeof part);
        if (part.p_type == PT_NOTE && part.p_offset <= size &&
            part.p_filesz <= size - part.p_offset && part.p_offset % 4 == 0)
            search_notes(search, bytes + part.p_offset, part.p_filesz, part.p_align);
    }
}

bool build_id_add_file(Sha256 *sha, const char *path)
{
    NoteSearch search = {0};
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    strncat(search.path, path, sizeof search.path - 1);
    if (fd >= 0 && !fstat(fd, &info) && info.st_size > 0)
        bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
        search_file(&search, bytes, (size_t)info.st_size);
        add_id(sha, &search);
        munmap(bytes, (size_t)info.st_size);
    }
    if (fd >= 0)
        close(fd);
    return bytes != MAP_FAILED;
}
