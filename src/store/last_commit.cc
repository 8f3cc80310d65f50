// The file is text, for whoever looks into it on a bad day: a line for the commit, one for the
// audit log, a checksum over both. A mark is read by rendering what it seems to say and comparing
// that with the file, so no damage passes for a mark.
#include "store/last_commit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <xxhash.h>

#include "base/concat.h"
#include "base/hex.h"
#include "store/audit_rows.h"

namespace quire::store {
namespace {

// Less than a sector, so a write replaces all of it or nothing.
constexpr std::size_t kMarkBytes = 256;
constexpr std::size_t kHashDigits = 16;

std::string text_of(const LastCommit& last) {
    std::string text = cat("commit ", last.number, " ", hex_number(last.hash, kHashDigits),
                           "\naudit ", last.audit_seq, " ", to_hex(last.audit_head), "\n");
    text += cat("sum ", hex_number(XXH3_64bits(text.data(), text.size()), kHashDigits));
    text.resize(kMarkBytes, '\n');
    return text;
}

std::optional<LastCommit> parse_mark(const std::string& text) {
    LastCommit last;
    std::istringstream words(text);
    std::string word, hash, head;
    words >> word >> last.number >> hash >> word >> last.audit_seq >> head;
    std::from_chars(hash.data(), hash.data() + hash.size(), last.hash, 16);
    const std::optional<Bytes> bytes = from_hex(head);
    if (!words || !bytes || bytes->size() != last.audit_head.size()) return std::nullopt;
    std::copy(bytes->begin(), bytes->end(), last.audit_head.begin());
    if (text_of(last) != text) return std::nullopt;
    return last;
}

// Databases of before the eighth step of migrations have no such table.
Result<bool> lacks_table(Database& database) {
    return TRY(database.integer("SELECT count(*) FROM sqlite_schema "
                                "WHERE name = 'last_commit' AND type = 'table'")) == 0;
}

// The hash of the next commit: over the one before, the records, and the audit log's new end.
std::uint64_t next_hash(const LastCommit& before, std::uint64_t records, const AuditHash& head) {
    std::array<std::uint8_t, sizeof records + sizeof head> covered = {};
    const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof records>>(records);
    std::copy(head.begin(), head.end(), std::copy(bytes.begin(), bytes.end(), covered.begin()));
    return XXH3_64bits_withSeed(covered.data(), covered.size(), before.hash);
}

}  // namespace

Result<LastCommit> read_last_commit(Database& database) {
    LastCommit last;
    Result<Statement> row = database.prepare("SELECT number, hash, checksum FROM last_commit");
    // The schema is asked only then, since nearly every database has the table.
    if (!row && TRY(lacks_table(database))) return last;
    if (!row) return Failure(std::move(row).error());
    if (TRY(row->sealed_step())) {
        last.number = std::bit_cast<std::uint64_t>(row->integer(0));
        last.hash = std::bit_cast<std::uint64_t>(row->integer(1));
    }
    const AuditEntry end = TRY(read_audit_end(database));
    last.audit_seq = end.seq;
    last.audit_head = end.hash;
    return last;
}

Result<void> store_last_commit(Database& database, const LastCommit& last) {
    Statement row = TRY(database.prepare(
        "INSERT OR REPLACE INTO last_commit(one, number, hash, checksum) VALUES(1, ?, ?, ?)"));
    row.bind(std::bit_cast<std::int64_t>(last.number)).bind(std::bit_cast<std::int64_t>(last.hash));
    return row.seal().run();
}

Result<LastCommit> count_commit(Database& database, const LastCommit& before) {
    const std::uint64_t records = database.take_sealed();
    const AuditEntry end = TRY(read_audit_end(database));
    const LastCommit last{.number = before.number + 1,
                          .hash = next_hash(before, records, end.hash),
                          .audit_seq = end.seq,
                          .audit_head = end.hash};
    TRY(store_last_commit(database, last));
    return last;
}

// Three signs of a loss, the cheapest first: fewer commits than the mark knows, another commit of
// that number, or an audit log that lacks the entry that the mark ends with. A database that is
// ahead of the mark is fine: the mark is not flushed.
Result<std::optional<MissingCommits>> missing_commits(Database& database, const LastCommit& named,
                                                      const LastCommit& found) {
    using Missing = std::optional<MissingCommits>;
    if (found.number < named.number) return Missing({found.number + 1, named.number});
    const Missing itself({named.number, named.number});
    if (found.number == named.number && found.hash != named.hash) return itself;
    if (named.audit_seq == 0) return Missing();
    const auto entry = read_audit_after(database, named.audit_seq - 1, 1);
    if (!entry && entry.error().code() != Errc::corrupt) return Failure(entry.error());
    const bool is_there = entry && !entry->empty() && entry->front().seq == named.audit_seq &&
                          entry->front().hash == named.audit_head;
    return is_there ? Missing() : itself;
}

CommitMark::CommitMark(const std::string& path)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (!file_) file_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

std::optional<LastCommit> CommitMark::read_at(const std::string& path) {
    CommitMark mark;
    mark.file_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    const auto read = mark.read();
    return read ? *read : std::nullopt;
}

// An empty file is new, and one that cannot be opened says nothing. Anything else but a whole mark
// is damage, also a read that fails.
Result<std::optional<LastCommit>> CommitMark::read() const {
    std::string text(kMarkBytes, '\0');
    const ssize_t length = file_ ? ::pread(file_.get(), text.data(), text.size(), 0) : 0;
    if (length == 0) return std::optional<LastCommit>();
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    if (std::optional<LastCommit> last = parse_mark(text)) return last;
    return corrupt("the file last-commit is damaged");
}

void CommitMark::write(const LastCommit& last) const {
    const std::string text = text_of(last);
    if (file_) static_cast<void>(::pwrite(file_.get(), text.data(), text.size(), 0) == 0);
}

}  // namespace quire::store
