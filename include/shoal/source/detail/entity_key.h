#pragma once
// Keys of entities and components. A key is a GUID, a name, or a path of GUIDs and names.
//
// A GUID, such as 43d2ce7f-9F3A-4c1b-8a77-0123456789ab, is case-insensitive. The composer converts GUIDs to lower case,
// so that keys can be compared, hashed and joined into paths as plain strings.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <string>
#include <string_view>

namespace shoal {

/// Returns a key without its leading `#`, if it has one.
inline std::string_view without_hash(std::string_view key) {
    return !key.empty() && key[0] == '#' ? key.substr(1) : key;
}

/// Returns whether a key is a GUID with an upper-case letter, or a path that contains one.
SHOAL_API bool has_upper_case_guid(std::string_view key);

/// Converts each GUID in a key to lower case. Names are unchanged.
SHOAL_API void lower_guids(std::string& key);

/// Returns a key with its GUIDs in lower case. This is `key` itself if nothing changes; otherwise it is the result of
/// keep(text), which must store the text.
template <class Keep>
std::string_view normal_key(std::string_view key, Keep&& keep) {
    if (!has_upper_case_guid(key)) return key;
    std::string lower(key);
    lower_guids(lower);
    return keep(std::string_view(lower));
}

}  // namespace shoal
