// The rows behind the records. Every row ends in a checksum over its other columns, because SQLite
// sees damage to the structure of its pages only; reading a row checks it. Records that are only
// kept by key share one set of statements, built from the names of their table and its columns.
#include "store/records.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/concat.h"
#include "store/audit_rows.h"
#include "store/read_rows.h"
#include "store/text_index.h"

namespace quire::store {

namespace {

Result<void> write(Database& database, const DocumentRecord& record) {
    // Not INSERT OR REPLACE: that would delete another document of the same name instead of
    // refusing.
    return TRY(database.prepare(
                   "INSERT INTO documents(document, kind, name, deleted, header, owner, checksum) "
                   "VALUES(?, ?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT(document) DO UPDATE SET kind = excluded.kind, name = "
                   "excluded.name, "
                   "deleted = excluded.deleted, header = excluded.header, owner = "
                   "excluded.owner, checksum = excluded.checksum"))
        .bind(record.key)
        .bind(record.kind)
        .bind(record.name)
        .bind(std::int64_t{record.deleted})
        .bind(record.header)
        .bind_unless_empty(record.owner)
        .seal()
        .run();
}

Result<void> write(Database& database, const PeerRecord& record) {
    return TRY(database.prepare("INSERT OR REPLACE INTO peers(document, number, actor, peer, "
                                "checksum) VALUES(?, ?, ?, ?, ?)"))
        .bind(record.document)
        .bind(record.number)
        .bind(record.actor)
        .bind(to_signed(record.peer))
        .seal()
        .run();
}

Result<void> append_update(Database& database, const UpdateRecord& record) {
    return TRY(database.prepare(
                   "INSERT INTO updates(document, sequence, bytes, checksum) VALUES(?1, "
                   "(SELECT coalesce(max(sequence), 0) + 1 FROM updates WHERE document = ?1), ?2, "
                   "?3)"))
        .bind(record.document)
        .bind(record.bytes)
        .seal()
        .run();
}

Result<void> remove_updates(Database& database, DocumentKey document) {
    return TRY(database.prepare("DELETE FROM updates WHERE document = ?")).bind(document).run();
}

// Within the transaction: a crash leaves the old updates or the new one.
Result<void> compact(Database& database, const UpdateRecord& record) {
    TRY(remove_updates(database, record.document));
    return append_update(database, record);
}

Result<void> write(Database& database, const BlockRecord& record) {
    return TRY(database.prepare("INSERT OR REPLACE INTO blocks(document, block, version, header, "
                                "checksum) VALUES(?, ?, ?, ?, ?)"))
        .bind(record.document)
        .bind(record.block)
        .bind(to_signed(record.version))
        .bind(record.header)
        .seal()
        .run();
}

Result<void> write(Database& database, const UnitRecord& record) {
    // A unit that is written again keeps its place in the log of changes.
    return TRY(database.prepare(
                   "INSERT INTO units(document, block, version, actor, at_ms, description, state, "
                   "body, checksum, committed) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, "
                   "(SELECT coalesce(max(number), 0) FROM last_commit)) "
                   "ON CONFLICT(document, block, version) DO UPDATE SET actor = excluded.actor, "
                   "at_ms = excluded.at_ms, description = excluded.description, "
                   "state = excluded.state, body = excluded.body, checksum = excluded.checksum"))
        .bind(record.document)
        .bind(record.block)
        .bind(to_signed(record.version))
        .bind(record.actor)
        .bind(record.at_ms)
        .bind(record.description)
        .bind(record.state)
        .bind(record.body)
        .seal()
        .run();
}

// The statements of one table of keyed records. Its rows are [owner,] key, body and the checksum.
struct TableSql {
    bool has_owner;
    bool is_text;  // The body is a text to SQLite.
    std::string put;
    std::string remove;
    std::string all;
    std::string one;
};

TableSql make_sql(std::string_view table, std::string_view owner, std::string_view key,
                  std::string_view body, bool is_text = false) {
    const std::string keys = cat(owner, owner.empty() ? "" : ", ", key);
    const std::string columns = cat(keys, ", ", body, ", checksum");
    const std::string where =
        cat(" WHERE ", owner.empty() ? "" : cat(owner, " = ? AND "), key, " = ?");
    const std::string select = cat("SELECT ", columns, " FROM ", table);
    return {!owner.empty(),
            is_text,
            cat("INSERT OR REPLACE INTO ", table, "(", columns, ") VALUES(?, ?, ?",
                owner.empty() ? "" : ", ?", ")"),
            cat("DELETE FROM ", table, where),
            cat(select, " ORDER BY ", keys),
            cat(select, where)};
}

// In the order of Table. They live as long as the program: a Database keeps statements by the
// address of their text.
const TableSql& sql_of(Table table) {
    static const std::array<TableSql, 4> kTables = {
        make_sql("tokens", "actor", "token", "value", true),
        make_sql("approvals", "", "approval", "body"),
        make_sql("rule_facts", "agent", "fact", "body"),
        make_sql("mount_pins", "", "mount", "body"),
    };
    return kTables[static_cast<std::size_t>(table)];
}

Statement& bind_key(Statement& statement, const RecordKey& key) {
    if (sql_of(key.table).has_owner) statement.bind(key.owner);
    return statement.bind(key.key);
}

Result<void> write(Database& database, const KeyedRecord& record) {
    const TableSql& sql = sql_of(record.key.table);
    Statement statement = TRY(database.prepare(record.gone ? sql.remove.c_str() : sql.put.c_str()));
    bind_key(statement, record.key);
    if (record.gone) return statement.run();
    if (sql.is_text) {
        statement.bind(as_text(record.body));
    } else {
        statement.bind(record.body);
    }
    return statement.seal().run();
}

Bytes body_of(const Statement& row, const TableSql& sql) {
    const int column = sql.has_owner ? 2 : 1;
    if (!sql.is_text) return row.blob(column);
    const std::string text = row.text(column);
    return {text.begin(), text.end()};
}

}  // namespace

Result<void> write_batch(Database& database, const Batch& batch) {
    for (const DocumentRecord& record : batch.documents) TRY(write(database, record));
    for (const PeerRecord& record : batch.peers) TRY(write(database, record));
    // Before the updates: a batch may replace a history and add to it.
    for (const UpdateRecord& record : batch.compactions) TRY(compact(database, record));
    for (const UpdateRecord& record : batch.updates) TRY(append_update(database, record));
    for (const BlockRecord& record : batch.blocks) TRY(write(database, record));
    for (const UnitRecord& record : batch.units) TRY(write(database, record));
    for (const KeyedRecord& record : batch.records) TRY(write(database, record));
    for (const TextRecord& record : batch.texts) TRY(write_text(database, record));
    TRY(append_audit(database, batch.audit));
    return {};
}

namespace {

// Both in the column order of unit_of().
constexpr const char* kUnitsOfDocument =
    "SELECT document, block, version, actor, at_ms, description, state, body, checksum FROM units "
    "WHERE document = ? ORDER BY block, version";
constexpr const char* kRecentUnits =
    "SELECT document, block, version, actor, at_ms, description, state, body, checksum FROM units "
    "WHERE ?1 = '' OR actor = ?1 ORDER BY committed DESC, at_ms DESC, document DESC, "
    "version DESC LIMIT ?2";

}  // namespace

Result<StoredDocument> read_document(Database& database, DocumentKey document) {
    StoredDocument stored;
    Statement updates = TRY(database.prepare(
        "SELECT document, bytes, checksum FROM updates WHERE document = ? ORDER BY sequence"));
    updates.bind(document);
    while (TRY(updates.sealed_step())) stored.updates.push_back(updates.blob(1));

    Statement peers =
        TRY(database.prepare("SELECT document, number, actor, peer, checksum FROM peers WHERE "
                             "document = ? ORDER BY number"));
    peers.bind(document);
    while (TRY(peers.sealed_step())) stored.peers.push_back(peer_of(peers));

    Statement blocks =
        TRY(database.prepare("SELECT document, block, version, header, checksum FROM blocks WHERE "
                             "document = ? ORDER BY block"));
    blocks.bind(document);
    while (TRY(blocks.sealed_step())) stored.blocks.push_back(block_of(blocks));

    Statement units = TRY(database.prepare(kUnitsOfDocument));
    units.bind(document);
    while (TRY(units.sealed_step())) stored.units.push_back(unit_of(units));
    return stored;
}

// A damaged row is answered as such, with its key, and does not hide the others.
Result<std::vector<KeyedRecord>> read_records(Database& database, Table table) {
    const TableSql& sql = sql_of(table);
    Statement rows = TRY(database.prepare(sql.all.c_str()));
    std::vector<KeyedRecord> records;
    while (TRY(rows.step())) {
        KeyedRecord& record = records.emplace_back();
        record.key = {.table = table,
                      .key = rows.text(sql.has_owner ? 1 : 0),
                      .owner = sql.has_owner ? rows.text(0) : ""};
        record.damaged = !rows.fits_seal();
        if (!record.damaged) record.body = body_of(rows, sql);
    }
    return records;
}

Result<std::optional<Bytes>> read_record(Database& database, const RecordKey& key) {
    const TableSql& sql = sql_of(key.table);
    Statement row = TRY(database.prepare(sql.one.c_str()));
    bind_key(row, key);
    if (!TRY(row.sealed_step())) return std::optional<Bytes>();
    return std::optional(body_of(row, sql));
}

// The number of the commit orders them before the clock does, for clocks may be set back.
Result<std::vector<UnitRecord>> read_recent_units(Database& database, const std::string& actor,
                                                  std::size_t limit) {
    Statement rows = TRY(database.prepare(kRecentUnits));
    rows.bind(actor).bind(static_cast<std::int64_t>(limit));
    std::vector<UnitRecord> units;
    while (TRY(rows.step())) {
        UnitRecord unit = unit_of(rows);
        if (!rows.fits_seal()) unit = {.document = unit.document, .description = "damaged entry"};
        units.push_back(std::move(unit));
    }
    return units;
}

// Versions only grow, so their number and sum change with every write to the document's blocks.
Result<DocumentMark> read_mark(Database& database, DocumentKey document) {
    Statement rows = TRY(database.prepare(
        "SELECT count(*), coalesce(sum(version), 0) FROM blocks WHERE document = ?"));
    rows.bind(document);
    DocumentMark mark;
    if (TRY(rows.step())) mark = {rows.integer(0), rows.integer(1)};
    return mark;
}

Result<std::vector<BlockRecord>> read_whole_blocks(Database& database, const std::string& kind) {
    Statement rows = TRY(database.prepare(
        "SELECT document, version FROM blocks JOIN documents USING(document) WHERE documents.kind "
        "= ? AND documents.deleted = 0 AND blocks.block = ''"));
    rows.bind(kind);
    std::vector<BlockRecord> blocks;
    while (TRY(rows.step())) {
        blocks.push_back({.document = rows.integer(0), .version = to_unsigned(rows.integer(1))});
    }
    return blocks;
}

}  // namespace quire::store
