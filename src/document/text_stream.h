#pragma once
// Writes SJSON and JSON from calls, front to back: a tree that exists is walked, a DocumentBuilder may pass its calls on.
// It keeps the containers that are open, and up to 16 numbers of a list, which stand on one line when there are no more.
// Thread: one thread at a time.

#include "shoal/document/document.h"
#include "shoal/document/document_builder.h"

#include <string>

namespace shoal {

/// Where the texts that are written differ.
struct TextStyle {
    char indent;
    std::uint8_t indent_width;  ///< characters per level
    std::string_view key_end;
    std::string_view separator;
    std::string_view inline_separator;
    bool root_has_braces;
    bool is_one_line;
    bool is_json;
    bool keeps_lines;  ///< a text of several lines is written as it is
};
extern const TextStyle kJsonStyle;
extern const TextStyle kSjsonStyle;
extern const TextStyle kLineStyle;  ///< SJSON without line breaks

class TextStream {
public:
    /// Without a function to give it to, the text is kept.
    explicit TextStream(const TextStyle& style, TextFunction print = nullptr, void* context = nullptr)
        : style_(style), print_(print), context_(context) {}

    void begin(bool is_mapping);
    void end();
    void key(std::string_view key);
    void null();
    void boolean(bool value);
    void integer(std::int64_t value);
    void unsigned_integer(std::uint64_t value);
    void number(double value);
    void string(std::string_view text);
    /// Writes the subtree of `node`, without its key.
    void node(Node node);

    std::size_t depth() const { return open_.size(); }
    bool in_mapping() const { return !open_.empty() && open_.back().is_mapping; }
    bool has_root() const { return has_root_; }

    /// Ends the text; returns it, or nothing when it was given away. Requires: there is a root, and it is closed.
    std::string finish();

private:
    struct Open {
        std::uint32_t num_children;
        bool is_mapping;
        bool is_bare;    ///< a root without braces
        bool is_folded;  ///< a list whose numbers may still fit on one line
    };
    static constexpr std::uint32_t kMostOnOneLine = 16;  // numbers: a 4x4 matrix

    template <class T>
    void add_number(T value);
    void begin_value();
    void begin_child();
    void begin_line(std::size_t depth);
    void unfold();
    void write_folded();
    void write_scalar(Node node);
    void write_quoted(std::string_view text);
    void write_verbatim(std::string_view text);
    void pass_on(std::size_t least_bytes);

    const TextStyle& style_;
    TextFunction print_;
    void* context_;
    std::string out_;
    bool has_root_ = false;
    bool has_key_ = false;
    bool is_empty_ = true;
    Array<Open> open_{Owner("document writer")};
    std::string numbers_;                   // of the folded list, which is the innermost container
    std::uint32_t ends_[kMostOnOneLine]{};  // in numbers_
};

}  // namespace shoal
