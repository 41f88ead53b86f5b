/* Running pairs, one at a time, for what their attention looks at. */
#include "driver/analysis/alignment.h"

#include "driver/analysis/attention.h"

bool aligner_prepare(Aligner *aligner, Inference *inference)
{
    *aligner = (Aligner){.inference = inference};
    if (inference->n_members)
        return job_error(inference->job, "--attention is of one model: leave --with out");
    aligner->program = inference_add_program(inference, session_function(inference->session, "alignment"));
    return aligner->program != NULL;
}

bool aligner_run(Aligner *aligner, const Corpus *corpus, int64_t row, const int32_t *ids, int64_t n,
                 Arena *arena, Alignment *out)
{
    FramedPair pair = framed_pair(aligner->inference, corpus, row, ids, n, arena);
    *out = (Alignment){.source = pair.source,
                       .n_source = pair.n_source,
                       .target = pair.next,
                       .n_target = pair.n_target};
    if (!framed_run(aligner->inference, aligner->program, &aligner->exec, &pair))
        return false;
    out->weights = arena_copy(arena, exec_output(aligner->exec, "alignment"),
                              (size_t)(pair.n_target * pair.n_source) * sizeof(float));
    return true;
}

void aligner_free(Aligner *aligner) { exec_free(aligner->exec); }
