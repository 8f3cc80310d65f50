// ChangeBatch: changes in flat arrays, read from a blob or about to be written into one. It is the
// one form in which changes enter and leave a document.
//
// A Change owns all its content, which costs several allocations, and most changes only mean "this
// character, here". In a batch an op is a row of 32 bytes and text stays where it is: views point
// into the blob, the changes or the history that the batch was made from, which must outlive it
// unchanged. changes() makes objects that last, for tests and for JSON.
//
//     heads   [ change | change | change ]         each names a stretch of deps and one of rows
//     deps    [ d | d d | d ]
//     rows    [ r r r | r | r r ]                  each an op: text by pointer, deletes as numbers
//     peers, containers                            what heads, deps and rows name by index
#pragma once

#include <cstdint>
#include <initializer_list>
#include <list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/register.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

struct ChangeBatch {
    ChangeBatch() = default;
    // A batch from changes. Unsound ones are noted in `fault`, and nothing else is checked: what a
    // batch claims about history is validated when it is imported (doc/validate.h).
    ChangeBatch(const std::vector<Change>& changes);  // Borrows from them.
    ChangeBatch(std::vector<Change>&& changes);       // Keeps them.
    ChangeBatch(std::initializer_list<Change> changes);
    ChangeBatch(ChangeBatch&&) noexcept = default;
    ChangeBatch& operator=(ChangeBatch&&) noexcept = default;
    ChangeBatch(const ChangeBatch&) = delete;
    ChangeBatch& operator=(const ChangeBatch&) = delete;
    ~ChangeBatch() = default;

    // The forms of rows: three frequent ones that need no allocation, and the rest.
    enum class Form : std::uint8_t {
        text,            // TextInsert.
        erase_forward,   // SequenceDelete with len > 0.
        erase_backward,  // SequenceDelete with len < 0.
        content,         // Any other op, whole.
    };
    // One op. The members are a tagged union by `form`, kept flat so that a row has 32 bytes.
    struct Row {
        std::uint32_t container = 0;  // Index into `containers`.
        Counter atoms = 0;
        std::uint32_t pos = 0;   // For text and erase.
        std::uint32_t size = 0;  // Text: bytes. Erase: the counter of the start id.
        std::uint32_t peer = 0;  // Erase: the peer of the start id, an index into `peers`.
        Form form = Form::content;
        union {
            const OpContent* content = nullptr;
            const char* bytes;  // Text: UTF-8, checked by the writer of the batch.
        };

        std::string_view text() const { return {bytes, size}; }
        bool is_erase() const {
            return form == Form::erase_forward || form == Form::erase_backward;
        }
        static Row of_text(std::uint32_t container, std::uint32_t pos, std::string_view text,
                           Counter atoms) {
            Row row;
            row.container = container;
            row.atoms = atoms;
            row.pos = pos;
            row.size = static_cast<std::uint32_t>(text.size());
            row.form = Form::text;
            row.bytes = text.data();
            return row;
        }
    };
    // A dependency of a change: the id of one head of the version that its writer knew.
    struct Dep {
        std::uint32_t peer = 0;  // Index into `peers`.
        Counter counter = 0;
    };
    // A change. Its deps and rows follow those of the change before it; the atoms of its rows count
    // up from its id.
    struct Head {
        std::uint32_t peer = 0;
        Counter counter = 0;
        Counter atoms = 0;
        Lamport lamport = 0;
        std::int64_t timestamp = 0;
        std::string_view message;
        // Places in `deps` and `rows`, and how many there are. A batch has fewer than 2^32 of each.
        std::uint32_t dep = 0, dep_count = 0;
        std::uint32_t row = 0, row_count = 0;

        Counter end() const { return counter + atoms; }
    };

    // The tables to which rows and heads refer by index, then the changes themselves.
    Register<PeerId> peers;
    Register<ContainerId> containers;
    std::vector<Head> heads;
    std::vector<Dep> deps;
    std::vector<Row> rows;
    // A list, because rows point at its elements.
    std::list<OpContent> contents;  // Contents that nothing else owns.
    std::vector<Change> kept;       // The source of the batch, unless it borrows.
    // The first fault of the source changes that the rows do not show; an import refuses the batch.
    struct Fault {
        OpId change;
        const char* what = nullptr;
    };
    std::optional<Fault> fault;

    // Empties the batch but keeps its memory.
    void clear();

    // Borrows from the change, which has to be sound: see `fault`.
    void append(const Change& change);
    // Adds a change part by part: open(), then its deps and rows to the vectors, then close().
    void open(Head& head) const;
    void close(Head head);
    // The row of one op. Its container and peers are added to the tables of the batch. Borrows
    // the op's content.
    Row row_of(const Op& op);

    // The deps and rows of one change, valid until the batch grows.
    std::span<const Dep> deps_of(const Head& head) const {
        return std::span(deps).subspan(head.dep, head.dep_count);
    }
    std::span<const Row> rows_of(const Head& head) const {
        return std::span(rows).subspan(head.row, head.row_count);
    }
    // Ids with the peers of the batch's table filled in.
    OpId id_of(const Head& head) const { return {peers[head.peer], head.counter}; }
    OpId id_of(Dep dep) const { return {peers[dep.peer], dep.counter}; }

    // Copies that own their content. O(content).
    OpContent content_of(const Row& row) const;
    Change change(const Head& head) const;
    std::vector<Change> changes() const&;
    std::vector<Change> changes() &&;  // Moves the contents that nobody else keeps.
    // The rows as ops, the first atom being number `counter`.
    void append_ops(std::span<const Row> of, Counter counter, std::vector<Op>& out) const;

private:
    void take(std::span<const Change> changes);
};

}  // namespace quire::crdt
