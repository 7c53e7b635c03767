#include "build_state.h"

#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/json.h"

#include <map>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::string_view kStart = "shoal build state 1 ";
constexpr std::size_t kHashDigits = 18;  // including `0x`

std::string hash_line(std::string_view rest) {
    std::string text(kStart);
    append_hex(text, content_hash(rest));
    return text + '\n';
}

/// Assigns numbers to values that several outputs may share.
template <class Value>
class Numbers {
public:
    std::uint64_t of(const Value& value) {
        const auto [at, is_new] = numbers_.try_emplace(value, values_.size());
        if (is_new) values_.push_back(value);
        return at->second;
    }
    const std::vector<Value>& values() const { return values_; }

private:
    std::map<Value, std::uint64_t> numbers_;
    std::vector<Value> values_;
};

struct FileInput {
    std::uint64_t kind = 0;
    std::string name;
    std::uint64_t hash = 0;
    friend auto operator<=>(const FileInput&, const FileInput&) = default;
};

class BuildStateWriter {
public:
    std::string write(const BuildState& state);

private:
    void add_output(const BuiltOutput& output);
    void add_tables();
    void add_stamps(const BuildState& state);

    DocumentBuilder builder_;
    Numbers<FileInput> files_;
    Numbers<std::pair<std::string, std::uint64_t>> types_;
};

std::string BuildStateWriter::write(const BuildState& state) {
    builder_.begin_mapping();
    builder_.string("sources", state.sources);
    builder_.string("options", state.options);
    builder_.begin_list("outputs");
    for (const BuiltOutput& output : state.outputs) add_output(output);
    builder_.end();
    add_tables();
    add_stamps(state);
    builder_.end();
    const std::string text = write_json(builder_.finish().root());
    return hash_line(text) + text;
}

void BuildStateWriter::add_output(const BuiltOutput& output) {
    builder_.begin_mapping();
    builder_.string("path", output.path);
    builder_.string("source", output.source);
    builder_.unsigned_integer("hash", output.hash);
    builder_.boolean("has_failed", output.has_failed);
    builder_.unsigned_integer("warnings", output.num_warnings);
    builder_.string("compiler", output.inputs.compiler);
    builder_.unsigned_integer("rules", output.inputs.rules);
    builder_.begin_list("files");
    for (const SourceDependency& file : output.inputs.files)
        builder_.unsigned_integer(files_.of({static_cast<std::uint64_t>(file.kind), file.name, file.hash}));
    builder_.end();
    builder_.begin_list("types");
    for (const TypeInput& type : output.inputs.types) builder_.unsigned_integer(types_.of({type.name, type.hash}));
    builder_.end();
    builder_.end();
}

void BuildStateWriter::add_tables() {
    builder_.begin_list("files");
    for (const FileInput& file : files_.values()) {
        builder_.begin_list();
        builder_.unsigned_integer(file.kind);
        builder_.string(file.name);
        builder_.unsigned_integer(file.hash);
        builder_.end();
    }
    builder_.end();
    builder_.begin_list("types");
    for (const auto& [name, hash] : types_.values()) {
        builder_.begin_list();
        builder_.string(name);
        builder_.unsigned_integer(hash);
        builder_.end();
    }
    builder_.end();
}

void BuildStateWriter::add_stamps(const BuildState& state) {
    builder_.begin_list("stamps");
    for (const auto& [path, stamp, hash] : state.files) {
        builder_.begin_list();
        builder_.string(path);
        builder_.unsigned_integer(hash);
        for (const std::uint64_t number : {stamp.num_bytes, stamp.device, stamp.inode})
            builder_.unsigned_integer(number);
        builder_.integer(stamp.modified_ns);
        builder_.integer(stamp.changed_ns);
        builder_.end();
    }
    builder_.end();
}

/// Reads values. A value that is missing or of the wrong kind makes is_good() false.
class BuildStateReader {
public:
    BuildState read(Node root);
    bool is_good() const { return is_good_; }

private:
    std::string text(Node node) {
        if (node && node.is_string()) return std::string(node.as_string());
        is_good_ = false;
        return {};
    }
    std::uint64_t number(Node node) {
        const std::uint64_t* value = node && node.is_integer() ? node.as_uint64() : nullptr;
        is_good_ &= value != nullptr;
        return value == nullptr ? 0 : *value;
    }
    std::int64_t time(Node node) {
        const std::int64_t* value = node && node.is_integer() ? node.as_int64() : nullptr;
        is_good_ &= value != nullptr;
        return value == nullptr ? 0 : *value;
    }
    /// Calls visit(child) for each child of a list. If `size` is not 0, each child must be a list with `size` elements.
    template <class Visit>
    void each(Node list, std::size_t size, Visit&& visit) {
        if (!list || !list.is_list()) return static_cast<void>(is_good_ = false);
        for (const Node child : list) {
            const bool fits = size == 0 || (child.is_list() && child.size() == size);
            is_good_ &= fits;
            if (fits) visit(child);
        }
    }
    template <class Value>
    Value numbered(Node node, const std::vector<Value>& values) {
        const std::uint64_t index = number(node);
        is_good_ &= index < values.size();
        return index < values.size() ? values[static_cast<std::size_t>(index)] : Value();
    }
    SourceDependency file(Node node);
    BuiltOutput output(Node node);
    StampedFile stamp(Node node);

    bool is_good_ = true;
    std::vector<SourceDependency> files_;
    std::vector<TypeInput> types_;
};

SourceDependency BuildStateReader::file(Node node) {
    const std::uint64_t kind = number(node[0]);
    is_good_ &= kind >= 1 && kind <= static_cast<std::uint64_t>(DependencyKind::kMustNotExist);
    return {static_cast<DependencyKind>(kind), {}, text(node[1]), number(node[2])};
}

BuiltOutput BuildStateReader::output(Node node) {
    BuiltOutput result;
    result.path = text(node.find("path"));
    result.source = text(node.find("source"));
    is_good_ &= resource_name_problem(result.path).empty();  // a build removes this file when its source is gone
    result.hash = number(node.find("hash"));
    const Node failed = node.find("has_failed");
    is_good_ &= failed && failed.is_bool();
    result.has_failed = failed && failed.is_bool() && failed.as_bool();
    result.num_warnings = number(node.find("warnings"));
    result.inputs.compiler = text(node.find("compiler"));
    result.inputs.rules = number(node.find("rules"));
    each(node.find("files"), 0, [&](Node index) { result.inputs.files.push_back(numbered(index, files_)); });
    each(node.find("types"), 0, [&](Node index) { result.inputs.types.push_back(numbered(index, types_)); });
    return result;
}

StampedFile BuildStateReader::stamp(Node node) {
    return {text(node[0]),
            {number(node[2]), number(node[3]), number(node[4]), time(node[5]), time(node[6])},
            number(node[1])};
}

BuildState BuildStateReader::read(Node root) {
    BuildState state;
    state.sources = text(root.find("sources"));
    state.options = text(root.find("options"));
    each(root.find("files"), 3, [&](Node node) { files_.push_back(file(node)); });
    each(root.find("types"), 2, [&](Node node) { types_.push_back({text(node[0]), number(node[1])}); });
    each(root.find("outputs"), 0, [&](Node node) { state.outputs.push_back(output(node)); });
    each(root.find("stamps"), 7, [&](Node node) { state.files.push_back(stamp(node)); });
    return state;
}

}  // namespace

std::string write_build_state(const BuildState& state) { return BuildStateWriter().write(state); }

Result<BuildState> read_build_state(std::string_view text) {
    if (!text.starts_with("shoal build state ")) return Status::error("it is not what a build leaves");
    if (!text.starts_with(kStart)) return Status::error("another version of shoal left it");
    const std::size_t line_bytes = kStart.size() + kHashDigits + 1;
    const std::string_view rest = text.substr(std::min(text.size(), line_bytes));
    if (text.substr(0, line_bytes) != hash_line(rest)) return Status::error("it was damaged after it was written");
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.refer_file("state", rest);
    const Result<Document> document = read_json(file, diagnostics);
    BuildStateReader reader;
    BuildState state;
    if (document) state = reader.read(document->root());
    if (!document || !reader.is_good()) return Status::error("it does not say what a build says");
    return state;
}

}  // namespace shoal_tool
