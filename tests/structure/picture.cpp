// The rooms as a picture, made from the includes: docs/rooms.svg.
//
//     base      [ 20 headers, 12 sources ] --.
//     document  [ ...                    ] <-'--.      an arc from a room to each room that it includes, without those
//     entity    [ ...                    ] <----'      that it would reach by other arcs anyway

#include "source_tree.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace structure {
namespace {

constexpr int kLeft = 20, kTop = 20, kRowHeight = 46, kBoxHeight = 32, kBoxWidth = 330, kArcStep = 22;

/// By room: whether it includes another one, in order of the rooms.
using Graph = std::vector<std::vector<bool>>;

Graph included_rooms(const Path& root, const Lines& rooms) {
    Graph graph(rooms.size(), std::vector<bool>(rooms.size()));
    for (std::size_t from = 0; from < rooms.size(); ++from)
        for (const std::string& folder : {"include/shoal/" + rooms[from], "src/" + rooms[from]})
            for (const Path& file : files_beneath(root, folder, {".h", ".cpp"}))
                for (const Include& include : read_includes(file))
                    for (std::size_t to = 0; to < from; ++to)
                        if (include.name.starts_with("shoal/" + rooms[to] + "/")) graph[from][to] = true;
    return graph;
}

/// Adds what is reached through others, then leaves out every arc that others make up for.
Graph without_detours(Graph graph) {
    const std::size_t n = graph.size();
    Graph reached = graph;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t by = from; by-- > 0;)
            for (std::size_t to = 0; to < by; ++to)
                if (reached[from][by] && reached[by][to]) reached[from][to] = true;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t by = 0; by < from; ++by)
            for (std::size_t to = 0; to < by; ++to)
                if (graph[from][by] && reached[by][to]) graph[from][to] = false;
    return graph;
}

std::string count_text(std::size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string box(const Path& root, const std::string& room, int row, bool in_runtime) {
    const std::size_t num_headers = files_beneath(root, "include/shoal/" + room, {".h"}).size();
    const std::size_t num_sources = files_beneath(root, "src/" + room, {".cpp"}).size();
    const std::string text = count_text(num_headers, "header") + ", " + count_text(num_sources, "source");
    char svg[600];
    std::snprintf(svg, sizeof svg,
                  "<rect x='%d' y='%d' width='%d' height='%d' rx='6' fill='%s' stroke='#456'/>\n"
                  "<text x='%d' y='%d' font-weight='bold'>%s</text>\n"
                  "<text x='%d' y='%d' fill='#456' text-anchor='end'>%s</text>\n",
                  kLeft, kTop + row * kRowHeight, kBoxWidth, kBoxHeight, in_runtime ? "#dff0f7" : "#f7ecd8", kLeft + 14,
                  kTop + row * kRowHeight + 21, room.c_str(), kLeft + kBoxWidth - 14, kTop + row * kRowHeight + 21,
                  text.c_str());
    return svg;
}

/// Leaves the box of `from` at the right, and comes back, with its arrow, to the box of `to` above it.
std::string arc(int from, int to) {
    const int begin_y = kTop + from * kRowHeight + kBoxHeight / 2 - 5,
              end_y = kTop + to * kRowHeight + kBoxHeight / 2 + 5;
    const int x = kLeft + kBoxWidth, bend = x + 30 + kArcStep * (from - to);
    char svg[300];
    std::snprintf(svg, sizeof svg,
                  "<path d='M%d %d C%d %d %d %d %d %d' fill='none' stroke='#789' stroke-width='1.5' "
                  "marker-end='url(#arrow)'/>\n",
                  x, begin_y, bend, begin_y, bend, end_y, x + 3, end_y);
    return svg;
}

}  // namespace

std::string rooms_picture(const Path& root) {
    const Lines rooms = read_rooms(root), runtime = read_runtime_rooms(root);
    const Graph graph = without_detours(included_rooms(root, rooms));
    std::string arcs, boxes;
    int longest = 1;
    for (std::size_t from = 0; from < rooms.size(); ++from) {
        const bool in_runtime = std::find(runtime.begin(), runtime.end(), rooms[from]) != runtime.end();
        boxes += box(root, rooms[from], static_cast<int>(from), in_runtime);
        for (std::size_t to = 0; to < from; ++to) {
            if (!graph[from][to]) continue;
            arcs += arc(static_cast<int>(from), static_cast<int>(to));
            longest = std::max(longest, static_cast<int>(from - to));
        }
    }
    const int width = kLeft + kBoxWidth + 50 + kArcStep * longest,
              height = 2 * kTop + static_cast<int>(rooms.size()) * kRowHeight;
    return "<svg xmlns='http://www.w3.org/2000/svg' width='" + std::to_string(width) + "' height='" +
           std::to_string(height) +
           "' font-family='sans-serif' font-size='14'>\n"
           "<title>The rooms of shoal: an arrow leads to a room that is included</title>\n"
           "<defs><marker id='arrow' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' "
           "orient='auto'>"
           "<path d='M0 0 L8 4 L0 8 z' fill='#789'/></marker></defs>\n"
           "<rect width='100%' height='100%' fill='white'/>\n" +
           arcs + boxes + "</svg>\n";
}

}  // namespace structure
