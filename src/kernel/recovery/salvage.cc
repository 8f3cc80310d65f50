// Each document is read, saved and forgotten before the next. The manifest is written last, in the
// order of the documents, and repeats every fault that was met. So a store of any size needs the
// memory of its largest document. The audit log is the exception: it is collected as one text.
//
//   documents, one by one  ->  the audit log  ->  a copy of the store  ->  SALVAGE.txt
//
// Damage that the store reports (corrupt) is a fault of the manifest and never stops the rest. A
// store that fails to answer (unavailable) and a directory that takes no more do stop it, since
// nothing after that would be saved either; the files written so far stay, without a manifest.
#include "kernel/recovery/salvage.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/hex.h"
#include "kernel/core/kinds.h"
#include "kernel/recovery/readable_text.h"
#include "kernel/recovery/salvage_directory.h"
#include "memory/timestamp.h"
#include "store/store.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

constexpr std::size_t kEntriesAtOnce = 1000;

std::string directory_of_kind(const std::string& kind) {
    if (kind == kConversationKind) return "conversations";
    if (kind == kMemoryKind) return "memory";
    if (kind == kFileKind) return "files";
    if (kind == kStageKind) return "staged";
    return "documents";
}

// `faults` and `saved` are lines that end.
std::string manifest_of(const SalvageOptions& options, const Salvaged& saved_documents,
                        std::string_view faults, std::string_view saved) {
    const std::string workspace =
        options.workspace.empty()
            ? ""
            : cat("workspace: ", text::escape_hidden(options.workspace), "\n");
    return cat(
        "Quire salvage\n\n", workspace, "time:      ", memory::format_timestamp(options.at_ms),
        "\nprogram:   quire ", text::escape_hidden(options.version), "\n\n", saved_documents.whole,
        " documents were saved whole, ", saved_documents.partial, " in part, and of ",
        saved_documents.lost,
        " nothing could be read.\nA file whose name has \".incomplete\" lacks changes: it is "
        "an earlier or an incomplete version.\n\nCould not be read:\n",
        faults.empty() ? "- nothing\n" : faults, "\nSaved:\n",
        saved.empty() ? "- nothing\n" : saved);
}

class Salvage {
public:
    Salvage(store::Store& store, SalvageDirectory directory, const SalvageOptions& options)
        : store_(store), directory_(std::move(directory)), options_(options) {}

    Result<Salvaged> run() {
        const Result<std::vector<store::DocumentRecord>> documents = store_.documents();
        if (!documents && documents.error().code() != Errc::corrupt)
            return Failure(documents.error());
        if (!documents) fault("the list of documents cannot be read", documents.error().message());
        if (documents) {
            for (const store::DocumentRecord& record : *documents) TRY(save(record));
        }
        TRY(save_audit());
        copy_store();
        TRY(directory_.put("SALVAGE.txt", manifest_of(options_, out_, faults_, saved_)));
        return out_;
    }

private:
    // A line of the manifest is one line, whatever names are in it.
    static std::string line(std::string_view text) { return text::escape_hidden(text); }
    void fault(std::string_view what, std::string_view why) {
        cat_to(faults_, cat("- ", line(what), ": ", line(why), "\n"));
    }

    static std::string title(const store::DocumentRecord& record) {
        return cat("b", record.key, " ", record.kind.empty() ? "document" : record.kind, " '",
                   record.name, "'", record.owner.empty() ? "" : cat(" of ", record.owner),
                   record.deleted ? ", deleted" : "");
    }

    Result<void> save(const store::DocumentRecord& record) {
        Result<store::ReadableDocument> readable = store_.load_readable(record.key);
        if (!readable && readable.error().code() != Errc::corrupt) return Failure(readable.error());
        const ReadableText text = readable ? read_text_of(record, std::move(*readable))
                                           : ReadableText{.faults = {readable.error().message()}};
        for (const std::string& each : text.faults) fault(title(record), each);
        std::size_t& count = text.is_lost()         ? out_.lost
                             : !text.faults.empty() ? out_.partial
                                                    : out_.whole;
        ++count;
        if (text.is_lost()) return {};

        const std::string name = safe_name(record.name);
        const std::string base =
            cat(directory_of_kind(record.kind), "/b", record.key, name.empty() ? "" : "-", name);
        // Nobody takes a text with gaps for the text.
        const std::string kind = text.faults.empty() ? "" : ".incomplete";
        cat_to(saved_, cat("- ", line(title(record)), "\n"));
        if (!text.changes.empty() || text.pieces.empty()) {
            TRY(put(cat(base, kind, ".txt"), text.text));
            if (!text.changes.empty()) TRY(put(cat(base, kind, ".loro"), as_text(text.changes)));
        }
        for (std::size_t i = 0; i < text.pieces.size(); ++i) {
            TRY(put(cat("updates/b", record.key, "-", i + 1, ".bin"), as_text(text.pieces[i])));
        }
        return {};
    }

    Result<void> put(const std::string& name, std::string_view bytes) {
        TRY(directory_.put(name, bytes));
        cat_to(saved_, cat("    ", name, ", ", bytes.size(), " bytes\n"));
        return {};
    }

    // Reads forwards until an entry cannot be read. Those behind it are not saved, and the manifest
    // says after which entry the log stops; a copy of the store may still have them.
    Result<void> save_audit() {
        std::string text;
        std::uint64_t last = 0;
        out_.has_audit = true;
        const auto add = [&](const store::AuditEntry& entry) {
            cat_to(text, cat(entry.seq, " ", to_hex(entry.hash), " ", line(entry.body), "\n"));
        };
        while (true) {
            const auto entries = store_.audit_after(last, kEntriesAtOnce);
            if (!entries && entries.error().code() != Errc::corrupt)
                return Failure(entries.error());
            if (!entries) {
                out_.has_audit = false;
                fault(cat("the audit log behind entry ", last), entries.error().message());
                break;
            }
            if (entries->empty()) break;
            for (const store::AuditEntry& entry : *entries) add(entry);
            last = entries->back().seq;
        }
        cat_to(saved_, "- the audit log\n");
        return put("audit.txt", text);
    }

    void copy_store() {
        if (!options_.kept_copy.empty()) {
            out_.has_copy = true;
            cat_to(saved_, cat("- the store as it was found\n    ", options_.kept_copy, "\n"));
            return;
        }
        const Result<void> copied = store_.back_up(cat(directory_.path(), "/quire.db"));
        // The texts are on the disk by now, so a copy that fails is a fault like others.
        out_.has_copy = copied.has_value();
        if (!copied) return fault("a copy of the store", copied.error().message());
        cat_to(saved_, "- a copy of the store, for quire restore\n    quire.db\n");
    }

    store::Store& store_;
    const SalvageDirectory directory_;
    const SalvageOptions& options_;
    Salvaged out_;
    std::string saved_;
    std::string faults_;
};

}  // namespace

json::Fields<Salvaged> Salvaged::fields() {
    return json::Fields<Salvaged>()
        .required("whole", &Salvaged::whole)
        .required("partial", &Salvaged::partial)
        .required("lost", &Salvaged::lost)
        .required("has_audit", &Salvaged::has_audit)
        .required("has_copy", &Salvaged::has_copy);
}

Result<Salvaged> salvage(store::Store& store, const std::string& directory,
                         const SalvageOptions& options) {
    return salvage(store, TRY(SalvageDirectory::make(directory)), options);
}

Result<Salvaged> salvage(store::Store& store, SalvageDirectory directory,
                         const SalvageOptions& options) {
    return Salvage(store, std::move(directory), options).run();
}

Result<Salvaged> salvage_nothing(const SalvageDirectory& directory, const Error& why,
                                 const SalvageOptions& options) {
    const std::string copy = options.kept_copy.empty()
                                 ? ""
                                 : cat("- the store as it was found\n    ", options.kept_copy);
    TRY(directory.put(
        "SALVAGE.txt",
        manifest_of(options, {}, cat("- the store: ", text::escape_hidden(why.message()), "\n"),
                    cat(copy, "\n"))));
    return Salvaged{.has_copy = !options.kept_copy.empty()};
}

}  // namespace quire::kernel
