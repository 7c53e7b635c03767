// Fuzzes diffs and merges. Three texts, separated by zero bytes, are read as trees, compared and merged. A merge result
// that is written in any format can be read back as the same tree, and merging a changed text with its unchanged base
// returns the changed text.
#include "shoal/rewrite/source_diff.h"
#include "shoal/rewrite/source_merge.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace shoal;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

std::string_view next_part(std::string_view& rest) {
    const std::size_t end = rest.find('\0');
    const std::string_view part = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return part;
}

struct Texts {
    Diagnostics diagnostics;
    SourceComments comments;

    std::optional<SourceTree> read(std::string_view name, std::string_view text) {
        const std::size_t num_errors = diagnostics.num_errors();
        std::optional<SourceTree> tree =
            read_source_tree(diagnostics.add_file(std::string(name), std::string(text)), diagnostics, comments);
        require(bool(tree) == (diagnostics.num_errors() == num_errors));
        return tree;
    }
};

void compare(const SourceTree& a, const SourceTree& b) {
    const std::vector<SourceDifference> differences = diff_sources(a, b);
    require(differences.empty() == same_item(a, a.root(), b, b.root()));
    require(differences.empty() == (canonical_lines(a) == canonical_lines(b)));
    static_cast<void>(differences_text(differences));
}

void check_merge(Texts& texts, const SourceTree& base, const SourceTree& a, const SourceTree& b,
                 const SourceTree* expected) {
    const std::size_t num_errors = texts.diagnostics.num_errors();
    const std::optional<Document> merged = merge_sources(base, a, b, texts.diagnostics, texts.comments);
    require(bool(merged) == (texts.diagnostics.num_errors() == num_errors));
    if (!merged) return;
    const std::optional<SourceTree> built = read_source_tree(merged->root(), texts.diagnostics);
    require(bool(built) && (expected == nullptr || same_item(*built, built->root(), *expected, expected->root())));
    for (const SourceFormat format : {SourceFormat::kSjson, SourceFormat::kJson, SourceFormat::kYaml}) {
        constexpr std::string_view kNames[] = {"out.sjson", "out.json", "out.yaml"};
        const std::string text = write_source_text(merged->root(), format, texts.diagnostics, texts.comments);
        const std::optional<SourceTree> again = texts.read(kNames[static_cast<int>(format)], text);
        require(again && same_item(*again, again->root(), *built, built->root()));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    Texts texts;
    const bool is_yaml = size % 5 == 0;
    const std::optional<SourceTree> base = texts.read("base.sjson", next_part(rest));
    const std::optional<SourceTree> a = texts.read(is_yaml ? "a.yaml" : "a.sjson", next_part(rest));
    const std::optional<SourceTree> b = texts.read("b.sjson", next_part(rest));
    if (base && a && b) {
        compare(*base, *a);
        compare(*a, *b);
        check_merge(texts, *base, *a, *b, nullptr);
        check_merge(texts, *base, *a, *base, &*a);
        check_merge(texts, *base, *base, *a, &*a);
        check_merge(texts, *base, *a, *a, &*a);
    }
    static_cast<void>(texts.diagnostics.format());
    return 0;
}
