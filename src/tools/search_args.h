// What the searches have in common.
#pragma once

#include <optional>
#include <string>

#include "kernel/kernel.h"
#include "text/search.h"
#include "tools/fields.h"
#include "tools/tool.h"

namespace quire::tools {

template <>
struct Words<text::Match> {
    static constexpr std::size_t count = 2;
    static std::string_view word(text::Match mode) {
        return mode == text::Match::literal ? "literal" : "regex";
    }
};

// Bounds of what one search may show.
inline Map context_rules() {
    return {{"maximum", 100}};
}
inline Map count_rules() {
    return {{"minimum", 1}, {"maximum", 1000}};
}

// {blocks: [{block_id, path, matches}], searched, truncated}.
ToolResult render_found_all(const kernel::FoundAll& found, Profile profile);
// {matches, truncated}.
ToolResult render_found(const std::string& block_id, const blocks::Finding& found, Profile profile);

}  // namespace quire::tools
