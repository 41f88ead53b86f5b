/* Growable typed arrays that live in an arena.
 *
 *   VEC(int) numbers = {0};
 *   vec_push(arena, numbers, 7);
 *   for (size_t i = 0; i < numbers.count; i++) use(numbers.data[i]);
 *
 * Growth abandons the old storage to the arena; pointers into a vector are
 * valid until the next push. If there is no memory to grow, the vector is not
 * changed. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"

#include <string.h>

#define VEC(T)                  \
    struct {                    \
        T *data;                \
        size_t count, capacity; \
    }

#define vec_reserve(arena, v, n)                                                \
    do {                                                                        \
        if ((v).capacity < (size_t)(n)) {                                       \
            size_t vec_new_ = (v).capacity ? (v).capacity * 2 : 8;              \
            if (vec_new_ < (size_t)(n))                                         \
                vec_new_ = (size_t)(n);                                         \
            void *vec_data_ = arena_array((arena), vec_new_, sizeof *(v).data); \
            if (vec_data_ && (v).count)                                         \
                memcpy(vec_data_, (v).data, (v).count * sizeof *(v).data);      \
            if (vec_data_) {                                                    \
                (v).data = vec_data_;                                           \
                (v).capacity = vec_new_;                                        \
            }                                                                   \
        }                                                                       \
    } while (0)

#define vec_push(arena, v, item)                  \
    do {                                          \
        vec_reserve((arena), (v), (v).count + 1); \
        if ((v).count < (v).capacity)             \
            (v).data[(v).count++] = (item);       \
    } while (0)

#define vec_last(v) ((v).data[(v).count - 1])

#endif
