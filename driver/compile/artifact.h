/* The pieces of compile.h: what is to be compiled, its C header, the code that joins
 * programs, runtime and header, and the system's compiler that links them. */
#ifndef DRIVER_COMPILE_ARTIFACT_H
#define DRIVER_COMPILE_ARTIFACT_H

#include "codegen/object.h"
#include "driver/ports/ports.h"
#include "driver/run/folder.h"
#include "driver/session/session.h"
#include "runtime/data/corpus.h"
#include "runtime/model/abi.h"

enum { MAX_CPUS = 8, MAX_MEMBERS = 64 };

typedef struct CompiledCpu {
    const char *name; /* NULL: the target's general one */
    int level; /* x86-64 level it asks for; 0: another architecture's */
    ObjectSet objects;
} CompiledCpu;

typedef struct CompileTarget {
    const char *triple;
    const char *compiler; /* that links for it from another system, unless $CC is set */
    const char *packages; /* Debian's, that bring it */
    const char *const *options, *const *link; /* of the compiler; NULL-terminated */
    bool has_levels; /* x86-64's: a file holds code for several of them */
    bool is_wasm;
} CompileTarget;

typedef struct Artifact {
    Job *job;
    Session session;
    const char *output, *emit;    /* so, obj, exe, c, llvm, asm, bc, js, html */
    const char *name;             /* that the model declares, as C says it: the prefix of everything */
    const char *names[TFC_N_FUNCTIONS]; /* of the functions inside; NULL: left out */
    Function *functions[TFC_N_FUNCTIONS];
    const TfcProgram *programs[TFC_N_FUNCTIONS]; /* tables, the same for every CPU */
    const CompileTarget *target;
    CompiledCpu cpus[MAX_CPUS];   /* the most demanding first */
    int n_cpus;
    GemmChoice gemm;
    TfcChoice choice; /* of GEMM_AUTO: this machine's, for all cpus */
    ModelPorts ports;
    Vocabulary *vocab;            /* NULL: none is known */
    TokenRules rules;             /* its own, or nothing but -1 */
    CorpusKind kind;              /* of the text that the model is for */
    Text code;                    /* programs as C */
    bool has_text;                /* the vocabulary is put inside */
    bool has_json;                /* it, or the source's, is a tokenizer.json */
    Store *weights;               /* to be put inside; NULL: none */
    RunFolder *members;           /* of an ensemble, beside the first: n_members */
    int n_members;
    uint64_t version;             /* of the header */
} Artifact;

/* When a function is exported, if not with one of TfcFunction. */
typedef enum ExportWhen {
    ALWAYS = -1,
    DECODES_ALONE = -2,  /* a decoder without an encoder */
    TRANSLATES_TEXT = -3, /* text, by an encoder and a decoder */
    GENERATES_TEXT = -4, /* text, by a decoder alone */
    HAS_TEXT = -5        /* a vocabulary inside */
} ExportWhen;

/* The library's function names, "NAME_forward" …, of which the header tells and which
 * the glue defines. */
typedef struct LibraryExport {
    const char *name, *result, *arguments, *values; /* '@' stands for the model's name */
    int when;          /* only with this function, or ExportWhen */
    bool takes_model;  /* tfc_model_NAME takes the constant first */
    const char *help;
} LibraryExport;
extern const LibraryExport exports[];
extern const int export_count;
bool artifact_has_export(const Artifact *artifact, const LibraryExport *export);
/* The text with the model's name for each '@'. */
const char *artifact_text(const Artifact *artifact, const char *text);
/* A name of the model as C, C++ and Python can say it. */
const char *artifact_c_name(Arena *arena, const char *name);
/* The same of a model's name, which is a type, and the beginning of functions' names. */
const char *artifact_model_name(Arena *arena, const char *name);

/* The fields of TfcGeneration in their order. */
typedef struct GenerationField {
    const char *type, *name;
    int n; /* of an array; 0: it is none */
    const char *help;
    double least, most;
} GenerationField;
extern const GenerationField generation_fields[];
extern const int generation_field_count;

/* Sets target, cpus and gemm from what the options say (NULL: nothing). */
bool artifact_choose_target(Artifact *artifact, const char *triple, const char *cpus, const char *gemm);
/* Whether it becomes WebAssembly with JavaScript around it: --emit js and html. */
bool artifact_is_script(const Artifact *artifact);
/* Whether it becomes a C file: --emit c. */
bool artifact_is_c(const Artifact *artifact);
/* Whether the target is not this system. */
bool artifact_is_foreign(const Artifact *artifact);
/* What links for the target, unless $CC is set, and Debian's packages that bring it. */
const char *artifact_compiler(const Artifact *artifact);
const char *artifact_packages(const Artifact *artifact);
TargetOptions artifact_target(const Artifact *artifact, int cpu);

/* Opens the further runs of an ensemble; `first` is the name of the model that the artifact has, whose
 * functions are there. False after errors. (members.c, as the next two) */
bool compile_members(Artifact *artifact, const char *first, const TextList *with);
/* Their weights, once there are programs and the first one's weights. */
bool compile_load_members(Artifact *artifact);
void compile_close_members(Artifact *artifact);

/* The header; sets the version. */
void compile_header(Artifact *artifact, Text *out);
/* The same for Python, after the header: NAME.py, which loads the library beside it. */
void compile_python(const Artifact *artifact, Text *out);
/* The C file that defines the exports and the model's constant. Weights and vocabularies are
 * read by the assembler from files, which compile_blobs writes into the folder. */
void compile_glue(const Artifact *artifact, Text *out);
typedef const char *NewFile(void *context, const char *name);
bool compile_blobs(const Artifact *artifact, NewFile *path_of, void *context);
/* Writes a package or a page (script.c); false after errors, and nothing new is left. */
bool compile_script(const Artifact *artifact, const char *header);
/* Writes the C file, and beside it the header and what it has as files of bytes (c_file.c); false
 * after errors, and nothing new is left. */
bool compile_c(const Artifact *artifact, const char *header);
/* Whether what lies beside the output, or in its folder, is of an earlier call. (link.c, as the next two) */
bool compile_check_files(const Artifact *artifact);
/* The folder of the runtime's C files, and its files; NULL after an error. */
const char *compile_runtime_files(Job *job, TextList *files);
/* Writes artifact->output (so, obj, exe, or the module of a script); false after errors, and nothing is left. */
bool compile_link(const Artifact *artifact, const char *header);

#endif
