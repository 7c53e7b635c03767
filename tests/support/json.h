#pragma once
// JSON as tests read it. The library is made of templates, which are compiled once, in json.cpp.

#include <nlohmann/json.hpp>

#include <string>

extern template class nlohmann::basic_json<>;
extern template nlohmann::json nlohmann::json::parse(const std::string&, const parser_callback_t, const bool,
                                                     const bool);
extern template nlohmann::json nlohmann::json::parse(std::string&, const parser_callback_t, const bool, const bool);
