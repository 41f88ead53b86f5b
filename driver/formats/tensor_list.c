/* Checks that are the same for every format. */
#include "driver/formats/tensor_list.h"

TensorList tensor_list_begin(Diagnostics *diags, Arena *arena, const char *path)
{
    TensorList list = {.diags = diags, .arena = arena, .path = path};
    map_init(&list.numbers, arena);
    return list;
}

bool tensor_list_refuse(TensorList *list, const char *tensor, const char *problem)
{
    problem = problem ? problem : "out of memory";
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

bool tensor_list_place(TensorList *list, StTensor *tensor, const void *data, uint64_t available)
{
    const char *name = tensor->stored ? tensor->stored : tensor->name;
    tensor->data = data;
    if (!st_count(tensor) || !count_bytes(tensor))
        return tensor_list_refuse(
            list, name,
            "its shape has more elements than can be counted, or none and a dimension above 2^20");
    if (tensor->blocks && tensor->count % tensor->blocks->elements)
        return tensor_list_refuse(
            list, name,
            "its rows are not whole blocks of its type: the file is damaged" FETCH_AGAIN);
    if (tensor->bytes > available)
        return tensor_list_refuse(list, name, "its data is cut off" FETCH_AGAIN);
    return true;
}

static bool refuse_twice(TensorList *list, const char *name)
{
    return tensor_list_refuse(list, name, "the file has two tensors of this name");
}

bool tensor_list_push(TensorList *list, StTensor tensor)
{
    if (arena_failed(list->arena)) /* the name may be NULL */
        return false;
    tensor.stored = tensor.stored ? tensor.stored : tensor.name;
    if (map_has(&list->numbers, tensor.name))
        return refuse_twice(list, tensor.name);
    vec_push(list->arena, list->tensors, tensor);
    map_set(&list->numbers, tensor.name, (void *)(uintptr_t)list->tensors.count);
    return !arena_failed(list->arena);
}

bool tensor_list_add(TensorList *list, StTensor tensor, const void *data, uint64_t available)
{
    return tensor_list_place(list, &tensor, data, available) && tensor_list_push(list, tensor);
}

bool tensor_list_add_whole(TensorList *list, StTensor tensor, const void *data, uint64_t bytes)
{
    if (!tensor_list_place(list, &tensor, data, bytes))
        return false;
    if (tensor.bytes != bytes)
        return tensor_list_refuse(list, tensor.stored ? tensor.stored : tensor.name,
                                  "it has more data than its shape says" FETCH_AGAIN);
    return tensor_list_push(list, tensor);
}

bool tensor_list_pass(TensorList *list, const char *name, const char *type)
{
    if (name && type)
        vec_push(list->arena, list->passed, ((StPassed){name, type}));
    return !arena_failed(list->arena);
}

StTensor *tensor_list_find(const TensorList *list, const char *name)
{
    const uintptr_t number = (uintptr_t)map_get(&list->numbers, name);
    return number ? &list->tensors.data[number - 1] : NULL;
}

/* Whether the names are those under which the tensors were added. */
static bool has_names(const TensorList *list)
{
    bool has = list->numbers.count == list->tensors.count;
    for (size_t i = 0; has && i < list->tensors.count; i++)
        has = !strcmp(list->numbers.entries[i].key, list->tensors.data[i].name);
    return has;
}

/* Fills the index of a file with the tensors by their names. */
static bool index_tensors(TensorList *list, StFile *file)
{
    if (has_names(list)) {
        file->index = list->numbers;
        for (int64_t i = 0; i < file->n; i++)
            file->index.entries[i].value = &file->tensors[i];
        return true;
    }
    map_init(&file->index, list->arena);
    for (int64_t i = 0; i < file->n; i++) {
        if (map_has(&file->index, file->tensors[i].name))
            return refuse_twice(list, file->tensors[i].name);
        map_set(&file->index, file->tensors[i].name, &file->tensors[i]);
    }
    return !arena_failed(list->arena);
}

StFile *tensor_list_file(TensorList *list)
{
    StFile *file = ARENA_NEW(list->arena, StFile);
    if (!file)
        return NULL;
    *file = (StFile){.path = arena_strdup(list->arena, list->path),
                     .n = (int64_t)list->tensors.count,
                     .tensors = list->tensors.data,
                     .n_passed = (int64_t)list->passed.count,
                     .passed = list->passed.data};
    if (!file->n && !file->n_passed) {
        tensor_list_refuse(list, NULL, "there are no tensors in it");
        return NULL;
    }
    return !arena_failed(list->arena) && index_tensors(list, file) ? file : NULL;
}
