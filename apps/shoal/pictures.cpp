#include "pictures.h"

#include "png.h"
#include "shoal/base/text.h"

#include <algorithm>

namespace shoal_tool {

using namespace shoal;

namespace {

/// Calls visit(flag, path) for each requested picture.
template <class Visitor>
void for_each_picture(const Arguments& arguments, Visitor&& visit) {
    for (const auto& [flag, path] : arguments.given())
        if ((flag->name == kPictureFlag.name || flag->name == kScheduleFlag.name) && !is_standard_stream(path))
            visit(*flag, path);
}

/// Returns ".svg" for "FILE.svg".
std::string_view ending(std::string_view choice) { return choice.substr(choice.rfind('.')); }

}  // namespace

PictureFormat format_of(std::string_view path) {
    return path.ends_with(".png")   ? PictureFormat::kPng
           : path.ends_with(".dot") ? PictureFormat::kDot
                                    : PictureFormat::kSvg;
}

Status check_picture_names(const Arguments& arguments) {
    Status status;
    for_each_picture(arguments, [&](const Flag& flag, const std::string& path) {
        const std::vector<std::string_view> choices = choices_of(flag.value);
        const auto fits = [&](std::string_view choice) { return path.ends_with(ending(choice)); };
        if (std::ranges::any_of(choices, fits)) return;
        std::string endings;
        for (std::size_t i = 0; i < choices.size(); ++i)
            endings += concat(i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", ending(choices[i]));
        status = Status::error(concat("--", flag.name, " writes what the name of the file ends in, ", endings,
                                      ", and \"", path, "\" ends in none of them"));
    });
    return status;
}

Status check_picture_library(const Arguments& arguments) {
    Status status;
    for_each_picture(arguments, [&](const Flag& flag, const std::string& path) {
        if (format_of(path) == PictureFormat::kPng && !kHasPng)
            status = Status::error(concat("this tool was built without librsvg, which \"", path,
                                          "\" needs; install librsvg2-dev and build it again, or give --", flag.name,
                                          " a name that ends in .svg"));
    });
    return status;
}

Status write_picture(Files& files, const Flag& flag, const std::string& path, std::string_view svg) {
    if (format_of(path) != PictureFormat::kPng) return files.write(flag.name, svg);
    const Result<std::string> png = png_of_svg(svg);
    if (!png)
        return Status::error(
            concat("cannot draw \"", path, "\": ", png.message(), "; give it a name that ends in .svg"));
    return files.write(flag.name, *png);
}

}  // namespace shoal_tool
