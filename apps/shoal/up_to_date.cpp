#include "up_to_date.h"

#include "shoal/base/text.h"
#include "shoal/source/inputs.h"
#include "sources.h"

#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr const char* kNoBlobHint = "give the path of a blob that `shoal compile` made";

struct Compared {
    std::string blob;
    std::vector<InputChange> changes;
};

/// Returns the roots that were given. If none were given, returns the blob's folder.
std::vector<std::string> roots_of(const SourceSession& session, const std::string& blob) {
    if (!session.options.compose.roots.empty()) return session.options.compose.roots;
    const std::size_t slash = blob.rfind('/');
    return {slash == std::string::npos ? std::string(".") : blob.substr(0, slash + 1)};
}

/// Compares a blob with its sources. Errors: the blob cannot be read, does not name its inputs, or was compiled with
/// different roots.
Status compare(Files& files, SourceSession& session, InputFiles& looked, Compared& compared) {
    const Result<Blob> blob = read_blob(files, compared.blob);
    if (!blob) return blob.status();
    const Result<SourceInputs> inputs = inputs_of_blob(*blob, roots_of(session, compared.blob));
    if (!inputs) return Status::error(concat('"', compared.blob, "\": ", inputs.message()));
    compared.changes = find_changes(*inputs, session.registry, session.options.rules, session.options.program, looked);
    return {};
}

void print(Console& console, const SourceSession& session, const Compared& compared) {
    std::string text = concat(compared.blob, compared.changes.empty() ? ": up to date\n" : ": not up to date\n");
    bool is_any_gone = false;
    for (const InputChange& change : compared.changes) {
        append_text(text, concat("  ", change.message, '\n'));
        is_any_gone |= change.kind == InputChangeKind::kGone;
    }
    if (is_any_gone && session.options.compose.roots.empty())
        append_text(text, concat("  looked for files in ", roots_of(session, compared.blob)[0],
                                 "; --root names the folder that they are in\n"));
    console.print(text);
}

void print_json(Console& console, const std::vector<Compared>& all, const Diagnostics& diagnostics, bool ok) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", ok);
    builder.begin_list("blobs");
    for (const Compared& compared : all) {
        builder.begin_mapping();
        builder.string("blob", utf8_text(compared.blob));
        builder.boolean("up_to_date", compared.changes.empty());
        builder.begin_list("changes");
        for (const InputChange& change : compared.changes) {
            builder.begin_mapping();
            builder.string("kind", change_name(change.kind));
            builder.string("name", change.name);
            builder.string("message", change.message);
            builder.end();
        }
        builder.end();
        builder.end();
    }
    builder.end();
    write_diagnostics(diagnostics, builder);
    builder.end();
    console.print_json(builder.finish());
}

}  // namespace

int check_up_to_date(const Arguments& arguments, Files& files, Console& console) {
    SourceSession session;
    if (!prepare(arguments, files, console, {}, session)) return fail(console, session.diagnostics);
    DiskFiles disk;
    InputFiles looked(disk);
    std::vector<Compared> all;
    bool ok = true;
    for (const std::string& path : arguments.operands()) {
        Compared compared{path, {}};
        if (Status status = compare(files, session, looked, compared); !status) {
            session.diagnostics.error({}, std::string(status.message()), is_blob_file(files, path) ? "" : kNoBlobHint);
            continue;
        }
        ok &= compared.changes.empty();
        print(console, session, compared);
        all.push_back(std::move(compared));
    }
    ok &= session.diagnostics.num_errors() == 0;
    console.print_diagnostics(session.diagnostics);
    if (console.json()) print_json(console, all, session.diagnostics, ok);
    return ok ? 0 : 1;
}

}  // namespace shoal_tool
