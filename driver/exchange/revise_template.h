/* The template of a tokenizer.json: which tokens stand around a text. */
#ifndef DRIVER_EXCHANGE_REVISE_TEMPLATE_H
#define DRIVER_EXCHANGE_REVISE_TEMPLATE_H

#include "driver/exchange/revise_parts.h"

/* Makes `id` (-1: none) the one token before a text, or behind it. A post_processor of another kind
 * stays as it is, if it can name no such token. */
void revise_template(Revise *r, bool is_end, int32_t id);

#endif
