// A damaged page stops a scan of its table, though the pages behind it can be read. So a table is
// read from both ends, and the keys in between, which are small and dense, are looked up one by
// one: each lookup fails only if a page on its own way down the tree is damaged.
//
//     page:      [ 1..40 ]  [ 41..80 ]  [ 81..120 ]  [ 121..160 ]
//     forward     ------->   damaged
//     backward                           <----------  <---------
//     one by one             41 … 80
//
// A row that is read must also fit its seal. Both kinds of damage are told in words that name the
// record. A row that has vanished without a trace in its own table is missed where another table or
// an index names it.
#include "store/readable_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/concat.h"
#include "store/read_rows.h"

namespace quire::store {
namespace {

// At most so many keys between the two ends are looked up.
constexpr std::int64_t kMostLookedUp = 1'000'000;
constexpr std::string_view kNotWritten = "is not what was written";

// Steps through the rows and calls take() for each. Returns why the scan ended early; nothing at
// the end of the rows.
template <class Take>
Result<std::optional<std::string>> scan(Statement& rows, Take take) {
    while (true) {
        const Result<bool> more = rows.step();
        if (!more && more.error().code() != Errc::corrupt) return Failure(more.error());
        if (!more) return std::optional(std::string("its page is damaged"));
        if (!*more) return std::optional<std::string>();
        take(rows);
    }
}

// A table, or one document's part of it, as two statements of opposite orders.
struct OrderedRows {
    const char* forward;   // Ascending.
    const char* backward;  // Descending.
    std::optional<DocumentKey> document = {};
};
// Rows whose first column is a number, by which they are ordered.
struct NumberedRows {
    OrderedRows rows;
    const char* one;  // WHERE number = the last parameter.
};
enum class From { front, back };

// Numbers whose rows cannot be read. It is half-open; an empty one says that there are rows from
// `begin` on, and not how many.
struct Unread {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

Result<Statement> prepared(Database& database, const OrderedRows& rows, const char* sql) {
    Statement statement = TRY(database.prepare(sql));
    if (rows.document) statement.bind(*rows.document);
    return statement;
}

// Calls take(row, From::front) for the rows up to the first that cannot be read. Then it calls
// take(row, From::back) for those from the end on, some of which may have been taken before, and
// returns why the first scan ended. Nothing where that read all.
template <class Take>
Result<std::optional<std::string>> scan_both_ends(Database& database, const OrderedRows& rows,
                                                  Take take) {
    std::optional<std::string> stopped;
    {
        Statement ascending = TRY(prepared(database, rows, rows.forward));
        stopped = TRY(scan(ascending, [&](Statement& row) { take(row, From::front); }));
    }
    if (!stopped) return stopped;
    Statement descending = TRY(prepared(database, rows, rows.backward));
    TRY(scan(descending, [&](Statement& row) { take(row, From::back); }));
    return stopped;
}

// Calls take() for each row that can be read, once and in no order. Returns the numbers that could
// not be read. `highest()` is the highest number there may be, as far as others know; it is asked
// only after damage.
template <class Highest, class Take>
Result<std::vector<Unread>> read_numbered(Database& database, const NumberedRows& table,
                                          Highest highest, Take take) {
    std::int64_t begin = 1;
    std::optional<std::int64_t> end;  // The first number that was read from the back.
    const auto stopped = TRY(scan_both_ends(database, table.rows, [&](Statement& row, From side) {
        const std::int64_t number = row.integer(0);
        if (side == From::front) {
            begin = std::max(begin, number + 1);
        } else if (number >= begin) {
            end = number;
        } else {
            return;
        }
        take(row);
    }));
    if (!stopped) return std::vector<Unread>();
    if (!end) end = std::max<std::int64_t>(TRY(highest()) + 1, begin);
    std::vector<Unread> unread;
    for (std::int64_t number = begin; number < std::min(*end, begin + kMostLookedUp); ++number) {
        Statement row = TRY(prepared(database, table.rows, table.one));
        row.bind(number);
        if (!TRY(scan(row, take))) continue;
        if (unread.empty() || unread.back().end != number) unread.push_back({number, number});
        unread.back().end = number + 1;
    }
    if (begin + kMostLookedUp < *end) unread.push_back({begin + kMostLookedUp, *end});
    if (unread.empty()) unread.push_back({begin, begin});
    return unread;
}

std::string numbers(std::string_view noun, const Unread& unread) {
    const std::int64_t last = unread.end - 1;
    if (last < unread.begin) return cat(noun, "s from ", unread.begin, " on");
    return unread.begin == last ? cat(noun, " ", last)
                                : cat(noun, "s ", unread.begin, " to ", last);
}

constexpr NumberedRows kDocuments = {
    {"SELECT document, kind, name, deleted, header, owner, checksum FROM documents ORDER BY "
     "document",
     "SELECT document, kind, name, deleted, header, owner, checksum FROM documents ORDER BY "
     "document DESC"},
    "SELECT document, kind, name, deleted, header, owner, checksum FROM documents WHERE document "
    "= ?"};

DocumentRecord document_of(Statement& row) {
    DocumentRecord record{.key = row.integer(0),
                          .kind = row.text(1),
                          .name = row.text(2),
                          .deleted = row.integer(3) != 0,
                          .header = row.blob(4),
                          .owner = row.text(5)};
    record.damaged = !row.fits_seal();
    // It may have been deleted: better one too many than one that nobody hears of.
    if (record.damaged) record.deleted = false;
    return record;
}

// Statements whose first row is the highest key in a table that has keys. max() takes SQLite longer
// to prepare.
constexpr std::array<const char*, 5> kHighest = {
    "SELECT document FROM documents ORDER BY document DESC",
    "SELECT document FROM updates ORDER BY document DESC",
    "SELECT document FROM peers ORDER BY document DESC",
    "SELECT document FROM blocks ORDER BY document DESC",
    "SELECT document FROM units ORDER BY document DESC"};

struct Highest {
    DocumentKey key = 0;
    bool is_certain = true;
};
Result<Highest> highest_of(Database& database) {
    Highest highest;
    for (const char* const sql : kHighest) {
        const Result<std::int64_t> key = database.integer(sql);
        if (!key && key.error().code() != Errc::corrupt) return Failure(key.error());
        if (key) highest.key = std::max(highest.key, *key);
        highest.is_certain = highest.is_certain && key;
    }
    return highest;
}

// Returns true if the index of names has exactly the documents that were read and are not deleted.
// It compares their number and the sum of their keys: reading each entry takes as long as reading the
// table.
bool has_all_names(Database& database, const std::vector<DocumentRecord>& documents) {
    std::int64_t count = 0;
    std::int64_t sum = 0;
    for (const DocumentRecord& record : documents) {
        if (record.damaged) return false;
        if (record.deleted) continue;
        ++count;
        sum += record.key;
    }
    Result<Statement> names = database.prepare(
        "SELECT count(*), coalesce(sum(document), 0) FROM documents INDEXED BY documents_by_name "
        "WHERE deleted = 0");
    if (!names) return false;
    bool is_same = false;
    const auto stopped = scan(*names, [&](Statement& row) {
        is_same = row.integer(0) == count && row.integer(1) == sum;
    });
    return stopped && !*stopped && is_same;
}

// Adds the documents that the index of names has and their table has not. Of a damaged row the index
// knows the name better.
Result<void> add_lost(Database& database, std::map<DocumentKey, DocumentRecord>& documents) {
    Statement names = TRY(database.prepare(
        "SELECT document, kind, name, coalesce(owner, '') FROM documents INDEXED BY "
        "documents_by_name WHERE deleted = 0 ORDER BY kind, name"));
    TRY(scan(names, [&](Statement& row) {
        DocumentRecord& record = documents[row.integer(0)];
        if (!record.kind.empty() && !record.damaged) return;
        record.key = row.integer(0);
        record.kind = row.text(1);
        record.name = row.text(2);
        record.owner = row.text(3);
        record.damaged = true;
    }));
    return {};
}

}  // namespace

Result<std::vector<DocumentRecord>> read_documents(Database& database) {
    std::vector<DocumentRecord> all;
    const auto highest = [&]() -> Result<std::int64_t> { return TRY(highest_of(database)).key; };
    const std::vector<Unread> unread = TRY(read_numbered(
        database, kDocuments, highest, [&](Statement& row) { all.push_back(document_of(row)); }));
    // A table that is whole was read from its front, so it is in order.
    if (unread.empty() && has_all_names(database, all)) return all;
    std::map<DocumentKey, DocumentRecord> documents;
    for (DocumentRecord& record : all) {
        const DocumentKey key = record.key;
        documents.insert_or_assign(key, std::move(record));
    }
    TRY(add_lost(database, documents));
    for (const Unread& range : unread) {
        // A key that was never given out to a document leaves no row; these may have.
        for (DocumentKey key = range.begin; key < std::min(range.end, range.begin + kMostLookedUp);
             ++key) {
            DocumentRecord& record = documents[key];
            record.key = key;
            record.damaged = true;
        }
    }
    all.clear();
    for (auto& [key, record] : documents) all.push_back(std::move(record));
    return all;
}

Result<DocumentKey> highest_document_key(Database& database) {
    // Tombstones keep their rows, so the highest key that was ever durable is among them.
    const Highest highest = TRY(highest_of(database));
    return highest.is_certain ? highest.key : highest.key + kMostLookedUp;
}

namespace {

constexpr NumberedRows kUpdates = {
    {"SELECT sequence, document, bytes, checksum FROM updates WHERE document = ? ORDER BY sequence",
     "SELECT sequence, document, bytes, checksum FROM updates WHERE document = ? ORDER BY sequence "
     "DESC"},
    "SELECT sequence, document, bytes, checksum FROM updates WHERE document = ? AND sequence = ?"};

// Updates are numbered from 1 on, and a compaction begins again with 1.
Result<void> read_updates(Database& database, DocumentKey document, ReadableDocument& out) {
    std::map<std::int64_t, Bytes> updates;
    const NumberedRows rows{{kUpdates.rows.forward, kUpdates.rows.backward, document},
                            kUpdates.one};
    const auto none_higher = []() -> Result<std::int64_t> { return 0; };
    const auto take = [&](Statement& row) {
        if (row.fits_seal(1)) {
            updates[row.integer(0)] = row.blob(2);
        } else {
            out.faults.push_back(cat("update ", row.integer(0), " ", kNotWritten));
            updates[row.integer(0)] = {};
        }
    };
    const std::vector<Unread> unread = TRY(read_numbered(database, rows, none_higher, take));
    for (const Unread& range : unread)
        out.faults.push_back(cat(numbers("update", range), " cannot be read"));
    std::int64_t next = 1;
    for (auto& [sequence, bytes] : updates) {
        if (sequence != next && unread.empty())
            out.faults.push_back(cat(numbers("update", {next, sequence}), " missing"));
        next = sequence + 1;
        if (!bytes.empty()) out.stored.updates.push_back(std::move(bytes));
    }
    return {};
}

// The rows of a document in one of the other tables. A row that is met from both ends is taken twice,
// and its fault told once.
template <class Take>
Result<void> read_rows(Database& database, const OrderedRows& rows, std::string_view noun,
                       ReadableDocument& out, Take take) {
    const auto stopped = TRY(scan_both_ends(database, rows, [&](Statement& row, From side) {
        if (row.fits_seal()) return take(row);
        if (side == From::front) out.faults.push_back(cat(noun, " ", kNotWritten));
    }));
    if (stopped) out.faults.push_back(cat(noun, " cannot be read: ", *stopped));
    return {};
}

Result<void> read_others(Database& database, DocumentKey document, ReadableDocument& out) {
    std::map<std::int64_t, PeerRecord> peers;
    const OrderedRows of_peers{
        "SELECT document, number, actor, peer, checksum FROM peers WHERE document = ? ORDER BY "
        "number",
        "SELECT document, number, actor, peer, checksum FROM peers WHERE document = ? ORDER BY "
        "number DESC",
        document};
    TRY(read_rows(database, of_peers, "a row of its writers", out, [&](Statement& row) {
        PeerRecord peer = peer_of(row);
        peers[peer.number] = std::move(peer);
    }));
    std::map<std::string, BlockRecord> blocks;
    const OrderedRows of_blocks{
        "SELECT document, block, version, header, checksum FROM blocks WHERE document = ? ORDER BY "
        "block",
        "SELECT document, block, version, header, checksum FROM blocks WHERE document = ? ORDER BY "
        "block DESC",
        document};
    TRY(read_rows(database, of_blocks, "a row of its blocks", out, [&](Statement& row) {
        BlockRecord block = block_of(row);
        blocks[block.block] = std::move(block);
    }));
    std::map<std::pair<std::string, std::uint64_t>, UnitRecord> units;
    const OrderedRows of_units{
        "SELECT document, block, version, actor, at_ms, description, state, body, checksum FROM "
        "units WHERE document = ? ORDER BY block, version",
        "SELECT document, block, version, actor, at_ms, description, state, body, checksum FROM "
        "units WHERE document = ? ORDER BY block DESC, version DESC",
        document};
    TRY(read_rows(database, of_units, "an entry of its history", out, [&](Statement& row) {
        UnitRecord unit = unit_of(row);
        units[{unit.block, unit.version}] = std::move(unit);
    }));
    for (auto& [number, peer] : peers) out.stored.peers.push_back(std::move(peer));
    for (auto& [key, block] : blocks) out.stored.blocks.push_back(std::move(block));
    for (auto& [key, unit] : units) out.stored.units.push_back(std::move(unit));
    return {};
}

}  // namespace

Result<ReadableDocument> read_readable_document(Database& database, DocumentKey document) {
    ReadableDocument out;
    TRY(read_updates(database, document, out));
    TRY(read_others(database, document, out));
    return out;
}

namespace {

// A table whose rows are sealed; its statement begins with the document, if its rows belong to one.
struct SealedTable {
    std::string_view name;
    const char* rows;
    bool has_document = true;
};
constexpr std::array<SealedTable, 10> kSealedTables = {{
    {"documents", "SELECT document, kind, name, deleted, header, owner, checksum FROM documents"},
    {"peers", "SELECT document, number, actor, peer, checksum FROM peers"},
    {"updates", "SELECT document, bytes, checksum FROM updates"},
    {"blocks", "SELECT document, block, version, header, checksum FROM blocks"},
    {"units",
     "SELECT document, block, version, actor, at_ms, description, state, body, checksum FROM "
     "units"},
    {"tokens", "SELECT actor, token, value, checksum FROM tokens", false},
    {"approvals", "SELECT approval, body, checksum FROM approvals", false},
    {"rule_facts", "SELECT agent, fact, body, checksum FROM rule_facts", false},
    {"mount_pins", "SELECT mount, body, checksum FROM mount_pins", false},
    {"last_commit", "SELECT number, hash, checksum FROM last_commit", false},
}};

// Adds SQLite's findings about the structure of its pages.
Result<void> check_structure(Database& database, std::vector<StoreFault>& faults) {
    constexpr std::size_t kMostTold = 100;
    Statement rows = TRY(database.prepare("PRAGMA integrity_check(100)"));
    const auto stopped = TRY(scan(rows, [&](Statement& row) {
        if (const std::string said = row.text(0); said != "ok" && faults.size() < kMostTold)
            faults.push_back({.what = said});
    }));
    if (stopped) faults.push_back({.what = "the structure of the database cannot be checked"});
    return {};
}

Result<void> check_rows(Database& database, const SealedTable& table,
                        const std::set<DocumentKey>& documents, std::vector<StoreFault>& faults) {
    Statement rows = TRY(database.prepare(table.rows));
    std::set<DocumentKey> orphans;
    const auto stopped = TRY(scan(rows, [&](Statement& row) {
        const DocumentKey document = table.has_document ? row.integer(0) : 0;
        if (!row.fits_seal())
            return faults.push_back({document, cat("a row of ", table.name, " ", kNotWritten)});
        if (document != 0 && !documents.contains(document) && orphans.insert(document).second)
            faults.push_back({document, cat("a row of ", table.name, " belongs to no document")});
    }));
    if (stopped)
        faults.push_back({.what = cat("not all rows of ", table.name, " can be read: ", *stopped)});
    return {};
}

Result<void> check_index(Database& database, std::vector<StoreFault>& faults) {
    for (const char* const sql :
         {"INSERT INTO texts(texts) VALUES('integrity-check')", "SELECT count(*) FROM texts_of"}) {
        const Result<void> checked = database.run(sql);
        if (checked) continue;
        if (checked.error().code() != Errc::corrupt) return checked;
        faults.push_back({.what = "the search index is damaged", .in_index = true});
        return {};
    }
    return {};
}

}  // namespace

Result<std::vector<StoreFault>> read_faults(Database& database) {
    std::vector<StoreFault> faults;
    TRY(check_structure(database, faults));
    std::set<DocumentKey> documents;
    for (const DocumentRecord& record : TRY(read_documents(database))) {
        documents.insert(record.key);
        if (record.damaged) faults.push_back({record.key, "its row cannot be read"});
    }
    for (const SealedTable& table : kSealedTables)
        TRY(check_rows(database, table, documents, faults));
    TRY(check_index(database, faults));
    return faults;
}

}  // namespace quire::store
