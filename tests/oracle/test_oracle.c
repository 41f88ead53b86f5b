/* The oracle on values that were computed by hand, op by op; its bounds; and that what goes
 * wrong is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/philox.h"
#include "tests/oracle/cases.h"

#include <math.h>

#define I INFINITY

static const OracleCase cases[] = {
    /* leaves */
    {.body = "%9 = const {value = 2.5} : f32[2]", .expected = NUMBERS(2.5, 2.5)},
    {.body = "%9 = const {value = 1} : bool[]", .expected = NUMBERS(1)},
    {.body = "%9 = param {name = \"w\"} : f32[2]", .expected = NUMBERS(0.5, -2)},
    {.body = "%9 = iota : i32[3]", .expected = NUMBERS(0, 1, 2)},
    {.body = "%9 = iota : i32[1, 3, 1]", .expected = NUMBERS(0, 1, 2)},
    {.body = "%9 = iota : i32[S~, 1]", .expected = NUMBERS(0, 1, 2)},
    {.body = "%9 = size {dim = S} : f32[]", .expected = NUMBERS(4)},
    {.body = "%9 = size {dim = B} : i32[]", .expected = NUMBERS(2)},
    {.body = "%9 = lengths {dim = S} : f32[B]", .expected = NUMBERS(3, 1)},
    {.body = "%9 = lengths {dim = L} : i32[1, B, 1]", .expected = NUMBERS(1, 0)},
    {.body = "%9 = training : bool[]", .expected = NUMBERS(0)},
    /* elementwise */
    /* clang-format off */
    {{"f32[2]"}, {NUMBERS(1, -2)}, "%9 = neg %0 : f32[2]", .expected = NUMBERS(-1, 2)},
    {{"f32[2]"}, {NUMBERS(1, -2)}, "%9 = abs %0 : f32[2]", .expected = NUMBERS(1, 2)},
    {{"f64[3]"}, {NUMBERS(0, 1, -I)}, "%9 = exp %0 : f64[3]", .expected = NUMBERS(1, 2.718281828459045, 0)},
    {{"f64[3]"}, {NUMBERS(1, 2, 0)}, "%9 = log %0 : f64[3]", .expected = NUMBERS(0, 0.6931471805599453, -I)},
    {{"f64[2]"}, {NUMBERS(4, 2)}, "%9 = sqrt %0 : f64[2]", .expected = NUMBERS(2, 1.4142135623730951)},
    {{"f64[2]"}, {NUMBERS(4, 0.25)}, "%9 = rsqrt %0 : f64[2]", .expected = NUMBERS(0.5, 2)},
    {{"f64[2]"}, {NUMBERS(0, 1)}, "%9 = tanh %0 : f64[2]", .expected = NUMBERS(0, 0.7615941559557649)},
    {{"f64[3]"}, {NUMBERS(0, 1e-9, 1)}, "%9 = expm1 %0 : f64[3]", .expected = NUMBERS(0, 1.0000000005e-9, 1.718281828459045)},
    {{"f64[3]"}, {NUMBERS(0, 1e-9, 1)}, "%9 = log1p %0 : f64[3]", .expected = NUMBERS(0, 9.999999995e-10, 0.6931471805599453)},
    {{"f64[2]"}, {NUMBERS(0, 1)}, "%9 = erf %0 : f64[2]", .expected = NUMBERS(0, 0.8427007929497149)},
    {{"f64[3]"}, {NUMBERS(0, 1, -I)}, "%9 = sigmoid %0 : f64[3]", .expected = NUMBERS(0.5, 0.7310585786300049, 0)},
    {{"f64[2]"}, {NUMBERS(0, 1)}, "%9 = sin %0 : f64[2]", .expected = NUMBERS(0, 0.8414709848078965)},
    {{"f64[2]"}, {NUMBERS(0, 1)}, "%9 = cos %0 : f64[2]", .expected = NUMBERS(1, 0.5403023058681398)},
    {{"f32[3]"}, {NUMBERS(1.5, -1.5, 2)}, "%9 = floor %0 : f32[3]", .expected = NUMBERS(1, -2, 2)},
    {{"f32[3]"}, {NUMBERS(1.5, -1.5, 0)}, "%9 = relu %0 : f32[3]", .expected = NUMBERS(1.5, 0, 0)},
    {{"f32[3]"}, {NUMBERS(1.5, -1.5, 3e9)}, "%9 = cast %0 {dtype = i32} : i32[3]", .expected = NUMBERS(1, -1, 2147483647)},
    {{"f32[3]"}, {NUMBERS(0, -1.5, 2)}, "%9 = cast %0 {dtype = bool} : bool[3]", .expected = NUMBERS(0, 1, 1)},
    {{"f32[3]"}, {NUMBERS(1, 257, 1.01171875)}, "%9 = cast %0 {dtype = bf16} : bf16[3]", .expected = NUMBERS(1, 256, 1.015625)},
    {{"i32[2]"}, {NUMBERS(3, 16777217)}, "%9 = cast %0 {dtype = f32} : f32[2]", .expected = NUMBERS(3, 16777216)},
    {{"f32[2]"}, {NUMBERS(1.5, 2)}, "%9 = stop_gradient %0 : f32[2]", .expected = NUMBERS(1.5, 2)},
    {{"bool[2]"}, {NUMBERS(1, 0)}, "%9 = not %0 : bool[2]", .expected = NUMBERS(0, 1)},
    {{"f32[2, 1]", "f32[3]"}, {NUMBERS(1, 2), NUMBERS(10, 20, 30)}, "%9 = add %0, %1 : f32[2, 3]", .expected = NUMBERS(11, 21, 31, 12, 22, 32)},
    {{"f32[B, S~]", "f32[B, 1]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(10, 20)}, "%9 = add %0, %1 : f32[B, S~]", .expected = NUMBERS(11, 12, 13, 24)},
    {{"f32[B, S~]", "f32[S~]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(10, 20, 30)}, "%9 = sub %1, %0 : f32[B, S~]", .expected = NUMBERS(9, 18, 27, 6)},
    {{"i32[2]", "i32[]"}, {NUMBERS(3, -4), NUMBERS(5)}, "%9 = mul %0, %1 : i32[2]", .expected = NUMBERS(15, -20)},
    /* integers wrap around */
    {{"i32[3]", "i32[3]"}, {NUMBERS(2147483647, -2147483648, 5), NUMBERS(1, -1, -7)}, "%9 = add %0, %1 : i32[3]", .expected = NUMBERS(-2147483648, 2147483647, -2)},
    {{"i32[3]", "i32[3]"}, {NUMBERS(2147483647, -2147483648, 0), NUMBERS(-1, 1, -2147483648)}, "%9 = sub %0, %1 : i32[3]", .expected = NUMBERS(-2147483648, 2147483647, -2147483648)},
    {{"i32[3]", "i32[3]"}, {NUMBERS(65536, 2147483647, -2147483648), NUMBERS(65537, 2147483647, -1)}, "%9 = mul %0, %1 : i32[3]", .expected = NUMBERS(65536, 1, -2147483648)},
    {{"i32[2]", "i32[2]"}, {NUMBERS(-2147483648, 7), NUMBERS(-1, 2)}, "%9 = div %0, %1 : i32[2]", .expected = NUMBERS(-2147483648, 3)},
    {{"i32[2]"}, {NUMBERS(-2147483648, 7)}, "%9 = neg %0 : i32[2]", .expected = NUMBERS(-2147483648, -7)},
    {{"i32[2]"}, {NUMBERS(-2147483648, -7)}, "%9 = abs %0 : i32[2]", .expected = NUMBERS(-2147483648, 7)},
    {{"i32[3]"}, {NUMBERS(2147483647, 2147483647, 2147483647)}, "%9 = reduce_sum %0 {axes = [0]} : i32[1]", .expected = NUMBERS(2147483645)},
    {{"f32[2]", "f32[2]"}, {NUMBERS(1, -3), NUMBERS(4, 2)}, "%9 = div %0, %1 : f32[2]", .expected = NUMBERS(0.25, -1.5)},
    {{"i32[4]", "i32[4]"}, {NUMBERS(7, -7, 7, 7), NUMBERS(2, 2, -2, 0)}, "%9 = div %0, %1 : i32[4]", .expected = NUMBERS(3, -3, -3, 0)},
    {{"f32[4]", "f32[4]"}, {NUMBERS(2, 9, 2, 0), NUMBERS(3, 0.5, -1, 2)}, "%9 = pow %0, %1 : f32[4]", .expected = NUMBERS(8, 3, 0.5, 0)},
    {{"i32[3]", "i32[3]"}, {NUMBERS(2, -3, 2), NUMBERS(3, 3, -1)}, "%9 = pow %0, %1 : i32[3]", .expected = NUMBERS(8, -27, 0)},
    /* of integers 3^21 mod 2^32, 65536^2 mod 2^32, and 1 / a^-b */
    {{"i32[4]", "i32[4]"}, {NUMBERS(3, 65536, -1, 0), NUMBERS(21, 2, -3, -1)}, "%9 = pow %0, %1 : i32[4]", .expected = NUMBERS(1870418611, 0, -1, 0)},
    {{"f32[3]", "f32[3]"}, {NUMBERS(1, 5, -I), NUMBERS(2, 3, -2)}, "%9 = max %0, %1 : f32[3]", .expected = NUMBERS(2, 5, -2)},
    {{"i32[2]", "i32[2]"}, {NUMBERS(1, 5), NUMBERS(2, 3)}, "%9 = min %0, %1 : i32[2]", .expected = NUMBERS(1, 3)},
    {{"f32[3]", "f32[3]"}, {NUMBERS(1, 2, 3), NUMBERS(2, 2, 2)}, "%9 = lt %0, %1 : bool[3]", .expected = NUMBERS(1, 0, 0)},
    {{"f32[3]", "f32[3]"}, {NUMBERS(1, 2, 3), NUMBERS(2, 2, 2)}, "%9 = le %0, %1 : bool[3]", .expected = NUMBERS(1, 1, 0)},
    {{"i32[3]", "i32[3]"}, {NUMBERS(1, 2, 3), NUMBERS(2, 2, 2)}, "%9 = eq %0, %1 : bool[3]", .expected = NUMBERS(0, 1, 0)},
    {{"bool[4]", "bool[4]"}, {NUMBERS(0, 0, 1, 1), NUMBERS(0, 1, 0, 1)}, "%9 = and %0, %1 : bool[4]", .expected = NUMBERS(0, 0, 0, 1)},
    {{"bool[4]", "bool[4]"}, {NUMBERS(0, 0, 1, 1), NUMBERS(0, 1, 0, 1)}, "%9 = or %0, %1 : bool[4]", .expected = NUMBERS(0, 1, 1, 1)},
    {{"bool[2]", "f32[2]", "f32[]"}, {NUMBERS(1, 0), NUMBERS(5, 6), NUMBERS(-1)}, "%9 = select %0, %1, %2 : f32[2]", .expected = NUMBERS(5, -1)},
    {{"f32[2]"}, {NUMBERS(5, 6)}, "%9 = dropout %0 {rate = 0, site = 1} : f32[2]", .expected = NUMBERS(5, 6)},
    /* reductions: positions past a row's end are not there */
    {{"f32[2, 3]"}, {NUMBERS(1, 2, 3, 4, 5, 6)}, "%9 = reduce_sum %0 {axes = [1]} : f32[2, 1]", .expected = NUMBERS(6, 15)},
    {{"f32[2, 3]"}, {NUMBERS(1, 2, 3, 4, 5, 6)}, "%9 = reduce_sum %0 {axes = [0]} : f32[1, 3]", .expected = NUMBERS(5, 7, 9)},
    {{"f32[B, S~]"}, {NUMBERS(1, 2, 3, 4)}, "%9 = reduce_sum %0 {axes = [1]} : f32[B, 1]", .expected = NUMBERS(6, 4)},
    {{"f32[B, S~]"}, {NUMBERS(1, 2, 3, 4)}, "%9 = reduce_sum %0 {axes = [0]} : f32[1, S~]", .expected = NUMBERS(5, 2, 3)},
    {{"f32[B, L~, 2]"}, {NUMBERS(1, 2)}, "%9 = reduce_sum %0 {axes = [1]} : f32[B, 1, 2]", .expected = NUMBERS(1, 2, 0, 0)},
    {{"f32[E, 2]"}, {{0}}, "%9 = reduce_sum %0 {axes = [0]} : f32[1, 2]", .expected = NUMBERS(0, 0)},
    /* tokens of S in front, the longest T behind: those of row 0 have 2 */
    {{"f32[B, S~, T~]"}, {NUMBERS(1, 2, 99, 3, 4, 99, 5, 6, 99, 7, 8, 9)}, "%9 = reduce_sum %0 {axes = [2]} : f32[B, S~, 1]", .expected = NUMBERS(3, 7, 11, 24)},
    {{"f32[B, S~, T~]"}, {NUMBERS(1, 2, 99, 3, 4, 99, 5, 6, 99, 7, 8, 9)}, "%9 = reduce_sum %0 {axes = [1]} : f32[B, 1, T~]", .expected = NUMBERS(9, 12, 7, 8, 9)},
    {{"f32[B, S~]"}, {NUMBERS(1, 7, 3, -4)}, "%9 = reduce_max %0 {axes = [1]} : f32[B, 1]", .expected = NUMBERS(7, -4)},
    {{"f32[B, L~]"}, {NUMBERS(5)}, "%9 = reduce_max %0 {axes = [1]} : f32[B, 1]", .expected = NUMBERS(5, -I)},
    {{"i32[B, L~]"}, {NUMBERS(5)}, "%9 = reduce_max %0 {axes = [1]} : i32[B, 1]", .expected = NUMBERS(5, INT32_MIN)},
    /* NaN in one place is NaN in the result */
    {{"f32[2, 3]"}, {NUMBERS(5, NAN, 3, 4, 5, 6)}, "%9 = reduce_max %0 {axes = [1]} : f32[2, 1]", .expected = NUMBERS(NAN, 6)},
    {{"f32[3]", "f32[3]"}, {NUMBERS(1, NAN, 3), NUMBERS(NAN, 2, 2)}, "%9 = max %0, %1 : f32[3]", .expected = NUMBERS(NAN, NAN, 3)},
    {{"f32[3]", "f32[3]"}, {NUMBERS(1, NAN, 3), NUMBERS(NAN, 2, 2)}, "%9 = min %0, %1 : f32[3]", .expected = NUMBERS(NAN, NAN, 2)},
    {{"f32[2]"}, {NUMBERS(NAN, -1)}, "%9 = relu %0 : f32[2]", .expected = NUMBERS(NAN, 0)},
    {{"f64[2, 2]"}, {NUMBERS(0, NAN, 0, -I)}, "%9 = softmax %0 : f64[2, 2]", .expected = NUMBERS(NAN, NAN, 1, 0)},
    {{"f64[2, 2]"}, {NUMBERS(NAN, 0, 0, -I)}, "%9 = logsumexp %0 : f64[2, 1]", .expected = NUMBERS(NAN, 0)},
    {{"f64[2, 2]"}, {NUMBERS(0, 1, -I, -I)}, "%9 = softmax %0 : f64[2, 2]", .expected = NUMBERS(0.2689414213699951, 0.7310585786300049, 0, 0)},
    {{"f64[B, S~, T~]"}, {NUMBERS(0, 0, 99, 1, 1, 99, 2, 2, 99, 0, 0, 0)}, "%1 = softmax %0 : f64[B, S~, T~] %9 = reduce_max %1 {axes = [2]} : f64[B, S~, 1]", .expected = NUMBERS(0.5, 0.5, 0.5, 1. / 3)},
    {{"f64[3, 2]"}, {NUMBERS(0, 0, 1000, -I, -I, -I)}, "%9 = logsumexp %0 : f64[3, 1]", .expected = NUMBERS(0.6931471805599453, 1000, -I)},
    /* shapes */
    {{"f32[B, S~, 4]"}, {NUMBERS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)}, "%1 = reshape %0 {shape = [B, S~, 2, 2]} : f32[B, S~, 2, 2] %9 = transpose %1 {perm = [0, 1, 3, 2]} : f32[B, S~, 2, 2]", .expected = NUMBERS(1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16)},
    {{"f32[B, S~, 2]"}, {NUMBERS(1, 2, 3, 4, 5, 6, 7, 8)}, "%9 = transpose %0 {perm = [2, 1, 0]} : f32[2, S~, B]", .expected = NUMBERS(1, 2, 3, 4, 5, 6, 7, 8)},
    {{"f32[2, 3]"}, {NUMBERS(1, 2, 3, 4, 5, 6)}, "%9 = transpose %0 {perm = [1, 0]} : f32[3, 2]", .expected = NUMBERS(1, 4, 2, 5, 3, 6)},
    {{"f32[2]"}, {NUMBERS(1, 2)}, "%9 = broadcast %0 {shape = [B, S~, 2]} : f32[B, S~, 2]", .expected = NUMBERS(1, 2, 1, 2, 1, 2, 1, 2)},
    {{"f32[2, 3]"}, {NUMBERS(1, 2, 3, 4, 5, 6)}, "%9 = slice %0 {axis = 1, start = 1, size = 2} : f32[2, 2]", .expected = NUMBERS(2, 3, 5, 6)},
    {{"f32[2, 1]"}, {NUMBERS(1, 2)}, "%9 = pad %0 {axis = 1, start = 1, size = 3} : f32[2, 3]", .expected = NUMBERS(0, 1, 0, 0, 2, 0)},
    {{"f32[2, 1]", "f32[2, 2]"}, {NUMBERS(1, 2), NUMBERS(3, 4, 5, 6)}, "%9 = concat %0, %1 {axis = 1} : f32[2, 3]", .expected = NUMBERS(1, 3, 4, 2, 5, 6)},
    {{"f32[2, 3]"}, {NUMBERS(1, 2, 3, 4, 5, 6)}, "%9 = flip %0 {axis = 1} : f32[2, 3]", .expected = NUMBERS(3, 2, 1, 6, 5, 4)},
    /* contractions */
    {{"f32[2, 3]", "f32[3, 2]"}, {NUMBERS(1, 2, 3, 4, 5, 6), NUMBERS(1, 0, 0, 1, 1, 1)}, "%9 = dot %0, %1 {batch_a = [], batch_b = [], contract_a = [1], contract_b = [0]} : f32[2, 2]", .expected = NUMBERS(4, 5, 10, 11)},
    {{"f32[B, S~, 2]", "f32[B, T~, 2]"}, {NUMBERS(1, 0, 0, 1, 1, 1, 2, 0), NUMBERS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}, "%3 = dot %0, %1 {batch_a = [0], batch_b = [0], contract_a = [2], contract_b = [2]} : f32[B, S~, T~] %9 = reduce_sum %3 {axes = [2]} : f32[B, S~, 1]", .expected = NUMBERS(4, 6, 10, 42)},
    {{"f32[B, S~, 1]", "f32[B, S~, 2]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(1, 2, 3, 4, 5, 6, 7, 8)}, "%9 = dot %0, %1 {batch_a = [], batch_b = [], contract_a = [0, 1], contract_b = [0, 1]} : f32[1, 2]", .expected = NUMBERS(50, 60)},
    {{"f32[T~, 1]", "f32[B, T~, 2]"}, {NUMBERS(1, 2, 4), NUMBERS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}, "%3 = reduce_max %1 {axes = [2]} : f32[B, T~, 1] %9 = dot %0, %3 {batch_a = [], batch_b = [], contract_a = [0], contract_b = [1]} : f32[1, B, 1]", .expected = NUMBERS(10, 62)},
    {{"bf16[2]", "bf16[2]"}, {NUMBERS(256, 1), NUMBERS(1, 1)}, "%9 = dot %0, %1 {dtype = f32, batch_a = [], batch_b = [], contract_a = [0], contract_b = [0]} : f32[]", .expected = NUMBERS(257)},
    /* by matrices that indices name; those outside give zeros, or add nothing */
    {{"f32[3, 2]", "f32[2, 2, 1]", "i32[3]"}, {NUMBERS(1, 2, 3, 4, 5, 6), NUMBERS(1, 10, 100, 1000), NUMBERS(1, 0, 2)}, "%9 = grouped_dot %0, %1, %2 {axis = 1} : f32[3, 1]", .expected = NUMBERS(2100, 43, 0)},
    {{"f32[3, 1]", "f32[2, 2, 1]", "i32[3]"}, {NUMBERS(1, 2, 3), NUMBERS(1, 10, 100, 1000), NUMBERS(1, 0, -1)}, "%9 = grouped_dot %0, %1, %2 {axis = 2} : f32[3, 2]", .expected = NUMBERS(100, 1000, 2, 20, 0, 0)},
    {{"f32[B, S~, 1, 1]", "f32[2, 1, 1]", "i32[B, S~, 2]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(1, 10), NUMBERS(0, 1, 1, 1, 0, 0, 5, 0)}, "%9 = grouped_dot %0, %1, %2 {axis = 1} : f32[B, S~, 2, 1]", .expected = NUMBERS(1, 10, 20, 20, 3, 3, 0, 4)},
    {{"f32[2, 1, 1, 1]", "f32[1, 1, 1]", "i32[2, 2, 1]"}, {NUMBERS(1, 2), NUMBERS(10), NUMBERS(0, 1, 0, 0)}, "%9 = grouped_dot %0, %1, %2 {axis = 1} : f32[2, 2, 1, 1]", .expected = NUMBERS(10, 0, 20, 20)},
    {{"bf16[1, 2]", "bf16[1, 2, 1]", "i32[1]"}, {NUMBERS(256, 1), NUMBERS(1, 1), NUMBERS(0)}, "%9 = grouped_dot %0, %1, %2 {axis = 1} : f32[1, 1]", .expected = NUMBERS(257)},
    {{"f32[1, 2]", "f32[1, 2, 1]", "i32[1]"}, {NUMBERS(127, 1), NUMBERS(127, 2), NUMBERS(0)}, "%9 = grouped_dot %0, %1, %2 {axis = 1, quant = \"int8\"} : f32[1, 1]", .expected = NUMBERS(16131)},
    {{"f32[3, 1]", "f32[3, 2]", "i32[3]"}, {NUMBERS(1, 2, 3), NUMBERS(1, 2, 3, 4, 5, 6), NUMBERS(2, 0, 2)}, "%9 = grouped_outer %0, %1, %2 {size = 3} : f32[3, 1, 2]", .expected = NUMBERS(6, 8, 0, 0, 16, 20)},
    {{"f32[B, S~, 1, 1]", "f32[B, S~, 2, 1]", "i32[B, S~, 2]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(1, 2, 3, 4, 5, 6, 7, 8), NUMBERS(0, 1, 1, 1, 0, 0, 5, 0)}, "%9 = grouped_outer %0, %1, %2 {size = 2} : f32[2, 1, 1]", .expected = NUMBERS(66, 16)},
    /* indices; those outside are rows of zeros, or none */
    {{"f32[2, 2]", "i32[3]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(1, -1, 0)}, "%9 = gather %0, %1 : f32[3, 2]", .expected = NUMBERS(3, 4, 0, 0, 1, 2)},
    {{"f32[3]", "i32[B, S~]"}, {NUMBERS(10, 20, 30), NUMBERS(2, 1, 0, 7)}, "%9 = gather %0, %1 : f32[B, S~]", .expected = NUMBERS(30, 20, 10, 0)},
    {{"f32[B, S~, 1]", "i32[B, S~]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(1, 1, 5, 0)}, "%9 = scatter_add %0, %1 {size = 2} : f32[2, 1]", .expected = NUMBERS(4, 3)},
    /* the sentences of S are 1, 2, 3 and 4; of T 1, 2 and 3, 4, 5 */
    {{"f32[B, S~, 1]", "i32[S~, 1]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(-1, 0, 1)}, "%9 = lookup %0, %1 {axis = 1} : f32[B, S~, 1]", .expected = NUMBERS(0, 1, 2, 0)},
    {{"f32[B, S~, 1]", "i32[B, T~, 1]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(2, 2, 0, 1, 0)}, "%9 = lookup %0, %1 {axis = 1} : f32[B, T~, 1]", .expected = NUMBERS(3, 3, 4, 0, 4)},
    {{"f32[B, S~]", "i32[B, 1]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(2, 0)}, "%9 = lookup %0, %1 {axis = 1} : f32[B, 1]", .expected = NUMBERS(3, 4)},
    {{"f32[2, 3]", "i32[2, 2]"}, {NUMBERS(1, 2, 3, 4, 5, 6), NUMBERS(0, 3, 2, 1)}, "%9 = lookup %0, %1 {axis = 1} : f32[2, 2]", .expected = NUMBERS(1, 0, 6, 5)},
    {{"f32[B, T~, 1]", "i32[B, T~, 1]"}, {NUMBERS(1, 2, 3, 4, 5), NUMBERS(2, 2, 0, 1, 0)}, "%9 = lookup_add %0, %1 {axis = 1, shape = [B, S~, 1]} : f32[B, S~, 1]", .expected = NUMBERS(0, 0, 3, 8)},
    {{"f32[2, 2]", "i32[2]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(1, 1)}, "%9 = lookup_add %0, %1 {axis = 1, shape = [2, 3]} : f32[2, 3]", .expected = NUMBERS(0, 3, 0, 0, 7, 0)},
    /* NaN is as inf, equal ones in their order, -1 past a row's elements */
    {{"f32[2, 4]"}, {NUMBERS(1, 5, NAN, 5, -I, 2, I, NAN)}, "%9 = top_k %0 {shape = [2, 3]} : i32[2, 3]", .expected = NUMBERS(2, 1, 3, 2, 3, 1)},
    {{"i32[5]"}, {NUMBERS(-3, INT32_MIN, 7, -3, 7)}, "%9 = top_k %0 {shape = [5]} : i32[5]", .expected = NUMBERS(2, 4, 0, 3, 1)},
    {{"f32[B, S~]"}, {NUMBERS(1, 2, 3, -I)}, "%9 = top_k %0 {shape = [B, 2]} : i32[B, 2]", .expected = NUMBERS(2, 1, 0, -1)},
    {{"f32[B, T~]"}, {NUMBERS(1, 2, 4, 3, 5)}, "%9 = top_k %0 {shape = [B, S~]} : i32[B, S~]", .expected = NUMBERS(1, 0, -1, 2)},
    {{"f32[B, Q~, 2]"}, {NUMBERS(-1, -2, -3, -4, -5, -6)}, "%1 = param {name = \"cache\"} : f32[B, P~, 2] %9 = append %1, %0 : f32[B, P~, 2]", .expected = NUMBERS(1, 2, 3, 4, -1, -2, -3, -4, -5, -6)},
    /* CTC: row 0 has two frames and the label 1, read by three paths; row 1 has no label, and three
     * blanks */
    {{"f64[B, T~, 2]", "i32[B, L~]"}, {NUMBERS(-1, -2, -3, -4, -1, 0, -2, 0, -3, 0), NUMBERS(1)}, "%9 = ctc %0, %1 : f64[B]", .expected = NUMBERS(4.138005195942, 6)},
    {{"f64[B, T~, 2]", "i32[B, S~]"}, {NUMBERS(-1, -2, -3, -4, -1, 0, -2, 0, -3, 0), NUMBERS(1, 1, 1, 1)}, "%9 = ctc %0, %1 : f64[B]", .expected = NUMBERS(I, -0.400457366136)},
    {{"f64[B, T~, 2]", "i32[B, L~]", "f64[B]"}, {NUMBERS(-1, -2, -3, -4, -1, 0, -2, 0, -3, 0), NUMBERS(1), NUMBERS(1, 2)}, "%9 = ctc_grad %0, %1, %2 : f64[B, T~, 2]", .expected = NUMBERS(-0.422318798252, -0.577681201748, -0.422318798252, -0.577681201748, -2, 0, -2, 0, -2, 0)},
    {{"f64[B, T~, 2]", "i32[B, S~]", "f64[B]"}, {NUMBERS(-1, -2, -3, -4, -1, 0, -2, 0, -3, 0), NUMBERS(1, 1, 1, 1), NUMBERS(1, 0)}, "%9 = ctc_grad %0, %1, %2 : f64[B, T~, 2]", .expected = NUMBERS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
    /* regions and effects */
    {{"f32[2, 3]"}, {NUMBERS(1, 2, 3, 4, 5, 6)}, "%8, %9 = row(%0) : f32[2, 3], f32[2, 1] { %4 = neg %0 : f32[2, 3] %5 = reduce_max %4 {axes = [1]} : f32[2, 1] yield %4, %5 }", .expected = NUMBERS(-1, -4)},
    {{"f32[2, 3]"}, {NUMBERS(1, 2, 3, 4, 5, 6)}, "%9 = column(%0) : f32[1, 3] { %5 = reduce_sum %0 {axes = [0]} : f32[1, 3] yield %5 }", .expected = NUMBERS(5, 7, 9)},
    {{"f32[1, 2, 2]", "f32[1, 2, 2]"}, {NUMBERS(1, 2, 3, 4), NUMBERS(1, 0, 0, 1)}, "%9 = attention(%0, %1) {before = -1, after = -1} : f32[1, 2, 2] { %4 = dot %0, %1 {batch_a = [0], batch_b = [0], contract_a = [2], contract_b = [2]} : f32[1, 2, 2] %5 = dot %4, %1 {batch_a = [0], batch_b = [0], contract_a = [2], contract_b = [1]} : f32[1, 2, 2] yield %5 }", .expected = NUMBERS(1, 2, 3, 4)},
    {{"f32[2]"}, {NUMBERS(1, 2)}, "%1 = param {name = \"w\"} : f32[2] %2 = neg %1 : f32[2] assign %1, %0 keep %2, %0 %9 = add %1, %0 : f32[2]", .expected = NUMBERS(1.5, 0)},
    /* random: below; here that it is there */
    {.body = "%1 = random {site = 5} : f32[3] %2 = floor %1 : f32[3] %9 = reduce_max %2 {axes = [0]} : f32[1]", .expected = NUMBERS(0)},
};
/* clang-format on */
enum { CASES = sizeof cases / sizeof cases[0] };

static void report(const OracleResult *r, const OracleCase *c)
{
    Text text = {0};
    diag_render(&r->diags, &text);
    print_error("%s\n%s", c->body, text.data ? text.data : "");
    text_free(&text);
}

static bool is_close(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-8 * fmax(1, fabs(b));
}

static void test_values(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        OracleResult r = case_run(&cases[k], DT_F64);
        if (!r.out)
            report(&r, &cases[k]);
        assert_non_null(r.out);
        bool same = r.out->count == cases[k].expected.n;
        for (int i = 0; same && i < r.out->count; i++)
            if (!is_close(r.out->data[i], cases[k].expected.x[i])) {
                print_error("element %d is %.10g\n", i, r.out->data[i]);
                same = false;
            }
        if (!same)
            report(&r, &cases[k]);
        assert_true(same);
        case_free(&r);
    }
}

static void mark_block(const Block *block, bool *seen)
{
    FOR_OPS (op, block) {
        seen[op->kind] = true;
        if (op->body)
            mark_block(op->body, seen);
    }
}

static void test_every_op_has_a_case(void **state)
{
    (void)state;
    bool seen[OP_COUNT] = {0};
    for (int k = 0; k < CASES; k++) {
        OracleResult r = case_run(&cases[k], DT_F64);
        mark_block(&module_function(r.module, "f")->body, seen);
        case_free(&r);
    }
    for (int op = 0; op < OP_COUNT; op++)
        if (!seen[op])
            fail_msg("%s has no case", op_info[op].name);
}

/* ---- bounds ---- */

typedef struct BoundCase {
    OracleCase of;
    DType compute;
    double least, most; /* the bound of element 0 is in between */
} BoundCase;

static const BoundCase bounds[] = {
    /* what is given, moved or picked is exact */
    {{{"f32[2]"}, {NUMBERS(0.1f, 2)}, .body = "%9 = flip %0 {axis = 0} : f32[2]"}, DT_F64, 0, 0},
    {{{"f32[2]"}, {NUMBERS(0.5, 2)}, .body = "%9 = relu %0 : f32[2]"}, DT_F64, 0, 0},
    /* so are whole numbers */
    {{{"f32[3]"}, {NUMBERS(1000, 2, 3)}, .body = "%9 = reduce_sum %0 {axes = [0]} : f32[1]"},
     DT_F64,
     0,
     0},
    {{{"f32[1]", "f32[1]"}, {NUMBERS(3), NUMBERS(0.25)}, .body = "%9 = mul %0, %1 : f32[1]"},
     DT_F64,
     0,
     0},
    /* one rounding, in the type of the result */
    {{{"f64[1]", "f64[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%9 = div %0, %1 : f64[1]"},
     DT_F64,
     0x1p-55,
     0x1p-54},
    {{{"f32[1]", "f32[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%9 = div %0, %1 : f32[1]"},
     DT_F64,
     0x1p-26,
     0x1p-25},
    {{{"bf16[1]", "bf16[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%9 = div %0, %1 : bf16[1]"},
     DT_F64,
     0x1p-10,
     0x1p-9},
    /* or in a coarser one, that of the program */
    {{{"f64[1]", "f64[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%9 = div %0, %1 : f64[1]"},
     DT_F32,
     0x1p-26,
     0x1p-25},
    {{{"f64[1]"}, {NUMBERS(0.1)}, .body = "%9 = neg %0 : f64[1]"},
     DT_F32,
     0.1 * 0x1p-25,
     0.1 * 0x1p-23},
    /* a sum of 3 in any order; of bf16 it is formed in f32 and rounded */
    {{{"f32[3]"}, {NUMBERS(0.5, 0.25, 0.125)}, .body = "%9 = reduce_sum %0 {axes = [0]} : f32[1]"},
     DT_F64,
     0x1p-24,
     0x1p-22},
    {{{"bf16[3]"},
      {NUMBERS(0.5, 0.25, 0.125)},
      .body = "%9 = reduce_sum %0 {axes = [0]} : bf16[1]"},
     DT_F64,
     0x1p-9,
     0x1p-7},
    {{{"bf16[2]", "bf16[2]"},
      {NUMBERS(0.5, 0.25), NUMBERS(0.5, 0.25)},
      .body =
          "%9 = dot %0, %1 {dtype = f32, batch_a = [], batch_b = [], contract_a = [0], contract_b = [0]} : f32[]"},
     DT_F64,
     0x1p-26,
     0x1p-23},
    /* cancellation: the error stays, the value goes */
    {{{"f32[1]", "f32[1]"},
      {NUMBERS(1), NUMBERS(3)},
      .body = "%2 = div %0, %1 : f32[1] %3 = mul %2, %1 : f32[1] %9 = sub %3, %0 : f32[1]"},
     DT_F64,
     0x1p-25,
     0x1p-22},
    /* a comparison of what rounding may order either way */
    /* clang-format off */
    {{{"f32[1]", "f32[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[1] %3 = mul %2, %1 : f32[1] %9 = lt %3, %0 : bool[1]"}, DT_F64, 1, 1},
    {{{"f32[1]", "f32[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[1] %9 = lt %2, %0 : bool[1]"}, DT_F64, 0, 0},
    /* and what is chosen by it: as far off as the choices are apart, or not at all */
    {{{"f32[1]", "f32[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[1] %3 = mul %2, %1 : f32[1] %4 = lt %3, %0 : bool[1] %9 = select %4, %0, %1 : f32[1]"}, DT_F64, 2, 2},
    {{{"f32[1]", "f32[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[1] %3 = mul %2, %1 : f32[1] %9 = max %3, %0 : f32[1]"}, DT_F64, 0x1p-26, 0x1p-22},
    {{{"f32[1]", "f32[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[1] %3 = mul %2, %1 : f32[1] %9 = floor %3 : f32[1]"}, DT_F64, 1, 1},
    {{{"f32[1]", "f32[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[1] %9 = floor %2 : f32[1]"}, DT_F64, 0, 0},
    /* the row of an index that may be another */
    {{{"f32[1]", "f32[1]"}, {NUMBERS(1), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[1] %3 = mul %2, %1 : f32[1] %4 = cast %3 {dtype = i32} : i32[1] %9 = gather %0, %4 : f32[1]"}, DT_F64, I, I},
    /* overflow, nothing divided by nothing, a zero whose sign is nobody's */
    {{{"f32[1]"}, {NUMBERS(100)}, .body = "%9 = exp %0 : f32[1]"}, DT_F64, I, I},
    {{{"f64[1]"}, {NUMBERS(0)}, .body = "%9 = div %0, %0 : f64[1]"}, DT_F64, I, I},
    {{{"f64[1]", "f64[1]"}, {NUMBERS(1), NUMBERS(0)}, .body = "%9 = div %0, %1 : f64[1]"}, DT_F64, I, I},
    {{{"f64[1]"}, {NUMBERS(-1)}, .body = "%9 = sqrt %0 : f64[1]"}, DT_F64, I, I},
    /* integers wrap around */
    {{{"i32[1]"}, {NUMBERS(2e9)}, .body = "%9 = add %0, %0 : i32[1]"}, DT_F64, 0, 0},
    {{{"i32[1]", "i32[]"}, {NUMBERS(2e9), NUMBERS(3)}, .body = "%9 = pow %0, %1 : i32[1]"}, DT_F64, 0, 0},
    {{{"i32[1]", "f32[1]", "f32[1]"}, {NUMBERS(2147483647), NUMBERS(1), NUMBERS(3)}, .body = "%3 = div %1, %2 : f32[1] %4 = mul %3, %2 : f32[1] %5 = cast %4 {dtype = i32} : i32[1] %9 = add %0, %5 : i32[1]"}, DT_F64, I, I},
    /* maxima of NaN are decided, sums are not */
    {{{"f32[2]"}, {NUMBERS(NAN, 0.3)}, .body = "%9 = reduce_max %0 {axes = [0]} : f32[1]"}, DT_F64, 0, 0},
    {{{"f32[2]"}, {NUMBERS(NAN, 0.3)}, .body = "%9 = softmax %0 : f32[2]"}, DT_F64, 0, 0},
    {{{"f32[2]"}, {NUMBERS(NAN, 0.3)}, .body = "%9 = reduce_sum %0 {axes = [0]} : f32[1]"}, DT_F64, I, I},
    /* masks: minus infinity is exact, and so is the zero that it leads to */
    {{{"f32[2]"}, {NUMBERS(-I, 0.3)}, .body = "%9 = softmax %0 : f32[2]"}, DT_F64, 0, 0},
    /* the greatest element is equal to itself, however it was rounded; two that may be are not */
    {{{"f32[2]", "f32[]"}, {NUMBERS(2, 1), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[2] %3 = reduce_max %2 {axes = [0]} : f32[1] %9 = eq %2, %3 : bool[2]"}, DT_F64, 0, 0},
    {{{"f32[2]", "f32[]"}, {NUMBERS(2, 2), NUMBERS(3)}, .body = "%2 = div %0, %1 : f32[2] %3 = reduce_max %2 {axes = [0]} : f32[1] %9 = eq %2, %3 : bool[2]"}, DT_F64, 1, 1},
};
/* clang-format on */

static void test_bounds(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++) {
        OracleResult r = case_run(&bounds[k].of, bounds[k].compute);
        bool right =
            r.out && r.out->error[0] >= bounds[k].least && r.out->error[0] <= bounds[k].most;
        if (!right) {
            report(&r, &bounds[k].of);
            print_error("bound %g, not from %g to %g\n", r.out ? r.out->error[0] : NAN,
                        bounds[k].least, bounds[k].most);
        }
        assert_true(right);
        case_free(&r);
    }
}

/* Where anything is right, the value is still that of exact arithmetic. */
static void test_values_where_anything_is_right(void **state)
{
    (void)state;
    const OracleCase c = {{"f32[3]", "f32[]"},
                          {NUMBERS(1, 2, 3), NUMBERS(1e38)},
                          .body = "%2 = mul %0, %1 : f32[3] %3 = mul %2, %1 : f32[3] "
                                  "%4 = div %3, %1 : f32[3] %5 = div %4, %1 : f32[3] "
                                  "%9 = logsumexp %5 : f32[1]"};
    OracleResult r = case_run(&c, DT_F64);
    assert_true(r.out && r.out->error[0] == INFINITY);
    assert_true(is_close(r.out->data[0], 3.4076059644443806));
    case_free(&r);
}

static void test_agreement(void **state)
{
    (void)state;
    double data[] = {1, I, 3, 4}, error[] = {0.5, 0, I, 0};
    bool exists[] = {true, true, true, false};
    const OracleTensor t = {.count = 4, .data = data, .error = error, .exists = exists};
    assert_true(oracle_agrees(&t, 0, 1.5) && oracle_agrees(&t, 0, 1));
    assert_false(oracle_agrees(&t, 0, 9) || oracle_agrees(&t, 0, NAN) || oracle_agrees(&t, 0, I));
    assert_true(oracle_agrees(&t, 1, I));
    assert_false(oracle_agrees(&t, 1, -I) || oracle_agrees(&t, 1, 1e300) ||
                 oracle_agrees(&t, 1, NAN));
    assert_true(oracle_agrees(&t, 2, NAN) && oracle_agrees(&t, 2, -5));
    assert_true(oracle_agrees(&t, 3, 77));
}

/* ---- random numbers, positions, effects, errors ---- */

static void test_random(void **state)
{
    (void)state;
    const OracleCase random = {.body = "%9 = random {site = 5} : f32[B, S~, 2]"};
    const OracleCase dropout = {{"f32[B, S~, 2]"},
                                {NUMBERS(1, 1, 1, 1, 1, 1, 1, 1)},
                                .body = "%9 = dropout %0 {rate = 0.5, site = 5} : f32[B, S~, 2]"};
    OracleResult a = case_run(&random, DT_F64), b = case_run(&dropout, DT_F64);
    assert_true(a.out && b.out && a.out->count == 8 && b.out->count == 8);
    uint32_t key[2] = {7, 0}, words[8];
    for (uint32_t group = 0; group < 2; group++)
        philox4x32((uint32_t[]){group, 0, 5, 3}, key, words + 4 * group);
    for (int i = 0; i < 8; i++) {
        assert_true(a.out->data[i] == (words[i] >> 8) * 0x1p-24);
        assert_true(b.out->data[i] == (words[i] >= 0x80000000 ? 2 : 0));
    }
    case_free(&a);
    case_free(&b);
}

static void test_positions_that_do_not_exist(void **state)
{
    (void)state;
    const OracleCase c = {.body = "%9 = const {value = 1} : f32[B, S~, T~]"};
    static const bool exists[] = {1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1};
    OracleResult r = case_run(&c, DT_F64);
    assert_true(r.out && r.out->count == 12);
    for (int i = 0; i < 12; i++)
        assert_int_equal(r.out->exists[i], exists[i]);
    assert_int_equal(oracle_count(r.module, &r.out->type, r.run.dims), 12);
    case_free(&r);
}

static void test_assigned(void **state)
{
    (void)state;
    const OracleCase c = {
        {"f32[B, Q~, 2]"},
        {NUMBERS(-1, -2, -3, -4, -5, -6)},
        .body = "%1 = param {name = \"w\"} : f32[2] %2 = neg %1 : f32[2] assign %1, %2 "
                "%3 = param {name = \"cache\"} : f32[B, P~, 2] "
                "%9 = append %3, %0 : f32[B, P~, 2]"};
    OracleResult r = case_run(&c, DT_F64);
    assert_true(r.out && r.run.assigned.count == 2);
    assert_string_equal(r.run.assigned.data[0].name, "w");
    assert_true(r.run.assigned.data[0].data[1] == 2);
    assert_string_equal(r.run.assigned.data[1].name, "cache");
    assert_true(r.run.assigned.data[1].data[4] == -1);
    case_free(&r);
}

static void expect_error(const OracleCase *c, const char *message)
{
    OracleResult r = case_run(c, DT_F64);
    assert_non_null(r.module);
    assert_null(r.out);
    assert_int_equal(r.diags.errors, 1);
    assert_string_equal(r.diags.list.data[0].message, message);
    case_free(&r);
}

static void test_errors(void **state)
{
    (void)state;
    expect_error(&(OracleCase){.body = "%9 = input {name = \"z\"} : f32[2]"},
                 "input \"z\" is not given");
    expect_error(
        &(OracleCase){{"f32[B, S~]"}, {NUMBERS(1, 2, 3)}, .body = "%9 = neg %0 : f32[B, S~]"},
        "input \"a\" has 4 elements, given 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_every_op_has_a_case),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_values_where_anything_is_right),
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_positions_that_do_not_exist),
        cmocka_unit_test(test_assigned),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
