// Turns what a search finds into its answer: the hits with the profile's line numbers, and the same
// lines as text. A line with several matches is several hits; the text shows it once, and separates
// the lines of different hits with "--".
//
// The heading of a block gives its id, and its path or label unless the id ends with that, as
// "file:PATH" does. Names come from outside, so their invisible characters are written out.
#include "tools/search_args.h"

#include <algorithm>
#include <string_view>

#include "base/concat.h"
#include "edits/numbering.h"
#include "text/escape_hidden.h"
#include "tools/render.h"

namespace quire::tools {

namespace {

std::vector<FoundLine> matches(const std::vector<edits::Finding::Hit>& hits,
                               edits::Numbering numbering) {
    std::vector<FoundLine> out;
    for (const edits::Finding::Hit& hit : hits) {
        out.push_back(
            {edits::shown(numbering, hit.line), hit.content, hit.match_start, hit.match_end});
    }
    return out;
}

bool any_cut(const std::vector<edits::Finding::Hit>& hits) {
    return std::any_of(hits.begin(), hits.end(), [](const auto& hit) { return hit.cut; });
}

constexpr std::string_view kCut = "(long lines are cut around their matches)\n";

// The lines of one hit, numbered.
std::string hit_text(const edits::Finding::Hit& hit, edits::Numbering numbering) {
    std::vector<std::string> lines;
    for (std::size_t at = 0;;) {
        const std::size_t newline = hit.content.find('\n', at);
        lines.push_back(hit.content.substr(at, newline - at));
        if (newline == std::string::npos) break;
        at = newline + 1;
    }
    return edits::numbered(lines, hit.content_begin, numbering, true);
}

// The lines of all hits, with "--" between two hits. A second match in one line has the same lines
// and is not shown again.
std::string lines_of_hits(const std::vector<edits::Finding::Hit>& hits,
                          edits::Numbering numbering) {
    std::string text;
    for (std::size_t i = 0; i < hits.size(); ++i) {
        if (i > 0 && hits[i].line == hits[i - 1].line) continue;
        if (i > 0) text += "--\n";
        text += hit_text(hits[i], numbering);
    }
    return text;
}

}  // namespace

Fields<FoundLine> FoundLine::fields() {
    return Fields<FoundLine>()
        .required("line", &FoundLine::line)
        .required("content", &FoundLine::content)
        .kept()
        .required("match_start", &FoundLine::match_start)
        .required("match_end", &FoundLine::match_end)
        .implied("match_start")  // The query says where in the line; they cost a quarter more.
        .implied("match_end");
}

Fields<Found> Found::fields() {
    return Fields<Found>()
        .required("matches", &Found::matches)
        .kept()
        .required("truncated", &Found::truncated);
}

Fields<FoundInMany::InBlock> FoundInMany::InBlock::fields() {
    return Fields<InBlock>()
        .required("block_id", &InBlock::block_id)
        .nullable("path", &InBlock::path)
        .optional("label", &InBlock::label)
        .optional("owner", &InBlock::owner)
        .required("matches", &InBlock::matches)
        .kept();
}

Fields<FoundInMany> FoundInMany::fields() {
    return Fields<FoundInMany>()
        .required("blocks", &FoundInMany::blocks)
        .kept()
        .required("searched", &FoundInMany::searched)
        .required("truncated", &FoundInMany::truncated);
}

Answered<Found> render_found(const std::string& block_id, const edits::Finding& found,
                             Profile profile) {
    const edits::Numbering numbering = numbering_of(profile);
    const bool cut = any_cut(found.hits);
    return {{matches(found.hits, numbering), found.truncated || cut},
            cat(block_id, ": ", count_of(found.hits.size(), "match"),
                found.truncated ? ", and there are more (raise max_matches)" : "", "\n",
                cut ? kCut : "", lines_of_hits(found.hits, numbering))};
}

Answered<FoundInMany> render_found_all(const kernel::FoundAll& found, Profile profile) {
    const edits::Numbering numbering = numbering_of(profile);
    std::vector<FoundInMany::InBlock> blocks;
    bool cut = false;
    std::string text =
        cat(count_of(found.blocks.size(), "block"), " with matches, ",
            found.searched.indexed + found.searched.scanned, " searched",
            found.searched.left == 0 ? "" : cat(", ", found.searched.left, " left"),
            found.truncated ? ", and there are more (narrow the search or raise the limits)" : "",
            "\n");
    for (const kernel::FoundAll::InBlock& block : found.blocks) {
        const bool here = any_cut(block.matches);
        cut = cut || here;
        const std::string& name = block.path.empty() ? block.label : block.path;
        const bool is_named = name.empty() || block.block_id.ends_with(name);
        const std::string heading = cat(block.block_id, is_named ? "" : " ", is_named ? "" : name);
        text += cat("\n", text::escape_hidden(heading), ":\n", here ? kCut : "",
                    lines_of_hits(block.matches, numbering));
        blocks.push_back({block.block_id, block.path, block.label, block.owner,
                          matches(block.matches, numbering)});
    }
    return {{std::move(blocks), found.searched, found.truncated || cut}, std::move(text)};
}

}  // namespace quire::tools
