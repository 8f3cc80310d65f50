// Thirty damages of a database: no wrong text is shown, nothing disappears without a message, and
// what is readable is saved.
#include <algorithm>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "kernel/recovery/salvage.h"
#include "kernel/recovery/store_check.h"
#include "kernel/recovery/stored_workspace_for_test.h"

namespace quire::kernel {
namespace {

constexpr std::size_t kPage = 4096;

// A workspace, with the text of each of its blocks by its id.
struct Written {
    std::string database;
    std::map<std::string, std::string> said;        // Conversations' blocks.
    std::map<std::string, std::string> remembered;  // Memory, by label.
    std::map<std::string, std::string> ids;         // The id of each label.
};

std::string words(int seed) {
    std::string text;
    for (int i = 0; i < 60; ++i)
        cat_to(text, cat("word", seed, "x", i * 7 % 60, i % 6 == 5 ? "\n" : " "));
    return text;
}

const Written& written() {
    static const Written made = [] {
        Written out;
        const TestDirectory directory(store::quick_parent());
        {
            StoredWorkspace workspace(directory / "quire.db");
            for (int i = 0; i < 12; ++i) {
                const std::string text = words(i);
                out.said[workspace.say(cat("talk", i % 3), text)] = text;
            }
            for (int i = 20; i < 32; ++i) {
                const std::string label = cat("notes", i);
                out.remembered[label] = words(i);
                out.ids[label] = workspace.remember(label, words(i));
            }
        }
        out.database = directory.get("quire.db");
        return out;
    }();
    return made;
}

// A page with some bytes flipped, or a part of it zeroed or overwritten.
std::string damaged_copy(unsigned seed) {
    std::mt19937 random(seed);
    std::string bytes = written().database;
    const std::size_t page = random() % (bytes.size() / kPage);
    const auto place = [&] { return page * kPage + random() % kPage; };
    switch (seed % 3) {
        case 0:
            for (unsigned i = 0; i < 1 + seed % 4; ++i)
                bytes[place()] ^= static_cast<char>(1U << random() % 8);
            break;
        case 1:
            bytes.replace(page * kPage + kPage / 2, kPage / 2, kPage / 2, '\0');
            break;
        case 2: {
            const std::size_t at = page * kPage + random() % (kPage - 512);
            for (std::size_t i = 0; i < 512; ++i) bytes[at + i] = static_cast<char>(random());
            break;
        }
    }
    return bytes;
}

TEST(Damage, NoWrongTextIsShownAndNothingDisappearsWithoutAMessage) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        const TestDirectory directory(store::quick_parent());
        directory.put("quire.db", damaged_copy(seed));
        StoredWorkspace workspace(directory / "quire.db");
        if (!workspace.is_open()) {
            EXPECT_NE(workspace.refusal(), "") << "seed " << seed;
            continue;
        }
        for (const auto& [id, text] : written().said) {
            const Result<WholeText> read = workspace.text(id);
            if (read) {
                EXPECT_EQ(read->text, text) << "seed " << seed;
            } else {
                EXPECT_EQ(read.error().code(), Errc::corrupt)
                    << "seed " << seed << " " << id << ": " << read.error().message();
            }
        }
        for (const auto& [label, text] : written().remembered) {
            const Result<MemoryView> read = workspace.view(label);
            if (read) {
                EXPECT_EQ(read->value, Value(text)) << "seed " << seed;
            } else {
                EXPECT_EQ(read.error().code(), Errc::corrupt)
                    << "seed " << seed << " " << label << ": " << read.error().message();
            }
        }
        const Result<MemoryFound> found = workspace.search("word25x7");
        for (std::size_t i = 0; found && i < found->hits.size(); ++i) {
            for (std::string_view rest = found->hits[i].snippet; rest.find("word") < rest.size();
                 rest.remove_prefix(rest.find("word") + 4))
                EXPECT_TRUE(rest.substr(rest.find("word")).starts_with("word25x"))
                    << "seed " << seed << ": " << found->hits[i].snippet;
        }
        const Result<ListPage> listed = workspace.ask<ListPage>([&](auto reply) {
            workspace.kernel().list(StoredWorkspace::as("agent:ada"), {}, std::move(reply));
        });
        EXPECT_TRUE(listed) << "seed " << seed << ": " << listed.error().message();
    }
}

TEST(Damage, WhatIsReadableIsSavedAndTheRestIsNamed) {
    std::size_t saved_texts = 0;
    for (unsigned seed = 0; seed < 30; ++seed) {
        const TestDirectory directory(store::quick_parent());
        directory.put("quire.db", damaged_copy(seed));
        const auto opened = store::inspect_sqlite(directory / "quire.db");
        if (!opened) {
            EXPECT_NE(opened.error().message(), "");
            continue;
        }
        const Result<Salvaged> saved =
            salvage(*opened->store, directory / "out", {.kept_copy = "elsewhere"});
        ASSERT_TRUE(saved) << "seed " << seed << ": " << saved.error().message();
        const std::string manifest = directory.get("out/SALVAGE.txt");
        for (const auto& [label, text] : written().remembered) {
            const std::string& id = written().ids.at(label);
            const std::string file = cat("out/memory/", id, "-", label, ".txt");
            if (directory.has(file)) {
                ++saved_texts;
                EXPECT_EQ(directory.get(file), text) << "seed " << seed;
            } else {
                EXPECT_NE(manifest.find(cat("- ", id, " ")), std::string::npos)
                    << "seed " << seed << " " << id << "\n"
                    << manifest;
            }
        }
    }
    // A damage hits few of them.
    EXPECT_GT(saved_texts, 30U * 12U / 2U);
}

TEST(Damage, ACheckFindsEachDamageThatCostsADocument) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        const TestDirectory directory(store::quick_parent());
        directory.put("quire.db", damaged_copy(seed));
        const auto opened = store::inspect_sqlite(directory / "quire.db");
        if (!opened) continue;
        std::size_t unreadable = 0;
        const auto documents = opened->store->documents().value();
        for (const auto& record : documents)
            unreadable += record.damaged || !opened->store->load(record.key);

        const Result<StoreCheck> check = check_store(*opened->store, false);

        ASSERT_TRUE(check) << "seed " << seed << ": " << check.error().message();
        EXPECT_TRUE(unreadable == 0 || !check->is_clean()) << "seed " << seed;
        EXPECT_GE(check->damaged, unreadable) << "seed " << seed;
    }
}

TEST(StoreCheck, AWholeStoreIsClean) {
    const TestDirectory directory(store::quick_parent());
    directory.put("quire.db", written().database);

    const StoreCheck check =
        check_store(*store::inspect_sqlite(directory / "quire.db")->store, true).value();

    EXPECT_TRUE(check.is_clean());
    EXPECT_EQ(check.documents, 15U);
    EXPECT_GT(check.audit_entries, 0U);
}

}  // namespace
}  // namespace quire::kernel
