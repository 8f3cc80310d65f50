// Store: durable records. It keeps bytes and never decodes a blob.
//
// A Batch is one transaction: after a crash all of it is stored, or none. Batches become durable
// in the order in which they were submitted, many in one flush (group commit), and each is
// acknowledged when it is on disk. After the first failed flush nothing is acknowledged until the
// store is opened again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "store/store_records.h"

namespace quire::store {

// Any thread, unless a function says otherwise.
class Store {
public:
    virtual ~Store() = default;

    // Hands a batch over; `done` is called once, on the store's own thread, when it is durable or
    // has failed. Errors: unavailable "disk_full" (nothing of it was kept; later batches may
    // succeed), unavailable "store_failed" (nothing more will be), unavailable "workspace_removed"
    // (the same, because the store's files are gone; {directory} if a Rescue saved everything),
    // unavailable "document_fenced" (see unfence()), conflict "constraint" (two documents of one kind, owner and name).
    virtual void commit(Batch batch, Reply<void> done) = 0;

    // The body of an audit entry that says what happened, or is about to. It is in the log before
    // whatever batch is handed over later is durable, and with the first that is; failing that, it
    // is tried again with the next. Where none comes it is written within 200 ms or so, and at the
    // end of the store. False, and it was not taken, when kMostNoted bytes wait, as on a full disk.
    // Cheap: nothing is hashed or written here. Any thread.
    static constexpr std::size_t kMostNoted = std::size_t{32} << 20;
    virtual bool note(std::string body) = 0;

    // Blocking reads. They see every acknowledged batch and wait for one flush at most. Errors:
    // corrupt "corrupt"; unavailable "store_failed".
    //
    // Every document there is, by key. One whose row is damaged or lost is among them, and says so.
    virtual Result<std::vector<DocumentRecord>> documents() = 0;
    virtual Result<StoredDocument> load(DocumentKey document) = 0;
    // The mark of the document's stored text: as long as it stays, so does the text. O(blocks).
    virtual Result<DocumentMark> mark(DocumentKey document) = 0;
    // All records of a table, by owner and key, without those that are damaged; and the body of one
    // record, if it exists.
    virtual Result<std::vector<KeyedRecord>> records(Table table) = 0;
    virtual Result<std::optional<Bytes>> record(const RecordKey& key) = 0;
    // At most `limit` entries of the audit log: those before `seq`, newest first, or those after
    // it, oldest first; and the hash before the first entry. The entries are not checked. Notes
    // are seen once a batch that was submitted after them is durable.
    virtual Result<std::vector<AuditEntry>> audit_before(std::uint64_t seq, std::size_t limit) = 0;
    virtual Result<std::vector<AuditEntry>> audit_after(std::uint64_t seq, std::size_t limit) = 0;
    virtual Result<AuditHash> audit_origin() = 0;
    // The newest units of all documents, by one actor ("" for all), newest first. A damaged one has
    // its document alone, and the description "damaged entry". O(units).
    virtual Result<std::vector<UnitRecord>> recent_units(const std::string& actor,
                                                         std::size_t limit) = 0;
    // The blocks that are whole documents, for the documents of a kind that are not deleted.
    virtual Result<std::vector<BlockRecord>> whole_blocks(const std::string& kind) = 0;
    // The best matches first. O(matches · log matches).
    virtual Result<std::vector<TextHit>> search(const TextQuery& query) = 0;
    // The documents of a kind whose indexed text is missing, belongs to another version than
    // their block, or remains although they are deleted. O(documents).
    virtual Result<std::vector<DocumentKey>> stale_texts(const std::string& kind) = 0;
    // A new key, reserved at once, in memory only.
    virtual DocumentKey reserve_document_key() = 0;

    // Accepts batches for the document again. When a batch fails, all batches queued behind it
    // that touch one of its documents fail too, and so do later ones, until the kernel has
    // reloaded the document and calls this. So memory that was ahead of the disk never leaves a
    // gap in the stored history. Batches submitted before the call stay refused.
    virtual void unfence(DocumentKey document) = 0;

    // --- for a bad day. A store that cannot be damaged keeps these. ---
    // Like load(), but passes over what cannot be read, and says what that was. Errors: unavailable
    // "store_failed".
    virtual Result<ReadableDocument> load_readable(DocumentKey document);
    // Reads every page and every record, and compares what can be compared. O(store).
    virtual Result<std::vector<StoreFault>> faults();
    // The indexed text of a document, if there is one.
    virtual Result<std::optional<TextRecord>> text(DocumentKey document);
    // Makes the search index anew, without a text: stale_texts() then names every document.
    virtual Result<void> reset_texts();
    // Copies the store, as it is at some moment during the call, into a new file of mode 0600.
    // Edits go on meanwhile; each waits for a few pages at most. O(store). Errors: conflict
    // "file_exists"; unavailable "disk_full", "file_not_writable" {file}.
    virtual Result<void> back_up(const std::string& file);
};

// Commits that were acknowledged and that the store does not have any more, because its log or its
// database was damaged or exchanged. Every transaction is a commit.
struct LostCommits {
    std::uint64_t first = 0;  // The numbers of the first and the last of them.
    std::uint64_t last = 0;
    // The log was put aside here, as it was found. The store goes on without these commits.
    std::string directory = {};
    // The last entry that the audit log had, by its number and hash; 0 where that is not known. Only
    // lost_commits() says it.
    std::uint64_t audit_seq = 0;
    AuditHash audit_head = {};
    std::uint64_t count() const { return last - first + 1; }
};
// All that were ever lost, for as long as their directories stand beside the database `path`.
std::vector<LostCommits> lost_commits(const std::string& path);

// An open store, and what its opening found.
struct Opened {
    std::unique_ptr<Store> store;
    bool created = false;  // Now.
    std::optional<LostCommits> lost = {};
    // The file last-commit could not be read, so that nobody knows whether commits are missing.
    bool has_bad_mark = false;
};

// Called once, on the store's own thread, when a batch was written and the store's files are not at
// their paths any more, before that batch and all later ones are refused; or else at the end of the
// store. The store still reads. It answers with where everything was saved.
using Rescue = Function<Result<std::string>(Store&)>;

struct OpenOptions {
    Rescue rescue = {};
    // Entries of the audit log are kept. Not in a copy for those who only look: there the log is to
    // end as it does in the store.
    bool keeps_audit = true;
};
// Opens the database file `path`, creates it with mode 0600 if it does not exist, and migrates it
// if it is older. Errors: unavailable "workspace_locked" {pid} if another process holds it;
// corrupt "corrupt", naming the file and what to do; unsupported "newer_store" for the file of a
// later version; unavailable for errors of the disk.
Result<Opened> open_sqlite(const std::string& path, OpenOptions options = {});
// Opens the database file, which exists, in whatever state it is, to see what can be read of it.
// The log stays as it is, but for what is committed. Errors: those of open_sqlite().
Result<Opened> inspect_sqlite(const std::string& path);

// Copies the store `path` into the directory `into`, which exists, so that it can be opened there
// where its own place cannot be written. Makes nothing beside `path` and locks nothing. The log
// goes along: what is in it alone is part of the store. O(store). Errors: unavailable
// "workspace_locked" {pid} while a process holds the store; "store_not_readable" {file};
// "disk_full".
Result<void> copy_store(const std::string& path, const std::string& into);

// The file beside the database that names its last commit (docs/formats/store.md).
inline constexpr std::string_view kLastCommitFile = "last-commit";

}  // namespace quire::store
