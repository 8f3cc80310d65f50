// Calls that read blocks, as values: lists, texts, searches and history.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "base/value.h"
#include "conversation/block.h"
#include "edits/find.h"
#include "edits/view.h"
#include "text/search.h"

namespace quire::kernel {

// A row of a list. Version, line_count and bytes include all appends that were answered.
struct BlockInfo {
    std::string block_id;
    // Absent for a root, and for a block that is a whole document.
    std::optional<std::string> parent_id;
    // The words of conversation::Role, Kind and Status. A whole document has the role "system", its
    // own kind and the status "done".
    std::string role, kind, status;
    // Why the status is what it is: "interrupted" if its writer is gone; else "".
    std::string reason;
    bool is_file = false;      // A file of the workspace, and not a block that speaks of one.
    std::string path;          // The path of a file, or the one that a conversation block names.
    std::string label, owner;  // Set for a memory block.
    std::string summary;       // First non-blank line, at most 80 code points.
    std::uint64_t version = 0;
    std::size_t line_count = 0;
    std::size_t bytes = 0;
    bool dirty = false;     // A file block with changes that are not on disk.
    conversation::Marks marks;  // A conversation block's.
    std::size_t depth = 0;  // 0 for a root, or for a direct child of the query's parent.
};

// A stretch of a block's lines, cut for a model's context. `metadata` is empty for a block that is
// a whole document.
struct BlockText {
    BlockInfo info;
    Map metadata;
    std::vector<std::string> lines;  // Those asked for, with terminators, cut at Limits.
    std::size_t first_line = 0;      // 0-based.
    // The columns that `lines` has, if some were asked for, and how many the line has.
    std::optional<edits::Columns> columns;
    std::size_t line_columns = 0;
    // The line ends of the whole text, and not of these lines alone.
    std::string eol;  // lf crlf mixed none
    bool final_newline = false;
    bool truncated = false;  // Lines or columns were cut; `notes` says where to go on.
    std::vector<std::string> notes;
};

// The whole text of a block, uncut: for people, exports and resources rather than for a model.
struct WholeText {
    BlockInfo info;
    std::string text;
};

// A request for a page of blocks. All given conditions must hold. `cursor` is the next_cursor of
// the page before.
struct ListQuery {
    std::optional<std::string> conversation;  // Absent: every document.
    std::optional<std::string> parent_id;
    std::optional<conversation::Kind> kind;
    std::optional<conversation::Status> status;
    std::string path_prefix;
    std::size_t depth = 1;  // Levels below the parent, or from the roots; 0 = all.
    std::size_t limit = 100;
    std::string cursor;
};
// A page of blocks in document order, documents by key. A block that fails a condition is left out,
// and its children are still listed if they meet it.
struct ListPage {
    std::vector<BlockInfo> blocks;
    std::string next_cursor;  // "" at the end.
};

// A search within one block; context_lines surround each match.
struct SearchQuery {
    text::Query query;
    std::size_t context_lines = 2;
    std::size_t max_matches = 20;  // In one block.

    // With lines cut at so many columns.
    edits::FindOptions options(std::size_t columns) const {
        return {context_lines, max_matches, columns};
    }
};
// The kinds of text that a search looks into: those of conversations' blocks, by the same numbers, and
// memory.
enum class SearchKind : std::uint8_t { memory = kWords<conversation::Kind>.size() };
constexpr auto words_of(SearchKind) {
    std::array<std::string_view, kWords<conversation::Kind>.size() + 1> words{};
    std::ranges::copy(kWords<conversation::Kind>, words.begin());
    words.back() = "memory";
    return words;
}
constexpr SearchKind search_kind(conversation::Kind kind) {
    return static_cast<SearchKind>(kind);
}
// A search in all that is of these kinds and whose path begins with the prefix.
struct SearchAll {
    SearchQuery search;
    std::vector<SearchKind> kinds = {search_kind(conversation::Kind::file)};
    std::string path_prefix;
    std::size_t max_blocks = 20;

    bool wants(SearchKind kind) const { return std::ranges::find(kinds, kind) != kinds.end(); }
};
// The files and documents that a search looked into: by the index alone, which ruled them out, or in
// their text; and those that it left, because it had enough or could not read them.
struct Searched {
    std::size_t indexed = 0, scanned = 0, left = 0;
};
// The blocks with matches. `truncated`: there may be more.
struct FoundAll {
    // The matches in one text, at most SearchQuery::max_matches, in its order.
    struct InBlock {
        std::string block_id;
        std::string path;          // A file's, or what a block of a conversation names.
        std::string label, owner;  // A memory block's.
        std::vector<edits::Finding::Hit> matches;
    };
    std::vector<InBlock> blocks;
    Searched searched;
    bool truncated = false;
};

// One version of a block: who made it, when, and by which operation.
struct HistoryEntry {
    std::string version_id;      // The block's version, as text.
    std::int64_t timestamp = 0;  // Milliseconds since 1970.
    std::string actor;
    // The word of the operation that made it, as in "edit", or a phrase such as "undo of edit".
    std::string description;
};
// A page of a block's history. next_cursor is "" at the end.
struct HistoryPage {
    std::vector<HistoryEntry> versions;  // Newest first.
    std::string next_cursor;
};

// The difference of two versions of a block as a unified diff, "" for none; `version` is the block's
// now. A side that is the file on the disk has no version's id.
struct BlockDiff {
    std::uint64_t version = 0;
    std::string from, to;
    std::string diff;
};

// The authors of a block's lines as they are now. A line is its newest character's, the line end
// aside; text that an undo or a redo brought back is its first writer's.
struct Blame {
    // The lines [begin, end), from 0, whose newest characters came with one entry of history.
    struct Stretch {
        std::size_t begin = 0;
        std::size_t end = 0;
        HistoryEntry entry;
    };
    std::uint64_t version = 0;
    std::vector<Stretch> stretches;  // In order, of all lines.
    std::string text;
};

// An entry of the log of all documents. A file's has its path, a memory block's its label and owner
// as they are now, and a conversation block's its conversation.
struct LogEntry {
    std::string block_id;
    std::string path = {};
    std::string label = {}, owner = {};
    std::string conversation = {};
    HistoryEntry entry;
};

}  // namespace quire::kernel
