// quire edit: a memory block in a person's own editor, and what they made of it back into the
// block.
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

#include "base/concat.h"
#include "cli/commands/acting.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/editor.h"
#include "cli/commands/scratch.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "cli/exchange/members.h"
#include "cli/exchange/memory_form.h"
#include "json/json.h"
#include "memory/field_path.h"
#include "memory/schema_form.h"

namespace quire::cli {
namespace {

// Beside a file that was kept: what it was made of.
constexpr std::string_view kShownSuffix = ".shown";

// A block as a person was shown it.
struct Shown {
    std::string block_id;
    std::int64_t version = 0;
    memory::BlockSchema schema;
    Value value;
};

Result<Shown> shown_of(const Value& view) {
    const Value* form = view.get("schema");
    const Value* value = view.get("value");
    if (form == nullptr || value == nullptr) return corrupt("the block came without its value");
    return Shown{text_of(view, "block_id"), number_of(view, "version"),
                 TRY(memory::parse_schema(*form)), *value};
}

std::string to_json(const Shown& shown) {
    return json::write(Map{{"block_id", shown.block_id},
                           {"version", shown.version},
                           {"schema", memory::to_value(shown.schema)},
                           {"value", shown.value}});
}

// A name for a file that any shell and any editor takes.
std::string file_name(const std::string& label, std::string_view extension) {
    constexpr std::size_t kLongest = 60;
    std::string out;
    for (const char c : label.substr(0, kLongest)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '_' || (c == '-' && !out.empty());
        out += plain ? c : '_';
    }
    return cat(out, ".", extension);
}

bool is_asked() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

// One person's edit of one block.
class Editing {
public:
    Editing(Globals globals, const EditOptions& options)
        : globals_(std::move(globals)), options_(options) {}

    int run() {
        if (const auto begun = begin(); !begun) return refuse(begun.error());
        if (options_.print) return print(form_) ? kDone : kRefused;
        const auto written = write();
        if (!written) return refuse(written.error());
        for (;;) {
            const auto edited = run_editor(editor_.command, path_);
            const auto text = read_file(path_);
            if (!text) return refuse(text.error());
            const bool is_same = *text == form_;
            if (!edited)
                return is_same && !resumed_ ? refuse(edited.error()) : keep(edited.error());
            if (is_same && *edited == Returned::at_once) return leave_open();
            if (is_same && !resumed_) return report_unchanged();
            const auto saved = save(*text);
            if (saved) return report(*saved);
            if (!can_be_mended(saved.error()) || !try_again(saved.error()))
                return keep(saved.error());
        }
    }

private:
    Result<void> begin() {
        CommandClient client = TRY(CommandClient::attach(globals_));
        const Value view =
            TRY(client.call("context", Map{{"operation", "view"}, {"label", options_.label}}));
        shown_ = TRY(shown_of(view));
        if (!options_.print && json::write(shown_.value).size() > kMostInRequest) return too_long();
        label_ = text_of(view, "label");
        FormHead head{label_, "", text_of(view, "permission"), shown_.version};
        const Value list =
            TRY(client.call("context", Map{{"operation", "list"}, {"prefix", label_}}));
        if (const Value* blocks = list.get("blocks"); blocks != nullptr && blocks->is_list()) {
            for (const Value& each : blocks->as_list()) {
                if (text_of(each, "label") == label_)
                    head.description = text_of(each, "description");
            }
        }
        form_ = write_form(head, shown_.schema, shown_.value);
        if (!options_.from.empty()) TRY(resume());
        return {};
    }

    // A file that was kept goes on from what it was made of; any other from what the block is.
    Result<void> resume() {
        form_ = TRY(read_file(options_.from));
        resumed_ = true;
        const auto kept = read_file(cat(options_.from, kShownSuffix));
        if (!kept) {
            complain(cat("there is no ", options_.from, kShownSuffix, ", which says what ",
                         options_.from, " was made of: what the block has by now and the file has ",
                         "not will be taken away"));
            return {};
        }
        const Value was = TRY(json::parse(*kept));
        Shown before = TRY(shown_of(was));
        if (before.block_id != shown_.block_id) return {};
        if (before.schema != shown_.schema) {
            return fail(Errc::unsupported, "schema_changed",
                        cat("'", label_, "' has been given another schema since ", options_.from,
                            " was made of it, which it cannot be written by. ", take_over(),
                            options_.from));
        }
        shown_ = std::move(before);
        return {};
    }

    Failure too_long() const {
        const Map call{{"operation", "append"}, {"label", options_.label}, {"content", "..."}};
        return fail(
            Errc::unsupported, "too_large",
            cat("'", options_.label, "' is too long to be edited as a whole: it is more ",
                "than the 63 MiB that could be written back at once. The tool context ",
                "changes parts of it (append, append_to_list, set_field, replace), as in: ",
                "quire call context", same_options(globals_), " ", for_shell(json::write(call))));
    }

    // What remains to be done with a text that the block's schema has moved away from.
    std::string take_over() const {
        return cat("Open it as it is now (", command(""), ") and take over by hand what you ",
                   "changed in ");
    }

    // This command once more.
    std::string command(const std::string& from) const {
        std::string out = cat("quire edit", same_options(globals_));
        if (!from.empty()) out += cat(" --from ", for_shell(from));
        return cat(out, options_.label.starts_with('-') ? " -- " : " ", for_shell(options_.label));
    }

    Result<void> write() {
        scratch_.emplace(TRY(ScratchDirectory::make("quire-edit-")));
        path_ = cat(scratch_->path(), "/", file_name(label_, form_extension(shown_.schema)));
        // From the start: whoever ends us leaves both behind.
        TRY(replace_file(cat(path_, kShownSuffix), to_json(shown_)));
        return replace_file(path_, form_);
    }

    Result<Value> save(const std::string& text) {
        Value value = TRY(read_form(text, shown_.schema, shown_.value));
        // The kernel may be another one by now: a person takes their time.
        CommandClient client = TRY(CommandClient::attach(globals_));
        Result<Value> saved = client.request("revise", Map{{"block_id", shown_.block_id},
                                                           {"version_id", cat(shown_.version)},
                                                           {"value", std::move(value)}});
        if (saved) return saved;
        const Value* at = saved.error().details().find("at");
        if (at == nullptr) return saved;
        const auto line = line_of(text, shown_.schema, place_of(*at));
        if (!line) return saved;
        saved.error().details().set("line", *line);
        return Failure(std::move(saved).error().within(cat("line ", *line)));
    }

    static FormPlace place_of(const Value& at) {
        FormPlace place{text_of(at, "section"), text_of(at, "field")};
        if (const Value* index = at.get("index"); index != nullptr && index->is_int())
            place.index = static_cast<std::size_t>(index->as_int());
        return place;
    }

    // Whether another text could be written where this one was refused.
    static bool can_be_mended(const Error& error) { return error.reason() != "schema_changed"; }

    // Whether a person who sits there wants to mend what was refused.
    static bool try_again(const Error& error) {
        if (!is_asked()) return false;
        complain(cat(error.message(), "\nPress Enter to go on editing, Ctrl-D to leave it."));
        for (;;) {
            const int c = std::getchar();
            if (c == '\n') return true;
            if (c == EOF) return false;
        }
    }

    int keep(const Error& error) {
        scratch_->keep();
        complain(error.message());
        complain(cat("nothing of it was written. What you edited is in ", path_, "; ",
                     can_be_mended(error) ? cat("to go on with it: ", command(path_))
                                          : cat("it is of the schema that '", label_, "' had. ",
                                                take_over(), "it")));
        return kRefused;
    }

    // Somebody may be about to type into the file.
    int leave_open() {
        scratch_->keep();
        complain(cat(resumed_ ? "nothing was written" : "nothing was changed", ": the editor (",
                     editor_.command, ") came back at once and left the file as it is. If it is ",
                     "open in a window of its own, save it there, and then: VISUAL=true ",
                     command(path_)));
        complain(cat("quire waits for an editor that waits: ", editor_.variable,
                     "=\"code --wait\" for Visual Studio Code"));
        return resumed_ ? kRefused : report_unchanged();
    }

    int report_unchanged() const {
        if (!globals_.json) {
            if (!scratch_->is_kept()) complain("nothing was changed");
            return kDone;
        }
        Map out{{"label", label_},
                {"block_id", shown_.block_id},
                {"version", shown_.version},
                {"changed", false},
                {"both", List()}};
        if (scratch_->is_kept()) out.append("kept", path_);
        return print(json::write(out) + "\n") ? kDone : kRefused;
    }

    int report(const Value& saved) const {
        if (globals_.json) return print(json::write(saved) + "\n") ? kDone : kRefused;
        const Value* changed = saved.get("changed");
        if (changed == nullptr || *changed != Value(true)) return report_unchanged();
        const std::int64_t version = number_of(saved, "version");
        std::string text = cat(text_of(saved, "label"), " is now at version ", version, ".\n");
        if (version > shown_.version + 1) {
            text += cat("Others changed it while you did, since version ", shown_.version,
                        "; what they did is still there.\n");
        }
        if (const Value* said = saved.get("source"); said != nullptr && said->is_map()) {
            text += cat("The source ", text_of(*said, "name"), " answers ",
                        text_of(*said, "answer"), ": ", text_of(*said, "message"), ".\n");
        }
        if (const Value* both = saved.get("both"); both != nullptr && both->is_list()) {
            for (const Value& each : both->as_list()) {
                if (!each.is_string()) continue;
                text += cat("Others changed ", each.as_string(), " too: ",
                            is_counter(each.as_string())
                                ? "what you and they added is in it.\n"
                                : "it now reads as you have it; theirs is in its history.\n");
            }
        }
        return print(text) ? kDone : kRefused;
    }

    // Of a place as revise() names it. Fields, unlike sections, may have a '/' in their names.
    bool is_counter(std::string_view place) const {
        std::size_t end = 0;
        for (std::size_t begin = 0; end != std::string_view::npos; begin = end + 1) {
            const auto found =
                memory::locate(shown_.schema, place.substr(0, begin == 0 ? 0 : begin - 1));
            const memory::Field* field =
                found ? found->schema->field(place.substr(begin)) : nullptr;
            if (field != nullptr) return field->type == memory::FieldType::counter;
            end = place.find('/', begin);
        }
        return false;
    }

    Globals globals_;
    const EditOptions& options_;
    const Editor editor_ = chosen_editor();
    std::string label_;
    Shown shown_;
    std::string form_;  // As it lies before the person.
    bool resumed_ = false;
    std::optional<ScratchDirectory> scratch_;
    std::string path_;
};

}  // namespace

int edit_memory(const Globals& globals, const EditOptions& options) {
    Result<Globals> as_person = acting_as_person(globals, options.actor_named);
    if (!as_person) {
        refuse(as_person.error());
        return kUsage;
    }
    return Editing(std::move(*as_person), options).run();
}

}  // namespace quire::cli
