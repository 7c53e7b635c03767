// Sends the positions of entities as bytes that a browser can draw without parsing text.
//
//     bytes of the header (uint32) | header: JSON, padded with spaces to a multiple of 4 |
//     x (float), y (float), index (uint32), generation (uint32), color (float), selected (uint8): each `count` times
//
// All numbers are little-endian.

#include "inspector/answers.h"
#include "inspector/json_text.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/inspect/picture.h"
#include "shoal/table/detail/number_value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

namespace shoal::inspect {
namespace {

static_assert(std::endian::native == std::endian::little, "what is sent is copied as it lies in memory");

constexpr std::size_t kMostPoints = 1'000'000;

/// The data sent for each point.
struct Points {
    std::vector<float> x, y, color;
    std::vector<Entity> entities;
    std::vector<std::uint8_t> selected;
    std::vector<std::string> legend;  // names by colour; empty if colours are numbers
    std::size_t total = 0;
};

Points collect(const World& world) {
    Points points;
    const std::vector<PictureLayer> layers = picture_layers(world);
    for (const PictureLayer& layer : layers) points.total += layer.points.size();
    const std::size_t most = std::min(points.total, kMostPoints);
    points.x.resize(most), points.y.resize(most), points.color.resize(most), points.entities.resize(most);
    std::size_t at = 0;
    for (const PictureLayer& layer : layers) {
        const auto color = static_cast<float>(points.legend.size());
        for (std::size_t i = 0; i < layer.points.size() && at < most; ++i) {
            if (!std::isfinite(layer.points[i].x) || !std::isfinite(layer.points[i].y)) continue;
            points.x[at] = layer.points[i].x;
            points.y[at] = layer.points[i].y;
            points.color[at] = color;
            points.entities[at++] = layer.entities[i];
        }
        points.legend.push_back(layer.name);
    }
    points.x.resize(at), points.y.resize(at), points.color.resize(at), points.entities.resize(at);
    points.selected.assign(at, 0);
    return points;
}

void color_by_zone(const World& world, Points& points) {
    points.legend.clear();
    const Database* const database = find_database(world.directory());
    std::map<Zone, float> number_of;
    for (std::size_t i = 0; i < points.entities.size(); ++i) {
        const DatabaseRow at = database == nullptr ? DatabaseRow() : database->find(points.entities[i]);
        const Zone zone = at ? at.table->zone() : kNoZone;
        const auto [found, is_new] = number_of.try_emplace(zone, static_cast<float>(points.legend.size()));
        if (is_new) points.legend.push_back(zone == kNoZone ? std::string("no zone") : concat("zone ", zone));
        points.color[i] = found->second;
    }
}

/// Errors: the field is not a number.
Status color_by_field(Session& session, const std::string& name, Points& points) {
    points.legend.clear();
    const Result<FieldPath> path = session.world.find_field(name);
    if (!path) return path.status();
    const FieldType type = path->type().type;
    if (type < FieldType::kBool || type > FieldType::kDouble || path->type().array_length != 0)
        return Status::error(concat('"', name, "\" is ", path->type().to_text(), "; points are coloured by a number"));
    for (std::size_t i = 0; i < points.entities.size(); ++i) {
        const Result<AnyValue> value = path->read(points.entities[i]);
        points.color[i] = value ? static_cast<float>(read_number(type, value->bytes().data())) : std::nanf("");
    }
    return {};
}

template <class T>
char* put(char* to, const std::vector<T>& values) {
    return std::copy_n(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T), to);
}

/// Returns the header, followed by the columns.
std::string to_bytes(std::string_view header, const Points& points) {
    const std::size_t count = points.entities.size(), padded = (header.size() + 3) / 4 * 4;
    std::string bytes(sizeof(std::uint32_t) + padded + count * (3 * sizeof(float) + 2 * sizeof(std::uint32_t) + 1),
                      ' ');
    const auto size = static_cast<std::uint32_t>(padded);
    std::memcpy(bytes.data(), &size, sizeof size);
    std::ranges::copy(header, bytes.data() + sizeof size);
    char* to = put(put(bytes.data() + sizeof size + padded, points.x), points.y);
    for (const bool is_index : {true, false})
        for (const Entity entity : points.entities) {
            const std::uint32_t part = is_index ? entity.index() : entity.generation();
            std::memcpy(to, &part, sizeof part);
            to += sizeof part;
        }
    put(put(to, points.color), points.selected);
    return bytes;
}

void write_corner(std::string_view key, const Points& points, bool low, DocumentBuilder& builder) {
    builder.begin_list(key);
    if (!points.x.empty())
        for (const std::vector<float>* lane : {&points.x, &points.y})
            builder.number(static_cast<double>(low ? std::ranges::min(*lane) : std::ranges::max(*lane)));
    builder.end();
}

void write_legend(const Points& points, JsonText& json) {
    DocumentBuilder& builder = json.builder;
    if (!points.legend.empty()) {
        builder.begin_list("legend");
        for (std::size_t i = 0; i < points.legend.size(); ++i) {
            builder.begin_mapping();
            builder.unsigned_integer("value", i);
            json.text("name", points.legend[i]);
            builder.end();
        }
        return builder.end();
    }
    float low = 0, high = 0;
    bool is_first = true;
    for (const float value : points.color) {
        if (!std::isfinite(value)) continue;
        low = is_first ? value : std::min(low, value);
        high = is_first ? value : std::max(high, value);
        is_first = false;
    }
    builder.begin_mapping("legend");
    builder.number("min", static_cast<double>(low));
    builder.number("max", static_cast<double>(high));
    builder.end();
}

}  // namespace

Response show_points(Session& session, const Request& request) {
    Points points = collect(session.world);
    const std::string color = request.parameter("color"), query = request.parameter("query");
    if (color == "zone") {
        color_by_zone(session.world, points);
    } else if (!color.empty() && color != "component") {
        if (const Status status = color_by_field(session, color, points); !status) return refuse(400, status.message());
    }
    if (!query.empty()) {
        Selection selection = select(session, query);
        if (selection.refusal) return *std::move(selection.refusal);
        for (std::size_t i = 0; i < points.entities.size(); ++i)
            points.selected[i] =
                std::ranges::binary_search(selection.entities, points.entities[i].id, {}, &Entity::id) ? 1 : 0;
    }
    JsonText json;
    json.builder.begin_mapping();
    json.builder.unsigned_integer("count", points.entities.size());
    json.builder.unsigned_integer("total", points.total);
    json.builder.unsigned_integer("frame", session.world.frame());
    write_corner("low", points, true, json.builder);
    write_corner("high", points, false, json.builder);
    json.text("color", color.empty() ? "component" : color);
    write_legend(points, json);
    json.builder.end();
    return {200, "application/octet-stream", to_bytes(json.finish(), points)};
}

}  // namespace shoal::inspect
