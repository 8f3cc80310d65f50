// One JSON file, which is replaced as a whole, so a reader finds the whole of it or none.
// Paths, link targets and merged bytes need not be UTF-8 and are written in hexadecimal digits.
// Fields are only ever added, as optional ones: a newer program must complete what an older one has
// begun.
#include "kernel/commands/command_journal.h"

#include <utility>

#include <unistd.h>

#include "base/durable.h"
#include "base/file_text.h"
#include "base/hex.h"
#include "base/value.h"
#include "json/json.h"

namespace quire::kernel {
namespace {

constexpr const char* kName = "/commit.json";
// Far beyond what the names of stage::kMostChanges paths and the texts of a command take.
constexpr std::size_t kMostJournal = std::size_t{4} << 30;

}  // namespace

json::Fields<JournalEntry> JournalEntry::fields() {
    return json::Fields<JournalEntry>()
        .required("path", &JournalEntry::path)
        .required("kind", &JournalEntry::kind)
        .optional("is_directory", &JournalEntry::is_directory)
        .optional("was_link", &JournalEntry::was_link)
        .optional("sets_mode", &JournalEntry::sets_mode)
        .optional("mode", &JournalEntry::mode)
        .optional("target", &JournalEntry::target)
        .optional("before", &JournalEntry::before)
        .optional("after", &JournalEntry::after)
        .optional("old_mode", &JournalEntry::old_mode)
        .optional("old_target", &JournalEntry::old_target)
        .optional("is_text", &JournalEntry::is_text)
        .optional("version", &JournalEntry::version)
        .optional("bytes", &JournalEntry::bytes);
}

json::Fields<JournalOrigin> JournalOrigin::fields() {
    return json::Fields<JournalOrigin>()
        .required("actor", &JournalOrigin::actor)
        .required("profile", &JournalOrigin::profile)
        .required("tool", &JournalOrigin::tool)
        .required("operation", &JournalOrigin::operation)
        .required("ran", &JournalOrigin::ran);
}

json::Fields<Journal> Journal::fields() {
    return json::Fields<Journal>()
        .required("entries", &Journal::entries)
        .optional("origin", &Journal::origin)
        .optional("past", &Journal::past);
}

Result<void> write_journal(const std::string& stage, Journal journal) {
    for (JournalEntry& each : journal.entries) {
        for (std::string* const name : {&each.path, &each.target, &each.old_target})
            name_to_hex(*name);
        if (each.bytes) name_to_hex(*each.bytes);
    }
    const std::string text = json::write(json::Codec<Journal>::encode(journal));
    // A sync of the stage's own name would cost a third flush. The file systems of Linux write a new
    // directory's name with the first sync of what is in it.
    Result<void> done = replace_durably(stage + kName, text);
    if (!done) return Failure(std::move(done).error().within("nothing was committed"));
    return {};
}

std::optional<Journal> read_journal(const std::string& stage) {
    Result<Value> value = json::parse(file_text(stage + kName), {.bytes = kMostJournal});
    if (!value) return std::nullopt;
    // An earlier program wrote the entries alone.
    if (value->is_list()) value = Value(Map{{"entries", std::move(*value)}});
    json::Read<Journal> journal = json::read<Journal>(*value);
    if (!journal) return std::nullopt;
    for (JournalEntry& each : journal->entries) {
        // Without one of its entries a commit could only be completed in part.
        const bool is_whole = !each.path.empty() && name_from_hex(each.path) &&
                              name_from_hex(each.target) && name_from_hex(each.old_target) &&
                              (!each.bytes || name_from_hex(*each.bytes));
        if (!is_whole) return std::nullopt;
    }
    return std::move(*journal);
}

void remove_journal(const std::string& stage) {
    ::unlink((stage + kName).c_str());
}

bool is_of_git(std::string_view path) {
    return path.starts_with(kGitDirectory) &&
           (path.size() == kGitDirectory.size() || path[kGitDirectory.size()] == '/');
}

}  // namespace quire::kernel
