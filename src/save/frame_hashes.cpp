#include "save/frame_hashes.h"

#include "save/state_hasher.h"
#include "save/world_state.h"
#include "shoal/base/text.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <map>
#include <vector>

namespace shoal {
namespace {

/// Returns the name of a pass, with tabs and line breaks replaced by spaces.
std::string in_line(std::string_view name) {
    std::string text(name);
    std::replace_if(text.begin(), text.end(), [](char sign) { return sign == '\t' || sign == '\n'; }, ' ');
    return text;
}

/// Sums hashes over zones.
std::vector<FieldHash> sum_by_field(const StateHashes& hashes) {
    std::vector<FieldHash> fields;
    for (const StateHash& part : hashes.parts()) {
        const bool is_last =
            !fields.empty() && fields.back().name.component == part.component && fields.back().name.field == part.field;
        if (!is_last) fields.push_back({{std::string(part.component), std::string(part.field)}, 0});
        fields.back().hash += part.hash;
    }
    return fields;
}

void append_written(const World& world, const Access& access, Array<StateHash>& hashes) {
    for (Store* store : world.directory().stores())
        if (access.is_everything() || access.store == store)
            append_hashes(*store, access.component, access.field, hashes);
}

bool is_same(const Access& a, const Access& b) {
    return a.writes == b.writes && a.store == b.store && a.object == b.object && a.component == b.component &&
           a.field == b.field;
}

void append_names(std::span<const FieldHash> fields, std::string_view before, std::string& lines,
                  std::vector<std::uint64_t>& hashes) {
    for (const FieldHash& field : fields) {
        lines += concat(before, field.name.component, '\t', field.name.field);
        hashes.push_back(field.hash);
        if (before.empty()) lines += '\n';
    }
}

/// Removes from a line the text before its next tab, and returns that text.
std::string_view take_word(std::string_view& line) {
    const std::string_view word = line.substr(0, line.find('\t'));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    return word;
}

/// Reads lines and their hashes. visit(line, next) parses a line; next() returns the next hash.
template <class Visit>
Status load_lines(SnapshotReader& from, const char* lines_name, const char* hashes_name, Visit&& visit) {
    const Result<std::string> lines = from.text(lines_name);
    if (!lines) return lines.status();
    Array<std::uint64_t> hashes{Owner("world")};
    if (Status status = from.array(hashes_name, hashes); !status) return status;
    std::size_t num_read = 0;
    for_each_line(*lines, [&](std::string_view line) {
        visit(line, [&] { return num_read++ < hashes.size() ? hashes[num_read - 1] : 0; });
    });
    if (num_read == hashes.size()) return {};
    return from.error(hashes_name, concat("there are ", hashes.size(), " hashes for ", num_read, " fields"));
}

Array<StateHash> as_parts(std::span<const FieldHash> fields) {
    Array<StateHash> parts{Owner("world")};
    for (const FieldHash& field : fields)
        parts.push_back({field.name.component, field.name.field, kNoZone, field.hash});
    return parts;
}

}  // namespace

std::vector<FieldName> differing_fields(std::span<const FieldHash> here, std::span<const FieldHash> there) {
    const StateHashes parts_here(as_parts(here)), parts_there(as_parts(there));
    return differing_fields(parts_here.parts(), parts_there.parts());
}

void FrameHashes::begin(const World& world) {
    world_ = &world;
    passes_.assign(world.schedule().num_passes(), {});
}

void FrameHashes::observe(std::string_view pass, std::uint32_t number, std::span<const Access> accesses) {
    Array<StateHash> hashes{Owner("world")};
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const auto is_it = [&](const Access& other) { return is_same(other, accesses[i]); };
        const bool is_repeated = std::any_of(accesses.begin(), accesses.begin() + std::ptrdiff_t(i), is_it);
        if (accesses[i].writes && !is_repeated) append_written(*world_, accesses[i], hashes);
    }
    passes_[number] = {in_line(pass), sum_by_field(StateHashes(std::move(hashes)))};
}

void FrameHashes::end() {
    std::erase_if(passes_, [](const PassHashes& pass) { return pass.name.empty(); });
    const StateHashes hashes = hash_state(*world_);
    fields_ = sum_by_field(hashes);
    std::map<Zone, std::uint64_t> by_zone;
    for (const StateHash& part : hashes.parts())
        if (part.zone != kNoZone) by_zone[part.zone] += part.hash;
    zones_.clear(), zone_hashes_.clear();
    for (const auto& [zone, hash] : by_zone) zones_.push_back(zone), zone_hashes_.push_back(hash);
}

void FrameHashes::save(SnapshotWriter& to) const {
    std::string passes, fields;
    std::vector<std::uint64_t> pass_hashes, field_hashes;
    for (const PassHashes& pass : passes_) {
        passes += pass.name;
        append_names(pass.fields, "\t", passes, pass_hashes);
        passes += '\n';
    }
    append_names(fields_, "", fields, field_hashes);
    to.text("passes", passes);
    to.array("pass_hashes", pass_hashes);
    to.text("fields", fields);
    to.array("field_hashes", field_hashes);
    to.array("zones", zones_);
    to.array("zone_hashes", zone_hashes_);
}

Status FrameHashes::load(SnapshotReader& from) {
    *this = {};
    Status status = load_lines(from, "passes", "pass_hashes", [&](std::string_view line, auto&& next) {
        PassHashes& pass = passes_.emplace_back(PassHashes{std::string(take_word(line)), {}});
        while (!line.empty()) {
            const std::string_view component = take_word(line), field = take_word(line);
            pass.fields.push_back({{std::string(component), std::string(field)}, next()});
        }
    });
    if (status)
        status = load_lines(from, "fields", "field_hashes", [&](std::string_view line, auto&& next) {
            const std::string_view component = take_word(line);
            fields_.push_back({{std::string(component), std::string(line)}, next()});
        });
    if (!status) return status;
    Array<Zone> zones{Owner("world")};
    Array<std::uint64_t> zone_hashes{Owner("world")};
    if (status = from.array("zones", zones); !status) return status;
    if (status = from.array("zone_hashes", zone_hashes); !status) return status;
    zones_.assign(zones.begin(), zones.end());
    zone_hashes_.assign(zone_hashes.begin(), zone_hashes.end());
    return {};
}

}  // namespace shoal
