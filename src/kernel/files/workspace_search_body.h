// The part that all searches of a workspace share: the index, and the reading and indexing of
// files. The strand keeps them apart: searches and indexing run on it in turns, so the index needs
// no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/function.h"
#include "fs/file_system.h"
#include "kernel/files/search_index.h"
#include "kernel/files/workspace_search.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"
#include "store/store_records.h"
#include "text/signature.h"

namespace quire::kernel {

class Core;

// How the index names files; its names of documents begin with a digit.
inline constexpr std::string_view kFileName = "./";
// How long searches and indexing run before others get their turn.
inline constexpr std::int64_t kSliceMs = 10;

struct WorkspaceSearch::Body : std::enable_shared_from_this<WorkspaceSearch::Body> {
    explicit Body(Parts of);

    // A file of the disk, as it was read.
    struct ReadFile {
        bool is_text = false;
        std::string text;
        std::vector<std::uint64_t> signature;
    };
    // All files, by a walk. Errors: those of FileSystem::list().
    Result<fs::Listing> walk() const;
    // Reads a file, and adds it to the index. Errors: those of FileSystem::peek().
    Result<ReadFile> read(const std::string& path);
    // A file whose stamp says little, or whose encoding the rules name, is none that the index knows.
    bool can_index(const fs::Entry& file) const;
    // The entry of a file; none if it has to be read.
    std::optional<SearchIndex::Entry> known(const fs::Entry& file) const;

    bool is_over() const {
        return over.with([](bool is_over) { return is_over; });
    }
    std::int64_t now_ms() const { return clock.steady_ms(); }

    // --- indexing ---
    // A round of indexing: it lists the files by a walk, reads those that the index does not know,
    // and forgets entries of files that are gone. Does nothing while one is under way.
    void begin_indexing();
    // Goes on for a slice of time, then posts itself.
    void index_some();
    bool is_indexed(const fs::Entry& file) const;
    void end_indexing();
    void save();
    // A search has ended; the last one lets stop() reply.
    void end_run();
    // Saves the index and replies to stop(), once nothing is under way.
    void finish_if_over();

    const std::shared_ptr<Core> core;
    Function<bool(store::DocumentKey)> has_document;
    const Clock& clock;
    FileGate* const gate;
    DiskWatch* const watch;
    const std::string index_file;
    sched::Guarded<bool> over;

    // On the strand.
    sched::Strand strand;
    SearchIndex index;
    // Makes one signature at a time, and keeps its memory for the next.
    text::SignatureMaker maker;
    struct Indexing {
        std::vector<fs::Entry> files;
        std::size_t next = 0;
        bool has_all = false;  // The list has every file.
    };
    std::optional<Indexing> indexing;
    std::int64_t indexed_ms = 0;  // When it was last begun.
    std::size_t runs = 0;         // Searches under way.
    std::optional<Reply<void>> stopped;
};

}  // namespace quire::kernel
