#include "inspect/schedule_layout.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace shoal {
namespace {

constexpr int kSweeps = 8;

/// A pass, or a gap for a line, in a column.
struct Item {
    double height = 0;
    double center = 0;
    std::uint32_t column = 0;
    std::vector<std::uint32_t> before, after;  // items connected to it in the neighbouring columns
};

class Columns {
public:
    Columns(const ScheduleGraph& graph, const LayoutSizes& sizes) : sizes_(sizes) {
        for (const PassNode& pass : graph.passes) add_item(pass.level, sizes.node_height);
        for (const PassEdge& edge : graph.edges) {
            std::vector<std::uint32_t>& chain = chains_.emplace_back();
            chain.push_back(edge.from);
            for (std::uint32_t level = items_[edge.from].column + 1; level < items_[edge.to].column; ++level)
                chain.push_back(add_item(level, sizes.line_height));
            chain.push_back(edge.to);
            for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
                items_[chain[i]].after.push_back(chain[i + 1]);
                items_[chain[i + 1]].before.push_back(chain[i]);
            }
        }
    }

    ScheduleLayout place() {
        for (std::vector<std::uint32_t>& column : columns_) stack(column);
        for (int sweep = 0; sweep < kSweeps; ++sweep) {
            const bool is_forward = sweep % 2 == 0;
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                std::vector<std::uint32_t>& column = columns_[is_forward ? i : columns_.size() - 1 - i];
                // The first sweeps find the order; the last sweeps straighten the lines.
                if (sweep < kSweeps / 2)
                    order(column, is_forward);
                else
                    straighten(column, is_forward);
            }
        }
        return layout();
    }

private:
    std::uint32_t add_item(std::uint32_t column, double height) {
        const auto number = static_cast<std::uint32_t>(items_.size());
        items_.push_back({height, 0, column, {}, {}});
        if (columns_.size() <= column) columns_.resize(column + 1);
        columns_[column].push_back(number);
        return number;
    }

    double wanted_center(std::uint32_t item, bool looks_before) const {
        const std::vector<std::uint32_t>& joined = looks_before ? items_[item].before : items_[item].after;
        if (joined.empty()) return items_[item].center;
        double sum = 0;
        for (const std::uint32_t other : joined) sum += items_[other].center;
        return sum / static_cast<double>(joined.size());
    }

    /// Stacks items, centred on 0.
    void stack(const std::vector<std::uint32_t>& column) {
        double y = 0;
        for (const std::uint32_t item : column) y += items_[item].height + sizes_.gap_y;
        y = -y / 2;
        for (const std::uint32_t item : column) {
            items_[item].center = y + items_[item].height / 2;
            y += items_[item].height + sizes_.gap_y;
        }
    }

    void order(std::vector<std::uint32_t>& column, bool looks_before) {
        struct Key {
            double center;
            std::size_t place;  // the item's current index, to break ties
            std::uint32_t item;
            auto operator<=>(const Key&) const = default;
        };
        std::vector<Key> keys;
        for (const std::uint32_t item : column) keys.push_back({wanted_center(item, looks_before), keys.size(), item});
        std::ranges::sort(keys, std::less<>());
        for (std::size_t i = 0; i < column.size(); ++i) column[i] = keys[i].item;
        stack(column);
    }

    /// Moves each item to where its lines are straight, as far as the order and the gaps allow.
    void straighten(const std::vector<std::uint32_t>& column, bool looks_before) {
        double low = 0, shift = 0;
        std::vector<double> wanted;
        for (const std::uint32_t item : column) wanted.push_back(wanted_center(item, looks_before));
        for (std::size_t i = 0; i < column.size(); ++i) {
            Item& item = items_[column[i]];
            item.center = i == 0 ? wanted[i] : std::max(wanted[i], low + item.height / 2);
            low = item.center + item.height / 2 + sizes_.gap_y;
            shift += wanted[i] - item.center;
        }
        for (const std::uint32_t item : column) items_[item].center += shift / static_cast<double>(column.size());
    }

    ScheduleLayout layout() const {
        ScheduleLayout found;
        double top = 0, bottom = 0;
        for (const Item& item : items_) {
            top = std::min(top, item.center - item.height / 2);
            bottom = std::max(bottom, item.center + item.height / 2);
        }
        const auto left = [&](std::uint32_t item) { return items_[item].column * (sizes_.node_width + sizes_.gap_x); };
        const std::size_t num_passes = items_.size() - num_gaps();
        for (std::uint32_t pass = 0; pass < num_passes; ++pass)
            found.nodes.push_back({left(pass), items_[pass].center - sizes_.node_height / 2 - top});
        for (const std::vector<std::uint32_t>& chain : chains_) {
            std::vector<LayoutPoint>& line = found.lines.emplace_back();
            for (const std::uint32_t item : chain) {
                if (item != chain.front()) line.push_back({left(item), items_[item].center - top});
                if (item != chain.back()) line.push_back({left(item) + sizes_.node_width, items_[item].center - top});
            }
        }
        found.width = std::max<double>(1, static_cast<double>(columns_.size())) * (sizes_.node_width + sizes_.gap_x) -
                      sizes_.gap_x;
        found.height = bottom - top;
        return found;
    }

    std::size_t num_gaps() const {
        return std::accumulate(chains_.begin(), chains_.end(), std::size_t(0),
                               [](std::size_t sum, const auto& chain) { return sum + chain.size() - 2; });
    }

    const LayoutSizes& sizes_;
    std::vector<Item> items_;                          // passes first, by index
    std::vector<std::vector<std::uint32_t>> columns_;  // [level][from top to bottom]
    std::vector<std::vector<std::uint32_t>> chains_;   // the passes of each edge and the gaps between them
};

}  // namespace

ScheduleLayout lay_out(const ScheduleGraph& graph, const LayoutSizes& sizes) { return Columns(graph, sizes).place(); }

}  // namespace shoal
