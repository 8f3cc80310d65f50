#include "cli/settings/config.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "kernel/memory/memory_header.h"
#include "text/glob.h"

namespace quire::cli {
namespace {

using Words = std::span<const std::string_view>;

std::string listed(Words words) {
    std::string out;
    for (const std::string_view word : words)
        cat_to(out, out.empty() ? "" : ", "), cat_to(out, word);
    return out;
}

bool contains(Words words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::size_t line_of(const toml::node& node) {
    return node.source().begin.line;
}

Failure wrong(std::string_view file, std::size_t line, std::string_view what) {
    Map details;
    details.set("file", file);
    details.set("line", line);
    return invalid("invalid_config", cat(file, ":", line, ": ", what), std::move(details));
}

Value value_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return number->get();
    if (const auto* number = node.as_floating_point(); number && std::isfinite(number->get()))
        return number->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* array = node.as_array()) {
        List list;
        for (const toml::node& each : *array) list.push_back(value_of(each));
        return list;
    }
    if (const auto* table = node.as_table()) {
        Map map;
        for (const auto& [key, each] : *table) map.set(key.str(), value_of(each));
        return map;
    }
    // JSON has no dates, no times and no nan: as they stand in TOML.
    std::ostringstream text;
    if (const auto* date = node.as_date()) text << date->get();
    if (const auto* time = node.as_time()) text << time->get();
    if (const auto* moment = node.as_date_time()) text << moment->get();
    if (const auto* number = node.as_floating_point()) text << number->get();
    return text.str();
}

// One table being read. Every key that is asked for is a key there may be; end() refuses the
// others.
class Section {
public:
    Section(const toml::table& table, std::string name, std::string_view file)
        : table_(table), name_(std::move(name)), file_(file) {}

    std::size_t line() const { return line_of(table_); }
    const toml::node* node(std::string_view key) {
        if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
        return table_.get(key);
    }
    Failure wrong(const toml::node& at, std::string_view what) const {
        return cli::wrong(file_, line_of(at), what);
    }
    Failure wrong(std::string_view what) const { return cli::wrong(file_, line(), what); }
    std::string full(std::string_view key) const {
        return name_.empty() ? std::string(key) : cat(name_, ".", key);
    }

    Result<void> read(std::string_view key, std::string& out) {
        const toml::node* at = node(key);
        if (at == nullptr) return {};
        if (!at->is_string()) return wrong(*at, cat(full(key), " is a string, such as \"...\""));
        out = at->as_string()->get();
        return {};
    }
    Result<void> read(std::string_view key, bool& out) {
        const toml::node* at = node(key);
        if (at == nullptr) return {};
        if (!at->is_boolean()) return wrong(*at, cat(full(key), " is true or false"));
        out = at->as_boolean()->get();
        return {};
    }
    template <std::integral T>
    requires(!std::same_as<T, bool>) Result<void> read(std::string_view key, T& out,
                                                       std::int64_t least, std::int64_t most) {
        const toml::node* at = node(key);
        if (at == nullptr) return {};
        const std::int64_t number = at->is_integer() ? at->as_integer()->get() : least - 1;
        if (number < least || number > most) {
            return wrong(*at, cat(full(key), " is a whole number from ", least, " to ", most));
        }
        out = static_cast<T>(number);
        return {};
    }
    Result<void> read(std::string_view key, std::vector<std::string>& out) {
        const toml::node* at = node(key);
        if (at == nullptr) return {};
        const toml::array* array = at->as_array();
        std::vector<std::string> words;
        for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
            if (const auto* word = array->get(i)->as_string()) words.push_back(word->get());
        }
        if (array == nullptr || words.size() != array->size()) {
            return wrong(*at, cat(full(key), " is a list of strings, such as [\"...\"]"));
        }
        out = std::move(words);
        return {};
    }
    // The index of the word that stands there, or of `now`.
    Result<std::size_t> choice(std::string_view key, Words words, std::size_t now) {
        std::string word(words[now]);
        TRY(read(key, word));
        const auto found = std::find(words.begin(), words.end(), word);
        if (found == words.end()) {
            return wrong(*table_.get(key), cat(full(key), " cannot be '", word,
                                               "', expected one of: ", listed(words)));
        }
        return static_cast<std::size_t>(found - words.begin());
    }
    // Calls take(section) for the table at `key`, if there is one.
    template <class F>
    Result<void> table(std::string_view key, F take) {
        const toml::node* at = node(key);
        if (at == nullptr) return {};
        if (!at->is_table())
            return wrong(*at, cat(full(key), " is a table; write [", full(key), "]"));
        Section section(*at->as_table(), full(key), file_);
        TRY(take(section));
        return section.end();
    }
    // The same for each table of a list.
    template <class F>
    Result<void> tables(std::string_view key, F take) {
        const toml::node* at = node(key);
        if (at == nullptr) return {};
        const toml::array* array = at->as_array();
        const auto hint = [&] {
            return wrong(*at, cat(full(key), " is a list of tables; write [[", full(key), "]]"));
        };
        if (array == nullptr) return hint();
        for (const toml::node& each : *array) {
            if (!each.is_table()) return hint();
            Section section(*each.as_table(), full(key), file_);
            TRY(take(section));
            TRY(section.end());
        }
        return {};
    }
    // The keys of a table whose names are the operator's own.
    std::vector<std::string> keys() const {
        std::vector<std::string> keys;
        for (const auto& [key, value] : table_) keys.emplace_back(key.str());
        return keys;
    }

    Result<void> end() const {
        const std::vector<std::string_view> known(known_.begin(), known_.end());
        for (const auto& [key, value] : table_) {
            if (contains(known, key.str())) continue;
            return cli::wrong(
                file_, key.source().begin.line,
                cat("unknown key '", full(key.str()), "', expected one of: ", listed(known)));
        }
        return {};
    }

private:
    const toml::table& table_;
    std::string name_;
    std::string_view file_;
    std::vector<std::string> known_;  // The operator's own names are among them.
};

// --- files ---

Result<policy::PathRule> read_rule(Section& section) {
    std::string pattern;
    std::string permission;
    std::vector<std::string> escalated;
    const toml::node* pattern_at = section.node("pattern");
    const toml::node* permission_at = section.node("permission");
    if (pattern_at == nullptr)
        return section.wrong("a rule needs a pattern, such as pattern = \"src/**\"");
    if (permission_at == nullptr)
        return section.wrong("a rule needs a permission, such as permission = \"read_write\"");
    TRY(section.read("pattern", pattern));
    TRY(section.read("permission", permission));
    TRY(section.read("operations_requiring_escalation", escalated));

    auto glob = text::Glob::compile(pattern);
    if (!glob) return section.wrong(*pattern_at, glob.error().message());
    const auto level = policy::parse_permission(permission);
    if (!level) return section.wrong(*permission_at, level.error().message());
    policy::PathRule rule{std::move(*glob), *level, {}, line_of(*pattern_at)};
    for (const std::string& word : escalated) {
        const auto operations = policy::parse_operations(word);
        if (!operations) {
            return section.wrong(*section.node("operations_requiring_escalation"),
                                 operations.error().message());
        }
        rule.escalated.add(*operations);
    }
    return rule;
}

Result<void> read_files(Section& section, FileSettings& files) {
    constexpr std::array<std::string_view, 2> kSave = {"explicit", "on_commit"};
    const auto take_rule = [&](Section& rule) -> Result<void> {
        files.rules.push_back(TRY(read_rule(rule)));
        return {};
    };
    TRY(section.tables("rules", take_rule));
    TRY(section.read("watch", files.watch));
    TRY(section.read("settle_ms", files.settle_ms, 0, 60'000));
    TRY(section.read("ignore", files.ignore));
    files.save = static_cast<SaveWhen>(
        TRY(section.choice("save", kSave, static_cast<std::size_t>(files.save))));
    return {};
}

// --- tools ---

using policy::RuleType;
using policy::ToolRule;

std::string rule_types() {
    std::string out;
    for (const RuleType type : kEvery<policy::RuleType>)
        cat_to(out, cat(out.empty() ? "" : ", ", name_of(type)));
    return out;
}

std::string types_for_every_tool() {
    std::string out;
    for (const RuleType type : kEvery<policy::RuleType>) {
        if (policy::may_be_for_every_tool(type))
            cat_to(out, cat(out.empty() ? "" : ", ", name_of(type)));
    }
    return out;
}

// The strings of a list that is not empty. `hint` says what would be right.
Result<std::vector<std::string>> some_words(const Section& section, const toml::node& at,
                                            std::string_view hint) {
    const toml::array* array = at.as_array();
    if (array == nullptr || array->empty()) return section.wrong(at, hint);
    std::vector<std::string> words;
    for (const toml::node& each : *array) {
        if (!each.is_string()) return section.wrong(each, hint);
        words.push_back(each.as_string()->get());
    }
    return words;
}

Result<std::vector<std::string>> some_tools(const Section& section, const toml::node& at,
                                            std::string_view what) {
    return some_words(section, at, cat(what, " is a list of tools, such as [\"file\"]"));
}

// What a rule needs that lists other tools, as its value or as its conditions.
Result<void> read_tool_list(Section& section, const toml::node* value, const toml::node* conditions,
                            ToolRule& rule) {
    const std::string_view type = name_of(rule.type);
    if (value != nullptr && conditions != nullptr) {
        return section.wrong(*conditions,
                             cat(type, " takes its tools as value or as conditions, not as both"));
    }
    if (value == nullptr && conditions == nullptr)
        return section.wrong(cat(type, " needs a list of tools, as value or as conditions"));
    rule.tools = value != nullptr ? TRY(some_tools(section, *value, cat("the value of ", type)))
                                  : TRY(some_tools(section, *conditions, "conditions"));
    rule.value_line = line_of(value != nullptr ? *value : *conditions);
    return {};
}

Result<void> read_groups(const Section& section, const toml::node& at, ToolRule& rule) {
    const toml::array* array = at.as_array();
    if (array == nullptr || array->empty())
        return section.wrong(at, "the value of exclusive_groups is a list of lists of tools");
    for (const toml::node& group : *array)
        rule.groups.push_back(TRY(some_tools(section, group, "a group")));
    return {};
}

Result<void> read_value(Section& section, const toml::node* at, ToolRule& rule) {
    const std::string_view type = name_of(rule.type);
    if (at != nullptr) rule.value_line = line_of(*at);
    if (rule.type == RuleType::requires_consent) {
        if (at == nullptr) return {};
        if (!at->is_string())
            return section.wrong(*at, "the value of requires_consent is its scope, a string");
        rule.scope = at->as_string()->get();
        return {};
    }
    const bool counting = rule.type == RuleType::max_calls || rule.type == RuleType::cooldown ||
                          rule.type == RuleType::periodic;
    const bool valued = counting || rule.type == RuleType::allowed_operations ||
                        rule.type == RuleType::exclusive_groups;
    if (at == nullptr) {
        if (valued) return section.wrong(cat(type, " needs a value"));
        return {};
    }
    if (!valued) return section.wrong(*at, cat(type, " takes no value"));
    if (rule.type == RuleType::exclusive_groups) return read_groups(section, *at, rule);
    if (counting) {
        if (!at->is_integer() || at->as_integer()->get() < 0) {
            return section.wrong(
                *at,
                cat("the value of ", type, " is a whole number",
                    rule.type == RuleType::max_calls ? "" : " of milliseconds", ", not negative"));
        }
        rule.number = at->as_integer()->get();
        return {};
    }
    rule.operations = TRY(
        some_words(section, *at, "the value of allowed_operations is a list, such as [\"read\"]"));
    return {};
}

Result<void> read_per(Section& section, ToolRule& rule) {
    constexpr std::array<std::string_view, 3> kPer = {"session", "conversation", "persistent"};
    const toml::node* at = section.node("per");
    if (at == nullptr) return {};
    if (!policy::has_per(rule.type)) {
        return section.wrong(*at, cat(name_of(rule.type),
                                      " counts nothing, so it takes no per; max_calls, cooldown, "
                                      "exclusive_groups and requires_preceding_tools do"));
    }
    rule.per = kEvery<policy::Per>[TRY(section.choice("per", kPer, 0))];
    return {};
}

Result<ToolRule> read_tool_rule(Section& section) {
    ToolRule rule;
    rule.line = section.line();
    const toml::node* tool = section.node("tool");
    const toml::node* type = section.node("type");
    if (tool == nullptr)
        return section.wrong("a rule for tools needs a tool, such as tool = \"file\"");
    if (type == nullptr)
        return section.wrong("a rule for tools needs a type, such as type = \"max_calls\"");
    std::string type_word;
    TRY(section.read("tool", rule.tool));
    TRY(section.read("type", type_word));
    const auto known = enum_named<policy::RuleType>(type_word);
    if (!known) {
        return section.wrong(
            *type, cat("unknown rule type '", type_word, "', expected one of: ", rule_types()));
    }
    rule.type = *known;
    rule.tool_line = line_of(*tool);
    if (rule.for_every_tool() && !policy::may_be_for_every_tool(rule.type) &&
        rule.type != RuleType::allowed_operations) {
        return section.wrong(
            *tool, cat(type_word, " is for one tool; \"*\" is for ", types_for_every_tool()));
    }
    const toml::node* conditions = section.node("conditions");
    rule.priority = policy::default_priority(rule.type);
    TRY(section.read("priority", rule.priority, -1000, 1000));
    TRY(read_per(section, rule));
    if (const toml::node* metadata = section.node("metadata")) {
        if (!metadata->is_table()) return section.wrong(*metadata, "metadata is a table");
        rule.metadata = value_of(*metadata).as_map();
    }
    const toml::node* value = section.node("value");
    if (policy::lists_tools(rule.type)) {
        TRY(read_tool_list(section, value, conditions, rule));
        return rule;
    }
    if (conditions != nullptr) {
        return section.wrong(*conditions,
                             cat(type_word,
                                 " takes no conditions; requires_preceding_tools, "
                                 "requires_following_tools and required_before_exit_if "
                                 "do"));
    }
    TRY(read_value(section, value, rule));
    return rule;
}

Result<void> read_tools(Section& section, std::vector<ToolRule>& rules) {
    return section.tables("rules", [&](Section& rule) -> Result<void> {
        rules.push_back(TRY(read_tool_rule(rule)));
        return {};
    });
}

// --- mounts ---

constexpr std::size_t kLongestMountName = 32;

bool is_mount_name(std::string_view name) {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    return !name.empty() && name.size() <= kLongestMountName && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

// A program without arguments, or a list of it and them. No shell reads it.
Result<std::vector<std::string>> read_command(Section& section) {
    const toml::node* at = section.node("command");
    constexpr std::string_view kHint =
        R"(a mount needs a command, such as command = ["npx", "-y", "some-server"])";
    if (at == nullptr) return section.wrong(kHint);
    std::vector<std::string> words;
    if (const auto* word = at->as_string()) {
        words.push_back(word->get());
    } else if (at->is_array()) {
        TRY(section.read("command", words));
    } else {
        return section.wrong(
            *at, cat(section.full("command"), " is a program, or a list of it and its arguments"));
    }
    const bool has_nul = std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word.find('\0') != std::string::npos;
    });
    if (words.empty() || words.front().empty() || has_nul) return section.wrong(*at, kHint);
    return words;
}

// The strings of a table whose keys are the operator's own. The values are in no message.
Result<std::map<std::string, std::string>> read_strings(Section& section, std::string_view key,
                                                        std::string_view hint) {
    std::map<std::string, std::string> out;
    const auto take_all = [&](Section& table) -> Result<void> {
        for (const std::string& name : table.keys()) {
            std::string value;
            const toml::node& at = *table.node(name);
            if (!at.is_string()) return table.wrong(at, hint);
            TRY(table.read(name, value));
            if (value.find('\0') != std::string::npos || name.empty() ||
                name.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
                return table.wrong(at, hint);
            out.emplace(name, std::move(value));
        }
        return {};
    };
    TRY(section.table(key, take_all));
    return out;
}

Result<void> read_mounts(Section& section, std::map<std::string, MountSettings>& mounts) {
    for (const std::string& name : section.keys()) {
        const toml::node& at = *section.node(name);
        if (!is_mount_name(name)) {
            return section.wrong(at,
                                 cat("'", name, "' cannot be a mount's name: small letters, ",
                                     "digits and _, a letter first, at most ", kLongestMountName));
        }
        const auto take_mount = [&](Section& one) -> Result<void> {
            MountSettings made;
            made.command = TRY(read_command(one));
            made.env = TRY(read_strings(
                one, "env", "env is a table of strings, such as env = { TOKEN = \"...\" }"));
            made.operations = TRY(read_strings(
                one, "operations",
                "operations is a table of tools, each with the argument that names its operation, "
                "such as operations = { issue = \"action\" }"));
            for (const auto& [tool, argument] : made.operations) {
                if (argument.empty()) {
                    return one.wrong(*one.node("operations"),
                                     cat("operations names no argument for the tool '", tool,
                                         "': none of its operations would be known"));
                }
            }
            TRY(one.read("directory", made.directory));
            TRY(one.read("timeout_s", made.timeout_s, 1, 3'600));
            mounts.emplace(name, std::move(made));
            return {};
        };
        TRY(section.table(name, take_mount));
    }
    return {};
}

// --- the rest ---

Result<void> read_shell(Section& section, ShellSettings& shell) {
    constexpr std::array<std::string_view, 4> kEnforcement = {"strict", "warned", "audit", "none"};
    const auto now = static_cast<std::size_t>(shell.enforcement);
    shell.enforcement =
        static_cast<Enforcement>(TRY(section.choice("enforcement", kEnforcement, now)));
    TRY(section.read("network", shell.network));
    TRY(section.read("timeout_s", shell.timeout_s, 1, 86'400));
    return {};
}

Result<void> read_agents(Section& section, std::map<std::string, AgentSettings>& agents) {
    constexpr std::array<std::string_view, 3> kProfiles = {"model", "full", "compat"};
    for (const std::string& name : section.keys()) {
        const auto take_agent = [&](Section& one) -> Result<void> {
            AgentSettings& agent = agents[name];
            const std::size_t profile = TRY(one.choice("profile", kProfiles, 0));
            if (one.node("profile") != nullptr) agent.profile = kProfiles[profile];
            return one.table("tools",
                             [&](Section& tools) { return read_tools(tools, agent.tool_rules); });
        };
        if (!policy::Actor::parse(cat("agent:", name))) {
            return section.wrong(*section.node(name),
                                 cat("'", name, "' cannot be an agent's name: letters, digits and ",
                                     "._-@, at most 64"));
        }
        TRY(section.table(name, take_agent));
    }
    return {};
}

Result<void> read_limits(Section& section, kernel::Limits& limits) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    TRY(section.read("block_bytes", limits.block_bytes, 1, kMost));
    TRY(section.read("operation_bytes", limits.operation_bytes, 1, kMost));
    TRY(section.read("read_lines", limits.read_lines, 1, 1'000'000));
    TRY(section.read("read_columns", limits.read_columns, 1, 1'000'000));
    return {};
}

Result<void> read_diagnostics(Section& section, std::optional<DiagnosticsSettings>& out) {
    DiagnosticsSettings made;
    const toml::node* file = section.node("compile_commands");
    if (file == nullptr) {
        return section.wrong(
            "sources.diagnostics needs compile_commands, such as compile_commands = "
            "\"build/compile_commands.json\"");
    }
    TRY(section.read("compile_commands", made.compile_commands));
    if (made.compile_commands.empty())
        return section.wrong(*file, "sources.diagnostics.compile_commands is the path of a file");
    TRY(section.read("tool", made.tool));
    TRY(section.read("label", made.label));
    if (const Result<void> right = kernel::check_label(made.label); !right)
        return section.wrong(*section.node("label"), right.error().message());
    TRY(section.read("timeout_s", made.timeout_s, 1, 3'600));
    TRY(section.read("jobs", made.jobs, 1, 64));
    out = std::move(made);
    return {};
}

Result<void> read_sources(Section& section, Settings& settings) {
    return section.table("diagnostics", [&](Section& diagnostics) {
        return read_diagnostics(diagnostics, settings.diagnostics);
    });
}

}  // namespace

Result<Settings> parse_config(std::string_view toml, std::string_view file) {
    if (const auto bad = utf8::find_invalid(toml)) {
        const auto line =
            1 + static_cast<std::size_t>(std::count(
                    toml.begin(), toml.begin() + static_cast<std::ptrdiff_t>(*bad), '\n'));
        return wrong(file, line, "it is not UTF-8");
    }
    const toml::parse_result parsed = toml::parse(toml, file);
    if (!parsed) {
        return wrong(file, parsed.error().source().begin.line,
                     cat("it is not TOML: ", parsed.error().description()));
    }
    Settings settings;
    settings.file = file;
    Section root(parsed.table(), "", file);
    TRY(root.table("files", [&](Section& section) { return read_files(section, settings.files); }));
    TRY(root.table("shell", [&](Section& section) { return read_shell(section, settings.shell); }));
    const auto take_mounts = [&](Section& section) {
        return read_mounts(section, settings.mounts);
    };
    const auto take_tools = [&](Section& section) -> Result<void> {
        TRY(section.table("mount", take_mounts));
        return read_tools(section, settings.tool_rules);
    };
    TRY(root.table("tools", take_tools));
    TRY(root.table("agents",
                   [&](Section& section) { return read_agents(section, settings.agents); }));
    TRY(root.table("approvals", [&](Section& section) {
        return section.read("elicitation", settings.approvals.elicitation);
    }));
    TRY(root.table("limits",
                   [&](Section& section) { return read_limits(section, settings.limits); }));
    TRY(root.table("sources", [&](Section& section) { return read_sources(section, settings); }));
    TRY(root.end());
    return settings;
}

Result<Settings> load_config(const std::string& directory) {
    const std::string file = cat(directory, "/quire.toml");
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        if (errno == ENOENT) return Settings{};
        return wrong(file, 1, cat("it cannot be read: ", std::strerror(errno)));
    }
    std::ostringstream text;
    if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
    if (!text || in.bad()) return wrong(file, 1, "it cannot be read as a file");
    return parse_config(text.view(), file);
}

std::vector<std::string> not_acted_on(const Settings& settings) {
    std::vector<std::string> out;
    if (settings.files.save == SaveWhen::on_commit) {
        out.emplace_back(
            "quire.toml: files.save = \"on_commit\" has no effect yet: edits are on the disk once "
            "they are saved (file, operation save)");
    }
    return out;
}

namespace {

constexpr std::string_view kDefaultConfig =
    R"(# What agents may do in this workspace. Agents cannot change this file.

# Rules for files. The first rule whose pattern matches decides; a file that no rule matches is read_only.
#   pattern     * ? [ ] stay within a path component, ** crosses them; a pattern without "/" matches the name
#               of a file in any directory, any other is a path from here.
#   permission  read_only, partner, human (a person approves), append, read_write, admin
# .git/, .quire/, hooks and this file are protected whatever the rules say.

# Secrets stay as they are, wherever they lie.
[[files.rules]]
pattern = "{.env,.env.*,*.pem,*.key,id_rsa,id_ed25519,credentials*,secrets*}"
permission = "read_only"

# What a build or a service runs is changed only with a person's approval.
[[files.rules]]
pattern = ".github/**"
permission = "human"

[[files.rules]]
pattern = "{src,lib,include,app,pkg,cmd,internal,web}/**"
permission = "read_write"
operations_requiring_escalation = ["delete"]

[[files.rules]]
pattern = "{test,tests,docs,doc,examples,bench,scripts}/**"
permission = "read_write"
operations_requiring_escalation = ["delete"]

[[files.rules]]
pattern = "*.{md,txt}"
permission = "read_write"
operations_requiring_escalation = ["delete"]

# A place where agents may also delete.
[[files.rules]]
pattern = "scratch/**"
permission = "admin"

# What a compiler says of the workspace, as a memory block that agents read; docs/sources.md. The
# programs that this file and compile_commands.json name are run, so agents must not be able to
# write that file.
# [sources.diagnostics]
# compile_commands = "build/compile_commands.json"
# tool = "clang-tidy"                   # or a compiler; without it, the compiler of each entry
# label = "diagnostics"                 # of the block
# timeout_s = 120                       # of one check
# jobs = 1                              # checks at once

# Where an agent's program can, it asks whoever sits in front of it for the approvals that its calls need;
# what it answers counts as that person's answer. false: approvals are answered by quire approvals alone.
# [approvals]
# elicitation = true

# [limits]
# block_bytes = 16777216
# operation_bytes = 1048576
# read_lines = 2000

# Rules for tools: which operations an agent sees, how often it may call, in which order; docs/rules.md.
# quire rules check says whether they can be met.
# [[tools.rules]]
# tool = "file"
# type = "allowed_operations"
# value = ["list", "read", "status"]
# [[tools.rules]]
# tool = "*"                            # each tool on its own
# type = "max_calls"
# value = 100
# per = "session"                       # or "conversation", "persistent"
# [[agents.ada.tools.rules]]            # one agent's own, which come after the common ones and narrow them
# tool = "file"
# type = "allowed_operations"
# value = ["list"]

# Another program's MCP server: its tools are listed as fs_…, and all that is said here of tools holds for
# them; docs/mounts.md. What it lists when it is first run is approved with this line; a change later needs a
# person.
# [tools.mount.fs]
# command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]   # no shell reads it
# env = { LOG_LEVEL = "warn" }          # beside PATH, HOME and the like
# timeout_s = 60                        # of one call

# What follows is read and checked, but this version does not act on it yet.

# [files]
# watch = true                          # take in what changes on the disk as it happens
# settle_ms = 100                       # once a file has been quiet for this long
# ignore = [".gitignore", ".loroignore"]
# save = "explicit"                     # or "on_commit": write each accepted change to the disk

# [shell]
# enforcement = "strict"                # strict, warned, audit, none
# network = false
# timeout_s = 120

# [agents.ada]
# profile = "model"                     # model, full, compat
)";

}  // namespace

std::string_view default_config() {
    return kDefaultConfig;
}

}  // namespace quire::cli
