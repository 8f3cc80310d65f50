#include "tools/search_args.h"

#include <algorithm>
#include <string_view>

#include "base/cat.h"
#include "tools/render.h"

namespace quire::tools {

namespace {

List matches(const std::vector<blocks::Finding::Hit>& hits, blocks::Numbering numbering) {
    List out;
    for (const blocks::Finding::Hit& hit : hits) out.push_back(hit_value(hit, numbering));
    return out;
}

bool any_cut(const std::vector<blocks::Finding::Hit>& hits) {
    return std::any_of(hits.begin(), hits.end(), [](const auto& hit) { return hit.cut; });
}

constexpr std::string_view kCut = "(long lines are cut around their matches)\n";

// The lines of all hits; "--" between those that do not follow each other.
std::string lines_of(const std::vector<blocks::Finding::Hit>& hits, blocks::Numbering numbering) {
    std::string text;
    for (std::size_t i = 0; i < hits.size(); ++i) {
        if (i > 0 && hits[i].line == hits[i - 1].line) continue;
        if (i > 0) text += "--\n";
        text += hit_text(hits[i], numbering);
    }
    return text;
}

}  // namespace

ToolResult render_found(const std::string& block_id, const blocks::Finding& found,
                        Profile profile) {
    const blocks::Numbering numbering = numbering_of(profile);
    const bool cut = any_cut(found.hits);
    std::string text = cat(block_id, ": ", count_of(found.hits.size(), "match"),
                           found.truncated ? ", and there are more (raise max_matches)" : "", "\n",
                           cut ? kCut : "", lines_of(found.hits, numbering));
    return {Map{{"matches", matches(found.hits, numbering)}, {"truncated", found.truncated || cut}},
            std::move(text)};
}

ToolResult render_found_all(const kernel::FoundAll& found, Profile profile) {
    const blocks::Numbering numbering = numbering_of(profile);
    List blocks;
    bool cut = false;
    std::string text =
        cat(count_of(found.blocks.size(), "block"), " with matches, ", found.searched, " searched",
            found.truncated ? ", and there are more (narrow the search or raise the limits)" : "",
            "\n");
    for (const kernel::FoundAll::InBlock& block : found.blocks) {
        const bool here = any_cut(block.matches);
        cut = cut || here;
        text += cat("\n", block.block_id, block.path.empty() ? "" : " ", block.path, ":\n",
                    here ? kCut : "", lines_of(block.matches, numbering));
        blocks.push_back(Map{{"block_id", block.block_id},
                             {"path", block.path.empty() ? Value() : Value(block.path)},
                             {"matches", matches(block.matches, numbering)}});
    }
    return {Map{{"blocks", std::move(blocks)},
                {"searched", found.searched},
                {"truncated", found.truncated || cut}},
            std::move(text)};
}

}  // namespace quire::tools
