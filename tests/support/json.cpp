#include "support/json.h"

template class nlohmann::basic_json<>;
template nlohmann::json nlohmann::json::parse(const std::string&, const parser_callback_t, const bool, const bool);
template nlohmann::json nlohmann::json::parse(std::string&, const parser_callback_t, const bool, const bool);
