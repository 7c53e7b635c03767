#include "shoal/base/text.h"

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/lines.h"
#include "shoal/base/detail/string_table.h"
#include "shoal/base/log.h"
#include "shoal/base/math.h"
#include "shoal/base/string_id.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace shoal {
namespace {

using shoal_test::LeakCheck;

TEST(Lines, are_taken_off_a_text_one_after_the_other_with_or_without_an_end_of_the_last) {
    const auto lines_of = [](std::string_view text) {
        std::vector<std::string_view> lines;
        while (!text.empty()) lines.push_back(take_line(text));
        return lines;
    };
    using Lines = std::vector<std::string_view>;
    EXPECT_EQ(lines_of(""), Lines());
    EXPECT_EQ(lines_of("one"), Lines({"one"}));
    EXPECT_EQ(lines_of("one\ntwo"), Lines({"one", "two"}));
    EXPECT_EQ(lines_of("one\n\ntwo\n"), Lines({"one", "", "two"}));
    EXPECT_EQ(lines_of("\n"), Lines({""}));
}

TEST(Text, concat_joins_texts_characters_truths_and_numbers) {
    EXPECT_EQ(concat(), "");
    EXPECT_EQ(concat("a", std::string("b"), std::string_view("cd", 1), 'd', true, false), "abcdtruefalse");
    EXPECT_EQ(concat(std::int8_t(-5), ' ', std::uint8_t(200), ' ', 1.5f, ' ', 0.1), "-5 200 1.5 0.1");
    EXPECT_EQ(concat(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(concat(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(Text, a_number_is_the_shortest_text_that_reads_back_the_same) {
    EXPECT_EQ(concat(0.1f), "0.1");
    EXPECT_EQ(concat(1e30f), "1e+30");
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    for (int i = 0; i < 10000; ++i) {
        double number;
        const std::uint64_t bits = random.next();
        std::memcpy(&number, &bits, sizeof number);
        if (std::isnan(number)) continue;
        ASSERT_EQ(std::strtod(concat(number).c_str(), nullptr), number);
    }
}

TEST(Text, hex_is_padded_and_cut_to_its_digits) {
    std::string text;
    append_hex(text, 0xBEEF);
    append_hex(text, 0xBEEF, 4);
    append_hex(text, 0x1, 2);
    EXPECT_EQ(text, "0x000000000000beef0xbeef0x01");
}

int closest(std::string_view text, const std::vector<std::string_view>& candidates) {
    return closest_text(text, candidates.data(), candidates.size());
}

TEST(Text, the_closest_text_is_the_one_with_the_fewest_edits) {
    EXPECT_EQ(closest("postion", {"rotation", "position", "portion"}), 1);
    EXPECT_EQ(closest("scale", {"scale", "scales"}), 0);
    EXPECT_EQ(closest("mas", {"acceleration", "mass"}), 1);
    EXPECT_EQ(closest("abcdef", {"abcxyz"}), 0) << "three edits";
    EXPECT_EQ(closest("mast", {"body", "mask", "mass"}), 1) << "the first of those that are equally close";
}

TEST(Text, nothing_is_close_to_another_word) {
    EXPECT_EQ(closest("velocity", {"mass", "position"}), -1);
    EXPECT_EQ(closest("abcdef", {"abwxyz"}), -1) << "four edits";
    EXPECT_EQ(closest("velocity", {}), -1);
    EXPECT_EQ(closest("", {"position"}), -1);
    const std::string longest(64, 'a'), longer(65, 'a');
    EXPECT_EQ(closest(longest, {longer, longest}), 1);
    EXPECT_EQ(closest(longer, {longer, longest}), -1);
    const std::string endless(1000000, 'a');
    EXPECT_EQ(closest(endless, {endless, "mass"}), -1) << "the cost of a hint is bounded";
}

/// Decodes one code point in the plainest way. Returns the number of bytes, or 0 if it is malformed.
std::size_t decode(const unsigned char* p, std::size_t num_left) {
    static constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    std::size_t num_bytes = 0;
    std::uint32_t code = 0;
    if (p[0] < 0x80) return 1;
    if ((p[0] & 0xE0) == 0xC0) num_bytes = 2, code = p[0] & 0x1F;
    if ((p[0] & 0xF0) == 0xE0) num_bytes = 3, code = p[0] & 0x0F;
    if ((p[0] & 0xF8) == 0xF0) num_bytes = 4, code = p[0] & 0x07;
    if (num_bytes == 0 || num_bytes > num_left) return 0;
    for (std::size_t i = 1; i < num_bytes; ++i) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (p[i] & 0x3F);
    }
    if (code < kSmallest[num_bytes] || code > 0x10FFFF) return 0;
    return code >= 0xD800 && code <= 0xDFFF ? 0 : num_bytes;
}

bool naive_is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t num_bytes = decode(reinterpret_cast<const unsigned char*>(text.data()) + i, text.size() - i);
        if (num_bytes == 0) return false;
        i += num_bytes;
    }
    return true;
}

TEST(Utf8, agrees_with_a_decoder_on_every_text_of_three_bytes_at_the_edges) {
    static constexpr unsigned char kEdges[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0,
                                               0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0,
                                               0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFC, 0xFE, 0xFF};
    int num_good = 0;
    for (unsigned a : kEdges)
        for (unsigned b : kEdges)
            for (unsigned c : kEdges)
                for (unsigned d : kEdges) {
                    const char text[] = {char(a), char(b), char(c), char(d)};
                    for (std::size_t length = 0; length <= 4; ++length) {
                        const std::string_view part(text, length);
                        ASSERT_EQ(is_utf8(part), naive_is_utf8(part)) << a << ' ' << b << ' ' << c << ' ' << d;
                        num_good += naive_is_utf8(part);
                    }
                }
    EXPECT_GT(num_good, 1000);
}

TEST(Utf8, agrees_with_a_decoder_on_random_bytes) {
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    const std::string parts[] = {"a",        "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x90\x9F", "\xED\xA0\x80",
                                 "\xC0\xAF", "\x80"};
    for (std::int64_t i = shoal_test::scaled_operations(200000); i > 0; --i) {
        std::string text;
        for (std::uint32_t n = random.below(8); n > 0; --n) text += parts[random.below(random.below(4) == 0 ? 7 : 4)];
        if (random.below(4) == 0 && !text.empty()) text.pop_back();
        ASSERT_EQ(is_utf8(text), naive_is_utf8(text));
    }
}

// The published values of XXH3-64, on which file formats depend.
TEST(StringId, is_the_xxh3_hash_of_the_text) {
    EXPECT_EQ(hash_text(""), 0x2D06800538D394C2ull);
    EXPECT_EQ(hash_text("a"), 0xE6C632B61E964E1Full);
    EXPECT_EQ(hash_text("abc"), 0x78AF5F94892F3950ull);
    EXPECT_EQ(StringId("abc").hash, hash_text("abc"));
    EXPECT_EQ(ResourceId("abc").hash, hash_text("abc"));
    EXPECT_EQ(hash_bytes("abc", 3), hash_text("abc"));
    EXPECT_NE(hash_bytes("abc", 3, 1), hash_text("abc"));
}

TEST(StringId, the_empty_text_is_the_null_id) {
    EXPECT_FALSE(StringId(""));
    EXPECT_FALSE(ResourceId(""));
    EXPECT_EQ(StringId(""), StringId());
    EXPECT_TRUE(StringId("a"));
}

TEST(StringTable, an_id_that_was_never_kept_has_no_text) {
    const LeakCheck leaks;
    StringTable table;
    EXPECT_EQ(table.text(StringId("reef")), "");
    EXPECT_EQ(table.text(StringId()), "");
    EXPECT_EQ(*table.intern(""), StringId());
    EXPECT_EQ(table.size(), 0u);
}

TEST(StringTable, keeps_each_text_once_where_it_is) {
    const LeakCheck leaks;
    StringTable table;
    const StringId reef = *table.intern("reef");
    const char* const place = table.text(reef).data();
    EXPECT_EQ(*table.intern("reef"), reef);
    for (int i = 0; i < 100000; ++i) ASSERT_TRUE(table.intern(concat("fish ", i)));
    EXPECT_EQ(table.text(reef).data(), place);
    EXPECT_EQ(table.text(reef), "reef");
    EXPECT_EQ(table.size(), 100001u);
}

TEST(StringTable, a_text_that_is_not_utf8_is_refused_and_shown_with_escapes) {
    StringTable table;
    EXPECT_EQ(table.intern("a\xff\xC3\xA9\xC3").message(),
              "the text \"a\\xFF\xC3\xA9\\xC3\" is not valid UTF-8; convert it to UTF-8 first");
    const std::string longer = std::string(70, 'a') + "\xff";
    EXPECT_EQ(table.intern(longer).message(),
              "the text \"" + std::string(64, 'a') + "...\" is not valid UTF-8; convert it to UTF-8 first");
    EXPECT_EQ(table.size(), 0u);
    EXPECT_EQ(table.text(StringId("a\xff")), "");
    EXPECT_TRUE(table.intern("caf\xC3\xA9").ok());
}

/// Counts messages, and throws each.
void throw_message(void* context, LogLevel, std::string_view message) {
    ++*static_cast<int*>(context);
    throw std::string(message);
}

TEST(Log, a_hook_that_throws_gets_the_next_message_too) {
    int num_messages = 0;
    set_log_hook(&throw_message, &num_messages);
    for (int i = 0; i < 3; ++i) EXPECT_THROW(log(LogLevel::kNote, "said"), std::string);
    set_log_hook(nullptr, nullptr);
    EXPECT_EQ(num_messages, 3);
}

TEST(StringTable, agrees_with_a_map_under_random_texts) {
    const LeakCheck leaks;
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    StringTable table;
    std::unordered_map<std::string, StringId> model;
    for (std::int64_t i = shoal_test::scaled_operations(200000); i > 0; --i) {
        // Now and then a long text.
        const std::size_t length = random.below(1000) == 0 ? 20000 + random.below(40000) : random.below(12);
        std::string text(length, 'a');
        for (std::size_t c = 0; c < length && c < 4; ++c) text[c] = static_cast<char>('a' + random.below(12));
        const Result<StringId> id = table.intern(text);
        ASSERT_TRUE(id) << id.message();
        if (text.empty()) continue;
        ASSERT_EQ(model.try_emplace(text, *id).first->second, *id);
        ASSERT_EQ(table.size(), model.size());
    }
    for (const auto& [text, id] : model) ASSERT_EQ(table.text(id), text);
}

TEST(StringTable, collects_what_is_not_marked_and_was_not_interned_for_good) {
    const LeakCheck leaks;
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    StringTable table;
    std::unordered_map<std::string, bool> model;  // whether it is kept for good
    for (std::int64_t round = 0; round < 30; ++round) {
        for (int i = 0; i < 300; ++i) {
            const std::string text = "text " + std::to_string(random.below(1000));
            const bool for_good = random.below(50) == 0;
            ASSERT_TRUE(for_good ? table.intern(text) : table.intern_until_unused(text));
            model[text] = model[text] || for_good;
        }
        BitSet used{Owner("test")};
        for (auto text = model.begin(); text != model.end();) {
            const bool is_used = random.below(2) == 0;
            if (is_used) table.mark(StringId(text->first), used);
            text = is_used || text->second ? std::next(text) : model.erase(text);
        }
        table.mark(StringId("never interned"), used);
        const std::uint64_t version = table.version();
        table.collect(used);
        ASSERT_NE(table.version(), version);
        ASSERT_EQ(table.size(), model.size());
        std::size_t num_passing = 0;
        for (const auto& [text, for_good] : model) {
            ASSERT_EQ(table.text(StringId(text)), text);
            num_passing += !for_good;
        }
        ASSERT_FALSE(table.is_due(0));
        for (std::size_t i = 0; i <= num_passing; ++i) {
            ASSERT_FALSE(table.is_due(0)) << "there are at most twice as many";
            ASSERT_TRUE(table.intern_until_unused("more " + std::to_string(round) + " " + std::to_string(i)));
        }
        ASSERT_TRUE(table.is_due(0)) << "there are more than twice as many";
        ASSERT_FALSE(table.is_due(1)) << "but not by more than what is allowed";
        for (std::size_t i = 0; i <= num_passing; ++i) model["more " + std::to_string(round) + " " + std::to_string(i)];
    }
}

TEST(StringTable, interns_what_several_threads_have_noted_when_it_is_told_to) {
    StringTable table;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int k = 0; k < 100; ++k) {
                EXPECT_TRUE(table.note("noted " + std::to_string(k)) && table.note(std::to_string(i)));
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(table.note(""));
    EXPECT_EQ(table.note("\xFF").message(), StringTable::check("\xFF").message());
    EXPECT_EQ(table.size(), 0u);
    table.take_noted();
    EXPECT_EQ(table.size(), 104u);
    EXPECT_EQ(table.text(StringId("noted 99")), "noted 99");
}

TEST(StringTable, keeps_what_is_noted_though_it_was_found_unused_before) {
    StringTable table;
    ASSERT_TRUE(table.intern_until_unused("again") && table.intern_until_unused("gone"));
    TextLease& lease = table.lease();
    take_lease(lease);
    table.collect(BitSet(Owner("test")));
    ASSERT_TRUE(table.note("again"));
    give_back_lease(lease);
    EXPECT_EQ(table.size(), 2u);
    table.take_noted(), table.remove_unused();
    EXPECT_EQ(table.text(StringId("again")), "again");
    EXPECT_EQ(table.size(), 1u);
    for (int time = 0; time < 3; ++time) {
        EXPECT_TRUE(table.is_due(0)) << "a text that is in use again counts";
        TextLease& later = table.lease();
        take_lease(later);
        table.collect(BitSet(Owner("test")));
        EXPECT_FALSE(table.is_due(0));
        ASSERT_TRUE(table.note("again") && table.note("again"));
        give_back_lease(later);
        table.take_noted(), table.remove_unused();
        EXPECT_EQ(table.text(StringId("again")), "again") << "each time that it is noted";
    }
}

TEST(Math, vectors_add_and_scale_by_component) {
    EXPECT_EQ((Vec2{1, 2} + Vec2{3, 4} * 2 - Vec2{1, 1}), (Vec2{6, 9}));
    EXPECT_EQ((Vec3{1, 2, 3} - 2 * Vec3{1, 0, 1}), (Vec3{-1, 2, 1}));
    EXPECT_EQ((Vec4{1, 2, 3, 4} + Vec4{1, 1, 1, 1} * 3), (Vec4{4, 5, 6, 7}));
    EXPECT_EQ(dot({1, 2, 3}, {4, 5, 6}), 32);
    EXPECT_EQ(-Vec3({1, -2, 3}), (Vec3{-1, 2, -3}));
    Vec3 v{1, 1, 1};
    ((v += {1, 2, 3}) -= {0, 0, 1}) *= 2;
    EXPECT_EQ(v, (Vec3{4, 6, 6}));
}

TEST(Math, defaults_are_no_rotation_and_the_identity) {
    EXPECT_EQ(Quaternion(), (Quaternion{0, 0, 0, 1}));
    EXPECT_EQ(Matrix3x4().row[1], (Vec4{0, 1, 0, 0}));
    EXPECT_EQ(sizeof(Matrix3x4), 12 * sizeof(float));
}

}  // namespace
}  // namespace shoal
