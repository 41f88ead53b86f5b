/* An input's uses (ir/id_uses.h), asked for what its words are. */
#include "driver/ports/token_ids.h"

#include "frontend/frontend.h"
#include "ir/id_uses.h"

bool token_is_made(const Op *input)
{
    const char *name = op_string(input, ATTR_name);
    return text_ends(name, NEXT_SUFFIX) || text_ends(name, HIDDEN_SUFFIX);
}

/* The uses that count. Numbers may mean something else where a select leaves them out, such as -1;
 * tokens do not, nor what is made along with them. */
static IdUses word_uses(const Function *model, const Op *input)
{
    const bool is_token = op_attr(input, ATTR_vocab) || token_is_made(input);
    IdUses all = id_uses(model, input);
    size_t n = 0;
    for (size_t i = 0; i < all.count; i++)
        if (is_token || !all.data[i].held.by_select)
            all.data[n++] = all.data[i];
    all.count = n;
    return all;
}

static bool is_used_as(const Function *model, const Op *input, IdUseKind kind)
{
    const IdUses uses = word_uses(model, input);
    bool found = false;
    for (size_t i = 0; i < uses.count; i++)
        found = found || uses.data[i].kind == kind;
    return found;
}

bool token_is_looked_up(const Function *model, const Op *input)
{
    return is_used_as(model, input, ID_ROW);
}

bool token_is_ctc_label(const Function *model, const Op *input)
{
    return is_used_as(model, input, ID_CTC_LABEL);
}

/* The least n, which is not 0, of the uses that are comparisons with classes, or that are not; 0:
 * none. */
static int64_t least_size(const Function *model, const Op *input, bool compared)
{
    const IdUses uses = word_uses(model, input);
    int64_t least = 0;
    for (size_t i = 0; i < uses.count; i++) {
        const IdUse *use = &uses.data[i];
        const bool compares = use->kind == ID_COMPARED || use->kind == ID_LABEL;
        if (compares == compared && use->n && (!least || use->n < least))
            least = use->n;
    }
    return least;
}

int64_t token_table(const Function *model, const Op *input)
{
    return least_size(model, input, false);
}

int64_t token_labels(const Function *model, const Op *input)
{
    const int64_t n = least_size(model, input, true);
    return n ? n : INT64_MAX;
}

bool token_table_is_shared(const Function *model, const Op *a, const Op *b)
{
    const IdUses of_a = word_uses(model, a), of_b = word_uses(model, b);
    for (size_t i = 0; i < of_a.count; i++)
        for (size_t j = 0; j < of_b.count; j++)
            if (of_a.data[i].kind == ID_ROW && of_b.data[j].kind == ID_ROW &&
                op_shown(of_a.data[i].op->args[0]) == op_shown(of_b.data[j].op->args[0]))
                return true;
    return false;
}
