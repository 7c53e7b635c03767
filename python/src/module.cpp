// The module shoal._core: component types, compiling, and what Python sees of errors. The package shoal gives it a face.

#include "shoal/base/file.h"
#include "shoal/components/activity.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose_text.h"
#include "shoal/source/schema_file.h"
#include "shoal/transform/transform_text.h"
#include "world.h"

#include <vector>

namespace shoal_python {

namespace {

Status add_built_ins(ComponentRegistry& registry) {
    const auto add = [&]<class... Ts>() {
        Status status;
        static_cast<void>(((status = registry.add<Ts>(), status.ok()) && ...));
        return status;
    };
    if (Status status = add_transform(registry); !status) return status;
    if (Status status = add_model_pose(registry); !status) return status;
    if (Status status = add_properties(registry); !status) return status;
    return add.operator()<AttachedToNode, PointMass, Owned, Inactive, DebugName, Tag, SpawnZone, SpawnDisabled>();
}

std::string format(const Diagnostics& diagnostics, std::string_view status = {}) {
    std::string text = diagnostics.format();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.empty() ? std::string(status) : text;
}

std::shared_ptr<LoadedBlob> load_compiled(const Result<CompiledSource>& compiled, const Diagnostics& diagnostics) {
    if (!compiled) throw CompileError(format(diagnostics, compiled.message()));
    auto loaded = std::make_shared<LoadedBlob>(require(Blob::load(compiled->blob)));
    loaded->warnings = format(diagnostics);
    return loaded;
}

CompileOptions options_of(const SchemaSet& schema, const std::vector<std::string>& roots, const std::string& name,
                          bool strict) {
    CompileOptions options;
    options.rules = schema.rules;
    options.compose.roots = roots;
    options.name = name;
    options.strict = strict;
    return options;
}

std::shared_ptr<LoadedBlob> compile_path(const std::string& path, const SchemaSet& schema,
                                         const std::vector<std::string>& roots, const std::string& name, bool strict) {
    Diagnostics diagnostics;
    return load_compiled(compile_source(path, schema.registry, options_of(schema, roots, name, strict), diagnostics),
                         diagnostics);
}

std::shared_ptr<LoadedBlob> compile_text(const std::string& text, const SchemaSet& schema,
                                         const std::vector<std::string>& roots, const std::string& name, bool strict) {
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file(name.empty() ? "text" : name, text);
    return load_compiled(compile_file(file, schema.registry, options_of(schema, roots, name, strict), diagnostics),
                         diagnostics);
}

std::shared_ptr<LoadedBlob> load_bytes(const std::string& bytes) {
    return std::make_shared<LoadedBlob>(require(Blob::load(std::as_bytes(std::span(bytes)))));
}

std::shared_ptr<LoadedBlob> load_path(const std::string& path) {
    return std::make_shared<LoadedBlob>(require(Blob::read(path)));
}

py::list names_of(const LoadedBlob& loaded) {
    py::list names;
    for (std::uint32_t i = 0; i < loaded.blob.num_entities(); ++i)
        names.append(std::string(loaded.blob.entity_name(i)));
    return names;
}

std::uint32_t find_name(const LoadedBlob& loaded, const std::string& name) {
    std::uint32_t index = loaded.blob.find_guid(StringId(name).hash);  // as Spawned::find() does
    if (index == kNoBlobEntity) index = loaded.blob.find_name(name);
    if (index == kNoBlobEntity) throw Error(concat("the blob has no entity called ", quoted(name)));
    return index;
}

py::dict counts_of(const LoadedBlob& loaded) {
    py::dict counts;
    for (const BlobComponents& components : loaded.blob.component_types())
        counts[py::str(components.schema->name())] = components.count();
    return counts;
}

}  // namespace

SchemaSet::SchemaSet() {
    require(add_built_ins(registry));
    num_built_in = registry.components().size();
}

void SchemaSet::add_text(const std::string& text, const std::string& name) {
    Diagnostics diagnostics;
    if (!read_schema_text(diagnostics.add_file(name, text), registry, rules, diagnostics))
        throw CompileError(format(diagnostics, "the schema has errors"));
}

void SchemaSet::add_file(const std::string& path) {
    Diagnostics diagnostics;
    if (!read_schema_file(path, registry, rules, diagnostics))
        throw CompileError(format(diagnostics, concat("cannot read ", path)));
}

py::dict SchemaSet::components() const {
    py::dict found;
    for (const RegisteredComponent* component : registry.components()) {
        if (component->schema == nullptr) continue;
        py::dict fields;
        for (const Field& field : component->schema->fields())
            fields[py::str(field.name)] = value_type_of(field).to_text();
        found[py::str(component->name)] = fields;
    }
    return found;
}

void bind_schema(py::module_& module) {
    py::class_<SchemaSet, std::shared_ptr<SchemaSet>>(module, "Schema")
        .def(py::init<>())
        .def("_add_text", &SchemaSet::add_text)
        .def("_add_file", &SchemaSet::add_file)
        .def_property_readonly("components", &SchemaSet::components, "Fields and their types, by component type.");
    py::class_<LoadedBlob, std::shared_ptr<LoadedBlob>>(module, "Blob",
                                                        "A compiled resource; bytes(blob) is what its file holds.")
        .def_property_readonly(
            "name", [](const LoadedBlob& b) { return std::string(b.blob.name()); }, "The name of the resource.")
        .def_property_readonly(
            "num_entities", [](const LoadedBlob& b) { return b.blob.num_entities(); },
            "How many entities a copy of it has.")
        .def_property_readonly("names", &names_of, "The names of its entities, in order; empty for those without.")
        .def_property_readonly("components", &counts_of, "How many components of each type it has.")
        .def_readonly("warnings", &LoadedBlob::warnings, "What the compiler warned of.")
        .def("find", &find_name, "Returns the index of the entity with this path of GUIDs or this name.")
        .def("__bytes__", [](const LoadedBlob& b) {
            return py::bytes(reinterpret_cast<const char*>(b.blob.bytes().data()), b.blob.bytes().size());
        });
    module.def("_compile_path", &compile_path);
    module.def("_compile_text", &compile_text);
    module.def("_load_path", &load_path);
    module.def("_load_bytes", [](const py::bytes& bytes) { return load_bytes(std::string(bytes)); });
}

}  // namespace shoal_python

PYBIND11_MODULE(_core, module) {
    using namespace shoal_python;
    module.doc() = "The compiled half of shoal.";
    auto error = py::register_exception<Error>(module, "Error");
    error.doc() = "What a call of shoal refuses; the message says what, where and what to do.";
    py::register_exception<CompileError>(module, "CompileError", error.ptr()).doc() =
        "A source or schema with mistakes: all of them, with file, line and column.";
    py::register_exception<BusyError>(module, "BusyError", error.ptr()).doc() =
        "A call that would move rows while arrays over them are in use, or while passes run.";
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const py::cast_error&) {
            PyErr_SetString(PyExc_TypeError, "an argument has the wrong type");
        }
    });
    bind_schema(module);
    bind_rows(module);
    bind_guests(module);
    bind_world(module);
    bind_sql(module);
}
