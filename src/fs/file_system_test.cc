// The promises of every FileSystem, checked on the disk and on its twin.
#include "fs/file_system.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "fs/memory_files_for_test.h"

namespace quire::fs {
namespace {

constexpr std::size_t kMost = 1 << 20;

// A file system and the hand of another program in it.
struct World {
    virtual ~World() = default;
    virtual FileSystem& files() = 0;
    virtual void put(const std::string& path, const std::string& bytes) = 0;
    virtual void link(const std::string& path, const std::string& target) = 0;
    virtual void erase(const std::string& path) = 0;
};

struct DiskWorld final : World {
    TestDirectory directory;
    std::unique_ptr<DiskFiles> disk = std::move(DiskFiles::open(directory.path(), {1, {}}).value());

    FileSystem& files() override { return *disk; }
    void put(const std::string& path, const std::string& bytes) override {
        directory.put(path, bytes);
    }
    void link(const std::string& path, const std::string& target) override {
        directory.link(path, target);
    }
    void erase(const std::string& path) override { directory.erase(path); }
};

struct MemoryWorld final : World {
    MemoryFiles memory;

    FileSystem& files() override { return memory; }
    void put(const std::string& path, const std::string& bytes) override {
        memory.put(path, bytes);
    }
    void link(const std::string& path, const std::string& target) override {
        memory.link(path, target);
    }
    void erase(const std::string& path) override { memory.erase(path); }
};

template <class W>
class Files : public testing::Test {
protected:
    std::string bytes(const std::string& path) {
        auto read = files.read(path, kMost);
        return read ? read->bytes : cat("<", read.error().reason(), ">");
    }
    template <class T>
    static std::string reason(const Result<T>& result) {
        return result ? "ok" : result.error().reason();
    }

    W world;
    FileSystem& files = world.files();
};
using Worlds = testing::Types<DiskWorld, MemoryWorld>;
TYPED_TEST_SUITE(Files, Worlds);

TYPED_TEST(Files, ACreatedFileReadsBack) {
    const auto created = this->files.create("a/b/c.txt", "hello\n");

    ASSERT_TRUE(created) << created.error().message();
    EXPECT_EQ(created->hash, Hash::of("hello\n"));
    EXPECT_EQ(this->bytes("a/b/c.txt"), "hello\n");
    EXPECT_EQ(this->files.resolve("a/b/c.txt")->kind, Kind::file);
    EXPECT_EQ(this->files.resolve("a/b")->kind, Kind::directory);
}

TYPED_TEST(Files, CreateReplacesNothing) {
    this->world.put("a", "mine");
    this->world.put("d/x", "");

    EXPECT_EQ(this->reason(this->files.create("a", "yours")), "file_exists");
    EXPECT_EQ(this->reason(this->files.create("d", "yours")), "file_exists");
    EXPECT_EQ(this->reason(this->files.create("a/b", "yours")), "file_not_found");
    EXPECT_EQ(this->bytes("a"), "mine");
}

TYPED_TEST(Files, SaveReplacesOnlyTheExpectedBytes) {
    this->world.put("a", "old");

    const auto saved = this->files.save("a", "new", Hash::of("old"));

    ASSERT_TRUE(saved) << saved.error().message();
    EXPECT_EQ(saved->hash, Hash::of("new"));
    EXPECT_EQ(this->bytes("a"), "new");
}

TYPED_TEST(Files, SaveRefusesAFileThatIsGone) {
    this->world.put("a", "theirs");

    EXPECT_EQ(this->reason(this->files.save("a", "new", Hash::of("old"))), "disk_changed");
    EXPECT_EQ(this->reason(this->files.save("gone", "new", Hash::of("old"))), "disk_changed");
    EXPECT_EQ(this->bytes("a"), "theirs");
    EXPECT_EQ(this->bytes("gone"), "<file_not_found>");
}

TYPED_TEST(Files, RemoveDeletesOnlyTheExpectedBytes) {
    this->world.put("a", "old");

    EXPECT_EQ(this->reason(this->files.remove("a", Hash::of("other"))), "disk_changed");
    EXPECT_EQ(this->bytes("a"), "old");
    EXPECT_EQ(this->reason(this->files.remove("a", Hash::of("old"))), "ok");
    EXPECT_EQ(this->reason(this->files.remove("a", Hash::of("old"))), "file_not_found");
}

TYPED_TEST(Files, ReadRefusesMoreThanTheLimitAndSaysSo) {
    this->world.put("a", "12345");

    EXPECT_EQ(this->files.read("a", 5)->bytes, "12345");
    const auto over = this->files.read("a", 4);
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().reason(), "too_large");
    EXPECT_EQ(*over.error().details().find("limit"), Value(4));
}

TYPED_TEST(Files, ADirectoryIsNotAFile) {
    this->world.put("d/x", "");

    EXPECT_EQ(this->reason(this->files.read("d", kMost)), "not_a_file");
    EXPECT_EQ(this->reason(this->files.stamp("d")), "not_a_file");
    EXPECT_EQ(this->reason(this->files.save("d", "x", Hash::of(""))), "not_a_file");
    EXPECT_EQ(this->reason(this->files.remove("d", Hash::of(""))), "not_a_file");
    EXPECT_EQ(this->bytes("d/x"), "");
}

TYPED_TEST(Files, APathThatLeadsOutIsRefused) {
    this->world.put("d/x", "");
    this->world.link("up", "..");
    this->world.link("d/far", "../../etc/passwd");
    this->world.link("abs", "/etc/passwd");
    this->world.link("near", "d/x");

    for (const char* path :
         {"..", "../a", "d/../../a", "/etc/passwd", "/", "up", "up/etc", "d/far", "abs", "abs/x"}) {
        EXPECT_EQ(this->reason(this->files.resolve(path)), "outside_workspace") << path;
    }
    EXPECT_EQ(this->reason(this->files.resolve(std::string("a\0b", 3))), "invalid_path");
    EXPECT_EQ(this->reason(this->files.resolve(std::string(5000, 'a'))), "invalid_path");
}

TYPED_TEST(Files, APathIsResolvedToItsPlainForm) {
    this->world.put("d/x", "");

    EXPECT_EQ(this->files.resolve("./d//x")->path, "d/x");
    EXPECT_EQ(this->files.resolve("d/../d/x")->path, "d/x");
    EXPECT_EQ(this->files.resolve("new/deep")->path, "new/deep");
    EXPECT_EQ(this->files.resolve("new/deep")->kind, Kind::missing);
    EXPECT_EQ(this->files.resolve("")->path, "");
    EXPECT_EQ(this->files.resolve("d/..")->path, "");
    EXPECT_EQ(this->reason(this->files.resolve("new/../d/x")), "file_not_found");
    EXPECT_EQ(this->reason(this->files.resolve("d/x/y")), "file_not_found");
    EXPECT_EQ(this->reason(this->files.resolve("d/x/..")), "file_not_found");
}

TYPED_TEST(Files, LinksAreFollowedAndEveryNameIsKnown) {
    this->world.put("real/dir/file", "content");
    this->world.link("one", "two");
    this->world.link("two", "real/dir");
    this->world.link("real/back", "../real/dir/file");
    this->world.link("loop", "loop");
    this->world.link("dangling", "real/missing");

    const Place place = this->files.resolve("one/file").value();
    EXPECT_EQ(place.path, "real/dir/file");
    EXPECT_EQ(place.aliases, (std::vector<std::string>{"one/file", "two/file"}));
    EXPECT_EQ(this->files.resolve("real/back")->path, "real/dir/file");
    // Like the system: ".." is the parent of the link's target.
    EXPECT_EQ(this->files.resolve("one/../back")->path, "real/dir/file");
    EXPECT_EQ(this->reason(this->files.resolve("loop")), "invalid_path");
    EXPECT_EQ(this->files.resolve("dangling")->path, "real/missing");
    EXPECT_EQ(this->files.resolve("dangling")->kind, Kind::missing);
    EXPECT_TRUE(this->files.resolve("dangling")->linked());
    EXPECT_FALSE(this->files.resolve("real/dir/file")->linked());
}

TYPED_TEST(Files, OnlyResolveFollowsALink) {
    this->world.put("d/x", "content");
    this->world.link("l", "d");
    this->world.link("f", "d/x");

    for (const char* path : {"l/x", "f"}) {
        EXPECT_NE(this->reason(this->files.read(path, kMost)), "ok") << path;
        EXPECT_NE(this->reason(this->files.save(path, "new", Hash::of("content"))), "ok") << path;
        EXPECT_NE(this->reason(this->files.remove(path, Hash::of("content"))), "ok") << path;
    }
    EXPECT_NE(this->reason(this->files.create("l/new", "")), "ok");
    EXPECT_EQ(this->bytes("d/x"), "content");
}

TYPED_TEST(Files, TheListHoldsFilesAndLinksInOrder) {
    this->world.put("b.txt", "12");
    this->world.put("a/x", "1");
    this->world.put("a-b", "");
    this->world.put(".git/config", "");
    this->world.put("sub/.git/config", "");
    this->world.put(".quire/db", "");
    this->world.put("bad\xFFname", "");
    this->world.link("l", "a");

    const Listing listing = this->files.list(100, {}).value();

    std::string shown;
    for (const Entry& entry : listing.entries)
        shown += cat(entry.path, entry.is_link ? "@" : ":", entry.size, " ");
    EXPECT_EQ(shown, "a-b:0 a/x:1 b.txt:2 l@0 ");
    EXPECT_EQ(listing.unnamed.size(), 1U);
    EXPECT_FALSE(listing.truncated);
    EXPECT_TRUE(this->files.list(2, {})->truncated);
    EXPECT_EQ(this->files.list(2, {})->entries.size(), 2U);
}

TYPED_TEST(Files, TheListLeavesOutWhatIgnoreFilesName) {
    this->world.put(".gitignore", "*.o\n/out/\n");
    this->world.put("sub/.gitignore", "!keep.o\n");
    this->world.put("sub/.loroignore", "secret\n");
    for (const char* path : {"a.o", "b", "out/x", "out/deep/y", "sub/keep.o", "sub/z.o",
                             "sub/secret", "sub/out/w", "local"})
        this->world.put(path, "");
    this->world.put(".git/info/exclude", "local\n");

    const auto listed = [&](const IgnoreNames& names) {
        const Listing listing = this->files.list(100, names).value();
        std::string shown;
        for (const Entry& entry : listing.entries) shown += entry.path + " ";
        return shown;
    };
    EXPECT_EQ(listed({".gitignore", ".loroignore"}),
              ".gitignore b sub/.gitignore sub/.loroignore sub/keep.o sub/out/w ");
    EXPECT_EQ(listed({".loroignore"}),
              ".gitignore a.o b local out/deep/y out/x sub/.gitignore sub/.loroignore "
              "sub/keep.o sub/out/w sub/z.o ");
}

TYPED_TEST(Files, OddNamesSurvive) {
    for (const std::string name : {"-rf", "a b", "tab\there", "new\nline", "trailing ", "dots.",
                                   "\xE2\x80\xAErtl", "inv\xFF\xFE", "'\"\\$`*?[", "~"}) {
        EXPECT_EQ(this->reason(this->files.create(name, name)), "ok") << name;
        EXPECT_EQ(this->bytes(this->files.resolve(name)->path), name);
        EXPECT_EQ(this->reason(this->files.save(name, "new", Hash::of(name))), "ok") << name;
        EXPECT_EQ(this->reason(this->files.remove(name, Hash::of("new"))), "ok") << name;
    }
}

TYPED_TEST(Files, AStampChangesWithTheBytes) {
    this->world.put("a", "one");
    Stamp before = this->files.stamp("a").value();
    before.settled = true;  // Pretends that its last change was long ago.
    EXPECT_TRUE(before.same_as(this->files.stamp("a").value()));

    this->world.put("a", "four");

    EXPECT_FALSE(before.same_as(this->files.stamp("a").value()));
}

}  // namespace
}  // namespace quire::fs
