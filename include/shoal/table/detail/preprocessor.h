#pragma once
// The preprocessor macros behind SHOAL_COMPONENT and SHOAL_ENUM: a loop over arguments and a test for parentheses.
//
//     SHOAL_PP_FOR_EACH(F, a, (b, 1))     ->  F(a) F((b, 1))         up to 81 elements
//     SHOAL_PP_SPREAD(F, a)               ->  F(a)
//     SHOAL_PP_SPREAD(F, (b, 1))          ->  F(b, 1)
//
// Source: the loop is the __VA_OPT__ technique from D. Mazières, "Recursive macros with C++20 __VA_OPT__", 2021.

// Makes compilers report an error in a declaration once, not for each of a hundred nested macros.
#pragma GCC system_header

#define SHOAL_PP_PARENS ()
#define SHOAL_PP_EXPAND(...) SHOAL_PP_EXPAND3(SHOAL_PP_EXPAND3(SHOAL_PP_EXPAND3(__VA_ARGS__)))
#define SHOAL_PP_EXPAND3(...) SHOAL_PP_EXPAND2(SHOAL_PP_EXPAND2(SHOAL_PP_EXPAND2(__VA_ARGS__)))
#define SHOAL_PP_EXPAND2(...) SHOAL_PP_EXPAND1(SHOAL_PP_EXPAND1(SHOAL_PP_EXPAND1(__VA_ARGS__)))
#define SHOAL_PP_EXPAND1(...) SHOAL_PP_EXPAND0(SHOAL_PP_EXPAND0(SHOAL_PP_EXPAND0(__VA_ARGS__)))
#define SHOAL_PP_EXPAND0(...) __VA_ARGS__
#define SHOAL_PP_FOR_EACH(macro, ...) __VA_OPT__(SHOAL_PP_EXPAND(SHOAL_PP_STEP(macro, __VA_ARGS__)))
#define SHOAL_PP_STEP(macro, element, ...) macro(element) __VA_OPT__(SHOAL_PP_AGAIN SHOAL_PP_PARENS(macro, __VA_ARGS__))
#define SHOAL_PP_AGAIN() SHOAL_PP_STEP

#define SHOAL_PP_PROBE(...) ~, 1
#define SHOAL_PP_SECOND(first, second, ...) second
#define SHOAL_PP_IS_TUPLE(x) SHOAL_PP_IS_TUPLE_(SHOAL_PP_PROBE x, 0)
#define SHOAL_PP_IS_TUPLE_(...) SHOAL_PP_SECOND(__VA_ARGS__, 0, 0)
#define SHOAL_PP_JOIN(a, b) SHOAL_PP_JOIN_(a, b)
#define SHOAL_PP_JOIN_(a, b) a##b
/// Calls `macro` with the elements of the tuple x, or with x itself if it is not in parentheses.
#define SHOAL_PP_SPREAD(macro, x) SHOAL_PP_JOIN(SHOAL_PP_SPREAD_, SHOAL_PP_IS_TUPLE(x))(macro, x)
#define SHOAL_PP_SPREAD_0(macro, x) macro(x)
#define SHOAL_PP_SPREAD_1(macro, x) macro x
