/* What a thread of threads.c does with a compiled model, written once for all models:
 * included with MODEL defined as its name. */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define N(name) PASTE(MODEL, name)

static void N(check)(int status, const char *what)
{
    if (status)
        die(what, N(error_text)(status), N(error_detail)());
}

static uint64_t N(digest_forward)(N(session) * session, const TestBatch *batch, uint64_t digest)
{
    N(forward_in)
    in = {.B = batch->rows,
          .S_lengths = batch->source_lengths,
          .T_lengths = batch->target_lengths,
          .src = batch->source,
          .tgt = batch->target};
    N(forward_out) out;
    N(check)(N(forward)(session, &in, &out), "forward");
    return add_bytes(digest, out.logits,
                     sizeof(float) * (size_t)(batch->target_tokens * N(VOCABULARY)));
}

static uint64_t N(digest_generation)(MODEL *model, N(session) * session, const TestBatch *batch,
                                     int sample, uint64_t digest)
{
    enum { BEAM = 3 };
    N(generation) settings;
    N(result) results[MOST_ROWS * BEAM];
    N(generation_defaults)(model, &settings);
    settings.beam = settings.nbest = BEAM;
    settings.bos = TEST_BOS;
    settings.eos = TEST_EOS;
    settings.sample = sample;
    settings.length_limit = 10;
    N(check)(
        N(generate)(session, &settings, batch->rows, batch->source_lengths, batch->source, results),
        "generate");
    for (int32_t r = 0; r < batch->rows * BEAM; r++) {
        digest = add_bytes(digest, &results[r].log_probability, sizeof results[r].log_probability);
        digest = add_bytes(digest, results[r].ids, sizeof(int32_t) * (size_t)results[r].n);
    }
    return digest;
}

/* Three tokens for each sentence, by hand. */
static uint64_t N(digest_steps)(N(session) * session, const TestBatch *batch, uint64_t digest)
{
    int32_t sentence[MOST_ROWS], token[MOST_ROWS];
    N(check)(N(encode)(session, batch->rows, batch->source_lengths, batch->source, batch->rows),
             "encode");
    for (int32_t b = 0; b < batch->rows; b++)
        sentence[b] = b;
    for (int32_t step = 0; step < 3; step++) {
        const float *logits;
        for (int32_t b = 0; b < batch->rows; b++)
            token[b] = step ? 3 + b + step : TEST_BOS;
        N(check)(N(decode_step)(session, batch->rows, sentence, sentence, token, &logits),
                 "decode_step");
        digest = add_bytes(digest, logits, sizeof(float) * (size_t)(batch->rows * N(VOCABULARY)));
    }
    return digest;
}

static uint64_t N(digest)(void *model, void *session, int number)
{
    TestBatch batch;
    test_batch(&batch, number, N(VOCABULARY));
    uint64_t digest = N(digest_forward)(session, &batch, DIGEST_SEED);
    digest = N(digest_generation)(model, session, &batch, 0, digest);
    digest = N(digest_steps)(session, &batch, digest);
    return N(digest_generation)(model, session, &batch, 1, digest);
}

static void *N(begin)(void *model)
{
    N(session) * session;
    N(check)(N(session_new)(model, &session), "session_new");
    return session;
}

static void N(end)(void *session) { N(session_free)(session); }

/* A model of the thread's own comes and goes, and one that is not there. */
static void N(come_and_go)(const char *weights)
{
    MODEL *model;
    N(check)(N(open)(weights, &model), "open");
    N(close)(model);
    if (!N(open)("absent.safetensors", &model) || !strstr(N(error_detail)(), "absent.safetensors"))
        die("open", "a file that is not there", N(error_detail)());
}

static void N(train)(void *model, int steps)
{
    N(session) *session = N(begin)(model);
    for (int step = 1; step <= steps; step++) {
        TestBatch batch;
        test_batch(&batch, step, N(VOCABULARY));
        N(train_step_in)
        in = {.seed = 5,
              .B = batch.rows,
              .S_lengths = batch.source_lengths,
              .T_lengths = batch.target_lengths,
              .src = batch.source,
              .tgt = batch.target,
              .tgt_next = batch.next,
              .rate = 0.01};
        N(train_step_out) out;
        N(check)(N(train_step)(session, &in, &out), "train_step");
    }
    N(end)(session);
}

static void N(open_as)(Subject *subject, uint64_t seed)
{
    MODEL *model;
    N(check)(N(open_new)(seed, &model), "open_new");
    *subject = (Subject){.model = model,
                         .weights = subject->weights,
                         .begin = N(begin),
                         .end = N(end),
                         .digest = N(digest),
                         .come_and_go = N(come_and_go)};
    N(check)(N(save)(model, subject->weights), "save");
}

#undef N
#undef PASTE
#undef PASTE2
