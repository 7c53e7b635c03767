// Compiles a level from text to a blob, both in memory. The level is formatted as an editor writes it, and its entities
// are instances of prefabs. The reference only finds and parses all numbers in the same text, with the same functions
// for numbers and white space. The same level in YAML is compared with the level in SJSON. A level without prefabs, in
// the short form of entities, is compared with the same reference, and with the same level in the long form.

#include "document/scan.h"
#include "reference.h"
#include "shoal/base/text.h"
#include "shoal/document/detail/number.h"
#include "shoal/document/sjson.h"
#include "shoal/resource/blob.h"
#include "shoal/source/compiler.h"
#include "shoal/source/schema_file.h"
#include "workloads.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

namespace shoal_bench {
namespace {

using namespace shoal;

constexpr const char* kSchema = R"(
ignored_keys = [editor]
components = {
    transform = { fields = { position = vec3  rotation = quaternion  scale = { type = vec3 default = [1 1 1] } } }
    mesh_renderer = { spawn_order = 1  fields = {
        mesh_resource = resource_id  geometry_name = string_id  material = resource_id  visible = bool
        cast_shadows = bool
    } }
    collider = { spawn_order = 1  fields = {
        shape = string_id  scene = resource_id  name = string_id  material = string_id
    } }
    actor = { spawn_order = 2  fields = {
        class = string_id  collision_filter = string_id  material = string_id  mass = { type = float unit = kg }
    } }
}
)";

/// The prefabs of the level, their share in percent, and the component that each instance modifies.
struct Prefab {
    const char* name;
    std::uint32_t percent;
    const char* transform_guid;
};
constexpr Prefab kPrefabs[] = {{"cone", 42, "1689686c-99b6-4b8a-90c8-9606bb466096"},
                               {"cube", 39, "23dbf108-db64-4ca2-9647-8c639ee039ad"},
                               {"sphere", 13, "8972a214-327e-4396-b01e-45701189e8c9"},
                               {"cylinder", 6, "4e97adb8-f875-4cd4-a6e3-59f3fd93c64f"}};

std::string format_guid(Random& random) {
    const std::uint64_t a = random.next(), b = random.next();
    char text[40];
    std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", unsigned(a >> 32), unsigned(a >> 16 & 0xFFFF),
                  unsigned(a & 0xFFFF), unsigned(b >> 48), static_cast<unsigned long long>(b & 0xFFFFFFFFFFFF));
    return text;
}

std::string prefab_text(const Prefab& prefab) {
    std::string text = "components = [\n";
    const auto add = [&](const char* guid, const char* type, const std::string& data) {
        text += std::string("\t{\n\t\t_guid = \"") + guid + "\"\n\t\t_type = \"" + type + "\"\n\t\tdata = {\n" + data +
                "\t\t}\n\t\ttype = \"" + type + "\"\n\t}\n";
    };
    const std::string name = prefab.name;
    add(prefab.transform_guid, "transform", "position = [0 0 0.5]\nrotation = [0 0 0 1]\nscale = [1 1 1]\n");
    add("49753fff-34ea-4aff-8bcf-5116f1c1519a", "mesh_renderer",
        "cast_shadows = true\ngeometry_name = \"" + name +
            "\"\nmaterial = \"shapes/plain\"\nmesh_resource = \"shapes/" + name + "\"\nvisible = true\n");
    add("08b8b97a-c894-409f-8f57-e7508ff8d3cf", "collider",
        "material = \"default\"\nname = \"" + name + "\"\nscene = \"shapes/" + name + "\"\nshape = \"convex_hull\"\n");
    add("b15082c5-3aaf-4c9a-8925-e5c958d49171", "actor",
        "class = \"static\"\ncollision_filter = \"default\"\nmass = 1\nmaterial = \"default\"\n");
    return text + "]\n";
}

/// Appends a short number, as on a grid, or a number with 17 digits, as printed by editors.
void add_number(std::string& text, Random& random, bool is_short) {
    char number[32];
    const double value =
        is_short ? double(random.below(1024)) / 8 - 64 : double(float(random.unit() * 128 - 64)) + 1e-9;
    std::snprintf(number, sizeof number, "\t\t\t\t\t\t%.17g\n", value);
    text += number;
}

void add_numbers(std::string& text, Random& random, const char* key, int count, bool is_short) {
    text += std::string("\t\t\t\t\t") + key + " = [\n";
    for (int i = 0; i < count; ++i) add_number(text, random, is_short);
    text += "\t\t\t\t\t]\n";
}

void add_unit(std::string& text, Random& random) {
    std::uint32_t draw = random.below(100), kind = 0;
    while (draw >= kPrefabs[kind].percent) draw -= kPrefabs[kind++].percent;
    const Prefab& prefab = kPrefabs[kind];
    text += "\t{\n\t\t_guid = \"" + format_guid(random) + "\"\n\t\t_type = \"unit\"\n\t\tchildren = [\n\t\t]\n";
    text += std::string("\t\teditor = {\n\t\t\thidden = false\n\t\t\tlocked = false\n\t\t\tname = \"") + prefab.name +
            "\"\n\t\t}\n";
    text += std::string("\t\tmodified_components = {\n\t\t\t#") + prefab.transform_guid + " = {\n\t\t\t\tdata = {\n";
    add_numbers(text, random, "position", 3, random.below(2) == 0);
    if (random.below(2) == 0)
        text += "\t\t\t\t\trotation = [\n\t\t\t\t\t\t0\n\t\t\t\t\t\t0\n\t\t\t\t\t\t0\n\t\t\t\t\t\t1\n\t\t\t\t\t]\n";
    else
        add_numbers(text, random, "rotation", 4, false);
    text += "\t\t\t\t\tscale = [\n\t\t\t\t\t\t1\n\t\t\t\t\t\t1\n\t\t\t\t\t\t0.25\n\t\t\t\t\t]\n";
    text += std::string("\t\t\t\t}\n\t\t\t}\n\t\t}\n\t\tprefab = \"shapes/") + prefab.name + "\"\n\t}\n";
}

std::string level_text(std::size_t n) {
    Random random(7);
    std::string text = "_guid = \"ba028395-428e-42f2-aca8-11a1523fe8bf\"\n_type = \"level\"\nunits = [\n";
    for (std::size_t i = 0; i < n; ++i) add_unit(text, random);
    return text + "]\n";
}

/// Appends an entity with three components, as a person would write it. `begin` and `end` enclose the components.
void add_placed_entity(std::string& text, Random& random, std::size_t i, const char* begin, const char* end) {
    constexpr const char* kShapes[] = {"cone", "cube", "sphere", "cylinder"};
    const std::string shape = kShapes[random.below(4)];
    const auto numbers = [&](int count) {
        char number[32];
        for (int k = 0; k < count; ++k) {
            std::snprintf(number, sizeof number, "%s%.7g", k == 0 ? "" : " ", double(random.unit() * 128 - 64));
            text += number;
        }
    };
    text += "  " + shape + "_" + std::to_string(i) + " = {" + begin + "\n    transform = { position = [ ";
    numbers(3);
    text += " ]  rotation = [ ";
    numbers(4);
    text += " ]  scale = [ 1 1 0.25 ] }\n    mesh_renderer = { mesh_resource = \"shapes/" + shape +
            "\"  geometry_name = \"" + shape +
            "\"  material = \"shapes/plain\"  visible = true }\n    collider = { shape = \"convex_hull\"  scene = "
            "\"shapes/" +
            shape + "\"  name = \"" + shape + "\" }\n  }" + end + "\n";
}

std::string placed_text(std::size_t n, const char* begin = "", const char* end = "") {
    Random random(11);
    std::string text = "entities = {\n";
    for (std::size_t i = 0; i < n; ++i) add_placed_entity(text, random, i, begin, end);
    return text + "}\n";
}

/// Appends a tree as YAML in block style, with a line per value as in the original text.
void add_yaml(std::string& text, Node node, std::size_t indent) {
    if (node.is_string()) {
        text += concat(" \"", node.as_string(), "\"\n");
    } else if (node.is_number()) {
        text += concat(' ', node.as_double(), '\n');
    } else if (node.is_bool()) {
        text += node.as_bool() ? " true\n" : " false\n";
    } else if (node.is_null() || node.size() == 0) {
        text += node.is_list() ? " []\n" : node.is_mapping() ? " {}\n" : " ~\n";
    } else {
        text += '\n';
        for (const Node child : node) {
            text.append(indent, ' ');
            text += child.has_key() ? concat('"', child.key(), "\":") : "-";
            add_yaml(text, child, indent + 2);
        }
    }
}

std::string yaml_of(const std::string& sjson) {
    Diagnostics diagnostics;
    const Document document = need(read_sjson(diagnostics.add_file("level", sjson), diagnostics));
    std::string text;
    add_yaml(text, document.root(), 0);
    return text;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Adds up all numbers in a text, except in quoted strings and words.
std::uint64_t read_numbers(std::string_view text) {
    std::uint64_t sum = 0;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        if (*at == '"') {
            at = static_cast<const char*>(std::memchr(at + 1, '"', static_cast<std::size_t>(end - at - 1))) + 1;
        } else if (is_class(*at, kNumberStart)) {
            const ParsedNumber number = parse_number(at, end);
            const bool is_integer = number.form == NumberForm::kInteger;
            sum += bits_of(is_integer ? static_cast<float>(number.integer) : static_cast<float>(number.number));
            at = number.end;
        } else if (is_blank(*at)) {
            at = skip_space_runs(at, end, kJsonSpace);
        } else {
            at = find_class(at, end, kJsonSpace);
        }
    }
    return sum;
}

/// Adds up the same numbers in the blob.
std::uint64_t sum_transforms(std::span<const std::byte> bytes) {
    const Blob blob = need(Blob::view(bytes));
    const BlobComponents* transforms = blob.find_components(ComponentId("transform"));
    if (transforms == nullptr) fail("the compiled level has no transforms");
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c < transforms->columns.size(); ++c) {
        const std::size_t count =
            transforms->count() * std::size_t(transforms->schema->columns()[c].element_bytes) / sizeof(float);
        const auto* values = reinterpret_cast<const float*>(transforms->columns[c]);
        for (std::size_t i = 0; i < count; ++i) sum += bits_of(values[i]);
    }
    return sum;
}

std::size_t num_signs(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_blank(c); }));
}

class Compiler {
public:
    Compiler(std::string file_name, const std::string& text) : file_name_(std::move(file_name)), text_(text) {
        options_.name = "level";
        options_.compose.roots = {"root"};
        options_.compose.files = &files_;
        for (const Prefab& prefab : kPrefabs)
            files_.add(std::string("root/shapes/") + prefab.name + ".sjson", prefab_text(prefab));
        Diagnostics diagnostics;
        if (!read_schema_text(diagnostics.add_file("bench.schema.sjson", kSchema), registry_, options_.rules,
                              diagnostics))
            fail(diagnostics.format());
    }

    Side side() {
        return {[this] { prepare(); }, [this] { run(); }, [this] { return sum_transforms(compiled_->blob); }};
    }
    const CompiledSource& compiled() const { return *compiled_; }

private:
    void prepare() {
        compiled_.reset();
        diagnostics_.emplace();
        file_ = diagnostics_->add_file(file_name_, text_);
    }
    void run() {
        Result result = compile_file(file_, registry_, options_, *diagnostics_);
        if (!result) fail(diagnostics_->format());
        compiled_.emplace(std::move(*result));
    }

    std::string file_name_;
    const std::string& text_;
    ComponentRegistry registry_;
    MemoryFiles files_;
    CompileOptions options_;
    std::optional<Diagnostics> diagnostics_;
    std::uint32_t file_ = 0;
    std::optional<CompiledSource> compiled_;
};

void compile(Bench& bench, std::size_t n) {
    const std::string text = level_text(n);
    Compiler compiler("root/level.sjson", text);
    std::uint64_t other = 0;
    bench.compare({"compile/sjson", n, 0, num_signs(text)}, compiler.side(),
                  {{}, [&] { other = read_numbers(text); }, [&] { return other; }},
                  [](Measurement& result) { result.target_mb_per_s = 150; });
    const auto ns_per_entity = [&](std::int64_t ns) { return double(ns) / double(n); };
    std::printf(
        "  of which composing %.0f ns, compiling %.0f ns, writing %.0f ns; %.1f MB of text, %.1f MB without blanks\n",
        ns_per_entity(compiler.compiled().compose_ns), ns_per_entity(compiler.compiled().compile_ns),
        ns_per_entity(compiler.compiled().write_ns), double(text.size()) * 1e-6, double(num_signs(text)) * 1e-6);
}

void compile_yaml(Bench& bench, std::size_t n) {
    const std::string sjson = level_text(n), yaml = yaml_of(sjson);
    Compiler of_yaml("root/level.yaml", yaml), of_sjson("root/level.sjson", sjson);
    bench.compare({"compile/yaml", n, 4, num_signs(yaml)}, of_yaml.side(), of_sjson.side());
}

void compile_short_form(Bench& bench, std::size_t n) {
    const std::string text = placed_text(n), long_text = placed_text(n, " components = {", " }");
    Compiler compiler("root/level.sjson", text), of_long("root/level.sjson", long_text);
    std::uint64_t other = 0;
    if (bench.wants("compile/short_form"))
        bench.compare({"compile/short_form", n, n == 10'000 ? 6.0 : 0, num_signs(text)}, compiler.side(),
                      {{}, [&] { other = read_numbers(text); }, [&] { return other; }});
    if (bench.wants("compile/short_or_long"))
        bench.compare({"compile/short_or_long", n, 1.15, num_signs(text)}, compiler.side(), of_long.side());
}

}  // namespace

void measure_compiling(Bench& bench) {
    for (const std::size_t n : bench.sizes(kSizes)) {
        if (bench.wants("compile/short_form") || bench.wants("compile/short_or_long")) compile_short_form(bench, n);
        if (bench.wants("compile/sjson")) compile(bench, n);
        if (bench.wants("compile/yaml")) compile_yaml(bench, n);
    }
}

}  // namespace shoal_bench
