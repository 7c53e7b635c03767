#pragma once
// A small check that a text is well-formed XML of the kind that pictures are: elements, attributes, text, entities.

#include "shoal/base/text.h"

#include <string>
#include <string_view>
#include <vector>

namespace shoal_test {

class XmlCheck {
public:
    /// Returns what is wrong, or an empty text.
    static std::string problem(std::string_view text) { return XmlCheck(text).check(); }

private:
    explicit XmlCheck(std::string_view text) : text_(text) {}

    std::string check() {
        if (!shoal::is_utf8(text_)) return "not UTF-8";
        for (const char c : text_)
            if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r')
                return "a control character";
        if (text_.substr(0, 5) == "<?xml") at_ = text_.find("?>") + 2;
        while (at_ < text_.size())
            if (std::string wrong = text_[at_] == '<' ? element() : characters(); !wrong.empty()) return wrong;
        if (!open_.empty()) return "not closed: " + open_.back();
        return num_roots_ == 1 ? "" : "one root element is needed";
    }

    std::string element() {
        const std::size_t end = text_.find('>', at_);
        if (end == std::string_view::npos) return "a tag without end";
        std::string_view tag = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        if (!tag.empty() && tag[0] == '/') {
            if (open_.empty() || open_.back() != tag.substr(1)) return "closes what is not open: " + std::string(tag);
            open_.pop_back();
            return {};
        }
        const bool is_closed = !tag.empty() && tag.back() == '/';
        if (is_closed) tag.remove_suffix(1);
        const std::string name(tag.substr(0, tag.find(' ')));
        if (name.empty() || name.find_first_of("<\"&") != std::string::npos) return "a tag without a name";
        num_roots_ += open_.empty();
        if (!is_closed) open_.push_back(name);
        return attributes(tag.substr(name.size()));
    }

    static std::string attributes(std::string_view rest) {
        while (rest.find_first_not_of(' ') != std::string_view::npos) {
            rest.remove_prefix(rest.find_first_not_of(' '));
            const std::size_t equals = rest.find("=\"");
            const std::size_t end = equals == std::string_view::npos ? equals : rest.find('"', equals + 2);
            if (end == std::string_view::npos) return "an attribute without a quoted value: " + std::string(rest);
            const std::string_view attribute = rest.substr(0, end);
            if (attribute.find('<') != std::string_view::npos || has_bare_ampersand(attribute))
                return "an attribute that is not escaped";
            rest.remove_prefix(end + 1);
        }
        return {};
    }

    static bool has_bare_ampersand(std::string_view run) {
        for (std::size_t i = run.find('&'); i != std::string_view::npos; i = run.find('&', i + 1))
            if (run.substr(i, 5) != "&amp;" && run.substr(i, 4) != "&lt;" && run.substr(i, 4) != "&gt;") return true;
        return false;
    }

    std::string characters() {
        const std::size_t end = text_.find('<', at_);
        const std::string_view run = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
        at_ += run.size();
        if (open_.empty() && run.find_first_not_of(" \n") != std::string_view::npos) return "text outside of the root";
        return has_bare_ampersand(run) ? "a bare &" : "";
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t num_roots_ = 0;
    std::vector<std::string> open_;
};

}  // namespace shoal_test
