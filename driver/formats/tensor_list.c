/* Checks that are the same for every format. */
#include "driver/formats/tensor_list.h"

bool tensor_list_refuse(TensorList *list, const char *tensor, const char *problem)
{
    if (tensor)
        diag_about(list->diags, DIAG_ERROR, list->path, ": tensor '%s': %s",
                   text_visible_name(list->arena, tensor), problem);
    else
        diag_about(list->diags, DIAG_ERROR, list->path, ": %s", problem);
    return false;
}

/* The bytes of so many elements. */
static bool count_bytes(StTensor *tensor)
{
    const StBlocks *blocks = tensor->blocks;
    uint64_t units = (uint64_t)tensor->count;
    if (blocks)
        units /= (uint64_t)blocks->elements;
    return !__builtin_mul_overflow(
        units, blocks ? (uint64_t)blocks->bytes : element_info(tensor->type)->bytes,
        &tensor->bytes);
}

bool tensor_list_add(TensorList *list, StTensor tensor, const void *data, uint64_t available)
{
    tensor.stored = tensor.stored ? tensor.stored : tensor.name;
    tensor.data = data;
    if (!st_count(&tensor) || !count_bytes(&tensor))
        return tensor_list_refuse(list, tensor.stored,
                                  "its shape has more elements than can be counted");
    if (tensor.blocks && tensor.count % tensor.blocks->elements)
        return tensor_list_refuse(list, tensor.stored, "its shape is of no whole blocks");
    if (tensor.bytes > available)
        return tensor_list_refuse(list, tensor.stored, "its data is cut off" FETCH_AGAIN);
    vec_push(list->arena, list->tensors, tensor);
    return true;
}

StFile *tensor_list_file(TensorList *list)
{
    StFile *file = ARENA_NEW(list->arena, StFile);
    *file = (StFile){.path = arena_strdup(list->arena, list->path),
                     .n = (int64_t)list->tensors.count,
                     .tensors = list->tensors.data};
    map_init(&file->index, list->arena);
    if (!file->n)
        tensor_list_refuse(list, NULL, "there are no tensors in it");
    for (int64_t i = 0; i < file->n; i++) {
        if (map_has(&file->index, file->tensors[i].name)) {
            tensor_list_refuse(list, file->tensors[i].name, "there are two of the name");
            return NULL;
        }
        map_set(&file->index, file->tensors[i].name, &file->tensors[i]);
    }
    return file->n ? file : NULL;
}
