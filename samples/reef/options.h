#pragma once
// The command line of the program.

#include <shoal/base/status.h>

#include <cstdint>
#include <optional>
#include <string>

namespace reef {

struct Options {
    std::uint64_t num_fish = 100'000, num_frames = 600, num_workers = 0, seed = 1, num_ranks = 0;
    std::string sources, picture, trace, schema, plugin;
    bool json = false, help = false, watch = false;
    std::optional<std::uint16_t> inspect;  ///< port for the inspector
};

/// Errors: an option is unknown or has an invalid value. The message says what is expected.
shoal::Result<Options> read_options(int num_words, char** words);

std::string help_text();

}  // namespace reef
