// Edits to a document that was opened without its history: what they say on the wire can be told
// from the state alone, so that opening, editing and sending need not wait for the past.
//
// Edits go to texts, lists and maps with names. For children, styles and all else load the
// document, import changes() into it, and go on there.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/opened_document.h"
#include "crdt/doc/doc.h"
#include "seq/rope.h"

namespace quire::codec {

// Keeps the document that it drafts for, which outlives it, as it was.
class Draft {
public:
    // The peer has written nothing that others may have seen after this snapshot was taken: ids
    // are given out once.
    Draft(const OpenedDocument& document, crdt::PeerId peer);

    // As those of crdt::Doc, in one change until commit(). Errors: as there, and corrupt for a
    // state that cannot be read; unsupported "needs_history" for a container that is no root, and
    // for a text with styles. O(log n) and the spans of the state for a text, O(n) for a list.
    Result<void> text_insert(const crdt::ContainerId& text, text::CodePoint at,
                             std::string_view utf8);
    Result<void> text_erase(const crdt::ContainerId& text, text::CodePoint at,
                            text::CodePoint count);
    Result<void> list_insert(const crdt::ContainerId& list, std::size_t at, Value value);
    Result<void> list_erase(const crdt::ContainerId& list, std::size_t at, std::size_t count);
    Result<void> map_set(const crdt::ContainerId& map, std::string_view key, Value value);
    Result<void> map_erase(const crdt::ContainerId& map, std::string_view key);

    // Ends the change; none when there was no edit. Errors: corrupt, when the snapshot's heads
    // cannot be read; the edits stay then.
    Result<std::optional<crdt::Change>> commit(crdt::CommitOptions options = {});
    // All that was committed, in order: what load() does not know.
    const std::vector<crdt::Change>& changes() const { return changes_; }

    // The text as edited.
    Result<const seq::Rope*> text(const crdt::ContainerId& text);

private:
    // Atoms that count up, or one from elsewhere in the text.
    struct Span {
        crdt::OpId first;
        crdt::Counter size;
    };
    struct Text {
        seq::Rope rope;
        std::vector<Span> spans;
    };
    struct List {
        std::vector<crdt::OpId> ids;
    };
    struct Map {
        std::map<std::string, Value, std::less<>> values;  // Plain ones only.
    };

    Result<Text*> open_text(const crdt::ContainerId& id);
    Result<List*> open_list(const crdt::ContainerId& id);
    Result<Map*> open_map(const crdt::ContainerId& id);
    // Whether the peer has ids left for so many atoms.
    Result<void> expect_room(std::size_t atoms) const;
    void write(const crdt::ContainerId& id, crdt::OpContent content);
    // Deletes of ids that count up become one op.
    void write_erase(const crdt::ContainerId& id, std::size_t at, Span erased);

    const OpenedDocument& document_;
    crdt::PeerId peer_;
    crdt::Counter next_;
    std::map<crdt::ContainerId, Text> texts_;
    std::map<crdt::ContainerId, List> lists_;
    std::map<crdt::ContainerId, Map> maps_;
    std::vector<crdt::Op> ops_;  // Since the last commit.
    std::vector<crdt::Change> changes_;
};

}  // namespace quire::codec
