#pragma once
// A world with a plugin that is made of the calls of a test.

#include "plugin/host.h"

#include <string>

namespace shoal_test {

struct GuestWorld {
    shoal::EntityManager entities{{.max_death_list = 64}};  ///< a burst that no list has room for is short
    shoal::World world{entities};
    shoal::PluginHost host{world};
    shoal_world plugin{host, "guest"};
    const shoal_host& table = shoal::plugin_host_table();
    shoal_error error{sizeof error, {}};

    std::string take_error() {
        const std::string text = error.text;
        error.text[0] = 0;
        return text;
    }
};

}  // namespace shoal_test
