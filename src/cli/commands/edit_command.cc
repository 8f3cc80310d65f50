// quire edit: a memory block as a text in a person's editor, and the edited text back in the block.
//
// The text is written to a scratch file, with a second file beside it that says which version it
// shows. What comes back is merged against that version, so others' changes stay. A text that
// cannot be written back is never lost: the files are kept, and --from continues from them.
//
//     view the block -> write the text and its version -> editor -> read the text back
//          -> revise: merge against that version -> report
//                              `-> refused: correct it in the editor, or keep the files
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/acting_person.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/editor.h"
#include "cli/commands/scratch.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "cli/exchange/memory_form.h"
#include "json/json.h"
#include "json/members.h"
#include "memory/field_path.h"
#include "memory/schema_form.h"
#include "text/shell_word.h"

namespace quire::cli {
namespace {

struct EditOptions {
    std::string label;   // Or the block's id.
    std::string from;    // A file that an edit left behind; "" for the block as it is.
    bool print = false;  // Only print the text.
};

// The file beside the text that holds the version which the text shows.
constexpr std::string_view kShownSuffix = ".shown";

// The version of a block that a person was shown.
struct ShownBlock {
    std::string block_id;
    std::int64_t version = 0;
    memory::BlockSchema schema;
    Value value;
};

Result<ShownBlock> shown_block(const Value& view) {
    const Value* form = view.get("schema");
    const Value* value = view.get("value");
    if (form == nullptr || value == nullptr) return corrupt("the block came without its value");
    memory::BlockSchema schema = TRY(memory::parse_schema(*form));
    return ShownBlock{json::text_in(view, "block_id"), json::number_in(view, "version"),
                      std::move(schema), *value};
}

std::string shown_json(const ShownBlock& shown) {
    return json::write(Map{{"block_id", shown.block_id},
                           {"version", shown.version},
                           {"schema", memory::to_value(shown.schema)},
                           {"value", shown.value}});
}

// A file name that every shell and editor accepts.
std::string form_file_name(const std::string& label, std::string_view extension) {
    constexpr std::size_t kLongest = 60;
    std::string out;
    for (const char c : label.substr(0, kLongest)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '_' || (c == '-' && !out.empty());
        out += plain ? c : '_';
    }
    return cat(out, ".", extension);
}

// One person's edit of one block. It attaches twice, because an editor may be open for hours and
// the kernel ends meanwhile.
class Editing {
public:
    Editing(const Globals& globals, const EditOptions& options)
        : globals_(globals), options_(options) {}

    // A text that is the same as before is written back only if it was resumed: then it holds edits
    // of the earlier attempt.
    int run() {
        if (const auto begun = begin(); !begun) return refuse(globals_, begun.error());
        if (options_.print) return output(form_);
        const auto written = write();
        if (!written) return refuse(globals_, written.error());
        for (;;) {
            const auto edited = run_editor(editor_.command, path_);
            const auto text = read_file(path_);
            if (!text) return refuse(globals_, text.error());
            const bool is_same = *text == form_;
            if (!edited)
                return is_same && !resumed_ ? refuse(globals_, edited.error())
                                            : keep(edited.error());
            if (is_same && *edited == Returned::at_once) return leave_open();
            if (is_same && !resumed_) return report_unchanged();
            const auto saved = save(*text);
            if (saved) return report(*saved);
            if (!can_be_corrected(saved.error()) || !wants_to_correct(saved.error()))
                return keep(saved.error());
        }
    }

private:
    // A block that could not be written back in one request is refused before the person begins to
    // edit.
    Result<void> begin() {
        CommandClient client = TRY(CommandClient::attach(globals_.with_whole_answers()));
        const Value view =
            TRY(client.call("context", Map{{"operation", "view"}, {"label", options_.label}}));
        shown_ = TRY(shown_block(view));
        if (!options_.print && json::write(shown_.value).size() > client.most_in_request())
            return too_long(client.most_in_request());
        label_ = json::text_in(view, "label");
        FormHead head{label_, "", json::text_in(view, "permission"), shown_.version};
        const Value list =
            TRY(client.call("context", Map{{"operation", "list"}, {"prefix", label_}}));
        if (const Value* blocks = list.get("blocks"); blocks != nullptr && blocks->is_list()) {
            for (const Value& each : blocks->as_list()) {
                if (json::text_in(each, "block_id") == json::text_in(view, "block_id"))
                    head.description = json::text_in(each, "description");
            }
        }
        form_ = write_form(head, shown_.schema, shown_.value);
        if (!options_.from.empty()) TRY(resume());
        return {};
    }

    // A kept file continues from the version that it shows; any other file from the block as it is.
    Result<void> resume() {
        form_ = TRY(read_file(options_.from));
        resumed_ = true;
        const auto kept = read_file(cat(options_.from, kShownSuffix));
        if (!kept) {
            complain(cat("there is no ", options_.from, kShownSuffix, ", which holds the version ",
                         "that ", options_.from, " shows: what is in the block now and not in ",
                         "the file will be deleted"));
            return {};
        }
        const Value was = TRY(json::parse(*kept));
        ShownBlock before = TRY(shown_block(was));
        if (before.block_id != shown_.block_id) return {};
        if (before.schema != shown_.schema) {
            return fail(
                Errc::unsupported, "schema_changed",
                cat("'", label_, "' has been given another schema since ", options_.from,
                    " was written, so the file cannot be saved. ", take_over(), options_.from));
        }
        shown_ = std::move(before);
        return {};
    }

    Failure too_long(std::size_t most) const {
        const Map call{{"operation", "append"}, {"label", options_.label}, {"content", "..."}};
        return fail(
            Errc::unsupported, "too_large",
            cat("'", options_.label, "' is too long to be edited as a whole: more than ",
                size_text(most),
                " cannot be written back at once (message_bytes in [limits] of quire.toml). The "
                "tool context changes parts of it ",
                "(append, append_to_list, set_field, replace), as in: ", "quire call context",
                same_options(globals_), " ", text::for_shell(json::write(call))));
    }

    // How to save a text whose schema the block no longer has.
    std::string take_over() const {
        return cat("Open the block as it is now (", command(""), ") and copy your changes by hand ",
                   "from ");
    }

    // The command line that runs this command again.
    std::string command(const std::string& from) const {
        std::string out = cat("quire edit", same_options(globals_));
        if (!from.empty()) out += cat(" --from ", text::for_shell(from));
        return cat(out, options_.label.starts_with('-') ? " -- " : " ",
                   text::for_shell(options_.label));
    }

    Result<void> write() {
        scratch_.emplace(TRY(ScratchDirectory::make("quire-edit-")));
        path_ = cat(scratch_->path(), "/", form_file_name(label_, form_extension(shown_.schema)));
        // Both are written first, so that a killed command leaves both behind.
        TRY(replace_file(cat(path_, kShownSuffix), shown_json(shown_)));
        return replace_file(path_, form_);
    }

    // The kernel names the place of a fault by section, field and index. The person sees the line
    // of the text.
    Result<Value> save(const std::string& text) {
        Value value = TRY(read_form(text, shown_.schema, shown_.value));
        // The editor may have been open for long, so this may be another kernel.
        CommandClient client = TRY(CommandClient::attach(globals_.with_whole_answers()));
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
        FormPlace place{json::text_in(at, "section"), json::text_in(at, "field")};
        if (const Value* index = at.get("index"); index != nullptr && index->is_int())
            place.index = static_cast<std::size_t>(index->as_int());
        return place;
    }

    // Returns true if a corrected text could be saved after this refusal.
    static bool can_be_corrected(const Error& error) { return error.reason() != "schema_changed"; }

    // Asks the person at the terminal, if there is one, whether to go on editing. The Enter is read
    // to the end of its line, so that the next question does not take what was typed before.
    static bool wants_to_correct(const Error& error) {
        if (!can_ask()) return false;
        complain(cat(error.message(), "\nPress Enter to go on editing, Ctrl-D to stop."));
        for (;;) {
            const int c = std::getchar();
            if (c == '\n') return true;
            if (c == EOF) return false;
        }
    }

    // The files stay, and the message ends with the command line that goes on from them.
    int keep(const Error& error) {
        scratch_->keep();
        Map details = error.details();
        details.set("kept", path_);
        return refuse(globals_,
                      {error.code(), error.reason(),
                       cat(error.message(), "\nnothing was written. Your text is in ", path_, "; ",
                           can_be_corrected(error) ? cat("to continue: ", command(path_))
                                                   : cat("it has the schema that '", label_,
                                                         "' had before. ", take_over(), "it")),
                       std::move(details)});
    }

    // The file is kept: it may be open in an editor that did not wait.
    int leave_open() {
        scratch_->keep();
        const std::string what = cat(
            resumed_ ? "nothing was written" : "nothing was changed", ": the editor (",
            editor_.command, ") returned at once and did not change the file. If the file ",
            "is open in another window, save it there, and then run: VISUAL=true ", command(path_),
            "\nto make quire wait, use an editor that waits: ", editor_.variable,
            "=\"code --wait\" for Visual Studio Code");
        if (resumed_)
            return refuse(globals_, {Errc::unavailable, "not_edited", what, {{"kept", path_}}});
        complain(what);
        return report_unchanged();
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
        return output_json(out);
    }

    int report(const Value& saved) const {
        if (globals_.json) return output_json(saved);
        const Value* changed = saved.get("changed");
        if (changed == nullptr || *changed != Value(true)) return report_unchanged();
        const std::int64_t version = json::number_in(saved, "version");
        std::string text =
            cat(json::text_in(saved, "label"), " is now at version ", version, ".\n");
        // One version is this edit's; more are others'.
        if (version > shown_.version + 1) {
            text += cat("Others changed it while you did, since version ", shown_.version,
                        "; their changes are still there.\n");
        }
        if (const Value* source = saved.get("source"); source != nullptr && source->is_map()) {
            text += cat("The source ", json::text_in(*source, "name"), " answers ",
                        json::text_in(*source, "answer"), ": ", json::text_in(*source, "message"),
                        ".\n");
        }
        if (const Value* both = saved.get("both"); both != nullptr && both->is_list()) {
            for (const Value& each : both->as_list()) {
                if (!each.is_string()) continue;
                text += cat("Others changed ", each.as_string(), " too: ",
                            is_counter(each.as_string())
                                ? "it counts what all of you added.\n"
                                : "it now has your value; theirs is in its history.\n");
            }
        }
        return output(text);
    }

    // Returns true if the place, as revise() names it, is a counter. A field's name may hold a '/',
    // a section's may not.
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

    const Globals& globals_;
    const EditOptions& options_;
    const Editor editor_ = chosen_editor();
    std::string label_;
    ShownBlock shown_;
    std::string form_;  // The text as the person was given it.
    bool resumed_ = false;
    std::optional<ScratchDirectory> scratch_;
    std::string path_;
};

Result<int> run_edit(const Globals& globals, const EditOptions& options) {
    if (const auto person = check_is_person(globals); !person) {
        refuse(globals, person.error());
        return kUsage;
    }
    return Editing(globals, options).run();
}

void add_edit_options(CLI::App& app, EditOptions& options) {
    app.add_option("label", options.label, "The block's label")->required()->type_name("LABEL");
    CLI::Option* from =
        app.add_option("--from", options.from, "Continue from the file an interrupted edit left");
    from->type_name("FILE");
    app.add_flag("--print", options.print, "Print the text that would be edited, and stop")
        ->excludes(from);
}

}  // namespace

Command edit_command() {
    return {.name = "edit",
            .about =
                "Edit a memory block in your editor ($VISUAL, $EDITOR); what others change "
                "meanwhile is merged",
            .example = "EDITOR=nano quire edit profile",
            .action = action_with(add_edit_options, run_edit)};
}

}  // namespace quire::cli
