// The schema is a list of steps to which new ones are only appended. `user_version` says how many
// steps a database has taken, and opening takes the missing ones in one transaction.
#include "store/migrations.h"

#include <cstddef>
#include <iterator>
#include <string>

#include "base/concat.h"

namespace quire::store {

namespace {

// The search index: step 2, and what reset_texts() runs.
constexpr const char* kTexts = R"sql(
    CREATE VIRTUAL TABLE texts USING fts5(
        name, description, content, tags, tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co So'"
    );
    CREATE TABLE texts_of(
        document INTEGER PRIMARY KEY,
        version INTEGER NOT NULL
    );
    )sql";

// A step that has been released is never changed: databases exist that have run it.
constexpr const char* kSteps[] = {
    // 1: documents, their updates and what the kernel keeps beside them.
    R"sql(
    CREATE TABLE documents(
        document INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        deleted INTEGER NOT NULL,
        header BLOB NOT NULL,
        checksum INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX documents_by_name ON documents(kind, name) WHERE deleted = 0;

    CREATE TABLE peers(
        document INTEGER NOT NULL,
        number INTEGER NOT NULL,
        actor TEXT NOT NULL,
        peer INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY(document, number)
    ) WITHOUT ROWID;

    CREATE TABLE updates(
        document INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY(document, sequence)
    ) WITHOUT ROWID;

    CREATE TABLE blocks(
        document INTEGER NOT NULL,
        block TEXT NOT NULL,
        version INTEGER NOT NULL,
        header BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY(document, block)
    ) WITHOUT ROWID;

    CREATE TABLE units(
        document INTEGER NOT NULL,
        block TEXT NOT NULL,
        version INTEGER NOT NULL,
        actor TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        description TEXT NOT NULL,
        state TEXT NOT NULL,
        body BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY(document, block, version)
    ) WITHOUT ROWID;

    CREATE TABLE tokens(
        actor TEXT NOT NULL,
        token TEXT NOT NULL,
        value TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY(actor, token)
    ) WITHOUT ROWID;
    )sql",
    // 2: what documents are found by; `texts` by the key of the document.
    kTexts,
    // 3: what was asked of people.
    R"sql(
    CREATE TABLE approvals(
        approval TEXT PRIMARY KEY,
        body BLOB NOT NULL,
        checksum INTEGER NOT NULL
    ) WITHOUT ROWID;
    )sql",
    // 4: what was called and decided, as a chain of hashes that begins with this workspace's own.
    R"sql(
    CREATE TABLE audit_origin(origin BLOB NOT NULL);
    INSERT INTO audit_origin VALUES(randomblob(16));
    CREATE TABLE audit(
        seq INTEGER PRIMARY KEY,
        body TEXT NOT NULL,
        hash BLOB NOT NULL
    );
    CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit log is only appended to'); END;
    CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit log is only appended to'); END;
    )sql",
    // 5: what rules for tools count over sessions.
    R"sql(
    CREATE TABLE rule_facts(
        agent TEXT NOT NULL,
        fact TEXT NOT NULL,
        body BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY(agent, fact)
    ) WITHOUT ROWID;
    )sql",
    // 6: what was approved of the tools of other programs.
    R"sql(
    CREATE TABLE mount_pins(
        mount TEXT PRIMARY KEY,
        body BLOB NOT NULL,
        checksum INTEGER NOT NULL
    ) WITHOUT ROWID;
    )sql",
    // 7: names belong to an owner; null where they belong to the workspace. The kernel fills it in
    // for documents that an earlier program wrote, because the store opens no header.
    R"sql(
    ALTER TABLE documents ADD COLUMN owner TEXT;
    DROP INDEX documents_by_name;
    CREATE UNIQUE INDEX documents_by_name ON documents(kind, name, coalesce(owner, ''))
        WHERE deleted = 0;
    )sql",
    // 8: how many commits there were, and the hash of the last.
    R"sql(
    CREATE TABLE last_commit(
        one INTEGER PRIMARY KEY CHECK(one = 1),
        number INTEGER NOT NULL,
        hash INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    );
    )sql",
    // 9: the order of changes over all documents, whatever the clock says: the number of the commit
    // before the one that brought the unit. Units of earlier versions come before all others.
    R"sql(
    ALTER TABLE units ADD COLUMN committed INTEGER NOT NULL DEFAULT 0;
    )sql",
};

constexpr std::int64_t kApplicationId = 0x51756972;  // "Quir", at offset 68 of the file.

}  // namespace

const char* text_schema() {
    return kTexts;
}

std::int64_t schema_version() {
    return static_cast<std::int64_t>(std::size(kSteps));
}

// A file that is empty is new. Anything else must carry our application id, or it is not touched.
Result<std::int64_t> check_version(Database& database) {
    const std::int64_t found = TRY(database.integer("PRAGMA user_version"));
    const std::int64_t application = TRY(database.integer("PRAGMA application_id"));
    if (found == 0 && application == 0) {
        if (TRY(database.integer("SELECT count(*) FROM sqlite_schema")) != 0) {
            return corrupt("the database belongs to another program; it was left as it is");
        }
    } else if (application != kApplicationId) {
        return corrupt("the database belongs to another program; it was left as it is");
    }
    if (found > schema_version()) {
        return fail(
            Errc::unsupported, "newer_store",
            cat("the workspace was written by a later version of quire (its store is at step ",
                found, ", this program knows ", schema_version(),
                "); nothing was changed. Use the newer program"),
            {{"found", found}, {"supported", schema_version()}});
    }
    return found;
}

// The number is set in the transaction of the steps, so a crash leaves the database at the old step
// or the new one.
Result<void> migrate(Database& database, std::int64_t found) {
    if (found == schema_version()) return {};
    return database.transaction([&]() -> Result<void> {
        for (std::int64_t step = found; step < schema_version(); ++step) {
            TRY(database.execute(kSteps[static_cast<std::size_t>(step)]));
        }
        TRY(database.execute(cat("PRAGMA application_id = ", kApplicationId).c_str()));
        return database.execute(cat("PRAGMA user_version = ", schema_version()).c_str());
    });
}

}  // namespace quire::store
