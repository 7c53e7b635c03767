#include "report.h"

#include <shoal/base/text.h>
#include <shoal/document/document_builder.h>
#include <shoal/document/json.h>
#include <shoal/inspect/text_table.h>
#include <shoal/save/state_hash.h>

#include <algorithm>
#include <vector>

namespace duel {

using namespace shoal;

namespace {

/// Returns the quantile `share`: that fraction of the values is below it. Returns 0 if there are no values.
double part_below(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
}

double mean(double sum, std::uint64_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); }

std::string ms_text(double ms) { return concat(decimal_text(ms, 2), " ms"); }

std::string hash_text(const Peer& peer) {
    std::string text;
    append_hex(text, state_hash(peer.arena().world));
    return text;
}

}  // namespace

std::string text_of(const Match& match, std::string_view picture) {
    const MatchOptions& options = match.options();
    TextTable table({"", "first peer", "second peer"});
    const auto row = [&](std::string_view name, auto&& text) {
        table.add_row({std::string(name), text(match.peer(0)), text(match.peer(1))});
    };
    const auto count = [&](std::string_view name, auto&& number) {
        row(name, [&](const Peer& peer) { return count_text(number(peer)); });
    };
    const auto ms = [&](std::string_view name, auto&& number) {
        row(name, [&](const Peer& peer) { return ms_text(number(peer.counts())); });
    };
    ms("frame, median", [](const PeerCounts& c) { return part_below(c.tick_ms, 0.5); });
    ms("frame, 99th of 100", [](const PeerCounts& c) { return part_below(c.tick_ms, 0.99); });
    count("rollbacks", [](const Peer& p) { return p.counts().num_rollbacks; });
    row("frames back, mean", [](const Peer& p) {
        return decimal_text(mean(static_cast<double>(p.counts().num_replayed), p.counts().num_rollbacks), 1);
    });
    count("frames back, most", [](const Peer& p) { return p.counts().deepest; });
    ms("rewind, mean", [](const PeerCounts& c) { return mean(c.rewind_ms, c.num_rollbacks); });
    ms("rewind and replay, mean", [](const PeerCounts& c) { return mean(c.rollback_ms, c.num_rollbacks); });
    ms("rewind and replay, worst", [](const PeerCounts& c) { return c.worst_rollback_ms; });
    count("frames waited", [](const Peer& p) { return p.counts().num_stalls; });
    count("datagrams sent", [](const Peer& p) { return p.link_counts().num_sent; });
    count("  lost", [](const Peer& p) { return p.link_counts().num_lost; });
    count("  held back", [](const Peer& p) { return p.link_counts().num_reordered; });
    count("  doubled", [](const Peer& p) { return p.link_counts().num_duplicated; });
    row("bytes sent", [](const Peer& p) { return bytes_text(p.link_counts().num_bytes); });
    count("datagrams refused", [](const Peer& p) { return p.counts().num_refused; });
    row("state hash", hash_text);
    const Arena& arena = match.peer(0).arena();
    std::string text =
        concat("played ", count_text(options.num_frames), " frames with ", count_text(arena.ships.num_rows()),
               " ships, and ", count_text(arena.shots.num_rows()), " shots at the end",
               options.fast ? ", without the clock\n\n" : "\n\n", table.text(), "\n");
    if (options.join_frame != 0) {
        const PeerCounts& joined = match.peer(1).counts();
        text += concat("joined    with a snapshot of frame ", joined.snapshot_frame, ", ",
                       bytes_text(joined.snapshot_bytes),
                       joined.joins_at != 0 ? concat("; its inputs count from frame ", joined.joins_at, "\n")
                                            : std::string("; the match was over before it could play\n"));
    }
    text += "equal     both worlds, and the hashes of all frames that both played\n";
    if (!picture.empty()) text += concat("picture   ", picture, "\n");
    return text;
}

std::string json_of(const Match& match) {
    DocumentBuilder builder;
    const auto count = [&](std::string_view key, std::uint64_t value) {
        builder.key(key);
        builder.unsigned_integer(value);
    };
    const auto number = [&](std::string_view key, double value) {
        builder.key(key);
        builder.number(value);
    };
    builder.begin_mapping();
    count("ships", match.peer(0).arena().ships.num_rows());
    count("shots", match.peer(0).arena().shots.num_rows());
    count("frames", match.options().num_frames);
    count("seed", match.options().arena.seed);
    builder.key("peers");
    builder.begin_list();
    for (const std::size_t side : {0u, 1u}) {
        const Peer& peer = match.peer(side);
        const PeerCounts& c = peer.counts();
        builder.begin_mapping();
        number("frame_ms_median", part_below(c.tick_ms, 0.5));
        number("frame_ms_99", part_below(c.tick_ms, 0.99));
        count("rollbacks", c.num_rollbacks);
        count("frames_replayed", c.num_replayed);
        count("frames_back_most", c.deepest);
        number("rewind_ms_mean", mean(c.rewind_ms, c.num_rollbacks));
        number("rollback_ms_mean", mean(c.rollback_ms, c.num_rollbacks));
        number("rollback_ms_worst", c.worst_rollback_ms);
        count("frames_waited", c.num_stalls);
        count("datagrams_sent", peer.link_counts().num_sent);
        count("datagrams_lost", peer.link_counts().num_lost);
        count("datagrams_received", c.num_received);
        count("datagrams_refused", c.num_refused);
        count("bytes_sent", peer.link_counts().num_bytes);
        count("snapshot_frame", c.snapshot_frame);
        count("snapshot_bytes", c.snapshot_bytes);
        count("joins_at", c.joins_at);
        builder.key("state_hash");
        builder.string(hash_text(peer));
        builder.end();
    }
    builder.end();
    builder.end();
    return write_json(builder.finish().root());
}

}  // namespace duel
