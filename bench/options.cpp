// Command-line options of the benchmark programs.

#include "harness.h"

#include <cstdio>
#include <cstdlib>

namespace shoal_bench {

void fail_usage(std::string_view program, std::string_view usage, std::string_view message) {
    std::fprintf(stderr, "%.*s: %.*s\n%.*s", static_cast<int>(program.size()), program.data(),
                 static_cast<int>(message.size()), message.data(), static_cast<int>(usage.size()), usage.data());
    std::exit(2);
}

Options read_options(std::string_view program, std::string_view usage, std::span<char* const> words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string flag = words[i];
        const auto value = [&] {
            if (i + 1 == words.size()) fail_usage(program, usage, flag + " needs a value");
            return std::string(words[++i]);
        };
        if (flag == "--quick")
            options.quick = true;
        else if (flag == "--json")
            options.json_path = value();
        else if (flag == "--chart")
            options.chart_path = value();
        else if (flag == "--table")
            options.table_path = value();
        else if (flag == "--from" && usage.find(flag) != std::string_view::npos)
            options.from_path = value();
        else if (flag == "--filter") {
            const std::string pattern = value();
            try {
                options.filter = std::regex(pattern, std::regex::ECMAScript);
                options.has_filter = true;
            } catch (const std::regex_error& error) {
                fail_usage(program, usage, "--filter \"" + pattern + "\" is not a regular expression: " + error.what());
            }
        } else if (flag == "--help" || flag == "-h") {
            std::fwrite(usage.data(), 1, usage.size(), stdout);
            std::exit(0);
        } else {
            fail_usage(program, usage, "there is no flag \"" + flag + "\"");
        }
    }
    return options;
}

}  // namespace shoal_bench
