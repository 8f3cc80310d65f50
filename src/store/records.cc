#include "store/records.h"

#include <bit>
#include <cstdint>
#include <utility>

#include "store/audit_rows.h"
#include "store/text_index.h"

namespace quire::store {

namespace {

// SQLite's integers are signed: peers and versions keep their bits.
std::int64_t to_signed(std::uint64_t value) {
    return std::bit_cast<std::int64_t>(value);
}
std::uint64_t to_unsigned(std::int64_t value) {
    return std::bit_cast<std::uint64_t>(value);
}

Result<void> write(Database& database, const DocumentRecord& record) {
    // Not INSERT OR REPLACE: that would delete another document of the same name instead of
    // refusing.
    return TRY(database.prepare(
                   "INSERT INTO documents(document, kind, name, deleted, header, checksum) "
                   "VALUES(?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT(document) DO UPDATE SET kind = excluded.kind, name = "
                   "excluded.name, "
                   "deleted = excluded.deleted, header = excluded.header, checksum = "
                   "excluded.checksum"))
        .bind(record.key)
        .bind(record.kind)
        .bind(record.name)
        .bind(std::int64_t{record.deleted})
        .bind(record.header)
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
    return TRY(database.prepare("INSERT OR REPLACE INTO units(document, block, version, actor, "
                                "at_ms, description, state, body, checksum) "
                                "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"))
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

Result<void> write(Database& database, const TokenRecord& record) {
    return TRY(database.prepare("INSERT OR REPLACE INTO tokens(actor, token, value, checksum) "
                                "VALUES(?, ?, ?, ?)"))
        .bind(record.actor)
        .bind(record.token)
        .bind(record.value)
        .seal()
        .run();
}

Result<void> write(Database& database, const ApprovalRecord& record) {
    if (record.gone) {
        return TRY(database.prepare("DELETE FROM approvals WHERE approval = ?"))
            .bind(record.id)
            .run();
    }
    return TRY(database.prepare(
                   "INSERT OR REPLACE INTO approvals(approval, body, checksum) VALUES(?, ?, ?)"))
        .bind(record.id)
        .bind(record.body)
        .seal()
        .run();
}

Result<void> write(Database& database, const RuleFactRecord& record) {
    if (record.gone) {
        return TRY(database.prepare("DELETE FROM rule_facts WHERE agent = ? AND fact = ?"))
            .bind(record.agent)
            .bind(record.key)
            .run();
    }
    return TRY(database.prepare("INSERT OR REPLACE INTO rule_facts(agent, fact, body, checksum) "
                                "VALUES(?, ?, ?, ?)"))
        .bind(record.agent)
        .bind(record.key)
        .bind(record.body)
        .seal()
        .run();
}

Result<void> write(Database& database, const MountPinRecord& record) {
    return TRY(database.prepare(
                   "INSERT OR REPLACE INTO mount_pins(mount, body, checksum) VALUES(?, ?, ?)"))
        .bind(record.mount)
        .bind(record.body)
        .seal()
        .run();
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
    for (const TokenRecord& record : batch.tokens) TRY(write(database, record));
    for (const ApprovalRecord& record : batch.approvals) TRY(write(database, record));
    for (const RuleFactRecord& record : batch.rule_facts) TRY(write(database, record));
    for (const MountPinRecord& record : batch.mount_pins) TRY(write(database, record));
    for (const TextRecord& record : batch.texts) TRY(write_text(database, record));
    TRY(append_audit(database, batch.audit));
    return {};
}

Result<std::vector<DocumentRecord>> read_documents(Database& database) {
    std::vector<DocumentRecord> documents;
    Statement rows = TRY(database.prepare(
        "SELECT document, kind, name, deleted, header, checksum FROM documents ORDER BY document"));
    while (TRY(rows.sealed_step())) {
        documents.push_back({.key = rows.integer(0),
                             .kind = rows.text(1),
                             .name = rows.text(2),
                             .deleted = rows.integer(3) != 0,
                             .header = rows.blob(4)});
    }
    return documents;
}

namespace {

// Both in the column order of unit_of().
constexpr const char* kUnitsOfDocument =
    "SELECT document, block, version, actor, at_ms, description, state, body, checksum FROM units "
    "WHERE document = ? ORDER BY block, version";
constexpr const char* kRecentUnits =
    "SELECT document, block, version, actor, at_ms, description, state, body, checksum FROM units "
    "WHERE ?1 = '' OR actor = ?1 ORDER BY at_ms DESC, document DESC, version DESC LIMIT ?2";

UnitRecord unit_of(Statement& row) {
    return {.document = row.integer(0),
            .block = row.text(1),
            .version = to_unsigned(row.integer(2)),
            .actor = row.text(3),
            .at_ms = row.integer(4),
            .description = row.text(5),
            .state = row.text(6),
            .body = row.blob(7)};
}

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
    while (TRY(peers.sealed_step())) {
        stored.peers.push_back({.document = document,
                                .number = peers.integer(1),
                                .actor = peers.text(2),
                                .peer = to_unsigned(peers.integer(3))});
    }

    Statement blocks =
        TRY(database.prepare("SELECT document, block, version, header, checksum FROM blocks WHERE "
                             "document = ? ORDER BY block"));
    blocks.bind(document);
    while (TRY(blocks.sealed_step())) {
        stored.blocks.push_back({.document = document,
                                 .block = blocks.text(1),
                                 .version = to_unsigned(blocks.integer(2)),
                                 .header = blocks.blob(3)});
    }

    Statement units = TRY(database.prepare(kUnitsOfDocument));
    units.bind(document);
    while (TRY(units.sealed_step())) stored.units.push_back(unit_of(units));
    return stored;
}

Result<std::optional<std::string>> read_token(Database& database, const std::string& actor,
                                              const std::string& token) {
    Statement row = TRY(database.prepare(
        "SELECT actor, token, value, checksum FROM tokens WHERE actor = ? AND token = ?"));
    row.bind(actor).bind(token);
    if (!TRY(row.sealed_step())) return std::optional<std::string>();
    return std::optional(row.text(2));
}

Result<std::vector<ApprovalRecord>> read_approvals(Database& database) {
    Statement rows =
        TRY(database.prepare("SELECT approval, body, checksum FROM approvals ORDER BY approval"));
    std::vector<ApprovalRecord> approvals;
    while (TRY(rows.sealed_step())) approvals.push_back({.id = rows.text(0), .body = rows.blob(1)});
    return approvals;
}

Result<std::vector<RuleFactRecord>> read_rule_facts(Database& database) {
    Statement rows = TRY(database.prepare(
        "SELECT agent, fact, body, checksum FROM rule_facts ORDER BY agent, fact"));
    std::vector<RuleFactRecord> facts;
    while (TRY(rows.sealed_step())) facts.push_back({rows.text(0), rows.text(1), rows.blob(2)});
    return facts;
}

Result<std::vector<MountPinRecord>> read_mount_pins(Database& database) {
    Statement rows =
        TRY(database.prepare("SELECT mount, body, checksum FROM mount_pins ORDER BY mount"));
    std::vector<MountPinRecord> pins;
    while (TRY(rows.sealed_step())) pins.push_back({rows.text(0), rows.blob(1)});
    return pins;
}

Result<std::vector<UnitRecord>> read_recent_units(Database& database, const std::string& actor,
                                                  std::size_t limit) {
    Statement rows = TRY(database.prepare(kRecentUnits));
    rows.bind(actor).bind(static_cast<std::int64_t>(limit));
    std::vector<UnitRecord> units;
    while (TRY(rows.sealed_step())) units.push_back(unit_of(rows));
    return units;
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

Result<DocumentKey> highest_document_key(Database& database) {
    // Tombstones keep their rows, so the highest key that was ever durable is among them.
    return database.integer("SELECT coalesce(max(document), 0) FROM documents");
}

}  // namespace quire::store
