#pragma once

#include <string>
#include <string_view>

namespace shoal {

/// Returns the C++ name of a component type that is named after its struct: "child_of" is ChildOf.
inline std::string type_name_of(std::string_view component) {
    std::string name;
    bool begins_word = true;
    for (const char c : component) {
        if (c != '_') name += begins_word && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        begins_word = c == '_';
    }
    return name;
}

}  // namespace shoal
