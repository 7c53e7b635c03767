#include "document/number.h"

#include "shoal/document/scalar_text.h"

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
constexpr std::ptrdiff_t kMostDigits = 19;  // that always fit into 64 bits

/// The first 128 bits of 5^n, rounded down for n >= 0 and up below.
struct PowerOfFive {
    std::uint64_t high, low;
};
constexpr int kMostKnownPower = 32;
// clang-format off
constexpr PowerOfFive kPowersOfFive[] = {  // by n + kMostKnownPower
    {0xCFB11EAD453994BA, 0x67DE18EDA5814AF2},
    {0x81CEB32C4B43FCF4, 0x80EACF948770CED7},
    {0xA2425FF75E14FC31, 0xA1258379A94D028D},
    {0xCAD2F7F5359A3B3E, 0x096EE45813A04330},
    {0xFD87B5F28300CA0D, 0x8BCA9D6E188853FC},
    {0x9E74D1B791E07E48, 0x775EA264CF55347E},
    {0xC612062576589DDA, 0x95364AFE032A819E},
    {0xF79687AED3EEC551, 0x3A83DDBD83F52205},
    {0x9ABE14CD44753B52, 0xC4926A9672793543},
    {0xC16D9A0095928A27, 0x75B7053C0F178294},
    {0xF1C90080BAF72CB1, 0x5324C68B12DD6339},
    {0x971DA05074DA7BEE, 0xD3F6FC16EBCA5E04},
    {0xBCE5086492111AEA, 0x88F4BB1CA6BCF585},
    {0xEC1E4A7DB69561A5, 0x2B31E9E3D06C32E6},
    {0x9392EE8E921D5D07, 0x3AFF322E62439FD0},
    {0xB877AA3236A4B449, 0x09BEFEB9FAD487C3},
    {0xE69594BEC44DE15B, 0x4C2EBE687989A9B4},
    {0x901D7CF73AB0ACD9, 0x0F9D37014BF60A11},
    {0xB424DC35095CD80F, 0x538484C19EF38C95},
    {0xE12E13424BB40E13, 0x2865A5F206B06FBA},
    {0x8CBCCC096F5088CB, 0xF93F87B7442E45D4},
    {0xAFEBFF0BCB24AAFE, 0xF78F69A51539D749},
    {0xDBE6FECEBDEDD5BE, 0xB573440E5A884D1C},
    {0x89705F4136B4A597, 0x31680A88F8953031},
    {0xABCC77118461CEFC, 0xFDC20D2B36BA7C3E},
    {0xD6BF94D5E57A42BC, 0x3D32907604691B4D},
    {0x8637BD05AF6C69B5, 0xA63F9A49C2C1B110},
    {0xA7C5AC471B478423, 0x0FCF80DC33721D54},
    {0xD1B71758E219652B, 0xD3C36113404EA4A9},
    {0x83126E978D4FDF3B, 0x645A1CAC083126EA},
    {0xA3D70A3D70A3D70A, 0x3D70A3D70A3D70A4},
    {0xCCCCCCCCCCCCCCCC, 0xCCCCCCCCCCCCCCCD},
    {0x8000000000000000, 0x0000000000000000},
    {0xA000000000000000, 0x0000000000000000},
    {0xC800000000000000, 0x0000000000000000},
    {0xFA00000000000000, 0x0000000000000000},
    {0x9C40000000000000, 0x0000000000000000},
    {0xC350000000000000, 0x0000000000000000},
    {0xF424000000000000, 0x0000000000000000},
    {0x9896800000000000, 0x0000000000000000},
    {0xBEBC200000000000, 0x0000000000000000},
    {0xEE6B280000000000, 0x0000000000000000},
    {0x9502F90000000000, 0x0000000000000000},
    {0xBA43B74000000000, 0x0000000000000000},
    {0xE8D4A51000000000, 0x0000000000000000},
    {0x9184E72A00000000, 0x0000000000000000},
    {0xB5E620F480000000, 0x0000000000000000},
    {0xE35FA931A0000000, 0x0000000000000000},
    {0x8E1BC9BF04000000, 0x0000000000000000},
    {0xB1A2BC2EC5000000, 0x0000000000000000},
    {0xDE0B6B3A76400000, 0x0000000000000000},
    {0x8AC7230489E80000, 0x0000000000000000},
    {0xAD78EBC5AC620000, 0x0000000000000000},
    {0xD8D726B7177A8000, 0x0000000000000000},
    {0x878678326EAC9000, 0x0000000000000000},
    {0xA968163F0A57B400, 0x0000000000000000},
    {0xD3C21BCECCEDA100, 0x0000000000000000},
    {0x84595161401484A0, 0x0000000000000000},
    {0xA56FA5B99019A5C8, 0x0000000000000000},
    {0xCECB8F27F4200F3A, 0x0000000000000000},
    {0x813F3978F8940984, 0x4000000000000000},
    {0xA18F07D736B90BE5, 0x5000000000000000},
    {0xC9F2C9CD04674EDE, 0xA400000000000000},
    {0xFC6F7C4045812296, 0x4D00000000000000},
    {0x9DC5ADA82B70B59D, 0xF020000000000000},
};
// clang-format on

/// Appends the digits at `p` to `value` (modulo 2^64). Returns the end of the digits.
const char* read_digits(const char* p, const char* end, std::uint64_t& value) {
    if constexpr (std::endian::native == std::endian::little) {
        // Eight digits at once: in pairs, then fours, then all. Source: Lemire, "Quickly parsing eight digits", 2018.
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

/// Reads the digits of an exponent. Larger exponents than a million are not told apart.
const char* read_exponent(const char* p, const char* end, std::int64_t& exponent) {
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    int value = 0;
    for (; p < end && is_digit(*p); ++p)
        if (value < 1'000'000) value = value * 10 + (*p - '0');
    exponent += negative ? -value : value;
    return p;
}

/// Returns whether a number outside of the range of doubles is too large rather than too small. `power` is the exponent
/// of ten after its last digit.
bool is_too_large(const char* digits, const char* digits_end, std::int64_t power) {
    while (digits < digits_end && (*digits == '0' || *digits == '.')) ++digits;
    std::int64_t num_digits = 0;
    for (; digits < digits_end; ++digits) num_digits += *digits != '.';
    return num_digits + power > 0;
}

#ifdef __SIZEOF_INT128__
/// Rounds mantissa x 10^exponent to the nearest double. Returns false in the rare cases that need more digits of the power,
/// and for powers that are not known. Source: Lemire, "Number parsing at a gigabyte per second", 2021.
bool round_to_double(std::uint64_t mantissa, std::int64_t exponent, double& value) {
    using Wide = unsigned __int128;
    if (mantissa == 0 || exponent < -kMostKnownPower || exponent > kMostKnownPower) return false;
    constexpr int kMantissaBits = 52, kBias = 1023;
    const int num_zeros = std::countl_zero(mantissa);
    const std::uint64_t shifted = mantissa << num_zeros;
    const PowerOfFive power = kPowersOfFive[exponent + kMostKnownPower];
    Wide product = Wide(shifted) * power.high;
    constexpr std::uint64_t kLowBits = ~std::uint64_t(0) >> (kMantissaBits + 3);
    if ((static_cast<std::uint64_t>(product >> 64) & kLowBits) == kLowBits)
        product += (Wide(shifted) * power.low) >> 64;
    auto high = static_cast<std::uint64_t>(product >> 64);
    const auto low = static_cast<std::uint64_t>(product);
    if (low == ~std::uint64_t(0) && (exponent < -27 || exponent > 55)) return false;
    const int upper_bit = static_cast<int>(high >> 63), shift = upper_bit + 64 - kMantissaBits - 3;
    // 217706 / 2^16 is log2(10).
    const int power_of_two = static_cast<int>((217706 * exponent) >> 16) + 63 + upper_bit - num_zeros +
                             kBias;  // of a normal double: |n| is small
    std::uint64_t bits = high >> shift;
    const bool is_halfway = low <= 1 && exponent >= -4 && exponent <= 23 && (bits & 3) == 1 && (bits << shift) == high;
    if (is_halfway) bits &= ~std::uint64_t(1);  // to even
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
    const char* begin;       // of the sign
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
        // Both factors are exact, so the result is rounded once and correctly.
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
