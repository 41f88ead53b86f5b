/* The linker; see link.h. */
#define _GNU_SOURCE
#include "codegen/link.h"

#include "base/map.h"
#include "codegen/relocation.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What may be done with a part of the mapping, in its order there. */
typedef enum LinkPart { PART_CODE, PART_CONSTANTS, PART_DATA, PARTS, PART_NONE } LinkPart;

enum { MOST_BYTES = 1 << 30, MOST_ALIGN = 4096 }; /* of a part, of a section */

typedef struct Section {
    Elf64_Shdr head;
    LinkPart part; /* PART_NONE: it is not loaded */
    size_t at;     /* in its part */
} Section;

typedef struct ElfSymbol {
    const char *name;
    uint64_t value;                    /* in its section; of this process, if it is outside */
    uint64_t size;                     /* bytes */
    const Section *section;            /* NULL: it is not defined here */
    const struct ElfSymbol *elsewhere; /* what another object defines */
    bool outside, absolute;
    uint32_t slot; /* its number + 1 in the table; 0: it has none */
} ElfSymbol;

typedef struct Input {
    const ObjectFile *file;
    size_t n_sections, n_symbols;
    Section *sections;
    ElfSymbol *symbols;
} Input;

typedef struct Link {
    Arena *arena;
    Diagnostics *diags;
    LinkOutside *outside;
    int n;
    Input *inputs;
    Map defined;                      /* name → ElfSymbol */
    size_t size[PARTS], begin[PARTS]; /* what sections take; where the part is in the mapping */
    VEC(const ElfSymbol *) slots;
    LinkedCode *code;
} Link;

static bool refuse_link(Link *link, const Input *in, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse_link(Link *link, const Input *in, const char *format, ...)
{
    Text text = {0};
    va_list list;
    va_start(list, format);
    text_vadd(&text, format, list);
    va_end(list);
    diag_error(link->diags, (Loc){0}, "object file %td cannot be linked: %s", in - link->inputs,
               text.data);
    text_free(&text);
    return false;
}

/* ---- reading ---- */

/* Bytes of the file; NULL: it does not reach so far. */
static const unsigned char *part_of(const Input *in, uint64_t at, uint64_t size)
{
    const ObjectFile *file = in->file;
    return at <= file->size && size <= file->size - at ? (const unsigned char *)file->bytes + at
                                                       : NULL;
}

/* The text at a place of a section of strings; NULL: there is none. */
static const char *text_of(const Input *in, uint64_t section, uint64_t at)
{
    if (section >= in->n_sections)
        return NULL;
    const Elf64_Shdr *head = &in->sections[section].head;
    const unsigned char *strings =
        head->sh_type == SHT_STRTAB ? part_of(in, head->sh_offset, head->sh_size) : NULL;
    bool ends = strings && at < head->sh_size && memchr(strings + at, 0, head->sh_size - at);
    return ends ? (const char *)strings + at : NULL;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static LinkPart part_for(const Elf64_Shdr *head, const char *name)
{
    if (!(head->sh_flags & SHF_ALLOC) || head->sh_type == SHT_NOTE || !strcmp(name, ".eh_frame"))
        return PART_NONE;
    bool constant = !(head->sh_flags & SHF_WRITE) || begins(name, ".data.rel.ro");
    return head->sh_flags & SHF_EXECINSTR ? PART_CODE : constant ? PART_CONSTANTS : PART_DATA;
}

static bool place_section(Link *link, const Input *in, Section *section, const char *name)
{
    const Elf64_Shdr *head = &section->head;
    section->part = part_for(head, name);
    if (head->sh_type == SHT_GROUP)
        return refuse_link(link, in, "it has groups of sections");
    if (section->part == PART_NONE || !head->sh_size)
        return true;
    uint64_t align = head->sh_addralign ? head->sh_addralign : 1;
    size_t *end = &link->size[section->part];
    if ((head->sh_type != SHT_PROGBITS && head->sh_type != SHT_NOBITS) || head->sh_flags & SHF_TLS)
        return refuse_link(link, in, "section %s is of a kind that is not loaded", name);
    if (head->sh_type == SHT_PROGBITS && !part_of(in, head->sh_offset, head->sh_size))
        return refuse_link(link, in, "section %s ends behind the file", name);
    if (align > MOST_ALIGN || align & (align - 1) || head->sh_size > MOST_BYTES ||
        *end > MOST_BYTES - head->sh_size)
        return refuse_link(
            link, in, "section %s is too large, or wants an alignment that it cannot have", name);
    section->at = (*end + align - 1) & ~(align - 1);
    *end = section->at + head->sh_size;
    return true;
}

static bool read_sections(Link *link, Input *in)
{
    Elf64_Ehdr head;
    const unsigned char *begin = part_of(in, 0, sizeof head);
    if (!begin)
        return refuse_link(link, in, "it is shorter than an object's header");
    memcpy(&head, begin, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_type != ET_REL ||
        head.e_machine != relocation_machine)
        return refuse_link(link, in, "it is not an object for this machine");
    const unsigned char *heads =
        part_of(in, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr));
    if (!heads || head.e_shentsize != sizeof(Elf64_Shdr))
        return refuse_link(link, in, "its table of sections is not in it");
    in->n_sections = head.e_shnum;
    in->sections = ARENA_ARRAY(link->arena, Section, in->n_sections + 1);
    for (size_t i = 0; i < in->n_sections; i++)
        memcpy(&in->sections[i].head, heads + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
    for (size_t i = 0; i < in->n_sections; i++) {
        const char *name = text_of(in, head.e_shstrndx, in->sections[i].head.sh_name);
        if (!name)
            return refuse_link(link, in, "section %zu has no name", i);
        if (!place_section(link, in, &in->sections[i], name))
            return false;
    }
    return true;
}

static bool read_symbol(Link *link, const Input *in, const Elf64_Sym *from, uint64_t strings,
                        ElfSymbol *symbol)
{
    int type = ELF64_ST_TYPE(from->st_info);
    symbol->name = text_of(in, strings, from->st_name);
    symbol->value = from->st_value;
    symbol->size = from->st_size;
    symbol->absolute = from->st_shndx == SHN_ABS;
    if (!symbol->name)
        return refuse_link(link, in, "a symbol has no name");
    if (from->st_shndx == SHN_COMMON || type == STT_TLS || type == STT_GNU_IFUNC ||
        (from->st_shndx == SHN_UNDEF && ELF64_ST_BIND(from->st_info) == STB_WEAK))
        return refuse_link(link, in, "symbol %s is of a kind that is not linked", symbol->name);
    if (from->st_shndx == SHN_UNDEF || symbol->absolute)
        return true;
    if (from->st_shndx >= in->n_sections ||
        symbol->value > in->sections[from->st_shndx].head.sh_size)
        return refuse_link(link, in, "symbol %s lies outside of all sections", symbol->name);
    symbol->section = &in->sections[from->st_shndx];
    if (ELF64_ST_BIND(from->st_info) == STB_LOCAL)
        return true;
    if (map_has(&link->defined, symbol->name))
        return refuse_link(link, in, "symbol %s is defined a second time", symbol->name);
    map_set(&link->defined, symbol->name, symbol);
    return true;
}

static bool read_symbols(Link *link, Input *in)
{
    for (size_t s = 0; s < in->n_sections; s++) {
        const Elf64_Shdr *head = &in->sections[s].head;
        if (head->sh_type != SHT_SYMTAB)
            continue;
        const unsigned char *table = part_of(in, head->sh_offset, head->sh_size);
        if (!table || head->sh_entsize != sizeof(Elf64_Sym) || in->symbols)
            return refuse_link(link, in, "its table of symbols is not in it");
        in->n_symbols = head->sh_size / sizeof(Elf64_Sym);
        in->symbols = ARENA_ARRAY(link->arena, ElfSymbol, in->n_symbols + 1);
        for (size_t i = 0; i < in->n_symbols; i++) {
            Elf64_Sym symbol;
            memcpy(&symbol, table + i * sizeof symbol, sizeof symbol);
            if (!read_symbol(link, in, &symbol, head->sh_link, &in->symbols[i]))
                return false;
        }
    }
    return true;
}

/* ---- relocations, one by one ---- */

typedef struct RelocationPlace {
    const Elf64_Shdr *table;
    const Relocation *relocation;
    const Section *section; /* that it is written into */
    uint64_t offset;
    ElfSymbol *symbol;
    int64_t addend;
} RelocationPlace;

static bool read_place(Link *link, const Input *in, const Elf64_Rela *from, RelocationPlace *place)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(from->r_info);
    uint64_t symbol = ELF64_R_SYM(from->r_info), size = place->section->head.sh_size;
    place->relocation = relocation_find(type);
    if (!place->relocation)
        return refuse_link(link, in, "it has a relocation of type %u, which is not known", type);
    uint64_t bytes = (uint64_t)relocation_bytes(place->relocation);
    if (symbol >= in->n_symbols || from->r_offset > size || bytes > size - from->r_offset)
        return refuse_link(
            link, in, "a relocation lies outside of its section, or its symbol does not exist");
    place->offset = from->r_offset;
    place->symbol = &in->symbols[symbol];
    place->addend = from->r_addend;
    return true;
}

typedef bool Visit(Link *link, const Input *in, const RelocationPlace *place);

static bool each_place_of(Link *link, const Input *in, const Elf64_Shdr *head, Visit *visit)
{
    RelocationPlace place = {.table = head, .section = &in->sections[head->sh_info]};
    const unsigned char *table = part_of(in, head->sh_offset, head->sh_size);
    if (!table || head->sh_type != SHT_RELA || head->sh_entsize != sizeof(Elf64_Rela) ||
        place.section->head.sh_type == SHT_NOBITS)
        return refuse_link(link, in,
                           "a table of relocations is not in it, or of another kind than RELA");
    for (uint64_t at = 0; head->sh_size - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
        Elf64_Rela from;
        memcpy(&from, table + at, sizeof from);
        if (!read_place(link, in, &from, &place) || !visit(link, in, &place))
            return false;
    }
    return true;
}

static bool each_place(Link *link, Visit *visit)
{
    for (int i = 0; i < link->n; i++)
        for (size_t s = 0; s < link->inputs[i].n_sections; s++) {
            const Input *in = &link->inputs[i];
            const Elf64_Shdr *head = &in->sections[s].head;
            if (head->sh_type != SHT_RELA && head->sh_type != SHT_REL)
                continue;
            if (head->sh_info >= in->n_sections)
                return refuse_link(link, in, "it has relocations of a section that does not exist");
            const Section *section = &in->sections[head->sh_info];
            if (section->part != PART_NONE && section->head.sh_size &&
                !each_place_of(link, in, head, visit))
                return false;
        }
    return true;
}

/* What a relocation needs: its symbol found, a place in the table. */
static bool prepare(Link *link, const Input *in, const RelocationPlace *place)
{
    ElfSymbol *symbol = place->symbol;
    if (place->relocation->target == TO_NOTHING)
        return true;
    if (!symbol->section && !symbol->absolute && !symbol->elsewhere && !symbol->outside) {
        symbol->elsewhere = map_get(&link->defined, symbol->name);
        int errors = link->diags->errors;
        symbol->value = symbol->elsewhere ? 0 : (uintptr_t)link->outside(symbol->name, link->diags);
        symbol->outside = symbol->value != 0;
        if (!symbol->elsewhere && !symbol->outside)
            return link->diags->errors == errors &&
                   refuse_link(link, in, "nothing is called \"%s\"", symbol->name);
    }
    const Section *section = symbol->elsewhere ? symbol->elsewhere->section : symbol->section;
    if (section && section->part == PART_NONE)
        return refuse_link(link, in, "it needs symbol %s of a section that is not loaded",
                           symbol->name);
    bool wants = place->relocation->target == TO_SLOT ||
                 (place->relocation->target == TO_CALLED && symbol->outside);
    if (wants && !symbol->slot) {
        vec_push(link->arena, link->slots, symbol);
        symbol->slot = (uint32_t)link->slots.count;
    }
    return true;
}

/* ---- addresses ---- */

static unsigned char *memory_at(const Link *link, LinkPart part, size_t at)
{
    return (unsigned char *)link->code->memory + link->begin[part] + at;
}

static uint64_t address_of(const Link *link, const ElfSymbol *symbol)
{
    if (symbol->elsewhere)
        symbol = symbol->elsewhere;
    return symbol->section
               ? (uintptr_t)memory_at(link, symbol->section->part, symbol->section->at) +
                     symbol->value
               : symbol->value;
}

static size_t rounded(size_t size, size_t to) { return (size + to - 1) / to * to; }
static size_t stubs_at(const Link *link) { return rounded(link->size[PART_CODE], STUB_BYTES); }
static size_t slots_at(const Link *link)
{
    return rounded(link->size[PART_CONSTANTS], sizeof(uint64_t));
}
static unsigned char *slot_of(const Link *link, size_t slot)
{
    return memory_at(link, PART_CONSTANTS, slots_at(link) + slot * sizeof(uint64_t));
}
static unsigned char *stub_of(const Link *link, size_t slot)
{
    return memory_at(link, PART_CODE, stubs_at(link) + slot * STUB_BYTES);
}

static unsigned char *place_of(const Link *link, const RelocationPlace *place)
{
    return memory_at(link, place->section->part, place->section->at + place->offset);
}

static uint64_t target_of(const Link *link, const RelocationPlace *place)
{
    const ElfSymbol *symbol = place->symbol;
    RelocationTarget target = place->relocation->target;
    uint64_t to = target == TO_SLOT ? (uintptr_t)slot_of(link, symbol->slot - 1)
                  : target == TO_CALLED && symbol->outside
                      ? (uintptr_t)stub_of(link, symbol->slot - 1)
                      : address_of(link, symbol);
    return to + (uint64_t)place->addend;
}

/* The relocation, of the same table, that wrote the upper part at the symbol. */
static bool find_upper(Link *link, const Input *in, const RelocationPlace *lower,
                       RelocationPlace *upper)
{
    const unsigned char *table = part_of(in, lower->table->sh_offset, lower->table->sh_size);
    *upper = *lower;
    for (uint64_t at = 0; lower->symbol->section == lower->section &&
                          lower->table->sh_size - at >= sizeof(Elf64_Rela);
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela from;
        memcpy(&from, table + at, sizeof from);
        if (from.r_offset == lower->symbol->value && read_place(link, in, &from, upper) &&
            (upper->relocation->target == TO_SYMBOL || upper->relocation->target == TO_SLOT))
            return true;
    }
    return refuse_link(link, in, "a relocation has no other half");
}

static bool write_place(Link *link, const Input *in, const RelocationPlace *place)
{
    RelocationPlace at = *place;
    if (place->relocation->target == TO_PAIR && !find_upper(link, in, place, &at))
        return false;
    return relocation_apply(place->relocation, place_of(link, place),
                            (uintptr_t)place_of(link, &at), target_of(link, &at)) ||
           refuse_link(link, in, "symbol %s is too far for a relocation of type %u",
                       place->symbol->name, place->relocation->type);
}

/* ---- the mapping ---- */

static bool map_parts(Link *link)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = 0;
    size_t ends[PARTS] = {stubs_at(link) + link->slots.count * STUB_BYTES,
                          slots_at(link) + link->slots.count * sizeof(uint64_t),
                          link->size[PART_DATA]};
    page = page < MOST_ALIGN ? MOST_ALIGN : page;
    for (int part = 0; part < PARTS; part++) {
        link->begin[part] = end;
        end = rounded(end + ends[part], page);
    }
    void *memory =
        mmap(NULL, end ? end : page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        diag_errno(link->diags, "get memory for", "compiled code", errno);
        return false;
    }
    *link->code = (LinkedCode){memory, end ? end : page};
    return true;
}

static void copy_sections(const Link *link)
{
    for (int i = 0; i < link->n; i++)
        for (size_t s = 0; s < link->inputs[i].n_sections; s++) {
            const Section *section = &link->inputs[i].sections[s];
            if (section->part != PART_NONE && section->head.sh_type == SHT_PROGBITS &&
                section->head.sh_size)
                memcpy(memory_at(link, section->part, section->at),
                       part_of(&link->inputs[i], section->head.sh_offset, section->head.sh_size),
                       section->head.sh_size);
        }
}

static bool write_slots(const Link *link)
{
    for (size_t i = 0; i < link->slots.count; i++) {
        memcpy(slot_of(link, i), &(uint64_t){address_of(link, link->slots.data[i])},
               sizeof(uint64_t));
        if (!relocation_stub(stub_of(link, i), (uintptr_t)slot_of(link, i)))
            return refuse_link((Link *)link, &link->inputs[0],
                               "the table of addresses is too far from the code");
    }
    return true;
}

static bool protect(Link *link)
{
    unsigned char *memory = link->code->memory;
    size_t code = link->begin[PART_CONSTANTS], constants = link->begin[PART_DATA] - code;
    __builtin___clear_cache((char *)memory, (char *)memory + code);
    if ((!code || !mprotect(memory, code, PROT_READ | PROT_EXEC)) &&
        (!constants || !mprotect(memory + code, constants, PROT_READ)))
        return true;
    diag_errno(link->diags, "make executable", "compiled code", errno);
    return false;
}

/* Adds the functions to perf's map of code that is in no file, /tmp/perf-PID.map: lines of START
 * SIZE NAME (Linux, tools/perf/Documentation/jit-interface.txt). */
static void tell_perf(const Link *link)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *map = fd < 0 ? NULL : fdopen(fd, "a");
    if (!map) {
        diag_warning(link->diags, (Loc){0}, LINK_PERF_MAP ": cannot write %s: %s", path,
                     strerror(errno));
        return;
    }
    for (int i = 0; i < link->n; i++)
        for (size_t s = 0; s < link->inputs[i].n_symbols; s++) {
            const ElfSymbol *symbol = &link->inputs[i].symbols[s];
            if (symbol->section && symbol->section->part == PART_CODE && symbol->size)
                fprintf(map, "%" PRIx64 " %" PRIx64 " %s\n", address_of(link, symbol), symbol->size,
                        symbol->name);
        }
    fclose(map);
}

static const void *find_linked(Link *link, const char *name)
{
    const ElfSymbol *symbol = map_get(&link->defined, name);
    if (symbol && symbol->section->part != PART_NONE)
        return (const void *)(uintptr_t)address_of(link, symbol);
    diag_error(link->diags, (Loc){0}, "object code does not define %s", name);
    return NULL;
}

static bool read_inputs(Link *link, const ObjectFile *files)
{
    link->inputs = ARENA_ARRAY(link->arena, Input, link->n + 1);
    for (int i = 0; i < link->n; i++) {
        link->inputs[i].file = &files[i];
        if (!read_sections(link, &link->inputs[i]) || !read_symbols(link, &link->inputs[i]))
            return false;
    }
    return true;
}

const void *link_objects(const ObjectFile *files, int n, LinkOutside *outside, const char *symbol,
                         LinkedCode *code, Diagnostics *diags)
{
    Link link = {.arena = arena_new(), .diags = diags, .outside = outside, .n = n, .code = code};
    const void *found = NULL;
    *code = (LinkedCode){0};
    map_init(&link.defined, link.arena);
    if (read_inputs(&link, files) && each_place(&link, prepare) && map_parts(&link)) {
        copy_sections(&link);
        if (write_slots(&link) && each_place(&link, write_place) && protect(&link))
            found = find_linked(&link, symbol);
    }
    if (found && getenv(LINK_PERF_MAP))
        tell_perf(&link);
    if (!found) {
        link_free(code);
        *code = (LinkedCode){0};
    }
    arena_free(link.arena);
    return found;
}

void link_free(const LinkedCode *code)
{
    if (code->memory)
        munmap(code->memory, code->size);
}
