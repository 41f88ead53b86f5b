/* What --attention shows. */
#ifndef CLI_ALIGNMENT_H
#define CLI_ALIGNMENT_H

#include "base/json_write.h"
#include "driver/analysis/alignment.h"

#define OPTION_ATTENTION(record)                                                                   \
    {"attention", NULL, FIELD(record, attention), 0, NULL,                                         \
     "what each token of a target was made from, in the mean of the heads of the last attention\n" \
     "over the source: TEXT ||| a row of weights a token, the end too; of a JSON line \"attention\""}

/* "attention": {"source": [TOKEN, …], "target": [TOKEN, …], "weights": [[…], …]}. */
void put_alignment(JsonWriter *json, const Vocabulary *vocab, const Alignment *alignment);
/* " ||| 0.9,0.1 0.2,0.8": a row a target token, as Marian's soft alignments. */
void put_soft_alignment(Text *out, const Alignment *alignment);

#endif
