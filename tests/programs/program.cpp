#include "programs/program.h"

#include "shoal/base/log.h"
#include "shoal/save/state_hash.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <cctype>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace programs {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Calls visit(begin, length) for each word of C++ that is no member.
template <class Visit>
void for_each_word(const std::string& code, Visit&& visit) {
    for (std::size_t i = 0; i < code.size();) {
        std::size_t end = i;
        while (end < code.size() && is_word(code[end])) ++end;
        const bool is_member = i > 0 && (code[i - 1] == '.' || code[i - 1] == ':' || code[i - 1] == '"');
        if (end > i && !is_member && std::isdigit(static_cast<unsigned char>(code[i])) == 0) visit(i, end - i);
        i = end > i ? end : i + 1;
    }
}

std::string name_of(const Arguments& a, int name) { return (a.world == 2 ? "p[" : "e[") + std::to_string(name) + "]"; }

/// What a word of the code stands for.
std::string in_place_of(const std::string& word, const Operation& operation, const Arguments& a) {
    if (word == "world") return a.world == 0 ? "sea" : a.world == 1 ? "lake" : "pond";
    if (word == "e") return name_of(a, a.e);
    if (word == "f") return name_of(a, a.f);
    if (word == "n") return std::to_string(a.n);
    if (word == "m") return std::to_string(a.m);
    if (word == "count") return std::to_string(1 + a.m % 3);
    if (word == "zone") return std::to_string(a.n % 3);
    if (word == "text") return std::string("\"") + kWords[a.n % 3] + "\"";
    if (word == "path") return "\"" + operation.path + "\"";
    if (word == "T") return operation.type;
    return word;
}

std::string replaced(const std::string& code, const Operation& operation, const Arguments& a) {
    std::string result;
    std::size_t done = 0;
    for_each_word(code, [&](std::size_t begin, std::size_t length) {
        const std::string word = code.substr(begin, length);
        result += code.substr(done, begin - done);
        result += word == "value" ? replaced(operation.value, operation, a) : in_place_of(word, operation, a);
        done = begin + length;
    });
    return result + code.substr(done);
}

std::string without(std::string text, const std::string& part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
    return text;
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) result += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return result + "\"";
}

}  // namespace

bool Operation::names(const std::string& argument) const {
    bool found = false;
    const std::string all = code.text + " " + value;
    for_each_word(all, [&](std::size_t begin, std::size_t length) {
        const std::string word = all.substr(begin, length);
        found |= word == argument || (argument == "m" && word == "count") ||
                 (argument == "n" && (word == "zone" || word == "text"));
    });
    return found;
}

std::string Operation::print(const Arguments& a) const { return without(replaced(code.text, *this, a), "template "); }

// --- running -----------------------------------------------------------------------------------------------------------

namespace {

/// Mostly one of the first `num_often` names, so that operations meet.
int random_name(Random& random, std::uint32_t num_often) {
    const std::uint32_t dice = random.below(16);
    return dice == 0 ? int(random.below(2)) : int(2 + random.below(dice < 15 ? num_often : kNumNames - 2));
}

Arguments random_arguments(Random& random, int world, std::uint32_t num_often = 6) {
    Arguments a{world, random_name(random, num_often), random_name(random, num_often), 0, 0};
    a.n = int(random.below(random.below(4) == 0 ? 13 : 4));
    a.m = int(random.below(random.below(2) == 0 ? 13 : 4));
    return a;
}

/// Where a process that may crash leaves what it did.
struct Report {
    static constexpr std::size_t kMaxBytes = 1 << 20;
    std::size_t step;
    std::uint64_t num_steps;
    bool has_failed;
    std::size_t num_bytes, what_bytes;
    char what[1 << 14];
    char lines[kMaxBytes];

    void put_line(const std::string& text) {
        if (num_bytes + text.size() >= kMaxBytes) return;
        std::memcpy(lines + num_bytes, text.data(), text.size());
        num_bytes += text.size();
    }
    void fail(const std::string& text) {
        has_failed = true;
        what_bytes = std::min(text.size(), sizeof what);
        std::memcpy(what, text.data(), what_bytes);
    }
};

std::size_t operation_of(std::string_view code) {
    const auto found = std::find_if(operations().begin(), operations().end(),
                                    [&](const Operation& operation) { return operation.code.text == code; });
    return std::size_t(found - operations().begin());
}

/// A look, and what it looks at.
struct Look {
    const Operation* operation;
    Arguments arguments;
    bool is_at_entity;
};

std::vector<Look> list_looks() {
    std::vector<Look> all;
    for (const Operation& look : looks()) {
        const bool is_at_entity = look.names("e");
        for (int world = 0; world < 3; ++world)
            for (int e = 0; e < (is_at_entity ? kNumNames : 1); ++e)
                for (int n = 0; n < (look.names("n") ? 3 : 1); ++n)
                    all.push_back({&look, {world, e, 0, n, 0}, is_at_entity});
    }
    return all;
}

/// Commands that are dropped are no news.
struct Silence {
    Silence() {
        set_log_hook([](void*, LogLevel, std::string_view) {}, nullptr);
    }
    Silence(const Silence&) = delete;
    ~Silence() { set_log_hook(nullptr, nullptr); }
};

class Run {
public:
    /// With hashes of the states after each step, compares these with its own; with none yet, appends its own.
    Run(const Program& program, const RunOptions& options, Report& report, std::vector<std::uint64_t>* hashes = nullptr)
        : program_(program),
          options_(options),
          report_(report),
          hashes_(hashes),
          num_hashes_(hashes == nullptr ? 0 : hashes->size()),
          stage_(program.options),
          model_(stage_, options.forgets) {}

    void run() {
        for (std::size_t i = 0; i < program_.steps.size() && !report_.has_failed; ++i) {
            report_.step = i;
            carry_out(program_.steps[i]);
            if (is_time_to_look(i)) look();
            if (hashes_ != nullptr && !report_.has_failed) hash();
        }
    }
    /// Carries each operation out once, as soon as it can be, and looks at all in each way. Returns those that cannot be.
    std::string run_all() {
        Random random(1);
        std::string left;
        for (std::size_t i = 0; i < operations().size(); ++i)
            if (operations()[i].weight != 0 && !run_after_others(i, random))
                left += operations()[i].code.text + " of " + operations()[i].type + "\n";
        for (int world = 0; world < 3; ++world)
            for (const char* const last : {"world.settle()", "stage.zones(world).stop()"})  // looks load no zones
                carry_out({operation_of(last), {world}});
        for (const Operation& look : looks()) {
            Arguments a{int(random.below(3)), 2, 3, 1, 1};
            model_.begin_operation();
            for (int i = 0; i < 3 && !look.is_possible(model_, a); ++i) a.world = (a.world + 1) % 3;
            if (look.is_possible(model_, a))
                check(look, a);
            else
                left += look.code.text + " of " + look.type + "\n";
        }
        return left;
    }

private:
    bool is_time_to_look(std::size_t step) const {
        return (step + 1) % std::size_t(options_.looks_every) == 0 || step + 1 == program_.steps.size();
    }
    /// Carries others out until there is what the operation needs.
    bool run_after_others(std::size_t operation, Random& random) {
        for (int attempt = 0; attempt < 100; ++attempt) {
            if (run_somehow(operation, random)) return true;
            run_somehow(helper_of(operation, attempt, random), random);
        }
        return false;
    }
    /// An operation that may make what another one needs: the first, which creates entities, a settle, one on the same type, or
    /// one of those before it in the list.
    static std::size_t helper_of(std::size_t operation, int attempt, Random& random) {
        if (attempt % 4 == 0) return 0;
        if (attempt % 4 == 1) return operation_of("world.settle()");
        const std::string& type = operations()[operation].type;
        for (int i = 0; i < 100 && !type.empty() && operation > 0; ++i)
            if (const std::size_t other = random.below(std::uint32_t(operation)); operations()[other].type == type)
                return other;
        const std::size_t distance = 1 + random.below(10);
        return distance > operation ? 0 : operation - distance;
    }
    bool run_somehow(std::size_t operation, Random& random) {
        for (int attempt = 0; attempt < 300; ++attempt) {
            const Arguments a = random_arguments(random, int(random.below(3)));
            const std::uint64_t num_steps = report_.num_steps;
            carry_out({operation, a});
            if (report_.num_steps == num_steps) continue;
            return true;
        }
        return false;
    }
    void hash() {
        for (int world = 0; world < 3; ++world) {
            const std::uint64_t found = state_hash(stage_.world(world));
            if (num_hashes_ == 0) hashes_->push_back(found);
            if (num_hashes_ == 0 || (*hashes_)[next_hash_++] == found) continue;
            report_.fail("world " + std::to_string(world) + " has another state than with one worker");
        }
    }
    void carry_out(const Step& step) {
        const Operation& operation = operations()[step.operation];
        model_.begin_operation();
        if (!operation.is_possible(model_, step.arguments)) return;
        ++report_.num_steps;
        check(operation, step.arguments, &stage_.world(step.arguments.world));
    }
    void look() {
        static const std::vector<Look> all = list_looks();
        model_.begin_operation();
        for (const Look& look : all) {
            if (report_.has_failed) return;
            if (is_null_again(look) || !look.operation->is_possible(model_, look.arguments)) continue;
            const std::size_t num_bytes = report_.num_bytes;
            check(*look.operation, look.arguments);
            if (!report_.has_failed) report_.num_bytes = num_bytes;  // the program need not say it
        }
    }
    /// Whether it looks at null under a name that nobody has got yet: the first name is always null.
    bool is_null_again(const Look& look) const {
        return look.is_at_entity && look.arguments.e != 0 && !model_.entity(look.arguments.world, look.arguments.e);
    }
    /// With a world, a call that is refused may leave nothing half-done there.
    void check(const Operation& operation, const Arguments& a, const World* world = nullptr) {
        const std::size_t num_bytes = report_.num_bytes;
        const std::string text = options_.prints ? operation.print(a) : "";
        if (options_.prints) report_.put_line("    " + text + ";\n");
        const bool may_be_refused = world != nullptr && !operation.code.is_statement;
        const std::uint64_t before = may_be_refused ? state_hash(*world) : 0;
        const std::string found = operation.code.run(stage_, a);
        const std::string expected = operation.expected(model_, a);
        if (options_.prints && !operation.code.is_statement) {
            report_.num_bytes = num_bytes;
            report_.put_line("    expect(" + text + ", " + quoted(expected) + ");\n");
        }
        if (may_be_refused && found == "refused" && state_hash(*world) != before)
            report_.fail(operation.print(a) + " is refused, and has changed something");
        if (found != expected) report_.fail(operation.print(a) + " gives \"" + found + "\", not \"" + expected + "\"");
    }

    const Silence silence_;
    const Program& program_;
    const RunOptions options_;
    Report& report_;
    std::vector<std::uint64_t>* hashes_;
    const std::size_t num_hashes_;
    std::size_t next_hash_ = 0;
    Stage stage_;
    Model model_;
};

Outcome to_outcome(const Report& report) {
    Outcome outcome;
    if (report.has_failed) outcome.what.assign(report.what, report.what_bytes);
    outcome.lines.assign(report.lines, report.num_bytes);
    outcome.step = report.step;
    outcome.num_steps = report.num_steps;
    return outcome;
}

Report& shared_report() {
    static void* const memory =
        ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return *static_cast<Report*>(memory);
}

void clear(Report& report) {
    report.step = 0, report.num_steps = 0;
    report.has_failed = false;
    report.num_bytes = report.what_bytes = 0;
}

std::string end_of(int status) {
    if (WIFSIGNALED(status)) return std::string("it is ended by ") + ::strsignal(WTERMSIG(status));
    return "it ends with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

namespace {

/// A program for several workers is carried out by one first.
void run_both(const Program& program, const RunOptions& options, Report& report) {
    std::vector<std::uint64_t> hashes;
    if (program.options.num_workers > 1 && !options.prints) {
        Program serial = program;
        serial.options.num_workers = 1;
        Run(serial, options, report, &hashes).run();
        if (report.has_failed) return;
        clear(report);
    }
    Run(program, options, report, hashes.empty() ? nullptr : &hashes).run();
}

}  // namespace

Outcome run(const Program& program, const RunOptions& options) {
    Report& report = shared_report();
    clear(report);
    run_both(program, options, report);
    return to_outcome(report);
}

Outcome run_in_child(const Program& program, const RunOptions& options) {
    constexpr unsigned kSecondsAtMost = 60;
    Report& report = shared_report();
    clear(report);
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(kSecondsAtMost);
        run_both(program, options, report);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    Outcome outcome = to_outcome(report);
    if (outcome || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return outcome;
    const Step& step = program.steps[outcome.step];
    outcome.what = operations()[step.operation].print(step.arguments) + ": " + end_of(status);
    return outcome;
}

// --- making ------------------------------------------------------------------------------------------------------------

namespace {

StageOptions random_options(Random& random) {
    StageOptions options;
    const unsigned sets[] = {0, kAllInDatabase, random.below(kAllInDatabase + 1), random.below(kAllInDatabase + 1)};
    for (unsigned& set : options.in_database) set = sets[random.below(4)];
    options.index = RowIndexKind(random.below(3));
    options.death = DeathPolicy(random.below(3));
    options.children = ChildrenOfDead(random.below(2));
    options.num_workers = 1 + random.below(3);
    options.minimum_free_ids = random.below(2) == 0 ? 1029 : 1 + random.below(4);
    return options;
}

/// Which operations a program has, each as often as it is in the list. If a program had some of all, operations would find
/// nothing of what others leave: so it has a few component types, and some of the groups.
std::vector<std::size_t> random_choices(Random& random) {
    const std::uint32_t num_types = 1 + random.below(4);
    std::set<std::string> types;
    if (random.below(2) == 0) types.insert("Mark");  // by which passes act
    while (types.size() < num_types) types.insert(kTypeNames[random.below(kNumTypes)]);
    std::map<int, std::uint32_t> group_weights = {{0, 3}};
    std::vector<std::size_t> choices;
    for (std::size_t i = 0; i < operations().size(); ++i) {
        const Operation& operation = operations()[i];
        const std::uint32_t often[] = {0, 0, 1, 8};
        if (!group_weights.contains(operation.group)) group_weights[operation.group] = often[random.below(4)];
        std::uint32_t times = group_weights[operation.group];
        if (!operation.type.empty()) times = types.contains(operation.type) ? 8 / num_types : 0;
        choices.insert(choices.end(), std::size_t(operation.weight) * times, i);
    }
    return choices;
}

}  // namespace

Program random_program(std::uint64_t seed, std::size_t num_steps) {
    Random random(seed);
    Program program;
    program.options = random_options(random);
    const std::vector<std::size_t> choices = random_choices(random);
    for (int world = 0; world < 3; world += 2) program.steps.push_back({0, {world, 2, 0, 0, 0}});
    const std::uint32_t favourite = random.below(7) / 2;  // most operations are about one world
    const std::uint32_t num_often = 2 + random.below(6);
    while (program.steps.size() < num_steps) {
        const std::size_t operation = choices[random.below(static_cast<std::uint32_t>(choices.size()))];
        const int world = favourite < 3 && random.below(8) != 0 ? int(favourite) : int(random.below(3));
        program.steps.push_back({operation, random_arguments(random, world, num_often)});
    }
    return program;
}

// --- shrinking ---------------------------------------------------------------------------------------------------------

namespace {

class Shrinker {
public:
    Shrinker(Program program, const RunOptions& options) : program_(std::move(program)), options_(options) {}

    Program shrink() {
        if (const Outcome outcome = run_in_child(program_, options_)) {
            program_.steps.resize(outcome.step + 1);
            options_.looks_every = kAtTheEnd;  // what is wrong is seen there
            lessen_options();
            while (take_steps() || lessen_arguments() || lessen_options() || take_with_another()) {
            }
        }
        return program_;
    }

private:
    bool takes(Program smaller) {
        const Outcome outcome = run_in_child(smaller, options_);
        if (!outcome) return false;
        smaller.steps.resize(std::min(smaller.steps.size(), outcome.step + 1));
        program_ = std::move(smaller);
        return true;
    }
    /// Halves first, then quarters, and so on to single steps.
    bool take_steps() {
        bool is_smaller = false;
        for (std::size_t size = (program_.steps.size() + 1) / 2; size > 0; size /= 2)
            for (std::size_t begin = program_.steps.size(); begin > 0;) {
                begin = begin > program_.steps.size() ? program_.steps.size() : begin;
                begin -= std::min(size, begin);
                Program smaller = program_;
                const auto first = smaller.steps.begin() + std::ptrdiff_t(begin);
                smaller.steps.erase(first, first + std::ptrdiff_t(std::min(size, smaller.steps.size() - begin)));
                is_smaller |= takes(smaller);
            }
        return is_smaller;
    }
    /// Takes a step together with another one, or with one from what a later step counts up to: the number of a thing changes when one
    /// that was made before it goes. Or puts a later step in its place, which then does earlier what only it does now.
    bool take_with_another() {
        if (program_.steps.size() > kFewSteps) return false;
        for (std::size_t taken = program_.steps.size(); taken-- > 0;)
            for (std::size_t other = taken + 1; other < program_.steps.size(); ++other) {
                Program smaller = program_;
                smaller.steps.erase(smaller.steps.begin() + std::ptrdiff_t(other));
                smaller.steps.erase(smaller.steps.begin() + std::ptrdiff_t(taken));
                if (takes(smaller) || takes_replaced(taken, other) || takes_renumbered(taken, other, {&Arguments::n}) ||
                    takes_renumbered(taken, other, {&Arguments::m}) ||
                    takes_renumbered(taken, other, {&Arguments::n, &Arguments::m}))
                    return true;
            }
        return false;
    }
    bool takes_replaced(std::size_t taken, std::size_t later) {
        Program smaller = program_;
        smaller.steps[taken] = smaller.steps[later];
        smaller.steps.erase(smaller.steps.begin() + std::ptrdiff_t(later));
        return takes(smaller);
    }
    bool takes_renumbered(std::size_t taken, std::size_t later, std::initializer_list<int Arguments::*> counts) {
        Program smaller = program_;
        for (int Arguments::* const count : counts)
            if (--(smaller.steps[later].arguments.*count) < 0) return false;
        smaller.steps.erase(smaller.steps.begin() + std::ptrdiff_t(taken));
        return takes(smaller);
    }
    bool lessen_arguments() {
        bool is_smaller = false;
        for (std::size_t i = 0; i < program_.steps.size(); ++i) {
            is_smaller |= lessen(i, &Arguments::world);
            is_smaller |= lessen_if_named(i, &Arguments::e, "e");
            is_smaller |= lessen_if_named(i, &Arguments::f, "f");
            is_smaller |= lessen_if_named(i, &Arguments::n, "n");
            is_smaller |= lessen_if_named(i, &Arguments::m, "m");
        }
        return is_smaller;
    }
    bool lessen_if_named(std::size_t step, int Arguments::* argument, const char* name) {
        if (step >= program_.steps.size()) return false;
        Step& changed = program_.steps[step];
        if (operations()[changed.operation].names(name)) return lessen(step, argument);
        changed.arguments.*argument = 0;
        return false;
    }
    bool lessen(std::size_t step, int Arguments::* argument) {
        bool is_smaller = false;
        for (const int part : {0, 2, 1}) {  // 0, the half, one less
            if (step >= program_.steps.size()) break;
            const int value = program_.steps[step].arguments.*argument;
            const int less = part == 0 ? 0 : part == 2 ? value / 2 : value - 1;
            if (less < 0 || less >= value) continue;
            Program smaller = program_;
            smaller.steps[step].arguments.*argument = less;
            is_smaller |= takes(smaller);
        }
        return is_smaller;
    }
    bool lessen_options() {
        const StageOptions usual;
        bool is_smaller = false;
        const auto set = [&](auto StageOptions::* option) {
            if (program_.options.*option == usual.*option) return;
            Program smaller = program_;
            smaller.options.*option = usual.*option;
            is_smaller |= takes(smaller);
        };
        set(&StageOptions::index), set(&StageOptions::death), set(&StageOptions::children);
        set(&StageOptions::num_workers), set(&StageOptions::minimum_free_ids);
        const auto keep = [&](std::size_t world, unsigned set) {
            Program smaller = program_;
            smaller.options.in_database[world] = set;
            return smaller.options.in_database != program_.options.in_database && takes(smaller);
        };
        for (std::size_t world = 0; world < 3; ++world) {
            is_smaller |= keep(world, 0);
            for (unsigned bit = 0; bit < unsigned(kCoin); ++bit)
                is_smaller |= keep(world, program_.options.in_database[world] & ~(1u << bit));
        }
        return is_smaller;
    }

    static constexpr int kAtTheEnd = 1 << 30;
    static constexpr std::size_t kFewSteps = 20;  // all pairs of so many take seconds

    Program program_;
    RunOptions options_;
};

}  // namespace

Program shrink(Program program, const RunOptions& options) { return Shrinker(std::move(program), options).shrink(); }

// --- printing ----------------------------------------------------------------------------------------------------------

namespace {

std::string print(const StageOptions& options) {
    const char* const indices[] = {"kPaged", "kHash", "kIdentity"};
    const char* const deaths[] = {"kAtSettle", "kByCallback", "kRandomProbe"};
    const StageOptions usual;
    std::string text;
    if (options.in_database != usual.in_database) {
        text += ".in_database = {";
        for (const unsigned set : options.in_database) text += (text.back() == '{' ? "" : ", ") + std::to_string(set);
        text += "}, ";
    }
    if (options.index != usual.index) {
        const bool is_hash = options.index == RowIndexKind::kHash;
        text += std::string(".index = RowIndexKind::") + indices[is_hash ? 1 : 2] + ", ";
    }
    if (options.death != usual.death) text += std::string(".death = DeathPolicy::") + deaths[int(options.death)] + ", ";
    if (options.children != usual.children) text += ".children = ChildrenOfDead::kDie, ";
    if (options.num_workers != usual.num_workers)
        text += ".num_workers = " + std::to_string(options.num_workers) + ", ";
    if (options.minimum_free_ids != usual.minimum_free_ids)
        text += ".minimum_free_ids = " + std::to_string(options.minimum_free_ids) + ", ";
    return text.empty() ? "" : text.substr(0, text.size() - 2);
}

}  // namespace

std::string print(const Program& program, const std::string& lines, const std::string& comment) {
    const std::string options = print(program.options);
    return "// clang-format off\n" + comment +
           "#include \"programs/stage.h\"\n"
           "\n"
           "using namespace programs;\n"
           "\n"
           "int main() {\n"
           "    Stage stage" +
           (options.empty() ? "" : "({" + options + "})") +
           ";\n"
           "    [[maybe_unused]] World &sea = stage.sea, &lake = stage.lake, &pond = stage.pond;\n"
           "    [[maybe_unused]] auto &e = stage.e, &p = stage.p;\n" +
           lines +
           "    return num_unexpected == 0 ? 0 : 1;\n"
           "}\n";
}

std::string print_all_operations() {
    Report& report = shared_report();
    clear(report);
    Program program;
    program.options = {.in_database = {0, kAllInDatabase, 0x555}, .num_workers = 2};
    const std::string left = Run(program, {.prints = true}, report).run_all();
    const Outcome outcome = to_outcome(report);
    if (outcome || !left.empty()) return outcome.what + "\nleft out: " + left;
    return print(program, outcome.lines, "// Each operation and each look once.\n");
}

}  // namespace programs
