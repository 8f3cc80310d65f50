// Paths of an abstract run: where operands lead, through the links of the tree and those that the script
// made, and the effects on them.
//
// Two worlds lie over each other: the tree as it was before the script, and what the script may
// have made (made_, made_directories_, made_links_). Nothing is ever taken out of either, as a
// branch that deletes a file may not be taken. So a path may lead to several places, and the effect
// is on all of them.
#include <algorithm>
#include <memory>

#include "base/concat.h"
#include "shell/run.h"

namespace quire::shell {

namespace {

// Linux follows 40 links in one path, and then fails with ELOOP.
constexpr int kMostLinks = 40;
constexpr std::size_t kMostResolved = 200;  // For one operand.

// Files that are no files: reading or writing them changes nothing.
bool is_harmless(std::string_view path) {
    constexpr std::string_view kNames[] = {"/dev/null",   "/dev/zero",   "/dev/full",
                                           "/dev/tty",    "/dev/stdin",  "/dev/stdout",
                                           "/dev/stderr", "/dev/random", "/dev/urandom"};
    return path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/") ||
           std::find(std::begin(kNames), std::end(kNames), path) != std::end(kNames);
}

}  // namespace

// "" for a relative name without a '/'. A '/' at the end is not looked at.
std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return "";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string last_component(const std::string& path) {
    std::string_view rest = path;
    while (rest.size() > 1 && rest.ends_with('/')) rest.remove_suffix(1);
    const std::size_t slash = rest.rfind('/');
    return std::string(slash == std::string_view::npos ? rest : rest.substr(slash + 1));
}

Value either(const Value& one, const Value& other) {
    if (!one.is_known() || !other.is_known()) {
        Value out = one.is_known() ? other : one;
        out.is_many = one.is_many || other.is_many;
        return out;
    }
    Value out = one;
    out.is_optional = one.is_optional || other.is_optional;
    for (const std::string& text : other.texts) {
        const auto at = std::lower_bound(out.texts.begin(), out.texts.end(), text);
        if (at == out.texts.end() || *at != text) out.texts.insert(at, text);
    }
    if (out.texts.size() > kMostValues) return Value::unknown("it may have too many values");
    return out;
}

Value joined(const Value& one, const Value& other) {
    if (!one.is_known()) return one;
    if (!other.is_known()) return other;
    Value out;
    for (const std::string& first : one.texts) {
        for (const std::string& second : other.texts) {
            const bool is_joined = !first.empty() && !second.empty();
            if (is_joined && first.size() + second.size() > kLongestText)
                return Value::unknown("it is too long");
            out = out.texts.empty() ? Value::of(first + second)
                                    : either(out, Value::of(first + second));
        }
        if (!out.is_known()) return out;
    }
    return out;
}

// The word is cut to 200 bytes, and an unknown run of characters in it is shown as '?'.
void Run::warn(std::string kind, const std::string& word, std::string why) {
    std::string shown_word = word.substr(0, 200);
    std::replace(shown_word.begin(), shown_word.end(), kSomeName, '?');
    warnings_.insert({std::move(kind), std::move(shown_word), std::move(why)});
}

// The form of Predicted::path: relative below the root.
std::string Run::shown(const std::string& path) const {
    const std::string& root = situation_.root;
    std::string out = path;
    if (path == root) return "";
    if (path.starts_with(root == "/" ? root : root + "/"))
        out = path.substr(root == "/" ? 1 : root.size() + 1);
    std::replace(out.begin(), out.end(), kSomeName, '?');
    return out;
}

void Run::emit(Effect effect, const std::string& path, bool below) {
    if (is_harmless(path)) return;
    if (path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/"))
        return warn("network", path, "it is a connection to another machine");
    // A name that is not known may be any name in its directory.
    const std::size_t some = path.find(kSomeName);
    if (some != std::string::npos) {
        effects_.insert({shown(path), effect});
        if (effect == Effect::create) made_[parent_of(path)].insert(last_component(path));
        return emit(effect, path.substr(0, std::max<std::size_t>(path.rfind('/', some), 1)), true);
    }
    // From now on a file may be gone, and a link may be none any more.
    if (effect == Effect::erase || can_be_link(path)) replaces_ = true;
    std::string out = shown(path);
    if (below) {
        if (!out.empty() && !out.ends_with('/')) out += '/';
        if (out.empty()) out = "./";
    }
    effects_.insert({std::move(out), effect});
    if (effect == Effect::create || effect == Effect::write || effect == Effect::append)
        made_[parent_of(path)].insert(last_component(path));
}

// A script often names a file many times, and each look at the disk is a system call.
const TreeView::Entry& Run::look(const std::string& path) const {
    const auto [at, is_new] = looked_.try_emplace(path);
    if (is_new) at->second = tree_.look(path);
    return at->second;
}

// A path may be all that it was and that the script may have made of it.
bool Run::can_be_link(const std::string& path) const {
    return look(path).kind == TreeView::Kind::link || made_links_.contains(path);
}

bool Run::can_be_directory(const std::string& path) const {
    return look(path).kind == TreeView::Kind::directory || made_directories_.contains(path);
}

bool Run::can_exist(const std::string& path) const {
    if (look(path).kind != TreeView::Kind::none || can_be_link(path) || can_be_directory(path))
        return true;
    const auto made = made_.find(parent_of(path));
    return made != made_.end() && made->second.contains(last_component(path));
}

// Walks the components of an absolute path. A link that the script made stands beside what was there.
// It calls itself where a link may be, for each target with the rest of the path. It then goes on
// as if no link were there, unless the tree has one for certain. `links` counts the links on this
// way; kMostResolved bounds all ways of one operand, as each uncertain link doubles them. All ways
// of all operands are bounded as steps.
void Run::resolve(std::string path, LastLink last, int links, std::vector<std::string>& out) {
    if (!spend_on(path)) return;
    if (++resolved_ > kMostResolved)
        return warn("too_complex", path.substr(0, 80), "its links lead to too many places");
    // These links of the system lead to what the command has open itself.
    if (is_harmless(path)) return out.push_back(std::move(path));
    std::string done;  // Without links; "" is the root directory.
    std::size_t at = 0;
    // No component of the workspace's own path is a link, unless the script made it one.
    const std::string& root = situation_.root;
    if (made_links_.empty() && root.size() > 1 && path.size() > root.size() &&
        path[root.size()] == '/' && path.starts_with(root)) {
        done = root;
        at = root.size();
    }
    const bool ends_in_slash = path.size() > 1 && path.ends_with('/');
    while (at < path.size()) {
        while (at < path.size() && path[at] == '/') ++at;
        if (at == path.size()) break;
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string_view name = std::string_view(path).substr(at, end - at);
        at = end;
        if (name == ".") continue;
        if (name == "..") {
            done = done.empty() ? "" : done.substr(0, done.rfind('/'));
            continue;
        }
        std::string here = cat(done, "/", name);
        const bool is_last = path.find_first_not_of('/', at) == std::string::npos;
        if (is_last && is_harmless(here)) {
            done = std::move(here);
            break;
        }
        // A '/' behind the name follows a link even for LastLink::itself.
        const bool follows = !is_last || last == LastLink::followed || ends_in_slash;
        std::vector<std::string> targets;
        const bool is_known = here.find(kSomeName) == std::string::npos;
        const TreeView::Entry* const entry = is_known ? &look(here) : nullptr;
        const bool is_link = entry != nullptr && entry->kind == TreeView::Kind::link;
        if (is_link) targets.push_back(entry->target);
        const auto made = made_links_.find(here);
        if (made != made_links_.end())
            targets.insert(targets.end(), made->second.begin(), made->second.end());
        if (follows && !targets.empty() && links < kMostLinks) {
            for (const std::string& target : targets) {
                const std::string base = target.starts_with('/') ? "" : cat(done, "/");
                resolve(cat(base, target, path.substr(at)), last, links + 1, out);
                if (resolved_ > kMostResolved || !can_go_on()) return;
            }
            if (is_link && !has_replaced_) return;
        }
        done = std::move(here);
    }
    out.push_back(done.empty() ? "/" : done);
}

// Texts times working directories times the ways through links, sorted, each once.
std::vector<std::string> Run::paths_of(const Arg& operand, LastLink last) {
    std::vector<std::string> out;
    resolved_ = 0;
    for (const std::string& text : operand.texts) {
        if (text.empty()) continue;
        if (text.front() == '/') {
            resolve(text, last, 0, out);
            continue;
        }
        for (const std::string& cwd : state_->cwds) resolve(cat(cwd, "/", text), last, 0, out);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

namespace {

// An unknown file that is written or deleted is asked about (judge.h); one that is read only is
// told.
std::string_view kind_of_unknown(Effect effect) {
    return effect == Effect::read || effect == Effect::execute ? "unpredictable_command"
                                                               : "unresolved_destructive";
}

}  // namespace

void Run::effect(Effect effect, const Arg& operand, LastLink last) {
    if (!operand.is_known())
        return warn(std::string(kind_of_unknown(effect)), operand.why,
                    cat("what is to be ", effect == Effect::erase ? "deleted" : name_of(effect),
                        " is not known"));
    const bool is_relative = std::any_of(operand.texts.begin(), operand.texts.end(),
                                         [](const auto& text) { return !text.starts_with('/'); });
    if (is_relative && state_->cwds.empty())
        return warn(std::string(kind_of_unknown(effect)), operand.texts.front(),
                    "the working directory is not known");
    for (const std::string& path : paths_of(operand, last)) emit(effect, path, false);
}

void Run::effect_below(Effect effect, const Arg& operand, LastLink last) {
    this->effect(effect, operand, last);
    for (const std::string& path : paths_of(operand, last)) emit(effect, path, true);
}

// A deep copy writes through the links that are already there: where a link has the name of a
// copied file, its target is replaced. The walk follows no link, and ends at kMostFiles.
void Run::write_links_below(const Arg& operand) {
    constexpr std::size_t kMostFiles = 2'000;
    std::vector<std::string> left = paths_of(operand);
    for (std::size_t seen = 0; !left.empty(); ++seen) {
        const std::string path = std::move(left.back());
        left.pop_back();
        if (seen == kMostFiles)
            return warn("too_complex", shown(path), "there are too many files to look at");
        if (can_be_link(path)) {
            for (const std::string& target : paths_of(Value::of(path))) {
                emit(Effect::write, target, false);
                emit(Effect::create, target, true);
            }
        }
        if (!can_be_directory(path)) continue;
        for (const std::string& name : names_in(path)) left.push_back(cat(path, "/", name));
    }
}

// A copied or moved link leads to the same text from its new place. Later commands must find it
// there.
void Run::carry_links(const Arg& source, const Arg& place) {
    constexpr std::size_t kMostFiles = 2'000;
    const std::vector<std::string> places = paths_of(place, LastLink::itself);
    for (const std::string& from : paths_of(source, LastLink::itself)) {
        std::vector<std::string> left = {from};
        for (std::size_t seen = 0; !left.empty(); ++seen) {
            const std::string path = std::move(left.back());
            left.pop_back();
            if (seen == kMostFiles)
                return warn("too_complex", shown(path), "there are too many files to look at");
            std::set<std::string> targets;
            if (look(path).kind == TreeView::Kind::link) targets.insert(look(path).target);
            if (const auto made = made_links_.find(path); made != made_links_.end())
                targets.insert(made->second.begin(), made->second.end());
            if (!targets.empty()) {
                for (const std::string& to : places)
                    made_links_[cat(to, path.substr(from.size()))].insert(targets.begin(),
                                                                          targets.end());
            }
            if (!can_be_directory(path)) continue;
            for (const std::string& name : names_in(path)) left.push_back(cat(path, "/", name));
        }
    }
}

bool Run::may_exist(const Arg& operand) {
    const std::vector<std::string> paths = paths_of(operand);
    return std::ranges::any_of(paths, [&](const auto& path) { return can_exist(path); });
}

// The rules tell a new file from a file that is replaced, and so does the effect.
void Run::write(const Arg& operand, LastLink last) {
    if (!operand.is_known() || state_->cwds.empty()) return effect(Effect::write, operand, last);
    for (const std::string& path : paths_of(operand, last)) {
        const bool is_there = look(path).kind != TreeView::Kind::none;
        emit(is_there ? Effect::write : Effect::create, path, false);
    }
}

void Run::append(const Arg& operand) {
    if (!operand.is_known() || state_->cwds.empty()) return effect(Effect::append, operand);
    for (const std::string& path : paths_of(operand)) {
        const bool is_there = look(path).kind != TreeView::Kind::none;
        emit(is_there ? Effect::append : Effect::create, path, false);
    }
}

void Run::make_directory(const Arg& operand) {
    effect(Effect::create, operand);
    for (const std::string& path : paths_of(operand)) made_directories_.insert(path);
}

void Run::make_missing_directory(const Arg& operand) {
    if (!operand.is_known() || state_->cwds.empty()) return effect(Effect::create, operand);
    for (const std::string& path : paths_of(operand)) {
        if (look(path).kind != TreeView::Kind::none && !has_replaced_) continue;
        emit(Effect::create, path, false);
        made_directories_.insert(path);
    }
}

// The text of a link is kept as it is: a relative one is read from the link's directory by
// resolve().
void Run::make_link(const Arg& operand, const Arg& target) {
    if (!target.is_known())
        return warn("unpredictable_command", target.why, "where the link leads is not known");
    write(operand, LastLink::itself);
    for (const std::string& path : paths_of(operand, LastLink::itself))
        made_links_[path].insert(target.texts.begin(), target.texts.end());
}

bool Run::may_be_directory(const Arg& operand) {
    const std::vector<std::string> paths = paths_of(operand);
    return std::ranges::any_of(paths, [&](const auto& path) { return can_be_directory(path); });
}

bool Run::may_be_link(const Arg& operand) {
    const std::vector<std::string> paths = paths_of(operand, LastLink::itself);
    return std::ranges::any_of(paths, [&](const auto& path) { return can_be_link(path); });
}

std::vector<std::string> Run::names_in(const std::string& directory) const {
    const auto [at, is_new] = listed_.try_emplace(directory);
    if (is_new) at->second = tree_.list(directory);
    std::vector<std::string> out = at->second;
    const auto made = made_.find(directory);
    if (made == made_.end()) return out;
    out.insert(out.end(), made->second.begin(), made->second.end());
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace quire::shell
