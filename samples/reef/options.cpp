#include "options.h"

#include <shoal/base/text.h>
#include <shoal/document/diagnostics.h>

#include <charconv>
#include <variant>
#include <vector>

namespace reef {

using namespace shoal;

namespace {

constexpr std::uint64_t kMostFrames = 1'000'000'000;

struct Count {
    std::uint64_t Options::* field;
    std::uint64_t least, most;
};

struct Option {
    std::string_view name, value, help;
    std::variant<Count, std::string Options::*, bool Options::*> target;
};

const Option kOptions[] = {
    {"--fish", "N", "how many fish there are (100000)", Count{&Options::num_fish, 0, 2'000'000}},
    {"--frames", "N", "frames of 1/60 s (600)", Count{&Options::num_frames, 0, kMostFrames}},
    {"--workers", "N", "threads; 0: as many as the machine runs at once (0)", Count{&Options::num_workers, 0, 1024}},
    {"--seed", "N", "another seed, another sea (1)", Count{&Options::seed, 0, ~std::uint64_t(0)}},
    {"--picture", "FILE.svg", "draw the sea after the last frame", &Options::picture},
    {"--trace", "FILE.json", "write what each worker did when, for chrome://tracing or Perfetto", &Options::trace},
    {"--export-schema", "FILE", "write a schema file of all component types of the sea", &Options::schema},
    {"--sources", "FOLDER", "where sea.sjson and its prefabs are", &Options::sources},
    {"--plugin", "FILE.so", "take the pass swim from a plugin (see swim_plugin.c)", &Options::plugin},
    {"--watch", "", "reload sources that are edited; runs until it is interrupted, or for --frames", &Options::watch},
    {"--json", "", "print one JSON object", &Options::json},
    {"--help", "", "print this", &Options::help},
};

Status unknown(std::string_view word) {
    std::vector<std::string_view> names;
    for (const Option& option : kOptions) names.push_back(option.name);
    const int close = closest_text(word, names.data(), names.size());
    return Status::error(concat("there is no option ", quoted(word),
                                close < 0 ? std::string("; --help lists them")
                                          : concat("; did you mean ", names[static_cast<std::size_t>(close)], "?")));
}

Status read_count(const Option& option, const Count& count, std::string_view text, Options& out) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < count.least || number > count.most)
        return Status::error(concat(option.name, " takes a whole number from ", count.least, " to ", count.most,
                                    ", not ", quoted(text)));
    out.*count.field = number;
    return {};
}

Status read_value(const Option& option, std::string_view text, Options& out) {
    if (text.empty()) return Status::error(concat(option.name, " needs a value: ", option.name, " ", option.value));
    if (const Count* count = std::get_if<Count>(&option.target)) return read_count(option, *count, text, out);
    out.*std::get<std::string Options::*>(option.target) = text;
    return {};
}

}  // namespace

Result<Options> read_options(int num_words, char** words) {
    Options out;
    bool has_frames = false;
    for (int i = 1; i < num_words; ++i) {
        const std::string_view word = words[i], name = word.substr(0, word.find('='));
        const Option* option = nullptr;
        for (const Option& candidate : kOptions)
            if (candidate.name == name) option = &candidate;
        if (option == nullptr) return unknown(name);
        const bool has_value = name.size() != word.size();
        if (const auto* flag = std::get_if<bool Options::*>(&option->target)) {
            if (has_value) return Status::error(concat(name, " takes no value; write it alone"));
            out.** flag = true;
            continue;
        }
        const std::string_view value = has_value           ? word.substr(name.size() + 1)
                                       : i + 1 < num_words ? std::string_view(words[++i])
                                                           : std::string_view();
        if (Status status = read_value(*option, value, out); !status) return status;
        has_frames |= name == "--frames";
    }
    if (out.watch && !has_frames) out.num_frames = kMostFrames;
    return out;
}

std::string help_text() {
    std::string text =
        "reef: a sea of 16 x 16 zones in which fish flock, eat, and are eaten\n\n"
        "Compiles the sources of the sea, spawns them, runs its passes on all workers, and prints what they cost.\n"
        "The same seed gives the same state hash for any number of workers.\n\noptions:\n";
    for (const Option& option : kOptions) {
        const std::string written = concat("  ", option.name, option.value.empty() ? "" : " ", option.value);
        text += concat(written, std::string(24 - std::min<std::size_t>(written.size(), 22), ' '), option.help, "\n");
    }
    return text +
           "\nexamples:\n  reef --fish 20000 --frames 3600 --picture sea.svg\n  reef --workers 2 --json\n\n"
           "exit codes:\n  0  done    1  failed: standard error says what    2  wrong usage\n";
}

}  // namespace reef
