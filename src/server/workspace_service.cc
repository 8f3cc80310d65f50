// Serves tools and resources to one MCP client. To the rules, reading a resource is a tool's call:
// block://ID is a block_view or block_read, file:///PATH is the operation load of file, and memory
// is the operation view of context. So a rule that refuses the tool also refuses the resource. The
// log names files as the tool file and the rest as resources/read; people are asked about files
// only.
#include "server/workspace_service.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "kernel/files/file_calls.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/approval_calls.h"
#include "server/file_uri.h"
#include "server/source_report.h"
#include "text/escape.h"

namespace quire::server {
namespace {

constexpr std::string_view kBlockScheme = "block://";
constexpr std::string_view kBlockTemplate = "block://{block_id}";
constexpr std::string_view kFileTemplate = "file:///{+path}";
// A completion shows 100 values at most; these bounds are how far it looks for them.
constexpr std::size_t kMostFiles = 200'000;  // Files looked at.
constexpr std::size_t kMostBlocks = 1000;    // Blocks looked at.
constexpr std::size_t kPage = 100;
constexpr std::string_view kFileCursor = "file:";      // Before the path, in a cursor among files.
constexpr std::string_view kMemoryCursor = "memory:";  // Before the URI, in one among memory.

// Resolves approvals in the name of the person in front of a session's client. The kernel outlives
// its replies.
class KernelApprover final : public mcp::Approver {
public:
    KernelApprover(kernel::Kernel& kernel, policy::Actor person, std::uint64_t session,
                   policy::Actor asker)
        : kernel_(kernel), person_{std::move(person), session, {}}, asker_(std::move(asker)) {}

    const policy::Actor& asker() const override { return asker_; }
    Result<policy::Approval> find(const std::string& approval_id) override {
        return kernel::ApprovalCalls(kernel_).find(person_, approval_id);
    }
    void resolve(const std::string& approval_id, policy::Resolution with,
                 Reply<policy::Approval> reply) override {
        with.elicited_in = person_.session;
        kernel::ApprovalCalls(kernel_).resolve(person_, approval_id, std::move(with),
                                               std::move(reply));
    }

private:
    kernel::Kernel& kernel_;
    const kernel::Caller person_;
    const policy::Actor asker_;
};

std::string uri_of(const kernel::BlockInfo& block) {
    return block.is_file ? uri_of_path(block.path) : cat(kBlockScheme, block.block_id);
}

mcp::Resource resource_of(const kernel::BlockInfo& block) {
    mcp::Resource resource;
    resource.uri = uri_of(block);
    resource.name = block.is_file ? block.path : block.block_id;
    resource.description = block.is_file ? block.summary
                                         : cat(block.role, " ", block.kind, ", ", block.status,
                                               block.summary.empty() ? "" : ": ", block.summary);
    resource.mime_type = mime_type_of(block.path);
    resource.size = block.bytes;
    return resource;
}

mcp::Resource sources_resource() {
    return {.uri = std::string(kSourcesUri),
            .name = "sources",
            .description = "What feeds this workspace from outside, and the blocks that it owns",
            .mime_type = "application/json"};
}

Failure no_resource(std::string_view uri) {
    return fail(
        Errc::not_found, "invalid_reference",
        cat("there is no resource ", uri,
            "; block://{block_id}, file:///{path}, memory://{owner}/{label}, context://{agent} and "
            "quire://sources are read"),
        {{"uri", uri}});
}

// Fills the page up with the files after `after` that were not opened: those that were are listed as
// blocks. Null `files` for none. Walks the tree for each page.
void add_files(kernel::FileCalls* files, mcp::ResourcePage page, std::string after,
               const kernel::Caller& by, Reply<mcp::ResourcePage> reply) {
    if (files == nullptr || page.resources.size() >= kPage) {
        if (files != nullptr) page.next_cursor = cat(kFileCursor, after);
        return reply(std::move(page));
    }
    kernel::FileQuery query;
    query.cursor = std::move(after);
    query.limit = kPage - page.resources.size();
    files->list(by, std::move(query),
                [page = std::move(page),
                 reply = std::move(reply)](Result<kernel::FileList> listed) mutable {
                    if (!listed) return reply(Failure(std::move(listed).error()));
                    for (kernel::FileEntry& file : listed->files) {
                        if (!file.block_id.empty()) continue;
                        page.resources.push_back({uri_of_path(file.path), file.path, "",
                                                  std::string(mime_type_of(file.path)), file.size});
                    }
                    if (listed->next_cursor)
                        page.next_cursor = cat(kFileCursor, *listed->next_cursor);
                    reply(std::move(page));
                });
}

// The sources of a page of resources. `files` and `memory` are empty if the caller may not list them.
struct Listed {
    kernel::Kernel& kernel;
    kernel::FileCalls* files;
    std::optional<MemoryResources> memory;  // A copy: the service may be gone by then.
};

// The page from a block on, filled up with files.
void add_blocks(const Listed& from, mcp::ResourcePage page, std::string cursor,
                const kernel::Caller& by, Reply<mcp::ResourcePage> reply) {
    kernel::ListQuery query;
    query.depth = 0;
    query.limit = kPage - page.resources.size();
    query.cursor = std::move(cursor);
    from.kernel.list(by, std::move(query),
                     [files = from.files, by, page = std::move(page),
                      reply = std::move(reply)](Result<kernel::ListPage> listed) mutable {
                         if (!listed) return reply(Failure(std::move(listed).error()));
                         for (const kernel::BlockInfo& block : listed->blocks)
                             page.resources.push_back(resource_of(block));
                         page.next_cursor = std::move(listed->next_cursor);
                         if (!page.next_cursor.empty()) return reply(std::move(page));
                         add_files(files, std::move(page), "", by, std::move(reply));
                     });
}

// The page from the memory after the URI `after` on, filled up with blocks.
void list_from_memory(const Listed& from, std::string after, const kernel::Caller& by,
                      Reply<mcp::ResourcePage> reply) {
    mcp::ResourcePage first;
    if (after.empty()) first.resources.push_back(sources_resource());
    if (!from.memory) return add_blocks(from, std::move(first), "", by, std::move(reply));
    from.memory->list(by,
                      [from, after = std::move(after), page = std::move(first), by,
                       reply = std::move(reply)](Result<std::vector<mcp::Resource>> all) mutable {
                          if (!all) return reply(Failure(std::move(all).error()));
                          for (mcp::Resource& each : *all) {
                              if (each.uri <= after) continue;
                              page.resources.push_back(std::move(each));
                              if (page.resources.size() < kPage) continue;
                              page.next_cursor = cat(kMemoryCursor, page.resources.back().uri);
                              return reply(std::move(page));
                          }
                          add_blocks(from, std::move(page), "", by, std::move(reply));
                      });
}

// Adds the tool that would ask to an escalation for which nobody was asked.
Error unasked(Error error) {
    const Value* const tool = error.details().find("tool");
    if (error.code() != Errc::escalation_required || error.details().contains("approval_id") ||
        tool == nullptr || !tool->is_string())
        return error;
    return {error.code(), error.reason(),
            cat(error.message(), " Nobody was asked: a call of the tool ", tool->as_string(),
                " asks them"),
            error.details()};
}

mcp::ResourceText resource_text(std::string uri, kernel::WholeText whole) {
    std::string type(mime_type_of(whole.info.path));
    return {std::move(uri), std::move(type), std::move(whole.text)};
}

}  // namespace

WorkspaceService::WorkspaceService(Parts parts, tools::Session session, Reach reach)
    : registry_(parts.registry),
      kernel_(parts.kernel),
      files_(parts.files),
      sources_(parts.sources),
      prompts_(parts.kernel, parts.files),
      memory_(parts.kernel, parts.memory, parts.registry),
      session_(std::move(session)),
      reach_(reach) {
    session_.caller.session = kernel_.open_session();
    watch_ = std::make_shared<ResourceWatch>(kernel_.core(), session_.caller);
}

WorkspaceService::~WorkspaceService() {
    watch_->end();
    registry_.end_session(session_.caller);
    kernel_.close_session(session_.caller.session);
}

void WorkspaceService::let_answer(policy::Actor person) {
    approver_ = std::make_unique<KernelApprover>(kernel_, std::move(person),
                                                 session_.caller.session, session_.caller.actor);
}

void WorkspaceService::follow_profile(ProfileSource now) {
    profile_now_ = std::move(now);
}

tools::Profile WorkspaceService::profile() const {
    return profile_now_ ? profile_now_() : session_.profile;
}

kernel::Caller WorkspaceService::caller(std::stop_token cancelled) const {
    kernel::Caller by = session_.caller;
    by.cancelled = std::move(cancelled);
    return by;
}

tools::ToolList WorkspaceService::tools() const {
    return registry_.list(profile(), session_.caller.actor);
}

bool WorkspaceService::has_changing_tools() const {
    return registry_.follows_memory();
}

mcp::Guidance WorkspaceService::guidance() const {
    return {.rules = registry_.rules_for(session_.caller.actor),
            .saves_edits = files_.saves_on_commit()};
}

void WorkspaceService::call(std::string name, Value arguments, std::stop_token cancelled,
                            Reply<tools::ToolResult> reply) {
    registry_.call({caller(std::move(cancelled)), profile_with(name)}, name, std::move(arguments),
                   std::move(reply));
}

tools::Profile WorkspaceService::profile_with(std::string_view tool) const {
    using tools::Profile;
    const Profile own = profile();
    if (reach_ == Reach::own_profile) return own;
    for (const Profile each : {own, Profile::full, Profile::model, Profile::compat}) {
        if (registry_.find(each, tool) != nullptr) return each;
    }
    return own;
}

std::string_view WorkspaceService::reading_tool() const {
    const bool views = registry_.find(profile(), "block_view") != nullptr;
    return views ? "block_view" : "block_read";
}

std::vector<mcp::ResourceTemplate> WorkspaceService::resource_templates() const {
    std::vector<mcp::ResourceTemplate> out = {
        {std::string(kBlockTemplate), "block",
         "The text of a block, by the id that any tool gives."},
        {std::string(kFileTemplate), "file",
         "A file of the workspace by its path there, with the edits that are not saved yet."}};
    std::ranges::move(MemoryResources::templates(), std::back_inserter(out));
    return out;
}

void WorkspaceService::list_resources(std::string cursor, std::stop_token cancelled,
                                      Reply<mcp::ResourcePage> reply) {
    const kernel::Caller by = caller(std::move(cancelled));
    Map arguments{{"cursor", cursor}};
    Reply<mcp::ResourcePage> answer =
        [reply = std::move(reply)](Result<mcp::ResourcePage> page) mutable {
            if (!page) return reply(Failure(unasked(std::move(page).error())));
            reply(std::move(*page));
        };
    registry_.admission().run<mcp::ResourcePage>(
        by,
        {.name = "resources/list",
         .arguments = std::move(arguments),
         .reads = true,
         .for_rules = kernel::RuleCalls::Facts{.tool = "block_list"}},
        std::move(answer),
        [from = Listed{kernel_, is_shown("file", "list") ? &files_ : nullptr,
                       is_shown("context", "view") ? std::optional(memory_) : std::nullopt},
         cursor = std::move(cursor)](const kernel::Caller& as,
                                     Reply<mcp::ResourcePage> listed) mutable {
            if (cursor.starts_with(kFileCursor)) {
                return add_files(from.files, {}, cursor.substr(kFileCursor.size()), as,
                                 std::move(listed));
            }
            const bool among_memory = cursor.starts_with(kMemoryCursor);
            if (!cursor.empty() && !among_memory)
                return add_blocks(from, {}, std::move(cursor), as, std::move(listed));
            list_from_memory(from, among_memory ? cursor.substr(kMemoryCursor.size()) : "", as,
                             std::move(listed));
        });
}

bool WorkspaceService::is_shown(std::string_view tool, std::string_view operation) const {
    const tools::ToolList shown = tools();
    const auto info = std::ranges::find(*shown, tool, &tools::ToolInfo::name);
    return info != shown->end() &&
           (operation.empty() || info->operations.find(operation) != nullptr);
}

void WorkspaceService::recall(std::string agent, std::stop_token cancelled,
                              Reply<mcp::PromptText> reply) {
    const policy::Actor& self = session_.caller.actor;
    if (agent.empty() && self.kind == policy::ActorKind::agent) agent = self.name;
    Result<policy::Actor> whose = policy::Actor::parse(cat("agent:", agent));
    if (!whose) {
        return reply(fail(Errc::invalid_argument, "invalid_arguments",
                          "say whose memory to recall: the argument `agent` is an agent's name"));
    }
    read_resource(uri_of_context(*whose), std::move(cancelled),
                  [reply = std::move(reply)](Result<mcp::ResourceText> context) mutable {
                      if (!context) return reply(Failure(std::move(context).error()));
                      reply(mcp::PromptText{"Recall what is remembered", std::move(context->text)});
                  });
}

// To the rules it is no call of a tool: a prompt tells what happened, and no content. Only recall tells content,
// and it is admitted as the resource that it reads.
void WorkspaceService::get_prompt(std::string name, Map arguments, std::stop_token cancelled,
                                  Reply<mcp::PromptText> reply) {
    if (name == kRecall) {
        const Value* const agent = arguments.find("agent");
        return recall(agent == nullptr ? "" : agent->as_string(), std::move(cancelled),
                      std::move(reply));
    }
    Map logged{{"name", name}, {"arguments", arguments}};
    registry_.admission().run<mcp::PromptText>(
        caller(std::move(cancelled)),
        {.name = "prompts/get", .arguments = std::move(logged), .reads = true}, std::move(reply),
        [prompts = prompts_, profile = session_.profile, name = std::move(name),
         arguments = std::move(arguments)](const kernel::Caller& by, auto told) {
            prompts.get({by, profile}, name, arguments, std::move(told));
        });
}

void WorkspaceService::complete(mcp::Typing typing, std::stop_token cancelled,
                                Reply<mcp::Completions> reply) {
    const kernel::Caller by = caller(std::move(cancelled));
    if (typing.prompt == kRecall && typing.argument == "agent") {
        if (!is_shown("context", "view")) return reply(mcp::Completions{});
        return memory_.complete_agent(by, std::move(typing.value), std::move(reply));
    }
    if (!typing.prompt.empty()) return prompts_.complete(by, typing, std::move(reply));
    const bool of_file = typing.uri_template == kFileTemplate && typing.argument == "path";
    const bool of_block = typing.uri_template == kBlockTemplate && typing.argument == "block_id";
    if (of_file && is_shown("file", "list")) {
        kernel::FileQuery query;
        query.limit = kMostFiles;
        files_.list(by, std::move(query),
                    [typed = std::move(typing.value),
                     reply = std::move(reply)](Result<kernel::FileList> listed) mutable {
                        if (!listed) return reply(Failure(std::move(listed).error()));
                        std::vector<std::string> paths;
                        for (kernel::FileEntry& file : listed->files)
                            paths.push_back(std::move(file.path));
                        reply(mcp::completions_of(paths, typed));
                    });
    } else if (of_block && is_shown("block_list")) {
        kernel::ListQuery query;
        query.depth = 0;
        query.limit = kMostBlocks;
        kernel_.list(by, std::move(query),
                     [typed = std::move(typing.value),
                      reply = std::move(reply)](Result<kernel::ListPage> page) mutable {
                         if (!page) return reply(Failure(std::move(page).error()));
                         std::vector<std::string> ids;
                         for (kernel::BlockInfo& block : page->blocks)
                             ids.push_back(std::move(block.block_id));
                         reply(mcp::completions_of(ids, typed));
                     });
    } else if (is_shown("context", "view")) {
        memory_.complete(by, std::move(typing), std::move(reply));
    } else {
        reply(mcp::Completions{});
    }
}

void WorkspaceService::read_resource(std::string uri, std::stop_token cancelled,
                                     Reply<mcp::ResourceText> reply) {
    const kernel::Caller by = caller(std::move(cancelled));
    if (uri == kSourcesUri) {
        return read_sources(by, [uri, reply = std::move(reply)](Result<std::string> text) mutable {
            if (!text) return reply(Failure(std::move(text).error()));
            reply(mcp::ResourceText{std::move(uri), "application/json", std::move(*text)});
        });
    }
    if (MemoryResources::is_one(uri)) {
        return read_memory(
            uri, by, [uri, reply = std::move(reply)](Result<std::string> text) mutable {
                if (!text) return reply(Failure(unasked(std::move(text).error())));
                reply(mcp::ResourceText{std::move(uri), "text/plain", std::move(*text)});
            });
    }
    Reply<kernel::WholeText> answer =
        [uri, reply = std::move(reply)](Result<kernel::WholeText> whole) mutable {
            if (!whole) return reply(Failure(unasked(std::move(whole).error())));
            reply(resource_text(std::move(uri), std::move(*whole)));
        };
    if (uri.starts_with(kBlockScheme)) return read_block(std::move(uri), by, std::move(answer));
    std::optional<std::string> path = path_of_uri(uri);
    const bool serves_files = registry_.find(tools::Profile::full, "file") != nullptr;
    if (!path || path->empty() || !serves_files) return answer(no_resource(uri));
    read_file(std::move(*path), by, std::move(answer));
}

void WorkspaceService::follow_resource(std::string uri, std::stop_token cancelled,
                                       ResourceTold told, Reply<void> reply) {
    read_resource(uri, std::move(cancelled),
                  [watch = watch_, uri, told = std::move(told),
                   reply = std::move(reply)](Result<mcp::ResourceText> text) mutable {
                      if (!text) return reply(Failure(std::move(text).error()));
                      watch->follow(uri, std::move(told), std::move(reply));
                  });
}

void WorkspaceService::read_block(std::string uri, const kernel::Caller& by,
                                  Reply<kernel::WholeText> reply) const {
    std::string block_id = uri.substr(kBlockScheme.size());
    registry_.admission().run<kernel::WholeText>(
        by,
        {.name = "resources/read",
         .arguments = Map{{"uri", std::move(uri)}},
         .reads = true,
         .for_rules =
             kernel::RuleCalls::Facts{.tool = std::string(reading_tool()), .block_id = block_id}},
        std::move(reply), [&kernel = kernel_, block_id](const kernel::Caller& as, auto read) {
            kernel.text(as, block_id, std::move(read));
        });
}

// To the log, to rules and to people it is what the tool would do.
void WorkspaceService::read_file(std::string path, const kernel::Caller& by,
                                 Reply<kernel::WholeText> reply) const {
    registry_.admission().run<kernel::WholeText>(
        by,
        {.profile = std::string(name_of(tools::Profile::full)),
         .name = "file",
         .arguments = Map{{"operation", "load"}, {"path", path}},
         .reads = true,
         .for_rules = kernel::RuleCalls::Facts{.tool = "file", .operation = "load"},
         .asks = true},
        std::move(reply), [&files = files_, path](const kernel::Caller& as, auto read) {
            files.text(as, path, std::move(read));
        });
}

void WorkspaceService::read_sources(const kernel::Caller& by, Reply<std::string> reply) const {
    registry_.admission().run<std::string>(
        by, {.name = "resources/read", .arguments = Map{{"uri", kSourcesUri}}, .reads = true},
        std::move(reply), [&sources = sources_](const kernel::Caller& as, auto read) {
            read(json::write(source_report(sources, as)));
        });
}

void WorkspaceService::read_memory(std::string uri, const kernel::Caller& by,
                                   Reply<std::string> reply) const {
    registry_.admission().run<std::string>(
        by,
        {.name = "resources/read",
         .arguments = Map{{"uri", uri}},
         .reads = true,
         .for_rules = kernel::RuleCalls::Facts{.tool = "context", .operation = "view"}},
        std::move(reply), [memory = memory_, uri](const kernel::Caller& as, auto read) {
            memory.read(as, uri, std::move(read));
        });
}

std::string_view mime_type_of(std::string_view path) {
    struct Type {
        std::string_view extension;
        std::string_view mime;
    };
    constexpr std::array<Type, 12> kTypes = {{{"md", "text/markdown"},
                                              {"json", "application/json"},
                                              {"html", "text/html"},
                                              {"css", "text/css"},
                                              {"js", "text/javascript"},
                                              {"mjs", "text/javascript"},
                                              {"csv", "text/csv"},
                                              {"xml", "application/xml"},
                                              {"svg", "image/svg+xml"},
                                              {"yaml", "application/yaml"},
                                              {"yml", "application/yaml"},
                                              {"toml", "application/toml"}}};
    const std::string_view name = path.substr(path.find_last_of('/') + 1);
    const std::size_t dot = name.find_last_of('.');
    if (dot == std::string_view::npos) return "text/plain";
    for (const Type& type : kTypes) {
        if (name.substr(dot + 1) == type.extension) return type.mime;
    }
    return "text/plain";
}

}  // namespace quire::server
