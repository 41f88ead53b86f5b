/* For compile.sh: initial values into INITIAL, forward's logits of one pair into the
 * second file as they lie in memory, and the pair into tensors.safetensors for tfc run. */
#include "multi30k_small.h"

#include <stdio.h>
#include <string.h>

static const char header[] =
    "{\"src\":{\"dtype\":\"I32\",\"shape\":[1,3],\"data_offsets\":[0,12]},"
    "\"tgt\":{\"dtype\":\"I32\",\"shape\":[1,4],\"data_offsets\":[12,28]}}";

int main(int argc, char **argv)
{
    static const int32_t source[] = {5, 6, 7}, target[] = {1, 10, 11, 12}, n = 3, m = 4;
    multi30k_small *model;
    multi30k_small_session *session;
    if (argc != 3 || multi30k_small_open_new(7, &model) || multi30k_small_save(model, argv[1]) ||
        multi30k_small_session_new(model, &session))
        return 1;
    multi30k_small_forward_in in = {
        .B = 1, .S_lengths = &n, .T_lengths = &m, .src = source, .tgt = target};
    multi30k_small_forward_out out;
    if (multi30k_small_forward(session, &in, &out)) {
        fprintf(stderr, "%s\n", multi30k_small_error_detail());
        return 1;
    }
    FILE *logits = fopen(argv[2], "wb"), *tensors = fopen("tensors.safetensors", "wb");
    uint64_t length = strlen(header);
    fwrite(out.logits, sizeof(float), 4 * multi30k_small_VOCABULARY, logits);
    fwrite(&length, sizeof length, 1, tensors);
    fwrite(header, 1, length, tensors);
    fwrite(source, 1, sizeof source, tensors);
    fwrite(target, 1, sizeof target, tensors);
    fclose(logits);
    fclose(tensors);
    multi30k_small_session_free(session);
    multi30k_small_close(model);
    return 0;
}
