// Built for this machine and for one of the other byte order; check.sh compares what the two say.
//
//     sample_blob write native|swapped FILE    writes the blob that the tests of the resource room share
//     sample_blob show FILE                    loads a blob of this machine's byte order and prints all that it holds

#include "resource/samples.h"
#include "shoal/base/file.h"
#include "shoal/resource/detail/dump.h"

#include <bit>
#include <cstdio>
#include <string_view>

namespace {

using namespace shoal;

int fail(std::string_view message) {
    std::fprintf(stderr, "sample_blob: %.*s\n", static_cast<int>(message.size()), message.data());
    return 1;
}

int write(std::string_view order, const std::string& path) {
    const bool is_big = (std::endian::native == std::endian::big) == (order == "native");
    const Status status =
        write_file(path, resource_test::sample_bytes_with_origin({.big_endian = is_big, .offset_tables = true}));
    return status ? 0 : fail(status.message());
}

int show(const std::string& path) {
    const Result<std::string> bytes = read_file(path);
    if (!bytes) return fail(bytes.message());
    const Result<Blob> blob = Blob::load(std::as_bytes(std::span(*bytes)));
    if (!blob) return fail(blob.message());
    std::fputs(dump_text(*blob).c_str(), stdout);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb == "write" && argc == 4) return write(argv[2], argv[3]);
    if (verb == "show" && argc == 3) return show(argv[2]);
    return fail("the arguments are: write native|swapped FILE, or show FILE");
}
