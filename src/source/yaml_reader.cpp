#include "shoal/base/detail/utf8.h"
#include "shoal/base/text.h"
#include "shoal/document/detail/scalar_text.h"
#include "shoal/document/detail/token_list.h"
#include "shoal/document/document_builder.h"
#include "shoal/source/detail/yaml.h"
#include "shoal/source/detail/yaml_scalar.h"

#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include <yaml.h>

namespace shoal {
namespace {

constexpr std::string_view kHintForDocuments =
    "write each to a file of its own, or make entities of one level of them: the lines `entities:` and `-` before the "
    "first, a line `-` in place of each `---`, and two spaces before all other lines";
constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

/// A parser event, freed by the destructor.
struct Event {
    yaml_event_t event{};
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { yaml_event_delete(&event); }
};

std::string_view text_of(const yaml_char_t* text) {
    return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

/// Converts the parser's marks, which count code points, to byte offsets. This is fast if most marks are in text order.
class MarkCursor {
public:
    explicit MarkCursor(std::string_view text) : text_(text) {}

    std::uint32_t offset_of(std::size_t code_point) {
        while (code_point_ < code_point && offset_ < text_.size()) {
            do ++offset_;
            while (offset_ < text_.size() && !starts_code_point(text_[offset_]));
            ++code_point_;
        }
        while (code_point_ > code_point) {
            do --offset_;
            while (!starts_code_point(text_[offset_]));
            --code_point_;
        }
        return static_cast<std::uint32_t>(offset_);
    }

private:
    std::string_view text_;
    std::size_t offset_ = 0;
    std::size_t code_point_ = 0;
};

/// An error message of the parser, and our hint for it.
struct Hint {
    std::string_view problem, hint;
};
constexpr Hint kHints[] = {
    {"mapping values are not allowed in this context",
     "put a text that holds \": \" in quotes, or check the indentation"},
    {"could not find expected ':'", "a line of a mapping is `key: value`; put longer texts in quotes"},
    {"did not find expected key", "check the indentation: keys of one mapping begin in one column"},
    {"did not find expected '-' indicator", "check the indentation: elements of one list begin in one column"},
    {"block sequence entries are not allowed in this context", "begin the list on a line of its own"},
    {"found unknown escape character", "write \\\\ for a backslash, or use single quotes"},
    {"did not find expected ',' or ']'", "close the list with \"]\""},
    {"did not find expected ',' or '}'", "close the mapping with \"}\""},
    {"did not find expected <document start>", "a source is one document; check the indentation"},
};

/// Returns the length of the line break at the start of a string, or 0. Recognizes the same line breaks as the parser.
std::size_t line_break_bytes(std::string_view text) {
    for (const std::string_view line_break : {"\r\n", "\n", "\r", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"})
        if (text.starts_with(line_break)) return line_break.size();
    return 0;
}

/// The syntax between tokens. It is scanned for comments, because the parser drops them.
struct GapSyntax {
    static std::size_t line_end_bytes(std::string_view text, std::size_t at) {
        return line_break_bytes(text.substr(at));
    }
    static std::size_t comment_end(std::string_view text, std::size_t at, bool begins_line) {
        if (text[at] != '#' || (!begins_line && static_cast<unsigned char>(text[at - 1]) > ' ')) return at;
        while (at < text.size() && line_end_bytes(text, at) == 0) ++at;
        return at;
    }
};

/// Returns the length of the anchor or tag at the start of a string, or 0. Anchor names consist of letters, digits, _
/// and -.
std::size_t property_bytes(std::string_view text) {
    constexpr std::string_view kName = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-";
    if (text.empty() || (text[0] != '&' && text[0] != '!')) return 0;
    const std::size_t end = text[0] == '&' ? text.find_first_not_of(kName, 1) : text.find_first_of(" \t\r\n,[]{}");
    return std::min(end, text.size());
}

/// Returns the length of the anchor and the tag, including blanks that follow them on the same line.
std::size_t properties_bytes(std::string_view text) {
    std::size_t at = 0;
    while (const std::size_t num_bytes = property_bytes(text.substr(at)))
        at = std::min(text.find_first_not_of(" \t", at + num_bytes), text.size());
    return at;
}

/// Reads a YAML text event by event.
class YamlReader {
public:
    YamlReader(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options)
        : file_(file),
          diagnostics_(diagnostics),
          options_(options),
          text_(diagnostics.text(file)),
          bom_bytes_(text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0),
          marks_(text_.substr(bom_bytes_)),
          tokens_(options.tokens, text_, bom_bytes_) {}
    ~YamlReader() {
        if (is_initialized_) yaml_parser_delete(&parser_);
    }
    YamlReader(const YamlReader&) = delete;
    YamlReader& operator=(const YamlReader&) = delete;

    Result<Document> read() {
        if (check_text() && !read_events()) failed_ = true;
        if (failed_) return Status::error("the text has errors; the diagnostics say where");
        if (builder_.num_nodes() == 0) {
            builder_.begin_mapping({file_, static_cast<std::uint32_t>(bom_bytes_)});
            builder_.end();
        }
        tokens_.finish();
        return builder_.finish();
    }

private:
    /// An open list or mapping.
    struct Open {
        bool is_mapping = false;
        bool is_unmarked = false;  ///< without brackets
        bool is_pairs = false;     ///< a list of mappings with one key each
        bool expects_key = false;  ///< in a mapping
        std::uint32_t num_children = 0;
        std::uint32_t node = 0;
        std::uint32_t height = 1;  ///< number of nested lists and mappings, including this one
        SourcePosition position;
        std::string anchor;
    };
    /// A value with an anchor, which aliases can repeat.
    struct Anchored {
        std::uint32_t node = 0;
        std::uint32_t num_nodes = 0;
        std::uint32_t height = 0;
        bool is_complete = false;
        SourcePosition position;
    };

    // --- the text ----------------------------------------------------------------------------------------------------

    bool check_text() {
        if (text_.size() >= std::numeric_limits<std::uint32_t>::max())
            return stop({file_, 0}, "the text is larger than 4 GiB", "split it");
        if (const std::size_t bad = find_invalid_byte(text_); bad != std::string_view::npos) {
            const bool is_nul = text_[bad] == '\0';
            return stop({file_, static_cast<std::uint32_t>(bad)},
                        is_nul ? "there is a NUL byte in the text" : "this is not UTF-8",
                        is_nul ? "is this a text file?" : "save the file as UTF-8");
        }
        // The number is limited, because the parser compares each directive with all earlier ones.
        std::uint32_t num_directives = 0;
        for (std::size_t line = bom_bytes_; line < text_.size();) {
            const std::size_t sign = text_.find_first_not_of(" \t", line);
            if (sign == std::string_view::npos) break;
            const std::string_view rest = text_.substr(sign);
            if (rest[0] != '%' && rest[0] != '#' && line_break_bytes(rest) == 0) break;
            num_directives += text_[line] == '%';
            if (num_directives > kMaxYamlDirectives)
                return stop({file_, static_cast<std::uint32_t>(line)},
                            concat("the text begins with more than ", kMaxYamlDirectives, " directives"),
                            "shoal needs none of them; remove them");
            line = sign;
            while (line < text_.size() && line_break_bytes(text_.substr(line)) == 0) ++line;
            if (line < text_.size()) line += line_break_bytes(text_.substr(line));
        }
        return true;
    }

    bool read_events() {
        if (yaml_parser_initialize(&parser_) == 0)
            return stop({file_, 0}, "there is no memory for the YAML parser", "");
        is_initialized_ = true;
        const std::string_view text = text_.substr(bom_bytes_);
        yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
        while (!has_ended_) {
            Event event;
            if (yaml_parser_parse(&parser_, &event.event) == 0) return syntax_error();
            if (tokens_.is_wanted()) note_token(event.event);
            if (!read_event(event.event)) return false;
        }
        return true;
    }

    /// Records the token of an event. Requires: read_event() has not yet processed the event.
    void note_token(const yaml_event_t& event) {
        const bool is_key = !open_.empty() && open_.back().is_mapping && open_.back().expects_key;
        const auto add = [&](TokenKind kind, bool is_unmarked) {
            TextToken token{.kind = kind, .is_alias = event.type == YAML_ALIAS_EVENT, .is_unmarked = is_unmarked};
            token.begin = token.value = at(event.start_mark).offset;
            token.end = is_unmarked ? token.begin : at(event.end_mark).offset;
            if (kind == TokenKind::kOpen && token.end > token.begin)
                token.value = token.end - 1;
            else if (kind != TokenKind::kClose)
                token.value += static_cast<std::uint32_t>(properties_bytes(text_.substr(token.begin)));
            if (kind == TokenKind::kScalar) token.value = std::min(token.value, token.end);
            tokens_.add(token);
        };
        switch (event.type) {
            case YAML_SCALAR_EVENT:
                add(is_key ? TokenKind::kKey : TokenKind::kScalar, false);
                return note_comment_of_block(event);
            case YAML_ALIAS_EVENT:
                return add(is_key ? TokenKind::kKey : TokenKind::kScalar, false);
            case YAML_MAPPING_START_EVENT:
                return add(TokenKind::kOpen, event.data.mapping_start.style == YAML_BLOCK_MAPPING_STYLE);
            case YAML_SEQUENCE_START_EVENT:
                return add(TokenKind::kOpen, event.data.sequence_start.style == YAML_BLOCK_SEQUENCE_STYLE);
            case YAML_MAPPING_END_EVENT:
            case YAML_SEQUENCE_END_EVENT:
                return add(TokenKind::kClose, open_.back().is_unmarked);
            default:
                return;
        }
    }

    /// Records a comment that follows the sign at the start of a block scalar.
    void note_comment_of_block(const yaml_event_t& event) {
        const yaml_scalar_style_t style = event.data.scalar.style;
        if (style != YAML_LITERAL_SCALAR_STYLE && style != YAML_FOLDED_SCALAR_STYLE) return;
        const TextToken token = options_.tokens->back();
        const std::string_view text = text_.substr(token.value, token.end - token.value);
        const std::size_t comment = text.substr(0, text.find('\n')).find(" #");
        if (comment != std::string_view::npos) tokens_.add_inside(token.value + comment + 1);
    }

    /// Returns false if reading must stop.
    bool read_event(const yaml_event_t& event) {
        switch (event.type) {
            case YAML_STREAM_END_EVENT:
                has_ended_ = true;
                return true;
            case YAML_DOCUMENT_END_EVENT:
                end_document(event);
                return true;
            case YAML_MAPPING_START_EVENT:
                return begin(event, text_of(event.data.mapping_start.tag), event.data.mapping_start.anchor,
                             event.data.mapping_start.style == YAML_BLOCK_MAPPING_STYLE);
            case YAML_SEQUENCE_START_EVENT:
                return begin(event, text_of(event.data.sequence_start.tag), event.data.sequence_start.anchor,
                             event.data.sequence_start.style == YAML_BLOCK_SEQUENCE_STYLE);
            case YAML_MAPPING_END_EVENT:
            case YAML_SEQUENCE_END_EVENT:
                end();
                return true;
            case YAML_SCALAR_EVENT:
                return scalar(event);
            case YAML_ALIAS_EVENT:
                return alias(event);
            default:
                return true;
        }
    }

    /// Checks that nothing follows the document, because it would not be parsed.
    void end_document(const yaml_event_t& event) {
        has_ended_ = true;
        std::size_t line = at(event.end_mark).offset;
        while (line < text_.size()) {
            const std::size_t sign = text_.find_first_not_of(" \t\r\n", line);
            if (sign == std::string_view::npos) return;
            const bool is_end = text_.substr(sign).starts_with("...") && (sign == 0 || text_[sign - 1] == '\n');
            if (text_[sign] != '#' && !is_end) {
                const bool is_start = text_.substr(sign).starts_with("---");
                error({file_, static_cast<std::uint32_t>(sign)},
                      is_start ? "a second document begins here" : "the document has ended before this",
                      is_start ? std::string(kHintForDocuments) : "check the indentation");
                return;
            }
            line = std::min(text_.find('\n', sign), text_.size());
        }
    }

    bool syntax_error() {
        if (parser_.error == YAML_MEMORY_ERROR) return stop({file_, 0}, "there is no memory for the YAML parser", "");
        const std::string_view problem = parser_.problem == nullptr ? "the text is not YAML" : parser_.problem;
        if (parser_.error == YAML_READER_ERROR)
            return stop({file_, static_cast<std::uint32_t>(bom_bytes_ + parser_.problem_offset)},
                        "there is a control character in the text", "write it as \"\\xXX\" in double quotes");
        const SourcePosition position = at(parser_.problem_mark);
        if (problem == "found unexpected end of stream")
            return stop(at(parser_.context_mark), "the text that opens here is never closed", "add the closing quote");
        std::string_view hint = "check the signs and the indentation here";
        for (const Hint& known : kHints)
            if (problem == known.problem) hint = known.hint;
        const char sign = position.offset < text_.size() ? text_[position.offset] : '\0';
        if (problem == "found character that cannot start any token") {
            if (sign == '\t') return stop(position, "there is a tab in the indentation", "indent with spaces");
            hint = "put a text that begins with this sign in quotes";
        }
        Diagnostic& reported = error(position, std::string(problem), std::string(hint));
        if (parser_.context != nullptr && parser_.context_mark.index < parser_.problem_mark.index)
            reported.note(at(parser_.context_mark), std::string(parser_.context));
        return false;
    }

    // --- lists and mappings ------------------------------------------------------------------------------------------

    /// Reports an error if a value is not allowed here. Returns false if a key is expected instead.
    bool check_place(SourcePosition position, std::string_view what, bool is_mapping) {
        if (open_.empty()) return true;
        Open& parent = open_.back();
        if (parent.is_mapping && parent.expects_key)
            return stop(position, concat("this key is ", what), "write a text as the key, in quotes if need be");
        if (parent.is_pairs && !is_mapping)
            error(position, concat("an element of a list of pairs is ", what), "write `- key: value`");
        return true;
    }

    void after_value(std::uint32_t height) {
        if (open_.empty()) return;
        Open& parent = open_.back();
        if (parent.is_mapping) parent.expects_key = true;
        if (height + 1 > parent.height) parent.height = height + 1;
    }

    bool begin(const yaml_event_t& event, std::string_view tag, const yaml_char_t* anchor, bool is_unmarked) {
        const bool is_mapping = event.type == YAML_MAPPING_START_EVENT;
        const SourcePosition position = at(event.start_mark);
        const std::string_view what = is_mapping ? "a mapping" : "a list";
        if (!check_place(position, what, is_mapping)) return false;
        if (open_.size() >= options_.max_depth)
            return stop(position, concat("lists and mappings are nested deeper than ", options_.max_depth, " levels"),
                        "flatten the data");
        Open opened;
        const bool is_core = tag.starts_with(kCoreTag);
        const std::string_view name = is_core ? tag.substr(kCoreTag.size()) : std::string_view();
        if (!is_mapping && (name == "pairs" || name == "omap"))
            opened.is_pairs = true;
        else if (!tag.empty() && tag != "!" && name != (is_mapping ? "map" : "seq"))
            unknown_tag(tag, position,
                        is_mapping ? "a mapping has the tag !!map or none"
                                   : "a list has the tag !!seq, !!pairs, !!omap or none");
        opened.is_mapping = opened.expects_key = is_mapping;
        opened.is_unmarked = is_unmarked;
        opened.node = builder_.num_nodes();
        opened.position = position;
        opened.anchor = text_of(anchor);
        if (!opened.anchor.empty()) anchors_[opened.anchor] = {opened.node, 0, 0, false, position};
        if (is_mapping)
            builder_.begin_mapping(position);
        else
            builder_.begin_list(position);
        open_.push_back(std::move(opened));
        return true;
    }

    void end() {
        builder_.end();
        Open closed = std::move(open_.back());
        open_.pop_back();
        if (closed.is_mapping && !open_.empty() && open_.back().is_pairs && closed.num_children != 1)
            error(closed.position, concat("an element of a list of pairs has ", closed.num_children, " keys"),
                  "write `- key: value`");
        if (!closed.anchor.empty()) note_anchor(std::move(closed.anchor), closed.node, closed.height, closed.position);
        after_value(closed.height);
    }

    // --- anchors and aliases -----------------------------------------------------------------------------------------

    void note_anchor(std::string name, std::uint32_t node, std::uint32_t height, SourcePosition position) {
        anchors_[std::move(name)] = {node, builder_.num_nodes() - node, height, true, position};
    }

    bool alias(const yaml_event_t& event) {
        const SourcePosition position = at(event.start_mark);
        if (!check_place(position, "an alias", true)) return false;
        const std::string_view name = text_of(event.data.alias.anchor);
        const auto found = anchors_.find(std::string(name));
        if (found == anchors_.end())
            return stop(position, concat("there is no anchor ", shoal::quoted(name)),
                        concat("write &", name, " before a value above"));
        const Anchored& anchored = found->second;
        if (!anchored.is_complete) {
            error(position, concat("the alias ", shoal::quoted(name), " repeats a value that it is part of"),
                  "write the value out")
                .note(anchored.position, "the value begins here");
            return false;
        }
        if (open_.size() + anchored.height > options_.max_depth)
            return stop(position, concat("lists and mappings are nested deeper than ", options_.max_depth, " levels"),
                        "flatten the data");
        num_repeated_ += anchored.num_nodes;
        if (num_repeated_ > kMaxYamlAliasNodes)
            return stop(position, concat("aliases repeat more than ", kMaxYamlAliasNodes, " values"),
                        "use prefabs for what occurs many times");
        if (!open_.empty() && open_.back().is_pairs)
            error(position, "an element of a list of pairs is an alias", "write `- key: value`");
        builder_.repeat(anchored.node);
        after_value(anchored.height);
        return true;
    }

    // --- scalars -----------------------------------------------------------------------------------------------------

    bool scalar(const yaml_event_t& event) {
        if (!open_.empty() && open_.back().is_mapping && open_.back().expects_key) return key(event);
        const SourcePosition position = at(event.start_mark);
        check_place(position, "a single value", false);
        const std::uint32_t node = builder_.num_nodes();
        value(event);
        if (event.data.scalar.anchor != nullptr)
            note_anchor(std::string(text_of(event.data.scalar.anchor)), node, 0, position);
        after_value(0);
        return true;
    }

    bool key(const yaml_event_t& event) {
        const SourcePosition position = at(event.start_mark);
        const auto& data = event.data.scalar;
        const std::string_view text(reinterpret_cast<const char*>(data.value), data.length);
        const bool is_plain = data.style == YAML_PLAIN_SCALAR_STYLE;
        if (is_plain && text.empty()) error(position, "this mapping has a value without a key", "write `key: value`");
        if (is_plain && text == "<<")
            error(position, "merge keys are not part of YAML 1.2", "use a prefab, or write the values out");
        if (const std::string_view tag = text_of(data.tag);
            !tag.empty() && tag != "!" && tag != "tag:yaml.org,2002:str")
            unknown_tag(tag, position, "a key is a string and needs no tag");
        if (data.anchor != nullptr) error(position, "a key has an anchor", "remove it; keys cannot be repeated");
        const SourcePosition same = builder_.read_key(text, position);
        if (same != SourcePosition())
            error(position, concat("the key ", shoal::quoted(text), " is defined twice"), "remove or rename one")
                .note(same, "first defined here");
        open_.back().expects_key = false;
        ++open_.back().num_children;
        return true;
    }

    void value(const yaml_event_t& event) {
        const auto& data = event.data.scalar;
        const SourcePosition position = at(event.start_mark);
        const std::string_view text(reinterpret_cast<const char*>(data.value), data.length), tag = text_of(data.tag);
        if (!tag.empty() && tag != "!")
            tagged_value(text, tag, position);
        else if (data.plain_implicit != 0)
            plain_value(text, {}, position);
        else
            builder_.string(text, position);
    }

    void tagged_value(std::string_view text, std::string_view tag, SourcePosition position) {
        const std::string_view name = tag.starts_with(kCoreTag) ? tag.substr(kCoreTag.size()) : std::string_view();
        if (name == "str") return builder_.string(text, position);
        if (name == "null" || name == "bool" || name == "int" || name == "float")
            return plain_value(text, name, position);
        unknown_tag(tag, position, "a value has the tag !!str, !!int, !!float, !!bool, !!null or none");
        builder_.null(position);
    }

    /// Adds a plain scalar as the value that it has in the core schema. If there is a tag, the value must match `tag`.
    void plain_value(std::string_view text, std::string_view tag, SourcePosition position) {
        const YamlScalar scalar = read_yaml_scalar(text);
        const YamlMeaning meaning = scalar.meaning;
        const bool is_integer = meaning == YamlMeaning::kInteger || meaning == YamlMeaning::kLargeInteger;
        const bool is_bool = meaning == YamlMeaning::kTrue || meaning == YamlMeaning::kFalse;
        const bool is_bad = meaning >= YamlMeaning::kNotFinite;
        const bool fits = tag.empty() || is_bad || (tag == "null" && meaning == YamlMeaning::kNull) ||
                          (tag == "bool" && is_bool) || (tag == "int" && is_integer) ||
                          (tag == "float" && (is_integer || meaning == YamlMeaning::kNumber));
        if (!fits) {
            error(position, concat(shoal::quoted(text), " is not of the type that its tag !!", tag, " says"),
                  "remove the tag");
            return builder_.null(position);
        }
        switch (meaning) {
            case YamlMeaning::kString:
                return builder_.string(text, position);
            case YamlMeaning::kNull:
                return builder_.null(position);
            case YamlMeaning::kTrue:
            case YamlMeaning::kFalse:
                return builder_.boolean(meaning == YamlMeaning::kTrue, position);
            case YamlMeaning::kInteger:
                if (tag == "float") return builder_.number(static_cast<double>(scalar.integer), position);
                return builder_.integer(scalar.integer, position);
            case YamlMeaning::kLargeInteger:
                if (tag == "float") return builder_.number(static_cast<double>(scalar.large_integer), position);
                return builder_.unsigned_integer(scalar.large_integer, position);
            case YamlMeaning::kNumber:
                return builder_.number(scalar.number, position);
            case YamlMeaning::kNotFinite:
                error(position, concat("the number ", shoal::quoted(text), " is not finite"), "write a finite number");
                break;
            case YamlMeaning::kTooLarge:
                error(position, concat("the number ", shoal::quoted(text), " is too large"),
                      text.starts_with("0x") || text.starts_with("0o") ? "the largest is 18446744073709551615"
                                                                       : "the largest is about 1.8e308");
                break;
            case YamlMeaning::kLeadingZero:
                error(position,
                      concat(shoal::quoted(text), " begins with a zero: YAML 1.1 and 1.2 read different numbers"),
                      "leave out the zero, write 0o for octal, or put it in quotes if it is a string");
                break;
        }
        builder_.null(position);
    }

    void unknown_tag(std::string_view tag, SourcePosition position, std::string_view wanted) {
        const std::string shown =
            tag.starts_with(kCoreTag) ? concat("!!", tag.substr(kCoreTag.size())) : std::string(tag);
        const bool is_core = tag.starts_with(kCoreTag);
        error(position, concat("the tag ", shoal::quoted(shown), " cannot stand here"),
              is_core ? std::string(wanted)
                      : concat(wanted, "; what a tag of another program says is a key in a source, such as `type`"));
    }

    SourcePosition at(const yaml_mark_t& mark) {
        return {file_, static_cast<std::uint32_t>(bom_bytes_) + marks_.offset_of(mark.index)};
    }
    Diagnostic& error(SourcePosition position, std::string message, std::string hint) {
        failed_ = true;
        return diagnostics_.error(position, std::move(message), std::move(hint));
    }
    bool stop(SourcePosition position, std::string message, std::string hint) {
        error(position, std::move(message), std::move(hint));
        return false;
    }

    std::uint32_t file_;
    Diagnostics& diagnostics_;
    ReadOptions options_;
    std::string_view text_;
    std::size_t bom_bytes_;
    MarkCursor marks_;
    TokenList<GapSyntax> tokens_;
    yaml_parser_t parser_;
    bool is_initialized_ = false;
    bool failed_ = false;
    bool has_ended_ = false;
    DocumentBuilder builder_;
    std::vector<Open> open_;
    std::unordered_map<std::string, Anchored> anchors_;
    std::uint64_t num_repeated_ = 0;
};

}  // namespace

Result<Document> read_yaml(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options) {
    return YamlReader(file, diagnostics, options).read();
}

}  // namespace shoal
