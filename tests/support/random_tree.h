#pragma once
// Makes random trees.

#include "shoal/base/random.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"

#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

namespace shoal_test {

/// Appends a code point as UTF-8.
inline void append_code_point(std::string& text, std::uint32_t c) {
    if (c < 0x80) {
        text += static_cast<char>(c);
    } else if (c < 0x800) {
        text += static_cast<char>(0xC0 | c >> 6);
        text += static_cast<char>(0x80 | (c & 63));
    } else if (c < 0x10000) {
        text += static_cast<char>(0xE0 | c >> 12);
        text += static_cast<char>(0x80 | (c >> 6 & 63));
        text += static_cast<char>(0x80 | (c & 63));
    } else {
        text += static_cast<char>(0xF0 | c >> 18);
        text += static_cast<char>(0x80 | (c >> 12 & 63));
        text += static_cast<char>(0x80 | (c >> 6 & 63));
        text += static_cast<char>(0x80 | (c & 63));
    }
}

/// Builds a random tree with all kinds of nodes, and with awkward numbers, keys and texts.
class RandomTree {
public:
    explicit RandomTree(std::uint64_t seed) : random_(seed) {}

    shoal::Document make() {
        shoal::DocumentBuilder builder;
        build(builder);
        return builder.finish();
    }
    void build(shoal::DocumentBuilder& builder) {
        budget_ = 1 + random_.below(120);
        add_value(builder, 0);
    }

    std::string text() {
        constexpr std::string_view kPieces[] = {"\"", "\"\"", "\\", "\n", "\r\n", "\t",   "/",    "//",   "/*",  "=",
                                                "{",  "]",    " ",  "a",  "word", "\x01", "\x1F", "\x7F", "\\u", "'"};
        std::string text;
        for (std::uint32_t i = random_.below(6); i > 0; --i) {
            const std::uint32_t choice = random_.below(30);
            if (choice < std::size(kPieces))
                text += kPieces[choice];
            else
                append_code_point(text, code_point());
        }
        return text;
    }

    double number() {
        if (random_.below(2) == 0) return (static_cast<double>(random_.below(20001)) - 10000) / 100;
        for (;;) {
            const double value = std::bit_cast<double>(random_.next());
            if (std::isfinite(value)) return value;
        }
    }

    shoal::Random& random() { return random_; }

private:
    std::uint32_t code_point() {
        for (;;) {
            const std::uint32_t bound = random_.below(2) == 0 ? 0x800 : 0x110000;
            const std::uint32_t c = 1 + random_.below(bound - 1);
            if (c < 0xD800 || c > 0xDFFF) return c;
        }
    }

    void add_value(shoal::DocumentBuilder& builder, int depth) {
        if (budget_ > 0) --budget_;
        const std::uint32_t num_kinds = depth < 12 && budget_ > 0 ? 8 : 6;
        switch (random_.below(num_kinds)) {
            case 0:
                return builder.null();
            case 1:
                return builder.boolean(random_.below(2) == 0);
            case 2:
                return builder.integer(static_cast<std::int64_t>(random_.next() >> random_.below(64)) *
                                       (random_.below(2) == 0 ? 1 : -1));
            case 3:
                return builder.unsigned_integer(random_.next());
            case 4:
                return builder.number(random_.below(10) == 0 ? -0.0 : number());
            case 5:
                return builder.string(text());
            case 6:
                return add_list(builder, depth);
            default:
                return add_mapping(builder, depth);
        }
    }

    void add_list(shoal::DocumentBuilder& builder, int depth) {
        builder.begin_list();
        const bool is_numeric = random_.below(3) == 0;
        for (std::uint32_t i = random_.below(is_numeric ? 20 : 6); i > 0; --i) {
            if (is_numeric)
                builder.number(number());
            else
                add_value(builder, depth + 1);
        }
        builder.end();
    }

    void add_mapping(shoal::DocumentBuilder& builder, int depth) {
        builder.begin_mapping();
        std::set<std::string> keys;
        for (std::uint32_t i = random_.below(random_.below(20) == 0 ? 60 : 6); i > 0; --i) {
            const std::string key = random_.below(2) == 0 ? text() : shoal::concat("key", random_.below(1000));
            if (!keys.insert(key).second) continue;
            builder.key(key);
            add_value(builder, depth + 1);
        }
        builder.end();
    }

    shoal::Random random_;
    std::uint32_t budget_ = 0;
};

}  // namespace shoal_test
