#include "shoal_panel.h"

#include "shoal/document/diagnostics.h"
#include "shoal/entity/entity_text.h"
#include "shoal/inspect/describe_entity.h"
#include "shoal/inspect/text_table.h"
#include "shoal/query/text_query.h"
#include "shoal/save/state_difference.h"

#include <imgui.h>

#include <algorithm>
#include <initializer_list>

namespace shoal_panel {
namespace {

using shoal::bytes_text;
using shoal::count_text;
using shoal::decimal_text;

constexpr int kDrawsBetweenReports = 15;
constexpr ImGuiTableFlags kTableFlags =
    ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_Resizable;

bool begin_table(const char* name, std::initializer_list<const char*> columns) {
    if (!ImGui::BeginTable(name, static_cast<int>(columns.size()), kTableFlags)) return false;
    for (const char* column : columns) ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    return true;
}

void cell(const std::string& text) {
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

void memory_row(const std::string& name, const shoal::MemoryUse& memory) {
    ImGui::TableNextRow();
    cell(name);
    cell(bytes_text(memory.used_bytes));
    cell(bytes_text(memory.committed_bytes));
    cell(bytes_text(memory.reserved_bytes));
}

}  // namespace

void Panel::draw(shoal::World& world, bool* is_open) {
    if (num_draws_++ % kDrawsBetweenReports == 0) {
        report_ = shoal::report_world(world);
        find(world);
    }
    ImGui::SetNextWindowSize({620, 420}, ImGuiCond_FirstUseEver);
    if (ImGui::Begin("shoal", is_open)) {
        const shoal::MemoryUse memory = report_.total_memory();
        ImGui::Text("frame %s   %s entities   %s", count_text(world.frame()).c_str(),
                    count_text(world.entities().num_alive()).c_str(), bytes_text(memory.committed_bytes).c_str());
        if (ImGui::BeginTabBar("views")) {
            if (ImGui::BeginTabItem("Passes")) draw_passes(world), ImGui::EndTabItem();
            if (ImGui::BeginTabItem("Memory")) draw_memory(), ImGui::EndTabItem();
            if (ImGui::BeginTabItem("Entities")) draw_entities(world), ImGui::EndTabItem();
            ImGui::EndTabBar();
        }
    }
    ImGui::End();
}

void Panel::draw_passes(shoal::World& world) const {
    if (!begin_table("passes", {"on", "pass", "runs", "rows", "mean ms", "last ms", "GB/s"})) return;
    for (std::size_t i = 0; i < report_.passes.size(); ++i) {
        const shoal::PassReport& pass = report_.passes[i];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushID(static_cast<int>(i));
        bool enabled = i < world.schedule().num_passes() && world.schedule().statistics(i).enabled;
        if (ImGui::Checkbox("##on", &enabled))
            if (const shoal::Status status = world.schedule().enable(pass.name, enabled); !status)
                ImGui::SetTooltip("%s", std::string(status.message()).c_str());  // the pass was removed
        ImGui::PopID();
        cell(pass.name);
        cell(count_text(pass.num_runs));
        cell(count_text(pass.num_rows));
        cell(decimal_text(pass.mean_ms(), 3));
        cell(decimal_text(pass.last_ms(), 3));
        cell(pass.total_bytes == 0 ? "" : decimal_text(pass.gb_per_s(), 2));
    }
    ImGui::EndTable();
}

void Panel::draw_memory() const {
    if (begin_table("components", {"component", "rows", "dead", "bytes/row", "used", "committed", "wasted"})) {
        for (const shoal::ComponentReport& component : report_.components) {
            ImGui::TableNextRow();
            cell(component.name);
            cell(count_text(component.num_rows));
            cell(count_text(component.num_dead_rows));
            cell(decimal_text(component.bytes_per_row(), 1));
            cell(bytes_text(component.rows.used_bytes));
            cell(bytes_text(component.rows.committed_bytes));
            cell(bytes_text(component.wasted_bytes()));
        }
        ImGui::EndTable();
    }
    ImGui::Spacing();
    if (!begin_table("owners", {"owner", "used", "committed", "reserved"})) return;
    shoal::MemoryUse total;
    for (const shoal::OwnerReport& owner : report_.memory) {
        memory_row(owner.name, owner.memory);
        total += owner.memory;
    }
    memory_row("total", total);
    ImGui::EndTable();
}

/// Finds the entities that match the query.
void Panel::find(const shoal::World& world) {
    mistake_.clear();
    found_.clear();
    if (query_[0] == '\0') {
        found_ = shoal::living_entities(world);
        return;
    }
    const shoal::Result<shoal::TextQuery> query = shoal::TextQuery::make(world.directory(), query_);
    if (!query) {
        mistake_ = query.message();
        return;
    }
    query->for_each_batch([&](const shoal::TextBatch& batch) {
        found_.insert(found_.end(), batch.entities().begin(), batch.entities().end());
    });
    std::ranges::sort(found_, {}, &shoal::Entity::id);  // entities with several values are visited several times
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
}

void Panel::draw_entities(const shoal::World& world) {
    if (ImGui::InputTextWithHint("##query", "fish, !asleep, health < 10", query_, sizeof query_)) find(world);
    ImGui::SameLine();
    ImGui::Text("%s", mistake_.empty() ? count_text(found_.size()).c_str() : mistake_.c_str());
    ImGui::BeginChild("list", {200, 0}, true);
    const shoal::EntityWriter names(world);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(found_.size()));
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const shoal::Entity entity = found_[static_cast<std::size_t>(i)];
            const std::string line = shoal::entity_text(entity) + "  " + std::string(names.name_of(entity));
            if (ImGui::Selectable(line.c_str(), entity == chosen_)) chosen_ = entity;
        }
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("chosen", {0, 0}, true);
    const std::string text = chosen_ ? shoal::describe(world, chosen_) : std::string("choose an entity");
    ImGui::PushTextWrapPos();
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopTextWrapPos();
    ImGui::EndChild();
}

}  // namespace shoal_panel
