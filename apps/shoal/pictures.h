#pragma once
// The pictures that a run writes: a map of the entities, and a graph of the passes. The file name extension selects the
// format.

#include "files.h"

namespace shoal_tool {

inline constexpr Flag kPictureFlag{
    .name = "picture",
    .value = "FILE.svg|FILE.png",
    .help = "draw where the entities are after the last frame; - is standard output, as SVG",
    .takes = Takes::kOutput};
inline constexpr Flag kScheduleFlag{
    .name = "schedule",
    .value = "FILE.svg|FILE.png|FILE.dot",
    .help = "draw the passes: which wait for which and why, and what each has cost; - is standard output, as SVG",
    .takes = Takes::kOutput};

enum class PictureFormat : std::uint8_t { kSvg, kPng, kDot };

/// Returns the format for a file name.
PictureFormat format_of(std::string_view path);

/// Errors (wrong usage): a picture's file name has none of the extensions that its flag lists.
shoal::Status check_picture_names(const Arguments& arguments);
/// Errors: a PNG is requested, but the tool was built without the library for PNG.
shoal::Status check_picture_library(const Arguments& arguments);

/// Writes the picture that a flag requests, in the format that the file name selects. Errors: as for Files::write().
shoal::Status write_picture(Files& files, const Flag& flag, const std::string& path, std::string_view svg);

}  // namespace shoal_tool
