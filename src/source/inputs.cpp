#include "shoal/source/inputs.h"

#include "shoal/base/text.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/resource/migration.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace shoal {
namespace {

/// Collects values for a hash that is the same for both byte orders. Each string is preceded by its length.
class HashedText {
public:
    HashedText& add(std::string_view text) {
        add(text.size());
        bytes_.append(text);
        return *this;
    }
    template <class Number>
        requires(std::is_integral_v<Number> || std::is_enum_v<Number>)
    HashedText& add(Number number) {
        const auto value = static_cast<std::uint64_t>(number);
        for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(value >> shift & 255));
        return *this;
    }
    HashedText& add(double number) { return add(std::bit_cast<std::uint64_t>(number)); }
    /// Adds numbers from memory, each of which has `number_bytes` bytes.
    void add_numbers(std::span<const std::byte> numbers, std::size_t number_bytes) {
        for (; numbers.size() >= number_bytes; numbers = numbers.subspan(number_bytes))
            for (std::size_t i = 0; i < number_bytes; ++i)
                bytes_.push_back(
                    static_cast<char>(numbers[std::endian::native == std::endian::little ? i : number_bytes - 1 - i]));
    }
    std::uint64_t hash() const { return content_hash(bytes_); }

private:
    std::string bytes_;
};

void add_field(const Schema& schema, const Field& field, HashedText& text) {
    text.add(field.name).add(field.type).add(field.element_type).add(field.array_length).add(field.value_bytes);
    text.add(field.struct_offset).add(field.split).add(field.shorthand).add(field.keys).add(field.relation);
    text.add(field.has_range).add(field.minimum).add(field.maximum).add(field.unit);
    text.add(field.enumerators.size());
    for (const EnumeratorDefinition& enumerator : field.enumerators) text.add(enumerator.name).add(enumerator.value);
    const bool has_own_size = field.type == FieldType::kEnum || field.type == FieldType::kEntity;
    const std::uint32_t number_bytes = has_own_size ? field.value_bytes : field_type_alignment(field.type);
    const bool has_default = number_bytes != 0 && field.type != FieldType::kBlobArray;  // not opaque values or arrays
    if (has_default) text.add_numbers(schema.default_image().subspan(field.struct_offset, field.size), number_bytes);
}

void add_marks(const Schema& schema, HashedText& text) {
    text.add(schema.name()).add(schema.version()).add(schema.whole()).add(schema.enableable()).add(schema.many());
    text.add(schema.singleton()).add(schema.struct_bytes()).add(schema.struct_alignment());
}

void add_schema(const Schema& schema, HashedText& text) {
    add_marks(schema, text);
    for (const Field& field : schema.fields()) add_field(schema, field, text);
}

/// Returns the index of the root that a name begins with, or nothing.
std::optional<std::size_t> root_of(std::string_view name) {
    std::size_t root = 0;
    const std::size_t slash = name.find('/');
    if (!name.starts_with('$') || slash == std::string_view::npos) return std::nullopt;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + slash, root);
    return error == std::errc() && end == name.data() + slash ? std::optional(root) : std::nullopt;
}

std::string_view without_root(std::string_view name) { return root_of(name) ? name.substr(name.find('/') + 1) : name; }

/// Compares inputs with their current state.
class Comparison {
public:
    Comparison(const SourceInputs& inputs, InputFiles& files) : inputs_(inputs), files_(files) {}

    void compare(const ComponentRegistry& registry, const SourceRules& rules, std::string_view program) {
        if (const std::string compiler = compiler_version(program); inputs_.compiler != compiler)
            add(InputChangeKind::kCompiler, {},
                concat("the compiler is ", compiler, " now, and was ",
                       inputs_.compiler.empty() ? "none" : inputs_.compiler));
        for (std::size_t i = 0; i < inputs_.files.size(); ++i) compare_file(i);
        for (const TypeInput& type : inputs_.types) compare_type(type, registry);
        if (inputs_.rules != rules_hash(rules))
            add(InputChangeKind::kRules, {}, "the rules of the schema files changed: what is kept, ignored or renamed");
    }

    std::vector<InputChange> take() { return std::move(changes_); }

private:
    void add(InputChangeKind kind, std::string_view name, std::string message) {
        changes_.push_back({kind, std::string(name), std::move(message)});
    }

    void compare_file(std::size_t index) {
        const SourceDependency& file = inputs_.files[index];
        switch (file.kind) {
            case DependencyKind::kSource: {
                const std::uint64_t hash = files_.hash(file.path);
                if (hash == file.hash) return;
                if (hash == 0) return gone(file);
                return add(InputChangeKind::kContent, file.name,
                           concat(without_root(file.name), file.hash == 0 ? " can be read now" : " changed"));
            }
            case DependencyKind::kMustExist:
                if (!files_.exists(file.path)) gone(file);
                return;
            case DependencyKind::kMustNotExist:
                if (files_.exists(file.path)) new_file(index);
                return;
            case DependencyKind::kResource:
                return;
        }
    }

    /// Reports that a file is gone. A file that was both found by a search and read is reported only once.
    void gone(const SourceDependency& file) {
        for (const InputChange& change : changes_)
            if (change.kind == InputChangeKind::kGone && change.name == file.name) return;
        add(InputChangeKind::kGone, file.name,
            concat(without_root(file.name), files_.exists(file.path) ? " cannot be read" : " is gone"));
    }

    /// Reports that a file is new. The file that the search found instead is the next existing file in the list.
    void new_file(std::size_t index) {
        const std::string_view name = inputs_.files[index].name;
        std::size_t found = index;
        while (found < inputs_.files.size() && inputs_.files[found].kind == DependencyKind::kMustNotExist) ++found;
        std::string where;
        if (found < inputs_.files.size() && inputs_.files[found].kind == DependencyKind::kMustExist) {
            const std::string_view other = inputs_.files[found].name;
            where = root_of(name) != root_of(other) ? " in an earlier root"
                                                    : concat(", and is found before ", without_root(other));
        }
        add(InputChangeKind::kNewFile, name, concat(without_root(name), " now exists", where));
    }

    void compare_type(const TypeInput& type, const ComponentRegistry& registry) {
        const std::uint64_t hash = type_hash(registry, type.name);
        if (hash == type.hash) return;
        add(InputChangeKind::kType, type.name,
            hash == 0
                ? concat("no schema declares the component type ", quoted(type.name), " now; give its schema file")
            : type.hash == 0 ? concat("a schema declares the component type ", quoted(type.name), " now")
                             : concat("the schema of the component type ", quoted(type.name), " changed"));
    }

    const SourceInputs& inputs_;
    InputFiles& files_;
    std::vector<InputChange> changes_;
};

}  // namespace

std::string compiler_version(std::string_view program) {
    const std::string version = concat("shoal ", SHOAL_VERSION_MAJOR, '.', SHOAL_VERSION_MINOR, '.',
                                       SHOAL_VERSION_PATCH, sizeof(Entity) == 8 ? " with 64-bit ids" : "");
    return program.empty() ? version : concat(version, ", ", program);
}

std::uint64_t rules_hash(const SourceRules& rules) {
    HashedText text;
    text.add(rules.keep_unknown_components).add(rules.keep_unknown_fields).add(rules.level_entities);
    text.add(rules.ignored_keys.size());
    for (const std::string& key : rules.ignored_keys) text.add(key);
    text.add(rules.renamed_keys.size());
    for (const RenamedKey& key : rules.renamed_keys) text.add(key.from).add(key.to);
    for (const std::string& type : rules.components_in_files) text.add(type);
    if (rules.older_schemas.empty()) return text.hash();
    for (const Schema& older : rules.older_schemas) add_schema(older, text);
    for (const SourceRules::Declaration& declaration : rules.declarations) text.add(declaration.migrations);
    return text.hash();
}

std::uint64_t type_hash(const ComponentRegistry& registry, std::string_view name) {
    const RegisteredComponent* component = registry.find(name);
    if (component == nullptr || component->schema == nullptr) return 0;
    const Schema& schema = *component->schema;
    HashedText text;
    add_marks(schema, text);
    text.add(component->spawn_order).add(component->blob_order).add(component->compile_scope);
    text.add(component->compile != nullptr);
    for (const Field& field : schema.fields()) add_field(schema, field, text);
    if (component->migrations != nullptr)
        for (const std::string& name : component->migrations->old_names()) text.add(name);
    return text.hash();
}

Result<SourceInputs> inputs_of_blob(const Blob& blob, const std::vector<std::string>& roots) {
    const BlobOrigin* origin = blob.origin();
    if (origin == nullptr)
        return Status::error("the blob does not say what it was made from; compile it with this version of shoal");
    SourceInputs inputs{std::string(blob.string(origin->compiler)), origin->rules, {}, {}};
    const std::span<const std::uint64_t> hashes = blob.dependency_hashes();
    for (std::size_t i = 0; i < blob.dependencies().size(); ++i)
        inputs.files.push_back(
            {blob.dependencies()[i].kind, {}, std::string(blob.string(blob.dependencies()[i].path)), hashes[i]});
    for (const BlobOriginType& type : blob.origin_types())
        inputs.types.push_back({std::string(blob.string(type.name)), type.hash});
    if (Status status = resolve_names(inputs, roots); !status) return status;
    return inputs;
}

Status resolve_names(SourceInputs& inputs, const std::vector<std::string>& roots, const std::string& source) {
    for (SourceDependency& file : inputs.files) {
        if (file.kind == DependencyKind::kResource) continue;
        const std::optional<std::size_t> named = root_of(file.name);
        const std::size_t root = named.value_or(0);
        if (root >= roots.size() || (!named && roots.size() > 1))
            return Status::error(concat("the file ", quoted(file.name), " was found ",
                                        named ? concat("in root ", root + 1) : std::string("in the only root"),
                                        ", but ", roots.size(), roots.size() == 1 ? " root is" : " roots are",
                                        " given; give the roots that it was compiled with, in their order"));
        file.path = path_in_root(roots[root], without_root(file.name));
    }
    const auto first = std::find_if(inputs.files.begin(), inputs.files.end(),
                                    [](const SourceDependency& file) { return file.kind == DependencyKind::kSource; });
    if (!source.empty() && first != inputs.files.end()) first->path = source;
    return {};
}

// --- files -----------------------------------------------------------------------------------------------------------

void InputFiles::know(const std::string& path, const FileStamp& stamp, std::uint64_t hash) {
    if (!stamp) return;
    Known& known = known_[path];
    known.stamp = stamp;
    known.hash = hash;
}

std::uint64_t InputFiles::hash(const std::string& path) {
    Known& known = known_[path];
    if (known.round == round_) return known.hash;
    known.round = round_;
    const FileStamp stamp = files_.stamp(path);
    if (stamp && stamp == known.stamp) return known.hash;
    const std::int64_t now_ns = files_.now_ns();
    const Result<std::string> content = files_.read(path);
    num_reads_ += 1;
    known.hash = content ? content_hash(*content) : 0;
    known.stamp = content && stamp.is_older_than(now_ns) ? stamp : FileStamp();
    return known.hash;
}

bool InputFiles::exists(const std::string& path) {
    Known& known = known_[path];
    if (known.exists_round != round_) known.exists = files_.exists(path);
    known.exists_round = round_;
    return known.exists;
}

FileStamp InputFiles::stamp_for(const std::string& path, std::uint64_t hash, std::int64_t wall_ns) {
    const auto known = known_.find(path);
    if (known != known_.end() && known->second.hash == hash && known->second.stamp) return known->second.stamp;
    const FileStamp stamp = files_.stamp(path);
    return stamp && stamp.is_older_than(wall_ns) ? stamp : FileStamp();
}

void InputFiles::look_again() { ++round_; }

std::string_view change_name(InputChangeKind kind) {
    constexpr std::string_view kNames[] = {"content", "gone", "new_file", "type", "rules", "compiler"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::vector<InputChange> find_changes(const SourceInputs& inputs, const ComponentRegistry& registry,
                                      const SourceRules& rules, std::string_view program, InputFiles& files) {
    Comparison comparison(inputs, files);
    comparison.compare(registry, rules, program);
    return comparison.take();
}

}  // namespace shoal
