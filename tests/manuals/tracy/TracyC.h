#pragma once
// Stands in for the header of Tracy, so that the tests compile and run what the guide shows: it has the three macros
// that are used there, and notes what they were called with. A program includes Tracy's own.

#include <mutex>
#include <string>
#include <vector>

struct TracyCZoneCtx {
    int number = 0;
};

/// Zones in the order in which they began. Thread: any; look at them when the passes have ended.
struct FakeTracy {
    struct Zone {
        std::string name;
        bool has_ended = false;
    };
    std::vector<Zone> zones;
    std::mutex mutex;

    static FakeTracy& instance() {
        static FakeTracy tracy;
        return tracy;
    }
    TracyCZoneCtx begin() {
        const std::lock_guard lock(mutex);
        zones.emplace_back();
        return {static_cast<int>(zones.size() - 1)};
    }
    void name(TracyCZoneCtx zone, const char* text, std::size_t length) {
        const std::lock_guard lock(mutex);
        zones[static_cast<std::size_t>(zone.number)].name.assign(text, length);
    }
    void end(TracyCZoneCtx zone) {
        const std::lock_guard lock(mutex);
        zones[static_cast<std::size_t>(zone.number)].has_ended = true;
    }
};

#define TracyCZone(zone, active) const TracyCZoneCtx zone = FakeTracy::instance().begin()
#define TracyCZoneName(zone, text, length) FakeTracy::instance().name(zone, text, length)
#define TracyCZoneEnd(zone) FakeTracy::instance().end(zone)
