/* Internal to driver/compile: the model that is compiled (Artifact), its C header, the code that
 * connects programs, runtime and header (glue), and the C compiler that links them. */
#ifndef DRIVER_COMPILE_ARTIFACT_H
#define DRIVER_COMPILE_ARTIFACT_H

#include "codegen/object.h"
#include "driver/compile/compile.h"
#include "driver/ports/ports.h"
#include "driver/run/folder.h"
#include "driver/run/generation.h"
#include "driver/run/prediction.h"
#include "driver/session/session.h"
#include "runtime/data/corpus.h"
#include "runtime/model/abi.h"

enum { MAX_CPUS = 8, MAX_MEMBERS = 64 };

typedef struct CompiledCpu {
    const char *name; /* NULL: the target's general one */
    int level;        /* x86-64 level that the processor must have; 0: not checked */
    ObjectSet objects;
} CompiledCpu;

typedef struct CompileTarget {
    const char *triple;
    const char *compiler; /* links for the target from another system, unless $CC is set */
    const char *packages; /* Debian packages that have this compiler */
    const char *const *options, *const *link; /* of the compiler; NULL-terminated */
    bool has_levels;                          /* x86-64: a file may hold code for several levels */
    bool is_wasm;
} CompileTarget;

/* ArtifactKind: what is written; the word of --emit is the name in small letters. */
typedef enum ArtifactKind {
    ARTIFACT_SO,
    ARTIFACT_OBJ,
    ARTIFACT_EXE,
    ARTIFACT_C,
    ARTIFACT_LLVM,
    ARTIFACT_ASM,
    ARTIFACT_BC,
    ARTIFACT_JS,
    ARTIFACT_HTML,
    ARTIFACT_KINDS
} ArtifactKind;

typedef struct Artifact {
    Job *job;
    Session session;
    const char *output, *emit; /* emit: the word of `makes` */
    ArtifactKind makes;
    const char *run;  /* the folder of the model's run; NULL: it has none */
    const char *only; /* the prediction that is inside; NULL: all */

    /* the prefix of all names: --name, or the model's own name as a C identifier */
    const char *name;
    const char *names[TFC_N_FUNCTIONS]; /* of the functions inside; NULL: left out */
    Function *functions[TFC_N_FUNCTIONS];
    const TfcProgram *programs[TFC_N_FUNCTIONS]; /* tables, the same for every CPU */
    const CompileTarget *target;
    CompiledCpu cpus[MAX_CPUS]; /* the most demanding first */
    int n_cpus;
    GemmChoice gemm;
    TfcChoice choice; /* of GEMM_AUTO: this machine's, for all cpus */
    ModelPorts ports;
    Vocabulary *vocab;           /* NULL: none is known */
    TokenRules rules;            /* the vocabulary's; without one, no special token is known */
    GenerationDefaults defaults; /* the run's */
    CorpusKind kind;             /* of the text that the model is for */
    const Shortlist *shortlist;  /* decoding is over its candidates; NULL: over all tokens */
    /* of the function predict, if it is inside */
    Inference inference;
    DataColumns columns;
    Predictor predictor;

    TfcColumn *read; /* what records hold of the inputs of encode; NULL: it reads no columns */
    const char *records_lack; /* why records are not taken; NULL: they are */
    Text code;                /* programs as C */
    bool has_text;            /* the vocabulary is put inside */
    bool has_json;            /* the vocabulary, or the source's, is a tokenizer.json */
    bool is_portable;         /* which is then read without utf8proc and PCRE2 (hf_table) */
    const char *json_needs;   /* why a portable one is left out; NULL: it is not */
    Store *weights;           /* to be put inside; NULL: none */
    VEC(TfcPanels) panels;    /* of these, without data; compile_choose_panels */
    Map read_as_is;           /* the params that are inside as they are, if any is as panels */
    RunFolder *members;       /* n_members further members of an ensemble */
    int n_members;
    uint64_t version; /* hash of the header; set by compile_header */
} Artifact;

/* ---- the interface (interface.c; runtime/model/interface.def declares it) ---- */

/* InterfaceWhen: the condition of rows that do not go with one TfcFunction. */
typedef enum InterfaceWhen {
    ALWAYS = -1,
    DECODES_ALONE = -2,   /* a decoder without an encoder */
    TRANSLATES_TEXT = -3, /* text, by an encoder and a decoder */
    GENERATES_TEXT = -4,  /* text, by a decoder alone */
    HAS_TEXT = -5,        /* a vocabulary inside */
    STEPS = -6,           /* a decoder whose steps give logits of all tokens: no shortlist */
    STEPS_ENCODED = -7,   /* the same behind an encoder */
    PREDICTS_TEXT = -8,   /* text, by the function predict */
    SEARCHES_LABELS = -9, /* and CTC makes labels of what is predicted */
    GENERATES = -10,      /* a decoder that reads no columns: its sources, or prompts, are ids */

    /* those of a decoder that reads columns */
    GENERATES_COLUMNS = -11,
    STEPS_COLUMNS = -12,      /* whose steps give logits of all tokens */
    TRANSLATES_COLUMNS = -13, /* from records: a vocabulary is inside */
    TRANSLATES = -14,         /* text or records */
} InterfaceWhen;

bool interface_has(const Artifact *artifact, int when);
/* Writes the records that the artifact has, as structs of C or as classes of ctypes. */
void interface_put_records(const Artifact *artifact, bool in_python, Text *out);
/* Writes a text of each call that the artifact has. */
typedef enum InterfaceForm {
    CALLS_DECLARED,  /* its prototype, with its help */
    CALLS_OPENING,   /* of one that checks the header's version: the function that passes it */
    CALLS_DEFINED,   /* its definition, which calls the runtime's with `model_constant` */
    CALLS_IN_PYTHON, /* "name": [what it returns, what it takes], */
} InterfaceForm;
void interface_put_calls(const Artifact *artifact, InterfaceForm form, Text *out);
/* The name in ctypes of what C passes as this type: c_int32, or c_void_p for a pointer that is not
 * to a text. */
const char *interface_ctype(Arena *arena, const char *type);
/* Whether decoding has sources: a function `encode` that reads some. */
bool artifact_encodes(const Artifact *artifact);
/* Whether records are taken: texts are generated from columns, and a vocabulary is inside. */
bool artifact_takes_records(const Artifact *artifact);

/* ---- names (names.c), and the header (header.c) ---- */

/* The text with the model's name for each '@'. */
const char *artifact_text(const Artifact *artifact, const char *text);
/* A name in the model as an identifier of C, C++ and Python, which none of the headers that the
 * generated header includes takes (reserved_names.def). */
const char *artifact_c_name(Arena *arena, const char *name);
/* Whether dimensions and inputs, and outputs, of each function that is compiled have names of their
 * own in C. False after an error. */
bool compile_check_names(const Artifact *artifact);
/* Sets the artifact's name, of an artifact that has its session: `given`, which
 * compile_name_problem allows, or NULL: the model's own, as artifact_c_name makes it, with a `_`
 * behind it if the C library, the runtime or Python has it, which a note says. False after an
 * error. */
bool compile_choose_name(Artifact *artifact, const char *given);

/* The fields of TfcGeneration in their order. */
typedef struct GenerationField {
    const char *type, *name;
    int n; /* length of an array; 0: the field is no array */
    const char *help;
    double least, most;
    const char *
        takes; /* the row's word in settings.def: FLAG, WHOLE, COUNT, NUMBER, TOKEN, TOKENS, INPUT */
} GenerationField;
extern const GenerationField generation_fields[];
extern const int generation_field_count;

/* Whether the function takes tensors, NAME_forward_in; whether it gives some, NAME_forward_out. */
static inline bool artifact_gives_tensors(TfcFunction function)
{
    return function <= TFC_TRAIN_STEP || function == TFC_PREDICT;
}
static inline bool artifact_takes_tensors(const Artifact *artifact, TfcFunction function)
{
    return artifact_gives_tensors(function) || (function == TFC_ENCODE && artifact->read);
}
/* Writes the header, and sets the artifact's version. */
void compile_header(Artifact *artifact, Text *out);

/* ---- the target (target.c) ---- */

/* Sets target, cpus and gemm from the options; NULL: not given. False after errors. */
bool artifact_choose_target(Artifact *artifact, const char *triple, const char *cpus,
                            const char *gemm);
/* The kind of a word of --emit, which has to be one of them. */
ArtifactKind artifact_kind_of(const char *emit);
/* Whether the output answers by itself: a program, a package or a page. */
bool artifact_is_alone(const Artifact *artifact);
/* Whether the output is WebAssembly with JavaScript: --emit js and html. */
bool artifact_is_script(const Artifact *artifact);
/* Whether the output is a C file: --emit c. */
bool artifact_is_c(const Artifact *artifact);
/* Whether callers see the artifact's name: in a header, a module or a package. */
bool artifact_shows_name(const Artifact *artifact);
/* Whether the target is not this system. */
bool artifact_is_foreign(const Artifact *artifact);
/* Whether the glue stands behind the runtime's C files, in one file with them: in a C file, and in
 * what is linked for another system, whose runtime is compiled with it. */
bool artifact_is_joined(const Artifact *artifact);
/* The compiler that links for the target, unless $CC is set, and Debian's packages with it. */
const char *artifact_compiler(const Artifact *artifact);
const char *artifact_packages(const Artifact *artifact);
TargetOptions artifact_target(const Artifact *artifact, int cpu);

/* ---- what is inside ---- */

/* If the artifact has a shortlist: makes the session's halves decode over its candidates
 * (derive_shortlist). False after errors. (compile.c) */
bool compile_narrow(const Artifact *artifact, const Session *session,
                    const Incremental *incremental, const char *logits);
/* ---- members.c ---- */
/* Opens the further runs of an ensemble; the artifact has its functions already. `first`: the path
 * of the artifact's own model, for messages. False after errors; compile_close_members in any
 * case. */
bool compile_members(Artifact *artifact, const char *first, const CompileOptions *options);
/* Loads their weights, once the artifact has its programs and its own weights. False after
 * errors. */
bool compile_load_members(Artifact *artifact);
void compile_close_members(Artifact *artifact);

/* ---- predictions.c ---- */
/* Sets inference, columns and predictor, of an artifact that has its vocabulary. False after
 * errors. */
bool compile_find_predictions(Artifact *artifact);
/* Sets `read` and `records_lack`, of an artifact whose encode reads columns. False after errors. */
bool compile_find_columns(Artifact *artifact);
/* The vocabulary of its own that an input of encode has, where records are taken; NULL: none. */
const Vocabulary *compile_own_vocabulary(const Artifact *artifact, int input);
/* Whether what answers records by itself, a program, page or package, can. False after an error. */
bool compile_check_records(const Artifact *artifact);
/* The input that a text feeds. False: the function predict is not inside, or reads other inputs. */
bool compile_text_input(const Artifact *artifact, TfcColumn *out);
/* Appends predictions_constant, the TfcPredictions of the artifact, in C; nothing if the function
 * predict is not inside. */
void compile_put_predictions(const Artifact *artifact, Text *out);
/* Appends a frame of tokens, and a range of ids (glue.c), as C initialisers. */
void compile_put_frame(const TextFrame *frame, Text *out);
void compile_put_range(const IdRange *range, Text *out);
/* Appends columns_constant, the TfcColumns of the artifact; nothing if it reads no columns. Returns
 * how many. */
int compile_put_columns(const Artifact *artifact, Text *out);

/* ---- panels.c ---- */
/* Sets the panels, of an artifact that has its programs and weights. False after errors. */
bool compile_choose_panels(Artifact *artifact);
/* Whether the param is inside as panels alone. */
bool artifact_as_panels(const Artifact *artifact, const StoreTensor *tensor);

/* ---- what is written, after compile_header ---- */

/* Writes the text of NAME.py, a Python module that loads the library beside it. (python.c) */
void compile_python(const Artifact *artifact, Text *out);
/* Writes the C file that defines the exports and the model's constant. The assembler reads weights
 * and vocabularies from files, which compile_blobs writes. (glue.c, as compile_blobs) */
void compile_glue(const Artifact *artifact, Text *out);
/* The same behind the parts of the runtime that it needs, of an artifact that is joined: one
 * compilation takes half the time of one for each of a hundred files. False after an error.
 * (c_file.c) */
bool compile_joined_glue(const Artifact *artifact, Text *out);
/* The path at which a new file of that name is to be written. */
typedef const char *NewFile(void *context, const char *name);
bool compile_blobs(const Artifact *artifact, NewFile *path_of, void *context);
/* Writes a package or a page (script.c). False after errors: then nothing new is left, unless the
 * package's folder was not empty. Into such a folder files are written one by one, and after an
 * error some of them may be new or replaced. */
bool compile_script(const Artifact *artifact, const char *header);
/* Writes the C file, and beside it the header and files of its weights and vocabularies (c_file.c).
 * False after errors: then nothing is new or replaced, unless renaming one of the finished files
 * failed: those renamed before it stay. */
bool compile_c(const Artifact *artifact, const char *header);
/* Checks that the files that would be replaced are tfc's own: NAME.h and NAME.py beside the output,
 * or a package's folder. The output itself is not checked. False after an error. (link.c, as the
 * next four) */
bool compile_check_files(const Artifact *artifact);
/* Another library than the output, whose NAME.h and NAME.py, or whose other NAME.h, are beside the
 * output and about to be replaced; NULL: none. In the job's arena. */
const char *compile_other_library(const Artifact *artifact, const char *header);
/* Notes that they were replaced, unless it is NULL. */
void compile_tell_replaced(const Artifact *artifact, const char *library);
/* The folder of the runtime's C files; NULL after an error. */
const char *compile_runtime_folder(Job *job);
/* Writes artifact->output (so, obj, exe, or the module of a script), and NAME.h and NAME.py that go
 * with it. False after errors, as for compile_c. SIGINT, SIGTERM and SIGHUP take effect after the
 * call. */
bool compile_link(const Artifact *artifact, const char *header);

#endif
