// Fuzzes the parsers of text formats. Any bytes produce a document or a diagnostic, and a document that is written can
// be read back as the same tree. Any text of a query produces a query that can run, or a diagnostic.
#include "shoal/components/debug_name.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/tag.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"
#include "shoal/query/text_query.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <cstdlib>
#include <string_view>

using namespace shoal;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

template <class Read, class Write>
void read_and_write_back(std::string_view text, Read read, Write write) {
    Diagnostics diagnostics;
    const Result<Document> document = read(diagnostics.refer_file("input", text), diagnostics);
    require(document.ok() == (diagnostics.num_errors() == 0));
    static_cast<void>(diagnostics.format());
    if (!document) return;
    const std::string written = write(document->root());
    Diagnostics again;
    const Result<Document> reread = read(again.refer_file("written", written), again);
    require(reread.ok() && equal(document->root(), reread->root()));
}

/// A few entities with components in different kinds of stores.
struct Sea {
    Sea() {
        Entity made[300];
        require(entities.create(made).ok());
        require(world.transforms().add(made).ok());
        require(world.manager<PointMass>().add(std::span(made).first(200), PointMass{.mass = 2}).ok());
        for (const Entity entity : std::span(made).last(200))
            require(world.database().add(entity, DebugName{StringId("boat")}).ok());
        require(world.manager<Tag>().add(std::span(made).first(50), {StringId("enemy")}).ok());
        for (std::size_t i = 1; i < 100; ++i)
            require(world.transforms()
                        .link(world.transforms().instance(made[i]), world.transforms().instance(made[i / 2]))
                        .ok());
    }
    EntityManager entities;
    World world{entities};
};

void make_query(std::string_view text) {
    static Sea sea;
    Diagnostics diagnostics;
    const Result<TextQuery> query =
        TextQuery::make(sea.world.directory(), diagnostics.refer_file("query", text), diagnostics);
    require(query.ok() == (diagnostics.num_errors() == 0));
    static_cast<void>(diagnostics.format());
    if (!query) return;
    std::uint64_t num_rows = 0;
    query->for_each_batch([&](const TextBatch& batch) { num_rows += batch.num_rows(); });
    require(num_rows <= query->num_rows());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_and_write_back(
        text, [](std::uint32_t file, Diagnostics& diagnostics) { return read_sjson(file, diagnostics); },
        [](Node node) { return write_sjson(node); });
    read_and_write_back(
        text, [](std::uint32_t file, Diagnostics& diagnostics) { return read_json(file, diagnostics); },
        [](Node node) { return write_json(node); });
    make_query(text);
    return 0;
}
