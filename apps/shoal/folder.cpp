#include "folder.h"

#include "build_state.h"
#include "shoal/base/clock.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/inspect/text_table.h"
#include "shoal/job/detail/failure.h"
#include "shoal/job/executor.h"
#include "sources.h"

#include <fnmatch.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 20;  // maximum number of lines that list compiled files and reasons

/// A source in the folder, and the state of its blob.
struct Target {
    enum class Result : std::uint8_t { kUpToDate, kCompiled, kFailed };

    std::string source;  ///< relative to the source folder
    std::string output;  ///< relative to the output folder
    Result result = Result::kUpToDate;
    std::string reason;                   ///< why the source must be compiled; empty if it is up to date
    const BuiltOutput* before = nullptr;  ///< what the last build wrote
    BuiltOutput now;
    std::unique_ptr<Diagnostics> diagnostics;  ///< nullptr if there are none
    std::uint64_t num_entities = 0;            ///< set if the source was compiled
};

std::string in_quotes(const std::string& path) { return concat('"', path, '"'); }

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

/// Returns whether a file name has a source's extension and does not name a schema file.
bool is_source_name(const std::string& name) {
    for (const std::string_view extension : kSourceExtensions)
        if (name.ends_with(extension)) return !name.ends_with(concat(".schema", extension));
    return false;
}

bool is_one_place(const std::string& a, const std::string& b) {
    std::error_code failed;
    return fs::equivalent(a, b, failed);
}

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

/// Builds a folder: finds its sources, compiles those that have changed since the last build, and reports the results.
class FolderBuild {
public:
    FolderBuild(const Arguments& arguments, Files& files, Console& console)
        : arguments_(arguments),
          files_(files),
          console_(console),
          looked_(disk_),
          begin_ns_(monotonic_ns()),
          begin_wall_ns_(wall_clock_ns()),
          folder_(arguments.operands()[0]),
          output_(arguments.value("output")) {}

    int run();

private:
    bool prepare_session();
    void check_roots();
    bool find_sources();
    bool is_excluded(const std::string& name) const;
    bool add_source(const fs::directory_entry& entry);
    void refuse_names();
    void name_outputs();
    bool read_state();
    std::string options_text() const;
    void compare();
    std::string why(Target& target);
    void compile();
    void compile(Target& target);
    Status write(Target& target, const CompiledSource& compiled);
    void end(Target& target, bool is_good);
    void remove_orphans();
    bool write_state();
    BuildState next_state();
    void report();
    void add_targets(DocumentBuilder& builder) const;
    void report_json();
    void note(std::string text) { notes_.push_back(std::move(text)); }
    std::string in_folder(const std::string& name) const { return path_in_root(folder_, name); }
    std::string in_output(const std::string& name) const { return path_in_root(output_, name); }
    std::size_t count(Target::Result result) const {
        return static_cast<std::size_t>(std::count_if(targets_.begin(), targets_.end(),
                                                      [&](const Target& target) { return target.result == result; }));
    }

    const Arguments& arguments_;
    Files& files_;
    Console& console_;
    DiskFiles disk_;
    InputFiles looked_;
    const std::int64_t begin_ns_, begin_wall_ns_;
    const std::string folder_, output_;
    SourceSession session_;
    std::vector<Target> targets_;  // sorted by source
    BuildState state_;             // the last build
    std::string state_text_;
    std::vector<std::string> removed_, notes_;
    std::mutex progress_lock_;
    std::size_t num_done_ = 0, num_to_compile_ = 0;
};

// --- finding sources -------------------------------------------------------------------------------------------------

/// Reads the schemas, finds the roots, and checks the folders.
bool FolderBuild::prepare_session() {
    prepare(arguments_, files_, console_, folder_, session_);
    session_.options.compose.progress = {};  // many sources are compiled at the same time
    session_.options.blob = {arguments_.value("endian") == "big", arguments_.has("offset-tables")};
    std::vector<std::string>& roots = session_.options.compose.roots;
    if (roots.empty())
        roots.push_back(folder_);
    else
        check_roots();
    Diagnostics& diagnostics = session_.diagnostics;
    if (path_exists(output_) && !is_directory(output_))
        diagnostics.error({},
                          concat("the output ", in_quotes(output_), " is not a folder, as ", in_quotes(folder_), " is"),
                          "give -o a folder, which need not exist yet");
    return diagnostics.num_errors() == 0;
}

/// Checks that the folder is in a root. A resource's name is its path relative to a root. Without a root, sources with
/// the same file name would be the same resource.
void FolderBuild::check_roots() {
    std::error_code failed;
    const std::string folder = fs::weakly_canonical(folder_, failed).string() + "/";
    for (const std::string& root : session_.options.compose.roots) {
        const std::string canonical = fs::weakly_canonical(root, failed).string();
        if (folder.starts_with(canonical == "/" ? canonical : canonical + "/")) return;
    }
    session_.diagnostics.error({}, concat("the folder ", in_quotes(folder_), " is in none of the roots"),
                               concat("give --root ", folder_, ", too, or a folder that it is in"));
}

bool FolderBuild::is_excluded(const std::string& name) const {
    for (const std::string& pattern : arguments_.values("exclude"))
        if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
    return false;
}

/// Adds a file if it is a source. For a folder, returns whether to enter it.
bool FolderBuild::add_source(const fs::directory_entry& entry) {
    const std::string name = fs::path(entry.path()).lexically_relative(folder_).generic_string();
    const bool is_passed = is_hidden(entry.path()) || is_excluded(name);
    std::error_code leads_nowhere;  // ignored, because links may dangle
    if (is_passed || entry.is_directory(leads_nowhere))
        return !is_passed && !is_one_place(entry.path().string(), output_);
    if (!entry.is_regular_file(leads_nowhere) || !is_source_name(name)) return true;
    for (const std::string& schema : schema_paths(arguments_))
        if (is_one_place(schema, entry.path().string())) return true;
    targets_.emplace_back().source = name;
    return true;
}

namespace {

/// The canonical paths of the folders that the search is currently in. Following a link to one of them would recurse
/// forever.
class FoldersAbove {
public:
    explicit FoldersAbove(const std::string& folder) : folders_{fs::canonical(folder)} {}
    /// Enters a folder that is `depth` levels below the first. Returns false if the folder is one of its own ancestors.
    bool enter(const fs::directory_entry& entry, int depth) {
        std::error_code leads_nowhere;  // ignored, because links may dangle
        if (!entry.is_directory(leads_nowhere)) return true;
        folders_.resize(static_cast<std::size_t>(depth) + 1);
        fs::path folder = fs::canonical(entry.path());
        if (std::find(folders_.begin(), folders_.end(), folder) != folders_.end()) return false;
        folders_.push_back(std::move(folder));
        return true;
    }

private:
    std::vector<fs::path> folders_;
};

}  // namespace

/// Finds the sources. An unreadable folder ends the build, because its sources would otherwise count as removed.
bool FolderBuild::find_sources() {
    try {
        const bool follows = session_.options.compose.follow_links;
        FoldersAbove above(folder_);
        const auto how = follows ? fs::directory_options::follow_directory_symlink : fs::directory_options::none;
        for (fs::recursive_directory_iterator at(folder_, how), end; at != end; ++at) {
            const bool goes_in = add_source(*at) && (!follows || above.enter(*at, at.depth()));
            if (!goes_in && at->is_directory()) at.disable_recursion_pending();
        }
    } catch (const fs::filesystem_error& error) {
        session_.diagnostics.error({}, concat("cannot look for sources: ", error.what()), "make the folder readable");
        return false;
    }
    std::sort(targets_.begin(), targets_.end(), [](const Target& a, const Target& b) { return a.source < b.source; });
    refuse_names();
    name_outputs();
    return true;
}

/// Rejects files whose names are not valid resource names. Nothing could refer to them, and the next build could not
/// tell whether they have changed.
void FolderBuild::refuse_names() {
    for (Target& target : targets_) {
        const std::string_view problem = resource_name_problem(target.source);
        if (problem.empty()) continue;
        target.result = Target::Result::kFailed;
        target.diagnostics = std::make_unique<Diagnostics>();
        target.diagnostics->error(
            {}, concat("the name of ", in_quotes(in_folder(target.source)), " cannot be used: ", problem),
            "rename the file or its folder, or --exclude it");
    }
}

/// Rejects sources whose paths differ only in the extension, because they would be compiled to the same blob.
void FolderBuild::name_outputs() {
    std::map<std::string, Target*> by_output;
    for (Target& target : targets_) {
        target.output = fs::path(target.source).replace_extension(".blob").generic_string();
        if (target.result == Target::Result::kFailed) continue;
        Target*& first = by_output[target.output];
        if (first == nullptr) {
            first = &target;
            continue;
        }
        for (Target* const one : {first, &target}) {
            if (one->diagnostics != nullptr) continue;
            one->result = Target::Result::kFailed;
            one->diagnostics = std::make_unique<Diagnostics>();
            one->diagnostics->error(
                {},
                concat(in_quotes(in_folder(first->source)), " and ", in_quotes(in_folder(target.source)),
                       " would both make ", in_quotes(in_output(target.output))),
                "rename one of them, or --exclude it");
        }
    }
}

// --- finding changes -------------------------------------------------------------------------------------------------

std::string FolderBuild::options_text() const {
    return concat(session_.options.blob.big_endian ? "big" : "little",
                  session_.options.blob.offset_tables ? " offset-tables" : "",
                  session_.options.compose.follow_links ? " follow-links" : "", " roots ",
                  session_.options.compose.roots.size());
}

/// Reads the state of the last build. Returns false if the output folder was made from a different source folder.
bool FolderBuild::read_state() {
    std::error_code failed;
    const std::string sources = utf8_text(
        fs::weakly_canonical(folder_, failed).lexically_relative(fs::weakly_canonical(output_, failed)).string());
    const std::string path = in_output(std::string(kBuildStateName));
    if (path_exists(path)) {
        Result<std::string> text = read_file(path);
        Result<BuildState> state = text ? read_build_state(*text) : Result<BuildState>(text.status());
        if (state) {
            state_ = std::move(*state);
            state_text_ = std::move(*text);
        } else {
            note(concat("everything is compiled again, because ", in_quotes(path),
                        " cannot be used: ", state.message()));
        }
    }
    if (!state_.sources.empty() && state_.sources != sources) {
        session_.diagnostics.error(
            {},
            concat("the folder ", in_quotes(output_), " has the blobs of other sources, those in ",
                   in_quotes((fs::path(output_) / state_.sources).lexically_normal().string())),
            concat("give -o another folder, or remove ", path, " to mix them"));
        return false;
    }
    state_.sources = sources;
    for (const StampedFile& file : state_.files) looked_.know(file.path, file.stamp, file.hash);
    return true;
}

/// Returns the reason why a target must be compiled, or an empty string if it is up to date.
std::string FolderBuild::why(Target& target) {
    if (target.before == nullptr) return "it is new";
    BuiltOutput& before = target.now;
    before = *target.before;
    if (arguments_.has("force")) return "--force";
    if (before.source != target.source) return concat("it was made from ", before.source);
    if (before.has_failed) return "it had errors";
    if (state_.options != options_text()) return "the options changed";
    if (session_.options.strict && before.num_warnings != 0) return "it had warnings";
    const std::uint64_t blob = looked_.hash(in_output(target.output));
    if (blob != before.hash) return blob == 0 ? "its blob is gone" : "its blob was changed";
    if (!resolve_names(before.inputs, session_.options.compose.roots, in_folder(target.source)))
        return "the roots changed";
    const std::vector<InputChange> changes =
        find_changes(before.inputs, session_.registry, session_.options.rules, session_.options.program, looked_);
    return changes.empty() ? std::string() : changes[0].message;
}

void FolderBuild::compare() {
    std::map<std::string_view, const BuiltOutput*> by_path;
    for (const BuiltOutput& output : state_.outputs) by_path[output.path] = &output;
    for (Target& target : targets_) {
        if (const auto known = by_path.find(target.output); known != by_path.end()) target.before = known->second;
        if (target.result == Target::Result::kFailed)
            end(target, false);
        else
            target.reason = why(target);
        num_to_compile_ += !target.reason.empty();
    }
}

// --- compiling -------------------------------------------------------------------------------------------------------

/// Compiles changed sources in parallel, each on one worker.
void FolderBuild::compile() {
    std::vector<Target*> changed;
    for (Target& target : targets_)
        if (!target.reason.empty()) changed.push_back(&target);
    if (changed.empty()) return;
    std::uint64_t num_jobs = 0;
    static_cast<void>(arguments_.read_number("jobs", std::uint64_t(1), 1024, num_jobs));  // checked earlier
    struct Loop {
        FolderBuild* build;
        std::vector<Target*>* targets;
        std::vector<Failure> failures;
    } loop{this, &changed, std::vector<Failure>(changed.size())};
    ThreadedExecutor executor(static_cast<std::uint32_t>(num_jobs));
    Fence fence;
    executor.start(
        static_cast<std::uint32_t>(changed.size()),
        [](void* context, std::uint32_t chunk, std::uint32_t) {
            Loop& all = *static_cast<Loop*>(context);
            all.failures[chunk].guard(chunk, [&] { all.build->compile(*(*all.targets)[chunk]); });
        },
        &loop, fence);
    executor.wait(fence);
    for (Failure& failure : loop.failures) failure.rethrow();
}

void FolderBuild::compile(Target& target) {
    target.diagnostics = std::make_unique<Diagnostics>();
    CompileOptions options = session_.options;
    SourceInputs inputs;
    options.inputs = &inputs;
    const std::string path = in_folder(target.source);
    if (refuse_blob(files_, path, path, *target.diagnostics)) return end(target, false);
    const Result<CompiledSource> compiled = compile_source(path, session_.registry, options, *target.diagnostics);
    Status status = compiled ? write(target, *compiled) : compiled.status();
    if (!status && target.diagnostics->num_errors() == 0) target.diagnostics->error({}, std::string(status.message()));
    if (status) {
        target.now.hash = content_hash({reinterpret_cast<const char*>(compiled->blob.data()), compiled->blob.size()});
        target.now.num_warnings = target.diagnostics->num_warnings();
        target.now.inputs = std::move(inputs);
        target.num_entities = compiled->num_entities;
    }
    end(target, status.ok());
    const std::lock_guard lock(progress_lock_);
    console_.show_progress("sources compiled", ++num_done_, num_to_compile_);
}

/// Writes a blob. Does not replace a file that is not a blob, because it may be an input.
Status FolderBuild::write(Target& target, const CompiledSource& compiled) {
    const std::string path = in_output(target.output);
    if (path_exists(path) && !is_blob_file(files_, path))
        return Status::error(
            concat(in_quotes(path), " is in the way, and not a blob; remove it, or give -o another folder"));
    std::error_code failed;
    if (!folder_of(path).empty()) fs::create_directories(folder_of(path), failed);
    if (failed)
        return Status::error(concat("cannot make the folder ", in_quotes(folder_of(path)), ": ", failed.message(),
                                    "; remove what is in the way, or give -o another folder"));
    return write_file(path, std::span<const std::byte>(compiled.blob));
}

/// Records the result for a target. If compilation failed, the old blob is kept, and the next build compiles the source
/// again.
void FolderBuild::end(Target& target, bool is_good) {
    target.result = is_good ? Target::Result::kCompiled : Target::Result::kFailed;
    if (!is_good && target.before != nullptr) target.now = *target.before;
    target.now.path = target.output;
    target.now.source = target.source;
    target.now.has_failed = !is_good;
    if (target.diagnostics != nullptr && target.diagnostics->entries().empty()) target.diagnostics.reset();
}

/// Removes blobs whose sources no longer exist, unless the blobs were modified.
void FolderBuild::remove_orphans() {
    for (const BuiltOutput& output : state_.outputs) {
        const bool has_source = std::any_of(targets_.begin(), targets_.end(),
                                            [&](const Target& target) { return target.output == output.path; });
        const std::string path = in_output(output.path);
        if (has_source || output.hash == 0 || !path_exists(path)) continue;
        if (looked_.hash(path) != output.hash) {
            note(concat(in_quotes(path), " stays, though its source is gone: something else has changed it"));
            continue;
        }
        std::error_code failed;
        if (fs::remove(path, failed))
            removed_.push_back(output.path);
        else
            note(concat("cannot remove ", in_quotes(path), ", whose source is gone: ", failed.message()));
    }
}

BuildState FolderBuild::next_state() {
    BuildState next;
    next.sources = state_.sources;
    next.options = options_text();
    for (const Target& target : targets_)
        if (target.now.hash != 0) next.outputs.push_back(target.now);  // 0: there is no blob
    std::map<std::string, std::uint64_t> contents;
    for (const BuiltOutput& output : next.outputs) {
        contents[in_output(output.path)] = output.hash;
        for (const SourceDependency& file : output.inputs.files)
            if (file.kind == DependencyKind::kSource && !file.path.empty()) contents[file.path] = file.hash;
    }
    for (const auto& [path, hash] : contents)
        if (const FileStamp stamp = looked_.stamp_for(path, hash, begin_wall_ns_); stamp && is_utf8(path))
            next.files.push_back({path, stamp, hash});
    return next;
}

bool FolderBuild::write_state() {
    const std::string text = write_build_state(next_state());
    if (text == state_text_) return true;
    std::error_code failed;
    fs::create_directories(output_, failed);
    const Status status = write_file(in_output(std::string(kBuildStateName)), text);
    if (!status) session_.diagnostics.error({}, std::string(status.message()), "make the folder of outputs writable");
    return status.ok();
}

// --- reporting -------------------------------------------------------------------------------------------------------

void FolderBuild::report() {
    for (const Target& target : targets_)
        if (target.diagnostics != nullptr) console_.print_diagnostics(*target.diagnostics);
    console_.print_diagnostics(session_.diagnostics);
    for (const std::string& text : notes_) console_.print_error(concat("note: ", text, "\n"));
    std::string lines;
    std::size_t num_lines = 0;
    for (const Target& target : targets_)
        if (target.result == Target::Result::kCompiled && ++num_lines <= kMostLines)
            lines += concat("compiled ", target.output, ": ", target.reason, "\n");
    if (num_lines > kMostLines) lines += concat("and ", count_text(num_lines - kMostLines), " more\n");
    for (const std::string& path : removed_) lines += concat("removed ", path, ": its source is gone, or excluded\n");
    const double ms = static_cast<double>(monotonic_ns() - begin_ns_) * 1e-6;
    console_.print(concat(lines, folder_, " -> ", output_, ": ", counted(targets_.size(), "source", "sources"), ", ",
                          count_text(count(Target::Result::kCompiled)), " compiled, ",
                          count_text(count(Target::Result::kUpToDate)), " up to date, ",
                          count_text(count(Target::Result::kFailed)), " with errors; ", decimal_text(ms, 1), " ms\n"));
}

/// Adds the result for each source.
void FolderBuild::add_targets(DocumentBuilder& builder) const {
    constexpr std::string_view kResults[] = {"up_to_date", "compiled", "failed"};
    builder.begin_list("sources");
    for (const Target& target : targets_) {
        builder.begin_mapping();
        builder.string("source", utf8_text(target.source));
        builder.string("blob", utf8_text(target.output));
        builder.string("result", kResults[static_cast<std::size_t>(target.result)]);
        builder.string("reason", utf8_text(target.reason));
        builder.unsigned_integer("entities", target.num_entities);
        builder.end();
    }
    builder.end();
}

void FolderBuild::report_json() {
    DocumentBuilder builder;
    builder.begin_mapping();
    std::uint64_t num_errors = session_.diagnostics.num_errors(), num_warnings = session_.diagnostics.num_warnings();
    for (const Target& target : targets_) {
        num_errors += target.diagnostics == nullptr ? 0 : target.diagnostics->num_errors();
        num_warnings += target.diagnostics == nullptr ? 0 : target.diagnostics->num_warnings();
    }
    builder.boolean("ok", num_errors == 0);
    builder.string("folder", utf8_text(folder_));
    builder.string("output", utf8_text(output_));
    builder.unsigned_integer("compiled", count(Target::Result::kCompiled));
    builder.unsigned_integer("up_to_date", count(Target::Result::kUpToDate));
    builder.unsigned_integer("failed", count(Target::Result::kFailed));
    builder.unsigned_integer("files_compared", looked_.num_reads());
    add_targets(builder);
    builder.begin_list("removed");
    for (const std::string& path : removed_) builder.string(utf8_text(path));
    builder.end();
    builder.begin_list("notes");
    for (const std::string& text : notes_) builder.string(utf8_text(text));
    builder.end();
    builder.number("ms", static_cast<double>(monotonic_ns() - begin_ns_) * 1e-6);
    builder.unsigned_integer("errors", num_errors);
    builder.unsigned_integer("warnings", num_warnings);
    builder.begin_list("diagnostics");
    for (const Target& target : targets_)
        if (target.diagnostics != nullptr) write_entries(*target.diagnostics, builder);
    write_entries(session_.diagnostics, builder);
    builder.end();
    builder.end();
    console_.print_json(builder.finish());
}

int FolderBuild::run() {
    if (!prepare_session() || !find_sources() || !read_state()) return fail(console_, session_.diagnostics);
    compare();
    compile();
    remove_orphans();
    const bool is_kept = write_state();
    report();
    if (console_.json()) report_json();
    return is_kept && count(Target::Result::kFailed) == 0 ? 0 : 1;
}

}  // namespace

int compile_folder(const Arguments& arguments, Files& files, Console& console) {
    return FolderBuild(arguments, files, console).run();
}

}  // namespace shoal_tool
