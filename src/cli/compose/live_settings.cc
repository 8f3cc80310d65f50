// The server calls look() before each line of a client, which costs one system call while the
// file's stamp is the same. A text that differs is read, parsed and applied; what is wrong with it
// is logged once and kept for `quire status`, and the settings before still hold. A kernel never
// goes on with half of a file: losing a rule would give agents more than the operator allows.
#include "cli/compose/live_settings.h"

#include <utility>

#include <poll.h>

#include "base/concat.h"

namespace quire::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) cat_to(out, cat(out.empty() ? "" : ", ", word));
    return out;
}

}  // namespace

Result<std::unique_ptr<LiveSettings>> LiveSettings::open(std::string workspace, LogSink& log) {
    std::unique_ptr<LiveSettings> made(new LiveSettings(std::move(workspace), log));
    made->watch_.may_have_changed();  // The file is read after this look, so no change is missed.
    made->started_ = TRY(made->read(made->text_));
    made->is_there_ = made->text_.has_value();
    return made;
}

// An editor empties a file before it writes it anew, and a look may fall between the two. Another
// text than the one that holds counts once two reads, a moment apart, agree.
Result<std::optional<std::string>> LiveSettings::settled_text() const {
    // Half a second at most, for which the calls of clients wait.
    constexpr int kPauseMs = 10;
    constexpr int kMostReads = 50;
    std::optional<std::string> before = TRY(read_config(workspace_));
    for (int i = 1; i < kMostReads && before != text_; ++i) {
        ::poll(nullptr, 0, kPauseMs);
        std::optional<std::string> now = TRY(read_config(workspace_));
        if (now == before) break;
        before = std::move(now);
    }
    return before;
}

// At the start there is no earlier text to compare with, and nobody waits for a second look.
Result<Settings> LiveSettings::read(std::optional<std::string>& text) const {
    text = apply_ ? TRY(settled_text()) : TRY(read_config(workspace_));
    return text ? parse_config(*text, config_file(workspace_)) : Settings{};
}

void LiveSettings::follow(std::vector<std::string> warnings, Apply apply) {
    warnings_ = std::move(warnings);
    apply_ = std::move(apply);
}

// The stamp may be new for equal bytes: then nothing is applied, unless something was wrong. A file
// that could not be read has no bytes, and neither has one that is gone.
bool LiveSettings::look() {
    if (!apply_ || !watch_.may_have_changed()) return false;
    std::optional<std::string> text;
    Result<Settings> settings = read(text);
    if (settings && text == text_ && !wrong_) return false;
    text_ = std::move(text);
    return take(std::move(settings), text_.has_value());
}

bool LiveSettings::take(Result<Settings> settings, bool is_there) {
    if (!settings) {
        refuse(std::move(settings).error());
        return false;
    }
    Result<std::vector<std::string>> warnings = apply_(*settings);
    if (!warnings) {
        refuse(std::move(warnings).error());
        return false;
    }
    is_there_ = is_there;
    wrong_.reset();
    warnings_ = std::move(*warnings);
    pending_ = needs_new_kernel(started_, *settings);
    const std::string file = config_file(workspace_);
    // Defaults hold where the file is gone, and by these agents may change nothing.
    log_.write(LogLevel::info,
               is_there ? cat(file, " has changed: it holds from the next call on")
                        : cat(file, " is gone: without rules for files all of them are read_only"));
    for (const std::string& warning : warnings_) log_.write(LogLevel::warning, warning);
    if (!pending_.empty()) {
        log_.write(LogLevel::warning,
                   cat("changes of ", joined(pending_), " in ", file,
                       " hold from the next kernel on: quire stop ends this one"));
    }
    return true;
}

void LiveSettings::refuse(Error why) {
    // Each write of an editor, and each look at a fresh stamp, comes here again.
    if (wrong_ && wrong_->message() == why.message()) return;
    log_.write(LogLevel::error,
               cat(why.message(), ". Nothing has changed: the settings before still hold"));
    wrong_ = std::move(why);
}

Map LiveSettings::report() const {
    Map out{{"file", config_file(workspace_)}, {"found", is_there_}};
    if (wrong_) {
        out.append("error", wrong_->message());
        if (const Value* line = wrong_->details().find("line")) out.append("line", *line);
    }
    out.append("needs_new_kernel", List(pending_.begin(), pending_.end()));
    out.append("warnings", List(warnings_.begin(), warnings_.end()));
    return out;
}

}  // namespace quire::cli
