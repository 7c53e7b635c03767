// Measures look-ups of named values by their hashed paths.
//
//     properties/look_up            values of a shared template with 20 entries; each entity has one of its own
//     properties/look_up_own        the own value
//     properties/look_up_missing    paths that no entity has
//
// The reference has a struct per entity that points to the entity's own values and to the template's values. Both are
// arrays sorted by hash, with binary search. All values are floats.

#include "shoal/components/properties.h"
#include "reference.h"
#include "shoal/base/text.h"
#include "shoal/resource/blob_writer.h"
#include "workloads.h"

#include <algorithm>
#include <vector>

namespace shoal_bench {

using namespace shoal;

namespace {

constexpr std::uint32_t kNumValues = 20;

struct PlainValue {
    std::uint64_t path = 0;
    float value = 0;
};
struct PlainValues {
    const PlainValue* values = nullptr;
    std::uint32_t count = 0;

    const float* find(std::uint64_t path) const {
        const PlainValue* const end = values + count;
        const PlainValue* const found = std::lower_bound(
            values, end, path, [](const PlainValue& value, std::uint64_t wanted) { return value.path < wanted; });
        return found != end && found->path == path ? &found->value : nullptr;
    }
};
struct PlainTank {
    PlainValues own, shared;
};

StringId path_of(std::uint32_t i) { return StringId(concat("armor.plate_", i)); }

/// `n` entities with a shared template and one own value each, in shoal and in the reference.
class Tanks {
public:
    explicit Tanks(std::size_t n) : own_(n), plain_(n) {
        ids.resize(n);
        need_ok(entities_.create(ids));
        for (std::uint32_t i = 0; i < kNumValues; ++i) shared_.push_back({path_of(i).hash, float(i)});
        std::sort(shared_.begin(), shared_.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
        spawn();
        for (std::size_t i = 0; i < n; ++i) {
            need_ok(properties.set(ids[i], path_of(0), float(i)));
            own_[i] = {path_of(0).hash, float(i)};
            plain_[ids[i].index() - ids[0].index()] = {{&own_[i], 1}, {shared_.data(), kNumValues}};
        }
        shuffle(std::span(ids), 2);
    }

    SHOAL_BENCH_LOOP float sum_of(StringId path) const {
        float sum = 0;
        for (const Entity id : ids) sum += properties.get_or(id, path, 0.5f);
        return sum;
    }
    SHOAL_BENCH_LOOP float plain_sum_of(StringId path, std::uint32_t first) const {
        float sum = 0;
        for (const Entity id : ids) {
            const PlainTank& tank = plain_[id.index() - first];
            const float* value = tank.own.find(path.hash);
            if (value == nullptr) value = tank.shared.find(path.hash);
            sum += value != nullptr ? *value : 0.5f;
        }
        return sum;
    }

    std::vector<Entity> ids;

private:
    void spawn() {
        std::vector<PropertyEntry> entries;
        std::vector<PropertyInput> values;
        for (const PlainValue& value : shared_) values.emplace_back(value.value);
        for (std::uint32_t i = 0; i < kNumValues; ++i)
            entries.push_back({StringId(shared_[i].path), values[i].shape, {values[i].words, 1}});
        BlobWriter writer;
        writer.set_name("tank");
        const Array<std::uint32_t> table = make_property_table(entries);
        Properties row;
        static_cast<BlobArrayBase&>(row.values) = writer.add_array(FieldType::kUint32, std::as_bytes(std::span(table)));
        writer.add_component(need(writer.add_component_type(schema_of<Properties>())), writer.add_entity({}),
                             std::as_bytes(std::span(&row, 1)));
        const BlobComponents& components = need(library_.load(need(writer.write())))->component_types()[0];
        row = *reinterpret_cast<const Properties*>(components.columns[0]);
        need(properties.add_values(schema_of<Properties>(), ids, {reinterpret_cast<const std::byte*>(&row)}));
    }

    EntityManager entities_;
    PagePool pool_;
    ResourceLibrary library_;
    std::vector<PlainValue> shared_, own_;
    std::vector<PlainTank> plain_;

public:
    PropertyManager properties{entities_, pool_, {&library_, nullptr}};
};

void compare_look_up(Bench& bench, const char* name, std::size_t n, std::uint32_t path_number) {
    if (!bench.wants(name)) return;
    Tanks tanks(n);
    const std::uint32_t first = std::min_element(tanks.ids.begin(), tanks.ids.end())->index();
    const StringId path = path_of(path_number);
    float mine = 0, other = 0;
    bench.compare(
        {name, n},
        {{}, [&] { mine = tanks.sum_of(path); }, [&] { return std::uint64_t(std::bit_cast<std::uint32_t>(mine)); }},
        {{},
         [&] { other = tanks.plain_sum_of(path, first); },
         [&] { return std::uint64_t(std::bit_cast<std::uint32_t>(other)); }});
}

}  // namespace

void measure_properties(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 100'000, 1'000'000})) {
        compare_look_up(bench, "properties/look_up", n, 7);
        compare_look_up(bench, "properties/look_up_own", n, 0);
        compare_look_up(bench, "properties/look_up_missing", n, kNumValues);
    }
}

}  // namespace shoal_bench
