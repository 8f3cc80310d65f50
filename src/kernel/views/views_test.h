// A kernel with adopted trees on a real disk, for tests of this room.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file_text.h"
#include "kernel/commands/commands_test.h"
#include "kernel/views/view_calls.h"

namespace quire::kernel {

// No stage is needed.
class Views : public Commands {
protected:
    Views() {
        view_worker = std::make_unique<sched::Pool>(1U);
        open();
    }
    ~Views() override { views.reset(); }
    void SetUp() override {}
    void open() {
        views = std::make_unique<ViewCalls>(
            ViewParts{*kernel, *gate, *calls, clock, directory.path()}, rng, *view_worker);
        said = views->sweep();
    }

    static Caller person() { return {{policy::ActorKind::human, "tom"}, 0, {}}; }
    static Caller ada() {
        return {{policy::ActorKind::agent, "ada"},
                0,
                {},
                std::make_shared<const Call>(Call{"full", "land", Map{}, false, 1, 0})};
    }
    // A copy of the workspace for an agent, with nothing between the copy and its adoption.
    std::string copy_for(const std::string& agent) {
        const std::string tree = trees / agent;
        std::filesystem::create_directories(tree);
        for (const auto& each : std::filesystem::directory_iterator(directory.path())) {
            const std::string name = each.path().filename().string();
            if (name == ".quire") continue;
            std::filesystem::copy(each.path(), tree + "/" + name,
                       std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
        }
        return tree;
    }
    Result<TreeReport> adopt(const std::string& tree, const std::string& agent) {
        return ask<TreeReport>([&](auto reply) {
            views->adopt(person(), {tree, {policy::ActorKind::agent, agent}}, std::move(reply));
        });
    }
    std::string adopted(const std::string& agent = "ada") {
        const std::string tree = copy_for(agent);
        const auto made = adopt(tree, agent);
        EXPECT_TRUE(made) << made.error().message();
        return tree;
    }
    Result<Synced> only(Result<std::vector<Synced>> all) {
        if (!all) return Failure(all.error());
        CHECK(all->size() == 1);
        return std::move(all->front());
    }
    Result<Synced> land(const std::string& tree) {
        return only(ask<std::vector<Synced>>([&](auto reply) {
            views->land(ada_or_person(), {tree, ""}, std::move(reply));
        }));
    }
    Result<Synced> refresh(const std::string& tree) {
        return only(ask<std::vector<Synced>>([&](auto reply) {
            views->refresh(ada_or_person(), {tree, ""}, std::move(reply));
        }));
    }
    Caller ada_or_person() {
        Caller by = person();
        by.call = ada().call;
        return by;
    }
    TreeReport report(const std::string& tree) {
        const auto all = ask<std::vector<TreeReport>>(
            [&](auto reply) { views->list(person(), std::move(reply)); });
        for (const TreeReport& each : *all)
            if (each.directory == tree) return each;
        return {};
    }
    static std::string told(const Result<Synced>& made) {
        if (!made) return made.error().reason();
        std::string out(name_of(made->outcome));
        for (const SyncedFile& each : made->files)
            cat_to(out, cat("; ", each.change_type, " ", each.path));
        for (const TreeConflict& each : made->conflicts) cat_to(out, cat("; tie ", each.path));
        for (const auto& each : made->left) cat_to(out, cat("; left ", each.path));
        if (made->failure) cat_to(out, cat("; ", made->failure->reason()));
        return out;
    }
    static void put(const std::string& tree, const std::string& path, std::string_view text) {
        const std::filesystem::path place = std::filesystem::path(tree) / path;
        std::filesystem::create_directories(place.parent_path());
        std::ofstream(place, std::ios::trunc | std::ios::binary) << text;
    }
    static std::string get(const std::string& tree, const std::string& path) {
        return file_text(tree + "/" + path);
    }
    static bool has(const std::string& tree, const std::string& path) {
        return std::filesystem::exists(std::filesystem::symlink_status(tree + "/" + path));
    }

    TestDirectory trees;
    std::unique_ptr<sched::Pool> view_worker;
    std::unique_ptr<ViewCalls> views;
    std::vector<std::string> said;
};

}  // namespace quire::kernel
