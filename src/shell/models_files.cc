// Models of the commands that make, move, change and delete files.
// The models are wide on purpose. Whether a target is a directory may depend on what ran before, so
// both places get the effect; what a deep copy or move touches is all below the target. LastLink
// says if the command follows a link: cp, touch and chmod write through one, mv and rm take the
// link itself.
#include <algorithm>

#include "base/concat.h"
#include "shell/models.h"

namespace quire::shell {

namespace {

std::string name_in(const std::string& path) {
    return last_component(path);
}

// Calls to(source, target) for each source and each place where it may go: into the target, if that
// may be a directory, and in its place unless it is one for certain.
template <class To>
void for_each_target(const Call& call, const Options& options, To to) {
    std::vector<Arg> sources = options.operands;
    Arg target;
    const Arg* const directory = options.value("t");
    if (directory != nullptr) {
        target = *directory;
    } else {
        if (sources.size() < 2) {
            // One that is not known may be several words.
            for (const Arg& each : sources) {
                if (!each.is_known()) call.run.effect(Effect::write, each);
            }
            return;
        }
        target = sources.back();
        sources.pop_back();
    }
    if (!target.is_known()) return call.run.effect(Effect::write, target);
    const bool ends_in_slash = std::any_of(target.texts.begin(), target.texts.end(),
                                           [](const auto& text) { return text.ends_with('/'); });
    // The last word may not be there: then one before it is the target.
    const auto sure = std::count_if(options.operands.begin(), options.operands.end(),
                                    [](const Arg& each) { return !each.is_optional; });
    const bool is_directory = directory != nullptr || sure > 2;
    const bool may_be = !options.has("T") && (is_directory || sources.size() > 1 || ends_in_slash ||
                                              call.run.may_be_directory(target));
    for (const Arg& source : sources) {
        if (!source.is_known()) {
            call.run.effect(Effect::read, source);
            call.run.effect(Effect::write, may_be ? Value::unknown(source.why) : target);
            continue;
        }
        for (const std::string& text : source.texts) {
            const Arg one = Value::of(text);
            if (may_be) to(one, within(target, name_in(text)));
            if (!is_directory) to(one, target);
        }
    }
}

// The old target under another name, with -b or -S: NAME~ or NAME with the given suffix.
void backup(const Call& call, const Options& options, const Arg& target) {
    if (options.has("b") || options.has("S")) {
        const Arg* const way = options.value("b");
        if (way != nullptr && !(*way == Value::of("simple")))
            call.unpredictable("how it names its backups is not known");
        const Arg* const suffix = options.value("S");
        call.run.write(suffix == nullptr ? with_suffix(target, "~") : joined(target, *suffix),
                       LastLink::itself);
        // The target gets the other name first, and is gone if what follows fails.
        if (call.run.may_exist(target)) call.run.effect(Effect::erase, target, LastLink::itself);
    }
}

void cp_model(const Call& call) {
    Options options;
    if (!read_options(
            call, "abdfiHlLnPprRsS:t:TuvxZ",
            "archive:r backup?:b force:f interactive:i link:l dereference:L no-clobber:n "
            "no-dereference:P preserve? no-preserve= parents recursive:r reflink? "
            "remove-destination:f sparse= strip-trailing-slashes symbolic-link:s suffix=:S "
            "target-directory=:t no-target-directory:T update? verbose one-file-system",
            options))
        return;
    const bool is_deep = options.has("r") || options.has("R") || options.has("a");
    for_each_target(call, options, [&](const Arg& source, const Arg& target) {
        // A second name of a file has no place in the model of a tree.
        if (options.has("l")) return call.unpredictable("hard links share what is written to them");
        if (options.has("s")) return call.run.make_link(target, source);
        const Arg place =
            options.has("parents") ? joined(target, joined(Value::of("/"), source)) : target;
        if (options.has("parents")) call.run.effect_below(Effect::create, target);
        backup(call, options, place);
        if (is_deep) {
            call.run.effect_below(Effect::read, source);
            call.run.effect_below(Effect::create, place);
            call.run.effect_below(Effect::write, place);
            call.run.write_links_below(place);
            call.run.carry_links(source, place);
        } else {
            call.run.effect(Effect::read, source);
            call.run.write(place);
            if (options.has("d") || options.has("P")) call.run.carry_links(source, place);
        }
        // A target that cannot be opened, or that is a link in a deep copy, is replaced itself.
        if (options.has("f") || is_deep) call.run.write(place, LastLink::itself);
    });
}

// The source is deleted and the target replaced. The links that move with it are known at the new
// place.
void mv_model(const Call& call) {
    Options options;
    if (!read_options(call, "bfinS:t:TuvZ",
                      "backup?:b force:f interactive:i no-clobber:n suffix=:S target-directory=:t "
                      "no-target-directory:T update? verbose strip-trailing-slashes",
                      options))
        return;
    for_each_target(call, options, [&](const Arg& source, const Arg& target) {
        backup(call, options, target);
        const bool is_deep = call.run.may_be_directory(source);
        if (is_deep) {
            call.run.effect_below(Effect::erase, source, LastLink::itself);
            call.run.effect_below(Effect::create, target, LastLink::itself);
        } else {
            call.run.effect(Effect::erase, source, LastLink::itself);
        }
        call.run.write(target, LastLink::itself);
        call.run.carry_links(source, target);
    });
}

void ln_model(const Call& call) {
    Options options;
    if (!read_options(call, "bdfFiLnPrsS:t:Tv",
                      "backup?:b force:f interactive:i logical:L no-dereference:n physical:P "
                      "relative:r symbolic:s suffix=:S target-directory=:t no-target-directory:T "
                      "verbose",
                      options))
        return;
    const auto link = [&](const Arg& source, const Arg& target) {
        backup(call, options, target);
        if (options.has("s")) {
            if (options.has("r")) call.unpredictable("where a relative link leads is not known");
            return call.run.make_link(target, source);
        }
        // The new name gives a way to write to the old one.
        call.run.effect(Effect::write, source);
        call.run.write(target, LastLink::itself);
        call.run.make_link(target, source);
    };
    // With one operand the link is made in the working directory, under the last name of its
    // target.
    const bool may_be_one = std::all_of(
        options.operands.begin(), options.operands.end(),
        [&](const Arg& each) { return each.is_optional || &each == &options.operands[0]; });
    if (may_be_one && !options.operands.empty() && !options.has("t")) {
        for (const std::string& text : options.operands.front().texts)
            link(Value::of(text), Value::of(name_in(text)));
    }
    // -n takes a link to a directory as the link that it is.
    for_each_target(call, options, link);
}

// Like cp, but the target is replaced, never written through. -d makes directories, -D those above
// a target.
void install_model(const Call& call) {
    Options options;
    if (!read_options(call, "bcCdDg:m:o:pS:st:Tv",
                      "backup?:b compare:C directory:d group=:g mode=:m owner=:o "
                      "preserve-timestamps:p strip:s suffix=:S target-directory=:t "
                      "no-target-directory:T verbose",
                      options))
        return;
    if (options.has("d")) {
        for (const Arg& each : options.operands) {
            // A file that is there gets another mode.
            if (call.run.may_exist(each)) call.run.effect(Effect::write, each);
            for (const std::string& text : each.texts) {
                for (std::string at = text; !at.empty() && at != "/"; at = parent_of(at))
                    call.run.make_missing_directory(Value::of(at));
            }
            if (!each.is_known()) call.run.effect(Effect::create, each);
        }
        return;
    }
    for_each_target(call, options, [&](const Arg& source, const Arg& target) {
        backup(call, options, target);
        call.run.effect(Effect::read, source);
        if (options.has("D")) {
            for (const std::string& text : target.texts) {
                for (std::string at = parent_of(text); !at.empty() && at != "/";
                     at = parent_of(at)) {
                    call.run.make_missing_directory(Value::of(at));
                }
            }
        }
        call.run.write(target, LastLink::itself);
        // The target is deleted first. A source that is reached through it is gone then.
        if (call.run.may_be_link(target)) call.run.effect(Effect::erase, target, LastLink::itself);
    });
}

// A link is deleted, and what it leads to stays, also with -r.
void rm_model(const Call& call) {
    Options options;
    if (!read_options(call, "dfiIrRv",
                      "dir:d force:f interactive? one-file-system no-preserve-root preserve-root? "
                      "recursive:r verbose:v",
                      options))
        return;
    const bool is_deep = options.has("r") || options.has("R");
    for (const Arg& each : options.operands) {
        if (is_deep) {
            call.run.effect_below(Effect::erase, each, LastLink::itself);
        } else {
            call.run.effect(Effect::erase, each, LastLink::itself);
        }
    }
}

void rmdir_model(const Call& call) {
    Options options;
    if (!read_options(call, "pv", "ignore-fail-on-non-empty parents:p verbose:v", options)) return;
    for (const Arg& each : options.operands) {
        call.run.effect(Effect::erase, each, LastLink::itself);
        if (!options.has("p")) continue;
        for (const std::string& text : each.texts) {
            for (std::string at = parent_of(text); !at.empty() && at != "/"; at = parent_of(at))
                call.run.effect(Effect::erase, Value::of(at));
        }
    }
}

// The content is overwritten through a link; with -u the name is deleted too, or what it leads to.
void shred_model(const Call& call) {
    Options options;
    if (!read_options(call, "fn:s:uvxz", "force iterations= size= remove?:u verbose exact zero",
                      options))
        return;
    for (const Arg& each : options.operands) {
        call.run.effect(Effect::write, each);
        if (options.has("u")) {
            call.run.effect(Effect::erase, each, LastLink::itself);
            call.run.effect(Effect::erase, each);
        }
    }
}

void mkdir_model(const Call& call) {
    Options options;
    if (!read_options(call, "m:pvZ", "mode=:m parents:p verbose", options)) return;
    for (const Arg& each : options.operands) {
        if (!each.is_known() || !options.has("p")) {
            call.run.make_directory(each);
            continue;
        }
        for (const std::string& text : each.texts) {
            for (std::string at = text; !at.empty() && at != "/"; at = parent_of(at)) {
                call.run.make_missing_directory(Value::of(at));
            }
        }
    }
}

// New times are a write, also with -c: the model does not ask if the file is there.
void touch_model(const Call& call) {
    Options options;
    if (!read_options(call, "acd:fhmr:t:",
                      "no-create:c date=:d no-dereference:h reference=:r time=", options))
        return;
    if (const Arg* const reference = options.value("r")) call.run.effect(Effect::read, *reference);
    for (const Arg& each : options.operands)
        call.run.write(each, options.has("h") ? LastLink::itself : LastLink::followed);
}

void mktemp_model(const Call& call) {
    Options options;
    if (!read_options(call, "dp:qtu", "directory:d dry-run:u quiet suffix= tmpdir?", options))
        return;
    if (options.has("u")) return;
    Arg name = options.operands.empty() ? Value::of("tmp.XXXXXXXXXX") : options.operands.front();
    if (!name.is_known()) return call.run.effect(Effect::create, name);
    const bool in_tmp =
        options.operands.empty() || options.has("t") || options.has("tmpdir") || options.has("p");
    const Arg* directory = options.value("p");
    if (directory == nullptr) directory = options.value("tmpdir");
    for (const std::string& text : name.texts) {
        const std::size_t last = text.rfind('X');
        if (last == std::string::npos) continue;
        std::size_t first = last;
        // The last run of X is replaced by random characters.
        while (first > 0 && text[first - 1] == 'X') --first;
        Arg made =
            Value::of(cat(text.substr(0, first), std::string(1, kSomeName), text.substr(last + 1)));
        if (in_tmp) {
            const auto tmp = call.run.situation().environment.find("TMPDIR");
            const std::string usual =
                tmp == call.run.situation().environment.end() ? "/tmp" : tmp->second;
            made = joined(directory == nullptr ? Value::of(usual) : *directory,
                          joined(Value::of("/"), made));
        }
        call.run.effect(Effect::create, made);
    }
}

void make_special_model(const Call& call) {
    Options options;
    if (!read_options(call, "m:Z", "mode=:m", options)) return;
    // mknod takes a type and numbers behind its one name.
    const std::size_t count = call.name == "mkfifo" ? options.operands.size() : 1;
    for (std::size_t i = 0; i < std::min(count, options.operands.size()); ++i)
        call.run.effect(Effect::create, options.operands[i]);
}

void truncate_model(const Call& call) {
    Options options;
    if (!read_options(call, "cor:s:", "no-create:c io-blocks reference=:r size=:s", options))
        return;
    for (const Arg& each : options.operands) call.run.write(each);
}

void dd_model(const Call& call) {
    for (const Arg& each : call.arguments) {
        if (!each.is_known()) return call.unpredictable("which file it writes is not known");
        for (const std::string& text : each.texts) {
            if (text.starts_with("of=")) call.run.write(Value::of(text.substr(3)));
            if (text.starts_with("if=")) call.run.effect(Effect::read, Value::of(text.substr(3)));
        }
    }
}

void tee_model(const Call& call) {
    Options options;
    if (!read_options(call, "aip", "append:a ignore-interrupts output-error?", options)) return;
    for (const Arg& each : options.operands) {
        if (options.has("a")) {
            call.run.append(each);
        } else {
            call.run.write(each);
        }
    }
}

// Returns true if a mode of chmod leaves its owner the right to list and enter a directory for certain.
// A directory that can no longer be listed hides its names from later patterns.
bool keeps_directories_open(const std::string* mode) {
    if (mode == nullptr) return false;
    const bool is_octal = mode->find_first_not_of("01234567") == std::string::npos;
    if (is_octal) return mode->size() >= 3 && ((((*mode)[mode->size() - 3]) - '0') & 5) == 5;
    return mode->find_first_of("-=") == std::string::npos;
}

// chmod, chown and chgrp: their first operand is no file, unless it is given by another's.
void mode_model(const Call& call) {
    std::vector<Arg> arguments = call.arguments;
    // "-x" takes a right away: it is a mode, and no option.
    if (call.name == "chmod") {
        for (Arg& each : arguments) {
            const std::string* const text = each.single();
            const bool is_mode = text != nullptr && text->size() > 1 && text->front() == '-' &&
                                 text->find_first_not_of("rwxXstugo,+=-") == std::string::npos &&
                                 text->find_first_of("rwxXst") != std::string::npos;
            if (is_mode) each = Value::of("a" + *text);
        }
    }
    Options options;
    if (!read_options({call.run, call.name, arguments, call.input}, "cfhHLPRv",
                      "changes:c dereference from= no-dereference:h no-preserve-root preserve-root "
                      "quiet:f recursive:R reference= silent:f verbose:v",
                      options))
        return;
    const std::size_t first = options.has("reference") ? 0 : 1;
    const LastLink last = options.has("h") ? LastLink::itself : LastLink::followed;
    const bool keeps_open = call.name == "chmod" && first < options.operands.size() && first == 1 &&
                            keeps_directories_open(options.operands[0].single());
    for (std::size_t i = first; i < options.operands.size(); ++i) {
        if (options.has("R")) {
            call.run.effect_below(Effect::write, options.operands[i], last);
        } else {
            call.run.effect(Effect::write, options.operands[i], last);
        }
        if (!keeps_open && (options.has("R") || call.run.may_be_directory(options.operands[i])))
            call.run.may_hide_names();
    }
}

}  // namespace

Model file_model(std::string_view name) {
    struct Row {
        std::string_view name;
        Model model;
    };
    constexpr Row kRows[] = {{"cp", cp_model},
                             {"mv", mv_model},
                             {"ln", ln_model},
                             {"install", install_model},
                             {"rm", rm_model},
                             {"unlink", rm_model},
                             {"rmdir", rmdir_model},
                             {"shred", shred_model},
                             {"mkdir", mkdir_model},
                             {"touch", touch_model},
                             {"mktemp", mktemp_model},
                             {"mkfifo", make_special_model},
                             {"mknod", make_special_model},
                             {"truncate", truncate_model},
                             {"dd", dd_model},
                             {"tee", tee_model},
                             {"chmod", mode_model},
                             {"chown", mode_model},
                             {"chgrp", mode_model}};
    for (const Row& row : kRows) {
        if (row.name == name) return row.model;
    }
    return nullptr;
}

}  // namespace quire::shell
