// fmt's functions, as a part of this library: what libfmt.so makes of a text lies in the program's heap, for
// it has libstdc++'s operator new. How many texts there are may differ between a rank and its replacement (of
// two ranks that have made a mistake, which comes first?), and so would the addresses of what the program
// takes next.

#include <fmt/format-inl.h>

template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
