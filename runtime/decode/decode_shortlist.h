/* What shortlists are decoded with. */
#ifndef RUNTIME_DECODE_DECODE_SHORTLIST_H
#define RUNTIME_DECODE_DECODE_SHORTLIST_H

#include "runtime/decode/decode.h"
#include "runtime/decode/shortlist.h"

extern const ShortlistCalls shortlist_calls;

#endif
