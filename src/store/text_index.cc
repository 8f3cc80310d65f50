// Two tables: `texts` is FTS5's and has the words, `texts_of` says of which version they are. The
// index is a copy of what documents say, so it has no seals: a text that is stale or damaged is
// made anew, and a search's hits are checked against the documents by the kernel.

#include "store/text_index.h"

#include <bit>
#include <string_view>

#include "base/check.h"
#include "base/concat.h"
#include "store/migrations.h"

namespace quire::store {
namespace {

// The columns that a reader sees.
constexpr std::string_view kSeen = "{name description content} : ";

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        // SQLite would take the query to end here.
        out += c == '\0' ? ' ' : c;
        if (c == '"') out += '"';
    }
    return out += '"';
}

void add(std::string& out, std::string_view joint, std::string_view column,
         const std::vector<std::string>& terms) {
    for (const std::string& term : terms)
        cat_to(out, cat(out.empty() ? "" : joint, column, in_quotes(term)));
}

// In place of the version of a text that is gone.
constexpr std::int64_t kGone = -1;

Result<void> write_version(Database& database, const TextRecord& record) {
    return TRY(database.prepare("INSERT OR REPLACE INTO texts_of(document, version) VALUES(?, ?)"))
        .bind(record.document)
        .bind(record.gone ? kGone : std::bit_cast<std::int64_t>(record.version))
        .run();
}

// The best passage of a row of find_texts(): of what has a hit, the content first.
std::string passage(const Statement& row, int content, int description, int name) {
    for (const int column : {content, description, name}) {
        std::string text = row.text(column);
        if (text.find(kHit) != std::string::npos) return text;
    }
    return row.text(content);
}

}  // namespace

std::string match_of(const TextQuery& query) {
    CHECK(!query.tags.empty());
    std::string wanted;
    for (const std::vector<std::string>& group : query.tags) {
        std::string one;
        add(one, " OR ", "tags : ", group);
        cat_to(wanted, cat(wanted.empty() ? "" : " AND ", "(", one, ")"));
    }
    add(wanted, " AND ", kSeen, query.all);
    add(wanted, " AND ", "name : ", query.in_name);
    std::string unwanted;
    add(unwanted, " OR ", kSeen, query.none);
    add(unwanted, " OR ", "name : ", query.not_in_name);
    return unwanted.empty() ? wanted : cat("(", wanted, ") NOT (", unwanted, ")");
}

// Texts are written by calls and by searches, in any order; an older one never replaces a newer. A
// document that is gone stays gone: its key is not used again.
Result<void> write_text(Database& database, const TextRecord& record) {
    Statement known = TRY(database.prepare("SELECT version FROM texts_of WHERE document = ?"));
    known.bind(record.document);
    if (TRY(known.step())) {
        const std::int64_t version = known.integer(0);
        const bool older = !record.gone && std::bit_cast<std::uint64_t>(version) >= record.version;
        if (version == kGone || older) return {};
        Statement removal = TRY(database.prepare("DELETE FROM texts WHERE rowid = ?"));
        TRY(removal.bind(record.document).run());
    }
    TRY(write_version(database, record));
    if (record.gone) return {};
    return TRY(database.prepare("INSERT INTO texts(rowid, name, description, content, tags) "
                                "VALUES(?, ?, ?, ?, ?)"))
        .bind(record.document)
        .bind(record.name)
        .bind(record.description)
        .bind(record.content)
        .bind(record.tags)
        .run();
}

Result<std::optional<TextRecord>> read_text(Database& database, DocumentKey document) {
    Statement row =
        TRY(database.prepare("SELECT version, name, description, content, tags FROM texts_of LEFT "
                             "JOIN texts ON texts.rowid = document WHERE document = ?"));
    row.bind(document);
    if (!TRY(row.step())) return std::optional<TextRecord>();
    return std::optional(TextRecord{.document = document,
                                    .version = std::bit_cast<std::uint64_t>(row.integer(0)),
                                    .gone = row.integer(0) == kGone,
                                    .name = row.text(1),
                                    .description = row.text(2),
                                    .content = row.text(3),
                                    .tags = row.text(4)});
}

Result<void> reset_texts(Database& database) {
    return database.transaction([&]() -> Result<void> {
        TRY(database.execute("DROP TABLE IF EXISTS texts; DROP TABLE IF EXISTS texts_of"));
        return database.execute(text_schema());
    });
}

Result<std::vector<TextHit>> find_texts(Database& database, const TextQuery& query) {
    // A name weighs more than a description, and that more than the content. Ordered by `rank`, so
    // that snippets are made of those that are wanted alone; never of the tags.
    Statement rows = TRY(database.prepare(
        "SELECT rowid, -rank, snippet(texts, 2, char(2), char(3), '…', 24), "
        "snippet(texts, 1, char(2), char(3), '…', 24), snippet(texts, 0, char(2), char(3), '…', "
        "24) FROM texts WHERE texts MATCH ? AND rank MATCH 'bm25(8.0, 4.0, 1.0, 0.0)' ORDER BY "
        "rank LIMIT ?"));
    const std::string match = match_of(query);
    rows.bind(match).bind(static_cast<std::int64_t>(query.limit));
    std::vector<TextHit> hits;
    while (TRY(rows.step()))
        hits.push_back({rows.integer(0), rows.real(1), passage(rows, 2, 3, 4)});
    return hits;
}

// Documents without a text count too. -1 stands for kGone.
Result<std::vector<DocumentKey>> read_stale_texts(Database& database, const std::string& kind) {
    Statement rows = TRY(database.prepare(
        "SELECT documents.document FROM documents LEFT JOIN texts_of USING(document) LEFT JOIN "
        "blocks ON blocks.document = documents.document AND blocks.block = '' WHERE documents.kind "
        "= ? AND texts_of.version IS NOT CASE WHEN documents.deleted THEN -1 ELSE blocks.version "
        "END"));
    rows.bind(kind);
    std::vector<DocumentKey> stale;
    while (TRY(rows.step())) stale.push_back(rows.integer(0));
    return stale;
}

}  // namespace quire::store
