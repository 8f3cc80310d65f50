// A plan is made for each path by itself: read both sides and the base, bring the one into the
// other (views/bring.h), and note the permissions. Nothing is written before the whole plan stands,
// so a caller may ask the rules or a person about all of it, and may throw it away. settle() is the
// other half: it runs once the disk has what was planned, and moves the base. A plan holds the
// bytes of all files that changed, and so costs memory in proportion to them.
#include "kernel/views/tree_plan.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "files/form.h"
#include "kernel/files/file_gate.h"

namespace quire::kernel {
namespace {

using views::Brought;
using views::Content;
using views::Form;
using views::Sides;

std::optional<std::string_view> bytes_of(const std::optional<Content>& content) {
    return content ? std::optional<std::string_view>(content->bytes) : std::nullopt;
}

// A stored tie holds text only. A side that is no text is left empty, and each tree still has its own.
void make_text(views::Tie& tie) {
    for (std::string* side : {&tie.base, &tie.from, &tie.into}) {
        if (!utf8::is_valid(*side) || side->find('\0') != std::string::npos) side->clear();
    }
}

// The three sides as texts of one form; none if one of them is no text, or has another form.
struct Texts {
    files::Form form;
    std::string base, from, into;
};
// A form is the charset and whether there is a byte order mark. Sides of different forms are not
// merged, for one of them would have to be written anew from its first byte to its last.
std::optional<Texts> texts_of(const Sides& sides, const std::string& path,
                              std::optional<text::Charset> declared) {
    Texts out;
    bool is_first = true;
    for (const auto& [bytes, text] :
         {std::pair{sides.base, &out.base}, std::pair{sides.from, &out.from},
          std::pair{sides.into, &out.into}}) {
        Result<files::Decoded> decoded = files::decode(std::string(*bytes), path, declared);
        if (!decoded || (!is_first && decoded->form != out.form)) return std::nullopt;
        out.form = decoded->form;
        *text = std::move(decoded->text);
        is_first = false;
    }
    return out;
}

// Merges texts in the form that they have, and takes all else whole.
Brought bring_bytes(const Sides& sides, views::Manner manner, const std::string& path,
                    std::optional<text::Charset> declared) {
    const bool is_merge = sides.base && sides.from && sides.into && sides.from != sides.into &&
                          sides.from != sides.base && sides.into != sides.base && !manner.whole;
    std::optional<Texts> texts;
    if (is_merge) texts = texts_of(sides, path, declared);
    // Two sides of which one did not change need no decoding either: bring() takes the other's
    // bytes as they are, whatever they hold.
    if (!texts) {
        manner.whole = true;
        return views::bring(sides, manner);
    }
    Brought out = views::bring({texts->base, texts->from, texts->into}, manner);
    for (std::optional<std::string>* each : {&out.text, &out.base}) {
        // The merged text may be one that this form cannot write. Then the two sides are taken
        // whole.
        Result<std::string> bytes = files::encode(texts->form, std::move(**each), path);
        if (!bytes) {
            manner.whole = true;
            return views::bring(sides, manner);
        }
        *each = std::move(*bytes);
    }
    return out;
}

}  // namespace

bool PlannedFile::writes() const {
    if (bytes.has_value() != into.has_value()) return true;
    return bytes && (*bytes != into->bytes || form != into->form);
}

bool PlannedFile::sets_mode() const {
    return bytes && form == Form::file && runs != (into && into->runs);
}

void TreePlan::add(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        Result<PlannedFile> file = planned(path);
        if (file) {
            files_.push_back(std::move(*file));
        } else {
            left_.push_back({path, file.error().message(), file.error().reason() == "busy"});
        }
    }
}

void TreePlan::leave_out(std::vector<views::LeftOut> left) {
    std::ranges::move(left, std::back_inserter(left_));
}

bool TreePlan::is_busy() const {
    return std::ranges::any_of(left_, &views::LeftOut::is_busy);
}

bool TreePlan::has_ties() const {
    return std::ranges::any_of(files_, [](const PlannedFile& file) { return !file.ties.empty(); });
}

// Mostly one side still is the base; its bytes are taken from there and the store of bases is not
// read.
Result<std::optional<std::string>> TreePlan::base_of(const PlannedFile& file,
                                                     const views::Head* head) const {
    if (head == nullptr) return std::nullopt;
    for (const auto* side : {&file.from, &file.into})
        if (*side && (*side)->sight.hash == head->base && (*side)->form == head->form)
            return std::optional((*side)->bytes);
    Result<std::string> base = parts_.bases.get(head->base);
    // Then the two sides are compared without it, and tied where they differ.
    if (!base && base.error().code() == Errc::not_found) return std::nullopt;
    return std::optional(TRY(std::move(base)));
}

// Replaces what the disk has by what everybody sees: the text of the file's document, in the form
// of the file. The stamp goes with it, since it is the disk's, so the next survey looks at the file
// again.
void TreePlan::show_document(PlannedFile& file) const {
    const std::optional<std::string> text = parts_.shown(file.path);
    if (!text) return;
    const Result<files::Decoded> disk =
        files::decode(file.into->bytes, file.path, parts_.gate.rules()->paths.encoding(file.path));
    if (!disk || disk->text == *text) return;
    Result<std::string> bytes = files::encode(disk->form, *text, file.path);
    if (!bytes) return;
    file.into->bytes = std::move(*bytes);
    file.into->sight = {{}, fs::Hash::of(file.into->bytes)};
}

Result<PlannedFile> TreePlan::planned(const std::string& path) const {
    const bool lands = direction_ == Direction::land;
    PlannedFile out;
    out.path = path;
    out.from = TRY((lands ? parts_.tree : parts_.shared).read(path));
    out.into = TRY((lands ? parts_.shared : parts_.tree).read(path));
    if (out.into && out.into->form == Form::file) out.into_on_disk = out.into->sight.hash;
    if (lands && parts_.shown && out.into_on_disk) show_document(out);
    const auto found = parts_.state.heads.find(path);
    const views::Head* const head = found == parts_.state.heads.end() ? nullptr : &found->second;
    const std::optional<std::string> base = TRY(base_of(out, head));
    const auto is_link = [](const std::optional<Content>& side) {
        return side && side->form == Form::link;
    };
    const std::optional<text::Charset> declared = parts_.gate.rules()->paths.encoding(path);
    Sides sides{base ? std::optional<std::string_view>(*base) : std::nullopt, bytes_of(out.from),
                bytes_of(out.into)};
    views::Manner manner;
    manner.whole = is_link(out.from) || is_link(out.into) || parts_.gate.is_never_merged(path);
    // The workspace's comes first of two insertions at one place, whichever way it goes.
    manner.first = lands ? text::Side::ours : text::Side::theirs;
    Brought made = bring_bytes(sides, manner, path, declared);
    // A record of a tie has the adopted tree's side as `from`, whatever the direction. So a refresh
    // that ties is computed again as a land, for its ties alone; their lines then count in the
    // workspace's file, as the record says.
    if (!lands && !made.ties.empty()) {
        std::swap(sides.from, sides.into);
        manner.first = text::Side::ours;
        made.ties = bring_bytes(sides, manner, path, declared).ties;
    }
    out.ties = std::move(made.ties);
    for (views::Tie& tie : out.ties) make_text(tie);

    // The form, file or link, goes with the bytes. The permission to execute is merged by itself:
    // the side that changed it since the head wins. Both can only have changed it alike.
    const bool takes_from = out.from && made.text == out.from->bytes;
    out.form = takes_from ? out.from->form : out.into ? out.into->form : Form::file;
    const bool ran = head != nullptr && head->runs;
    const bool from_runs = out.from && out.from->runs, into_runs = out.into && out.into->runs;
    out.runs = !out.into || (out.from && from_runs != ran) ? from_runs : into_runs;
    out.base_runs = out.from ? from_runs : ran;
    out.bytes = std::move(made.text);
    out.base = std::move(made.base);
    return out;
}

Result<void> TreePlan::settle(const PlannedFile& file, std::int64_t now_ms,
                              views::TreeState& state) const {
    std::vector<views::OpenTie> open;
    for (const views::Tie& tie : file.ties) {
        views::OpenTie next{file.path, tie, now_ms};
        // A tie that was open before keeps the time when it was met first.
        for (const views::OpenTie& before : state.ties) {
            if (before.path == file.path && before.tie.base == tie.base &&
                before.tie.from == tie.from)
                next.since_ms = before.since_ms;
        }
        open.push_back(std::move(next));
    }
    std::erase_if(state.ties, [&](const views::OpenTie& each) { return each.path == file.path; });
    std::ranges::move(open, std::back_inserter(state.ties));
    // Both sides agree that the file is gone, or they never had anything in common.
    if (!file.base) {
        state.heads.erase(file.path);
        return {};
    }
    views::Head& head = state.heads[file.path];
    head.base = fs::Hash::of(*file.base);
    head.runs = file.base_runs;
    const bool is_of_from = file.from && file.from->sight.hash == head.base;
    head.form = is_of_from ? file.from->form : file.form;
    TRY(parts_.bases.add(head.base, *file.base));
    // A file that was written is read again by the next survey.
    const views::StampDigest from =
        file.from ? views::digest_of(file.from->sight, head.base) : views::StampDigest{0};
    const bool is_read = file.into && !file.writes() && !file.sets_mode();
    const views::StampDigest into =
        is_read ? views::digest_of(file.into->sight, head.base) : views::StampDigest{0};
    head.tree = direction_ == Direction::land ? from : into;
    head.shared = direction_ == Direction::land ? into : from;
    return {};
}

std::vector<TreeConflict> conflicts_of(const views::TreeState& state) {
    std::vector<TreeConflict> out;
    for (const views::OpenTie& each : state.ties)
        out.push_back({each.path, each.tie.kind, each.tie.line, each.tie.base, each.tie.from,
                       each.tie.into, each.since_ms});
    return out;
}

}  // namespace quire::kernel
