// Where keys and values of a text are, in each format.

#include "shoal/base/text.h"
#include "shoal/source/detail/source_files.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace shoal;

namespace {

/// Returns the tokens of a text with their kinds: "{" and "}" stand for what has no brackets.
std::string tokens_of(const std::string& name, const std::string& text) {
    Diagnostics diagnostics;
    std::vector<TextToken> tokens(1);  // an earlier one, which is replaced
    ReadOptions options;
    options.tokens = &tokens;
    const Result<Document> document = read_document(diagnostics.add_file(name, text), diagnostics, options);
    if (!document) return concat(document.message(), "\n", diagnostics.format());
    std::string result;
    for (const TextToken& token : tokens) {
        const bool is_open = token.kind == TokenKind::kOpen;
        const std::string said =
            token.begin == token.end ? is_open ? "{" : "}" : text.substr(token.begin, token.end - token.begin);
        append_text(result, concat(result.empty() ? "" : " ", said, token.kind == TokenKind::kKey ? "=" : ""));
    }
    return result;
}

TEST(SourceTokens, are_the_keys_values_and_brackets_in_the_order_of_the_text) {
    EXPECT_EQ(tokens_of("a.sjson", "a = 1.50 /* ] */ b = [\"two\" { c = \"}\" }] // }\n"),
              "{ a= 1.50 /* ] */ b= [ \"two\" { c= \"}\" } ] // } }");
    EXPECT_EQ(tokens_of("a.json", "{\"a\": 1.50, \"b\": [{\"c\": \"}\"}]}"),
              "{ \"a\"= 1.50 \"b\"= [ { \"c\"= \"}\" } ] }");
    EXPECT_EQ(tokens_of("a.yaml", "a: 1.50 # ]\nb: [two, {c: '}'}]\n"), "{ a= 1.50 # ] b= [ two { c= '}' } ] }");
}

TEST(SourceTokens, say_where_they_are_on_their_line_and_how_many_lines_end_before_them) {
    const auto places_of = [](const std::string& name, const std::string& text) {
        Diagnostics diagnostics;
        std::vector<TextToken> tokens;
        ReadOptions options;
        options.tokens = &tokens;
        EXPECT_TRUE(read_document(diagnostics.add_file(name, text), diagnostics, options)) << diagnostics.format();
        std::string result;
        for (const TextToken& token : tokens)
            if (token.end > token.begin)
                append_text(result, concat(text.substr(token.value, token.end - token.value), ' ', token.column, ' ',
                                           int(token.num_line_ends), '|'));
        return result;
    };
    EXPECT_EQ(places_of("a.sjson", "a = 1 // b\n\n\n  /* c\n */ d = \"e\""),
              "a 0 1|1 4 0|// b 6 0|/* c\n */ 2 2|d 4 0|\"e\" 8 0|");
    EXPECT_EQ(places_of("a.yaml", "a: &x !!str b # c\n\nd: | # e\n  f\n\n# g\n"),
              "a 0 1|b 3 0|# c 14 0|d 0 2|| # e\n  f\n\n 3 0|# e 0 0|# g 0 2|");
}

TEST(SourceTokens, a_text_that_a_merge_has_left_is_refused_with_the_lines_of_its_marks) {
    for (const std::string name : {"a.sjson", "a.json", "a.yaml"}) {
        const std::string refused = tokens_of(name, "<<<<<<< a\n\"b\": 1\n=======\n\"b\": 2\n>>>>>>> c\n");
        EXPECT_TRUE(
            refused.starts_with("it has marks of a conflict\n" + name + ":1:1: error: a merge has left 1 conflict"))
            << refused;
    }
}

}  // namespace
