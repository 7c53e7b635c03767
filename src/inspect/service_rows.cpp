#include "shoal/inspect/detail/service_rows.h"

#include "shoal/base/detail/lines.h"

#include <algorithm>

namespace shoal {

std::vector<std::vector<std::string>> service_rows(const WorldService& service) {
    const std::string table = service.table();
    std::vector<std::vector<std::string>> rows;
    for (std::string_view rest = table; !rest.empty();) {
        std::vector<std::string>& row = rows.emplace_back();
        for (std::string_view line = take_line(rest); row.empty() || !line.empty();) {
            const std::size_t end = std::min(line.find('\t'), line.size());
            row.emplace_back(line.substr(0, end));
            line.remove_prefix(std::min(end + 1, line.size()));
        }
        row.resize(rows.front().size());
    }
    return rows;
}

}  // namespace shoal
