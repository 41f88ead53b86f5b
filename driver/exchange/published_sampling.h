/* The settings of generation that published files recommend: one table, by which import reads these
 * files and export writes them. */
#ifndef DRIVER_EXCHANGE_PUBLISHED_SAMPLING_H
#define DRIVER_EXCHANGE_PUBLISHED_SAMPLING_H

/* PublishedSampling: a setting.
 *   key    in generation_config.json
 *   name   in settings.def
 *   gguf   in a GGUF, where it is a whole number or an f32 as settings.def says; NULL: it has none
 *   when   for which models and files it holds */
typedef enum PublishedWhen { WHEN_ANY, WHEN_SAMPLES, WHEN_TRANSLATES } PublishedWhen;
typedef struct PublishedSampling {
    const char *key, *name, *gguf;
    PublishedWhen when;
} PublishedSampling;
extern const PublishedSampling published_sampling[]; /* up to one whose `key` is NULL */

/* In generation_config.json: false says that those of WHEN_SAMPLES hold nothing. */
#define PUBLISHED_SAMPLES "do_sample"

#endif
