#include "rewrite.h"

#include "shoal/base/text.h"
#include "shoal/document/sjson.h"
#include "shoal/source/detail/composer.h"
#include "shoal/source/detail/yaml.h"
#include "sources.h"

#include <algorithm>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::uint64_t kLeastWidth = 20, kGreatestWidth = 100'000;
constexpr std::string_view kEndings[] = {"sjson", "json", "yaml"};

/// Returns the first child of `mapping` whose key is not in `keys`, or none.
Node first_other(Node mapping, std::span<const std::string_view> keys) {
    for (const Node child : mapping)
        if (std::find(keys.begin(), keys.end(), child.key()) == keys.end()) return child;
    return {};
}

/// Returns the first node that is not allowed in a schema file, or none if the tree can be a schema file.
Node first_foreign(Node root) {
    constexpr std::string_view kKeys[] = {"components",   "unknown_components", "unknown_fields",
                                          "ignored_keys", "renamed_keys",       "level_entities"};
    constexpr std::string_view kComponentKeys[] = {"version",    "spawn_order", "many",    "singleton",
                                                   "enableable", "whole",       "in_file", "fields",
                                                   "single",     "toggled"};  // former keys
    if (!root.is_mapping()) return root;
    if (const Node other = first_other(root, kKeys)) return other;
    const Node components = root.find("components");
    if (!components || !components.is_mapping()) return components;
    for (const Node component : components) {
        if (component.is_null()) continue;
        const Node other = component.is_mapping() ? first_other(component, kComponentKeys) : component;
        if (other) return other;
    }
    return {};
}

/// Returns true if a file is meant to be a schema file: it has the name of one, or declares fields of components.
bool is_meant_as_schema(std::string_view name, Node root) {
    if (name.ends_with(".schema.sjson")) return true;
    const Node components = root && root.is_mapping() ? root.find("components") : Node();
    return components && components.is_mapping() && std::any_of(components.begin(), components.end(), [](Node child) {
               return child.is_mapping() && child.find("fields") && child.find("fields").is_mapping();
           });
}

/// The result of reading a file as a schema file, with its errors.
struct SchemaReading {
    std::unique_ptr<Diagnostics> diagnostics = std::make_unique<Diagnostics>();
    SourceComments comments;
    std::optional<Document> document;
    bool is_meant = false;
};

SchemaReading read_as_schema(const std::string& name, std::string_view text) {
    SchemaReading reading;
    const std::uint32_t number = reading.diagnostics->add_file(name, std::string(text));
    Result<Document> document = read_source_text(number, *reading.diagnostics, reading.comments, read_options(true));
    reading.is_meant = is_meant_as_schema(name, document ? document->root() : Node());
    if (!document) return reading;
    if (const Node foreign = first_foreign(document->root())) {
        reading.diagnostics->error(foreign.has_key() ? foreign.key_position() : foreign.position(),
                                   foreign.has_key()
                                       ? concat("a schema file has no key ", quoted(foreign.key()), " here")
                                       : std::string("a schema file is a mapping"),
                                   "a schema file has `components = { NAME = { fields = { ... } } }` and rules; if "
                                   "this is a source, put words in "
                                   "quotes");
        return reading;
    }
    reading.document = std::move(document).value();
    return reading;
}

/// Reads a file as a schema file, because it is not a valid source. If it is not a schema file either, keeps the errors
/// for the kind of file that it is meant to be.
void take_as_schema(SourceFile& file, const std::string& text) {
    SchemaReading reading = read_as_schema(file.path, text);
    if (!reading.document && !reading.is_meant) return;
    file.diagnostics = std::move(reading.diagnostics);
    file.comments = std::move(reading.comments);
    file.document = std::move(reading.document);
    file.is_schema = true;
}

/// Reports an error if standard input is YAML, because it has no file name extension and was read as SJSON.
void take_as_unnamed(SourceFile& file, const std::string& text) {
    Diagnostics diagnostics;
    const Result<Document> yaml = read_yaml(diagnostics.refer_file(file.path, text), diagnostics, read_options(false));
    if (!yaml || (!yaml->root().is_mapping() && !yaml->root().is_list())) return;
    file.diagnostics = std::make_unique<Diagnostics>();
    file.diagnostics->error({file.diagnostics->add_file(file.path, text), 0},
                            "standard input is read as SJSON when it has no name, but this is YAML",
                            "give a name that ends in .yaml, such as --stdin-name ship.yaml");
}

/// Returns the lines of all comments, sorted.
std::vector<std::string> lines_of(const SourceComments& comments) {
    std::vector<std::string> lines;
    for (const Comment* comment : comments.all())
        for (std::string& line : shoal::lines_of(*comment))
            if (!line.empty()) lines.push_back(std::move(line));
    std::sort(lines.begin(), lines.end());
    return lines;
}

}  // namespace

Status read_layout(const Arguments& arguments, SourceLayout& layout) {
    std::uint64_t width = layout.width;
    Status status = arguments.read_number("width", kLeastWidth, kGreatestWidth, width);
    layout.width = static_cast<std::uint32_t>(width);
    return status;
}

SourceFile read_source_file(const Arguments& arguments, Files& files, const std::string& path) {
    SourceFile file;
    file.path = is_standard_stream(path) ? arguments.value("stdin-name", kStandardInputName) : path;
    file.diagnostics = std::make_unique<Diagnostics>();
    if (refuse_blob(files, path, file.path, *file.diagnostics)) return file;
    Result<std::string> text = files.read(path);
    if (!text) {
        file.diagnostics->error({}, std::string(text.message()), "give the path of a source or a schema file");
        return file;
    }
    const std::uint32_t number = file.diagnostics->add_file(file.path, *text);
    Result<Document> document = read_source_text(number, *file.diagnostics, file.comments, read_options(false));
    if (document)
        file.document = std::move(document).value();
    else if (source_format(file.path) == SourceFormat::kSjson)
        take_as_schema(file, *text);
    if (!file.document && is_standard_stream(path) && !arguments.has("stdin-name")) take_as_unnamed(file, *text);
    return file;
}

ReadOptions read_options(bool is_schema) {
    ReadOptions options = ComposeOptions().read;
    options.bare_texts = is_schema;
    return options;
}

bool is_schema_text(const std::string& name, std::string_view text) {
    return source_format(name) == SourceFormat::kSjson && read_as_schema(name, text).document;
}

void report_comments_left_out(SourceFile& file, bool strict) {
    std::vector<const Comment*> comments = file.comments.all();
    if (comments.empty()) return;
    const Comment& first = **std::min_element(comments.begin(), comments.end(), [](const Comment* a, const Comment* b) {
        return std::pair(a->position.file, a->position.offset) < std::pair(b->position.file, b->position.offset);
    });
    const bool is_one = comments.size() == 1;
    std::string message = concat("JSON has no comments: ", counted(comments.size(), "comment", "comments"), " of \"",
                                 file.diagnostics->name(first.position.file), "\" ",
                                 strict   ? "cannot be kept"
                                 : is_one ? "is left out"
                                          : "are left out",
                                 is_one ? "" : "; this is the first");
    const std::string hint =
        strict ? "leave out --strict, or choose another format" : "choose another format to keep them";
    Diagnostic& diagnostic = strict ? file.diagnostics->error(first.position, std::move(message), hint)
                                    : file.diagnostics->warning(first.position, std::move(message), hint);
    diagnostic.underline(2);
}

bool says_the_same(const Document& text, const SourceComments& comments, const SourceFile& file, SourceFormat format) {
    return equal(text.root(), file.document->root()) &&
           (format == SourceFormat::kJson || lines_of(comments) == lines_of(file.comments));
}

Result<std::string> rewrite(const SourceFile& file, SourceFormat format, SourceLayout layout) {
    layout.bare_texts = file.is_schema;
    std::string text = write_source_text(file.document->root(), format, *file.diagnostics, file.comments, layout);
    Diagnostics diagnostics;
    SourceComments comments;
    const std::string name = concat("the new text.", kEndings[static_cast<std::size_t>(format)]);
    const std::uint32_t number = diagnostics.refer_file(name, text);
    const Result<Document> again = read_source_text(number, diagnostics, comments, read_options(file.is_schema));
    if (!again || !says_the_same(*again, comments, file, format))
        return Status::error(concat("\"", file.path, "\" cannot be written without loss; please report this",
                                    again ? "" : concat(": ", diagnostics.entries()[0].message)));
    return text;
}

}  // namespace shoal_tool
