#include "inspect/xml_text.h"

#include "shoal/base/text.h"

namespace shoal {

std::string_view utf8_start(std::string_view text, std::size_t max_bytes) {
    text = text.substr(0, max_bytes);
    while (!is_utf8(text)) text.remove_suffix(1);
    return text;
}

std::string xml_text(std::string_view text, std::size_t max_bytes) {
    if (!is_utf8(text)) return "(not UTF-8)";
    const bool is_long = text.size() > max_bytes;
    text = utf8_start(text, max_bytes);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 3) == "\xEF\xBF\xBE" || text.substr(i, 3) == "\xEF\xBF\xBF")
            i += 2;  // U+FFFE, U+FFFF
        else if (text[i] == '&')
            out += "&amp;";
        else if (text[i] == '<')
            out += "&lt;";
        else if (text[i] == '>')
            out += "&gt;";
        else if (static_cast<unsigned char>(text[i]) >= 0x20)
            out += text[i];
    }
    return is_long ? out + "…" : out;
}

}  // namespace shoal
