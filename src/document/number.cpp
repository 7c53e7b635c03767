#include "shoal/document/detail/number.h"

#include "shoal/document/detail/scalar_text.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

namespace shoal {
namespace {

constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kMostExactPower = 22;
constexpr std::uint64_t kMostExactMantissa = std::uint64_t(1) << 53;
constexpr std::ptrdiff_t kMostDigits = 19;  // numbers with this many digits fit into 64 bits

/// Appends the digits at `p` to `value` (modulo 2^64). Returns the position after the digits.
const char* read_digits(const char* p, const char* end, std::uint64_t& value) {
    if constexpr (std::endian::native == std::endian::little) {
        // Combines eight digits at once: into pairs, then fours, then all eight. Source: Lemire, "Quickly parsing eight
        // digits", 2018.
        for (std::uint64_t word; end - p >= 8; p += 8) {
            std::memcpy(&word, p, 8);
            if ((((word + 0x4646464646464646) | (word - 0x3030303030303030)) & 0x8080808080808080) != 0) break;
            word -= 0x3030303030303030;
            word = word * 10 + (word >> 8);
            word = ((word & 0x000000FF000000FF) * 0x000F424000000064 +
                    ((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >>
                   32;
            value = value * 100'000'000 + word;
        }
    }
    for (; p < end && is_digit(*p); ++p) value = value * 10 + static_cast<std::uint64_t>(*p - '0');
    return p;
}

/// Reads the digits of an exponent. Exponents above a million are treated as equal.
const char* read_exponent(const char* p, const char* end, std::int64_t& exponent) {
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    int value = 0;
    for (; p < end && is_digit(*p); ++p)
        if (value < 1'000'000) value = value * 10 + (*p - '0');
    exponent += negative ? -value : value;
    return p;
}

/// Returns whether a number outside the range of doubles is too large, rather than too small. `power` is the power of
/// ten of its last digit.
bool is_too_large(const char* digits, const char* digits_end, std::int64_t power) {
    while (digits < digits_end && (*digits == '0' || *digits == '.')) ++digits;
    std::int64_t num_digits = 0;
    for (; digits < digits_end; ++digits) num_digits += *digits != '.';
    return num_digits + power > 0;
}

#ifdef __SIZEOF_INT128__
using Wide = unsigned __int128;
constexpr int kMostKnownPower = 32;

/// Returns the first 128 bits of 5^n, rounded for round_to_double(): up if n < 0 and 5^-n fits into 64 bits, otherwise
/// down.
/// Requires: |n| <= kMostKnownPower.
constexpr Wide first_bits_of_power_of_five(int n) {
    Wide power = 1, quotient = 0, rest = 1;
    for (int i = 0; i < (n < 0 ? -n : n); ++i) power *= 5;
    int num_zeros = 0;
    for (Wide bits = power; bits >> 127 == 0; bits <<= 1) ++num_zeros;
    if (n >= 0) return power << num_zeros;
    for (int i = 0; i < 127 + 128 - num_zeros; ++i) {  // divides a power of two by 5^-n, bit by bit
        rest <<= 1;
        quotient = quotient << 1 | (rest >= power ? 1 : 0);
        if (rest >= power) rest -= power;
    }
    return quotient + (n >= -27 ? 1 : 0);
}

struct PowersOfFive {
    constexpr PowersOfFive() {
        for (int n = -kMostKnownPower; n <= kMostKnownPower; ++n)
            bits[n + kMostKnownPower] = first_bits_of_power_of_five(n);
    }
    Wide bits[2 * kMostKnownPower + 1]{};
};
constexpr PowersOfFive kPowersOfFive;

/// Rounds mantissa x 10^exponent to the nearest double. Returns false in the rare cases that need more bits of the
/// power, and for powers outside the table. Source: Lemire, "Number parsing at a gigabyte per second", 2021.
bool round_to_double(std::uint64_t mantissa, std::int64_t exponent, double& value) {
    if (mantissa == 0 || exponent < -kMostKnownPower || exponent > kMostKnownPower) return false;
    constexpr int kMantissaBits = 52, kBias = 1023;
    const int num_zeros = std::countl_zero(mantissa);
    const std::uint64_t shifted = mantissa << num_zeros;
    const Wide power = kPowersOfFive.bits[exponent + kMostKnownPower];
    Wide product = shifted * (power >> 64);
    constexpr std::uint64_t kLowBits = ~std::uint64_t(0) >> (kMantissaBits + 3);
    if ((static_cast<std::uint64_t>(product >> 64) & kLowBits) == kLowBits)
        product += (Wide(shifted) * static_cast<std::uint64_t>(power)) >> 64;
    auto high = static_cast<std::uint64_t>(product >> 64);
    const auto low = static_cast<std::uint64_t>(product);
    if (low == ~std::uint64_t(0) && (exponent < -27 || exponent > 55)) return false;
    const int upper_bit = static_cast<int>(high >> 63), shift = upper_bit + 64 - kMantissaBits - 3;
    // 217706 / 2^16 is log2(10).
    const int power_of_two = static_cast<int>((217706 * exponent) >> 16) + 63 + upper_bit - num_zeros +
                             kBias;  // never a subnormal, because |exponent| is small
    std::uint64_t bits = high >> shift;
    const bool is_halfway = low <= 1 && exponent >= -4 && exponent <= 23 && (bits & 3) == 1 && (bits << shift) == high;
    if (is_halfway) bits &= ~std::uint64_t(1);  // rounds to even
    bits = (bits + (bits & 1)) >> 1;
    const bool carries = bits >= std::uint64_t(2) << kMantissaBits;
    bits = carries ? std::uint64_t(1) << kMantissaBits : bits;
    const auto biased = static_cast<std::uint64_t>(power_of_two + (carries ? 1 : 0));
    value = std::bit_cast<double>((bits & ~(std::uint64_t(1) << kMantissaBits)) | biased << kMantissaBits);
    return true;
}
#else
bool round_to_double(std::uint64_t, std::int64_t, double&) { return false; }
#endif

struct Decimal {
    const char* begin;       // the start, including the sign
    const char* digits;      // the first digit
    const char* digits_end;  // after the last digit of the mantissa
    std::uint64_t mantissa;  // valid if `fits`
    bool fits;
    bool negative;
    std::int64_t exponent;
};

ParsedNumber to_double(const Decimal& d, const char* end) {
    ParsedNumber parsed{NumberForm::kDouble, end, {}};
    if (d.fits && d.mantissa < kMostExactMantissa && d.exponent >= -kMostExactPower && d.exponent <= kMostExactPower) {
        // Both factors are exact, so the result is rounded correctly.
        const double m = static_cast<double>(d.mantissa);
        const double value = d.exponent < 0 ? m / kPowersOfTen[-d.exponent] : m * kPowersOfTen[d.exponent];
        parsed.number = d.negative ? -value : value;
        return parsed;
    }
    if (d.fits && round_to_double(d.mantissa, d.exponent, parsed.number)) {
        if (d.negative) parsed.number = -parsed.number;
        return parsed;
    }
    const auto result = std::from_chars(d.begin, end, parsed.number);
    if (result.ec == std::errc::result_out_of_range) {
        parsed.number = d.negative ? -0.0 : 0.0;
        if (is_too_large(d.digits, d.digits_end, d.exponent)) parsed.form = NumberForm::kTooLarge;
    }
    return parsed;
}

ParsedNumber to_integer(const Decimal& d, const char* end) {
    constexpr std::uint64_t kMostPositive = std::numeric_limits<std::int64_t>::max();
    ParsedNumber parsed{NumberForm::kInteger, end, {}};
    if (d.mantissa <= kMostPositive + (d.negative ? 1 : 0)) {
        parsed.integer = static_cast<std::int64_t>(d.negative ? 0 - d.mantissa : d.mantissa);
        return parsed;
    }
    if (d.negative) return to_double({d.begin, d.digits, d.digits_end, 0, false, true, 0}, end);
    parsed.form = NumberForm::kLargeInteger;
    parsed.large_integer = d.mantissa;
    return parsed;
}

}  // namespace

ParsedNumber parse_number(const char* begin, const char* end) {
    const char* p = begin;
    const bool negative = p < end && *p == '-';
    if (negative) ++p;
    Decimal d{begin, p, p, 0, true, negative, 0};
    if (p == end || !is_digit(*p)) return {NumberForm::kMalformed, p, {}};
    p = d.digits_end = read_digits(p, end, d.mantissa);
    if (*d.digits == '0' && p - d.digits > 1) return {NumberForm::kMalformed, p, {}};

    bool is_integer = true;
    if (p < end && *p == '.') {
        is_integer = false;
        const char* const fraction = p + 1;
        p = d.digits_end = read_digits(fraction, end, d.mantissa);
        if (p == fraction) return {NumberForm::kMalformed, p, {}};
        d.exponent = fraction - p;
    }
    const std::ptrdiff_t num_digits = d.digits_end - d.digits - (is_integer ? 0 : 1);
    d.fits = num_digits <= kMostDigits;
    if (p < end && (*p == 'e' || *p == 'E')) {
        is_integer = false;
        const char* const digit = p + 1 < end && (p[1] == '-' || p[1] == '+') ? p + 2 : p + 1;
        if (digit >= end || !is_digit(*digit)) return {NumberForm::kMalformed, p, {}};
        p = read_exponent(p + 1, end, d.exponent);
    }
    if (!is_integer) return to_double(d, p);
    if (d.fits) return to_integer(d, p);
    // Twenty digits may still fit into 64 bits.
    std::uint64_t value = 0;
    const auto result = std::from_chars(d.digits, p, value);
    if (result.ec != std::errc()) return to_double(d, p);
    d.mantissa = value;
    return to_integer(d, p);
}

}  // namespace shoal
