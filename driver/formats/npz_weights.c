/* NumPy's arrays as files of weights. */
#include "driver/formats/npz.h"

#include "base/file.h"
#include "driver/formats/tensor_list.h"
#include "driver/formats/zip.h"

#include <string.h>

/* The first axis is the fastest: strides grow from it. */
static const StView *fortran_view(Arena *arena, const NpyArray *array)
{
    StView *view = ARENA_NEW(arena, StView);
    if (!view)
        return NULL;
    view->rank = array->rank;
    int64_t stride = 1;
    for (int d = 0; d < array->rank; stride *= array->dims[d++]) {
        view->sizes[d] = array->dims[d];
        view->strides[d] = stride;
    }
    return view;
}

static bool add_array(TensorList *list, const NpyArray *array)
{
    StTensor tensor = {
        .name = array->name, .type = array->type, .rank = array->rank, .seal = array->seal};
    memcpy(tensor.dims, array->dims, sizeof tensor.dims);
    if (array->is_fortran && array->count)
        tensor.view = fortran_view(list->arena, array);
    return tensor_list_add(list, tensor, array->data,
                           (uint64_t)array->count * element_info(array->type)->bytes);
}

StFile *npz_weights_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                          uint64_t size)
{
    TensorList list = tensor_list_begin(diags, arena, path);
    const Npz *npz = npz_parse(diags, arena, path, bytes, (size_t)size);
    bool ok = npz != NULL;
    for (size_t i = 0; ok && i < npz->arrays.count; i++)
        ok = add_array(&list, npz->arrays.data[i]);
    for (size_t i = 0; ok && i < npz->passed.count; i++)
        ok = tensor_list_pass(&list, npz->passed.data[i].name, npz->passed.data[i].type);
    return ok ? tensor_list_file(&list) : NULL;
}

StFile *npy_weights_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                          uint64_t size)
{
    TensorList list = tensor_list_begin(diags, arena, path);
    const char *name = file_name(path), *problem;
    const size_t length = strlen(name), less = text_ends(name, ".npy") ? 4 : 0;
    NpyArray array = {.name = arena_strndup(arena, name, length - less)};
    if (!npy_parse(bytes, (size_t)size, &array, &problem)) {
        tensor_list_refuse(&list, NULL, problem);
        return NULL;
    }
    return add_array(&list, &array) ? tensor_list_file(&list) : NULL;
}

static bool is_of_arrays(const ZipArchive *zip)
{
    bool is = zip->entries.count > 0;
    for (size_t i = 0; is && i < zip->entries.count; i++)
        is = text_ends(zip->entries.data[i]->name, ".npy");
    return is;
}

bool npz_is(const unsigned char *bytes, uint64_t size) { return zip_is(bytes, size, is_of_arrays); }
