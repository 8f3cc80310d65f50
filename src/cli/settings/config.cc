// Reads quire.toml. The field list of each table checks names, types and bounds; the functions
// here add the checks that involve several fields or another parser: globs, permissions, commands
// of mounts, agents and their rules. Every refusal names the file and the line.
#include "cli/settings/config.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/utf8.h"
#include "cli/settings/toml_section.h"
#include "cli/settings/tool_rule_settings.h"
#include "git/repository.h"
#include "kernel/memory/memory_header.h"
#include "memory/remember.h"
#include "memory/schema_form.h"
#include "memory/templates.h"
#include "text/charset.h"
#include "text/glob.h"

namespace quire {

template <>
struct json::FieldsOf<kernel::Limits> {
    static Fields<kernel::Limits> fields() {
        using kernel::Limits;
        const Map bytes{{"minimum", 1}, {"maximum", std::int64_t{1} << 30}};
        const Map count{{"minimum", 1}, {"maximum", 1'000'000}};
        return Fields<Limits>()
            .optional("block_bytes", &Limits::block_bytes, "", bytes)
            .optional("operation_bytes", &Limits::operation_bytes, "", bytes)
            .optional("read_lines", &Limits::read_lines, "", count)
            .optional("read_columns", &Limits::read_columns, "", count)
            .optional("resident_bytes", &Limits::resident_bytes, "",
                      {{"minimum", 1}, {"maximum", std::int64_t{1} << 50}});
    }
};

namespace cli {
namespace {

// One of [[files.rules]], as it is written.
struct PathRuleSettings {
    std::string pattern;
    std::string permission;
    std::vector<std::string> escalated;
    std::optional<std::string> encoding;
    static json::Fields<PathRuleSettings> fields() {
        return json::Fields<PathRuleSettings>()
            .required("pattern", &PathRuleSettings::pattern, "\"src/**\"")
            .required("permission", &PathRuleSettings::permission, "\"read_write\"")
            .optional("operations_requiring_escalation", &PathRuleSettings::escalated)
            .optional("encoding", &PathRuleSettings::encoding);
    }
};

// The line of the pattern goes with the rule, for messages about rules that meet later.
Result<policy::PathRule> read_path_rule(Section& section) {
    const auto written = TRY(section.fields<PathRuleSettings>());
    const toml::node& pattern_at = *section.node("pattern");
    auto glob = text::Glob::compile(written.pattern);
    if (!glob) return section.wrong(pattern_at, glob.error().message());
    const auto level = policy::parse_permission(written.permission);
    if (!level) return section.wrong(*section.node("permission"), level.error().message());
    policy::PathRule rule{std::move(*glob), *level, {}, line_of(pattern_at)};
    for (const std::string& word : written.escalated) {
        const auto operations = policy::parse_operations(word);
        if (!operations) {
            return section.wrong(*section.node("operations_requiring_escalation"),
                                 operations.error().message());
        }
        rule.escalated.add(*operations);
    }
    if (written.encoding) {
        const auto encoding = text::parse_charset(*written.encoding);
        if (!encoding) return section.wrong(*section.node("encoding"), encoding.error().message());
        rule.encoding = *encoding;
    }
    return rule;
}

Result<void> read_git(Section& section, std::optional<FileGitSettings>& out) {
    out = TRY(section.fields<FileGitSettings>());
    if (git::is_own_ref(out->ref)) return {};
    return section.wrong(*section.node("ref"),
                         cat("ref '", out->ref,
                             "' is not a ref that Quire may write: give the full name of one of "
                             "its own, such as \"refs/quire/main\", and no branch or tag"));
}

// The rules are read first, because fields() makes the whole struct anew.
Result<void> read_files(Section& section, FileSettings& files) {
    std::vector<policy::PathRule> rules;
    const auto take_rule = [&](Section& rule) -> Result<void> {
        rules.push_back(TRY(read_path_rule(rule)));
        return {};
    };
    TRY(section.tables("rules", take_rule));
    files = TRY(section.fields<FileSettings>());
    files.rules = std::move(rules);
    for (std::size_t i = 0; i < files.never_merge.size(); ++i) {
        Result<text::Glob> glob = text::Glob::compile(files.never_merge[i]);
        if (!glob)
            // The element's own line is named, as lists of patterns run over several.
            return section.wrong((*section.node("never_merge")->as_array())[i],
                                 glob.error().message());
        files.never_merge_globs.push_back(std::move(*glob));
    }
    return section.table("git", [&](Section& at) { return read_git(at, files.git); });
}

// The names of tools begin with it, and clients bound how long those may be.
constexpr std::size_t kLongestMountName = 32;

bool is_mount_name(std::string_view name) {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    return !name.empty() && name.size() <= kLongestMountName && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

// A program without arguments, or a list of it and its arguments. No shell reads it.
Result<std::vector<std::string>> read_command(Section& section) {
    const toml::node* at = section.node("command");
    constexpr std::string_view kHint =
        R"(a mount needs a command, such as command = ["npx", "-y", "some-server"])";
    if (at == nullptr) return section.wrong(kHint);
    std::vector<std::string> words;
    if (const auto* word = at->as_string()) {
        words.push_back(word->get());
    } else if (at->is_array()) {
        words = TRY(section.words("command"));
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

// Command and tables come first: they are read by hand, and marked as known before fields() and
// end() look at the rest.
Result<MountSettings> read_mount(Section& section) {
    std::vector<std::string> command = TRY(read_command(section));
    auto env =
        TRY(section.strings("env", "env is a table of strings, such as env = { TOKEN = \"...\" }"));
    auto operations = TRY(section.strings(
        "operations",
        "operations is a table of tools, each with the argument that names its operation, such as "
        "operations = { issue = \"action\" }"));
    for (const auto& [tool, argument] : operations) {
        if (!argument.empty()) continue;
        return section.wrong(*section.node("operations"),
                             cat("operations names no argument for the tool '", tool,
                                 "': none of its operations would be known"));
    }
    MountSettings mount = TRY(section.fields<MountSettings>());
    mount.command = std::move(command);
    mount.env = std::move(env);
    mount.operations = std::move(operations);
    return mount;
}

Result<void> read_mounts(Section& section, std::map<std::string, MountSettings>& mounts) {
    for (const std::string& name : section.keys()) {
        if (!is_mount_name(name)) {
            return section.wrong(*section.node(name),
                                 cat("'", name, "' cannot be a mount's name: small letters, ",
                                     "digits and _, a letter first, at most ", kLongestMountName));
        }
        const auto take_mount = [&](Section& one) -> Result<void> {
            mounts.emplace(name, TRY(read_mount(one)));
            return {};
        };
        TRY(section.table(name, take_mount));
    }
    return {};
}

// An agent's name is the key of its table, and must be one that an actor can have.
Result<void> read_agents(Section& section, std::map<std::string, AgentSettings>& agents) {
    for (const std::string& name : section.keys()) {
        if (!policy::Actor::parse(cat("agent:", name))) {
            return section.wrong(*section.node(name),
                                 cat("'", name, "' cannot be an agent's name: letters, digits and ",
                                     "._-@, at most 64"));
        }
        const auto take_agent = [&](Section& one) -> Result<void> {
            AgentSettings& agent = agents[name];
            agent = TRY(one.fields<AgentSettings>());
            return one.table("tools", [&](Section& tools) -> Result<void> {
                agent.tool_rules = TRY(read_tool_rules(tools));
                return {};
            });
        };
        TRY(section.table(name, take_agent));
    }
    return {};
}

Result<void> read_diagnostics(Section& section, std::optional<DiagnosticsSettings>& out) {
    DiagnosticsSettings made = TRY(section.fields<DiagnosticsSettings>());
    if (made.compile_commands.empty()) {
        return section.wrong(*section.node("compile_commands"),
                             cat(section.full("compile_commands"), " is the path of a file"));
    }
    if (const Result<void> good = kernel::check_label(made.label); !good)
        return section.wrong(*section.node("label"), good.error().message());
    out = std::move(made);
    return {};
}

Result<void> read_shell(Section& section, ShellSettings& shell) {
    shell = TRY(section.fields<ShellSettings>());
    return {};
}

// Reads a [memory.templates.NAME]. The schema stays in the form in which it was written, because a
// Settings holds plain values; whoever needs it parses it again, and it is known to be valid.
Result<TemplateSettings> read_template(Section& section) {
    const toml::node* const form = section.node("schema");
    if (form == nullptr)
        return section.wrong("a template needs a schema, as in schema = { Text = {} }");
    Value schema_form = value_of(*form);
    const Result<memory::BlockSchema> schema = memory::parse_schema(schema_form);
    if (!schema) return section.wrong(*form, schema.error().message());
    if (const Result<void> good = memory::check_section_names(*schema); !good)
        return section.wrong(*form, good.error().message());
    TemplateSettings settings = TRY(section.fields<TemplateSettings>());
    settings.schema = std::move(schema_form);
    return settings;
}

Result<void> read_templates(Section& section, std::map<std::string, TemplateSettings>& templates) {
    for (const std::string& name : section.keys()) {
        if (memory::find_template(name)) {
            return section.wrong(*section.node(name),
                                 cat("the template '", name, "' is built in; choose another name"));
        }
        const auto take_template = [&](Section& one) -> Result<void> {
            templates.emplace(name, TRY(read_template(one)));
            return {};
        };
        TRY(section.table(name, take_template));
    }
    return {};
}

// The labels make names of tools, which have to be different.
Result<void> read_memory_tools(Section& section, MemoryToolSettings& tools) {
    tools = TRY(section.fields<MemoryToolSettings>());
    std::map<std::string, std::string> labels;
    for (const std::string& label : tools.labels) {
        const auto [at, is_new] = labels.emplace(memory::remember_name(label), label);
        if (is_new) continue;
        return section.wrong(*section.node("labels"),
                             cat("the labels '", at->second, "' and '", label,
                                 "' would both make the tool ", at->first));
    }
    return {};
}

Result<void> read_memory(Section& section, MemorySettings& memory) {
    memory = TRY(section.fields<MemorySettings>());
    TRY(section.table("templates", [&](Section& templates) {
        return read_templates(templates, memory.templates);
    }));
    return section.table("tools",
                         [&](Section& tools) { return read_memory_tools(tools, memory.tools); });
}

// One table fills two structs: each takes its members, and end() refuses what neither knows.
Result<void> read_limits(Section& section, Settings& settings) {
    settings.limits = TRY(section.fields<kernel::Limits>());
    settings.messages = TRY(section.fields<MessageLimits>());
    return {};
}

// Settings that are their field list and nothing else.
template <class T>
auto plain_settings(T& out) {
    return [&out](Section& section) -> Result<void> {
        out = TRY(section.fields<T>());
        return {};
    };
}

// Each section knows its keys; the root knows the sections. The first fault ends the reading.
Result<Settings> read_settings(const toml::table& table, std::string_view file) {
    Settings settings;
    settings.file = file;
    Section root(table, "", file);
    const auto take_tools = [&](Section& section) -> Result<void> {
        TRY(section.table("mount",
                          [&](Section& mounts) { return read_mounts(mounts, settings.mounts); }));
        settings.tool_rules = TRY(read_tool_rules(section));
        return {};
    };
    TRY(root.table("files", [&](Section& section) { return read_files(section, settings.files); }));
    TRY(root.table("shell", [&](Section& section) { return read_shell(section, settings.shell); }));
    TRY(root.table("views", plain_settings(settings.views)));
    TRY(root.table("tools", take_tools));
    TRY(root.table("agents",
                   [&](Section& section) { return read_agents(section, settings.agents); }));
    TRY(root.table("approvals", plain_settings(settings.approvals)));
    TRY(root.table("limits", [&](Section& section) { return read_limits(section, settings); }));
    TRY(root.table("memory",
                   [&](Section& section) { return read_memory(section, settings.memory); }));
    TRY(root.table("sources", [&](Section& section) {
        return section.table("diagnostics", [&](Section& diagnostics) {
            return read_diagnostics(diagnostics, settings.diagnostics);
        });
    }));
    TRY(root.end());
    return settings;
}

}  // namespace

// UTF-8 is checked before the parser sees the text, so that the line of the first bad byte is told.
Result<Settings> parse_config(std::string_view toml, std::string_view file) {
    if (const auto bad = utf8::find_invalid(toml)) {
        const auto line =
            1 + std::count(toml.begin(), toml.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
        return invalid_config(file, static_cast<std::size_t>(line), "it is not UTF-8");
    }
    const toml::parse_result parsed = toml::parse(toml, file);
    if (!parsed) {
        return invalid_config(file, parsed.error().source().begin.line,
                              cat("it is not TOML: ", parsed.error().description()));
    }
    return read_settings(parsed.table(), file);
}

std::string config_file(const std::string& directory) {
    return cat(directory, "/quire.toml");
}

Result<std::optional<std::string>> read_config(const std::string& directory) {
    const std::string file = config_file(directory);
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        if (errno == ENOENT) return std::nullopt;
        return invalid_config(file, 1, cat("it cannot be read: ", std::strerror(errno)));
    }
    std::ostringstream text;
    // Copying an empty stream sets its failure bit, which would read as an error. A directory opens
    // and fails at the first read.
    if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
    if (!text || in.bad()) return invalid_config(file, 1, "it cannot be read as a file");
    return std::move(text).str();
}

Result<Settings> load_config(const std::string& directory) {
    const std::optional<std::string> text = TRY(read_config(directory));
    return text ? parse_config(*text, config_file(directory)) : Settings{};
}

// These sections are compared whole. The parts that they set up cannot be changed while they run.
std::vector<std::string> needs_new_kernel(const Settings& started, const Settings& now) {
    std::vector<std::string> out;
    if (started.limits != now.limits || started.messages != now.messages)
        out.emplace_back("[limits]");
    if (started.memory.tools != now.memory.tools) out.emplace_back("[memory.tools]");
    if (started.diagnostics != now.diagnostics) out.emplace_back("[sources]");
    if (started.mounts != now.mounts) out.emplace_back("[tools.mount]");
    return out;
}

}  // namespace cli
}  // namespace quire
