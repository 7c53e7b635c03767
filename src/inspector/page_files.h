#pragma once
// The files of the page, embedded in the library.

#include <span>
#include <string_view>

namespace shoal::inspect {

struct PageFile {
    std::string_view path;  ///< "/app.js"
    std::string_view type;  ///< "text/javascript; charset=utf-8"
    std::string_view content;
};

/// All files, sorted by path. cmake/page_files.cmake generates the definition.
std::span<const PageFile> page_files();

}  // namespace shoal::inspect
