// Attempts to reach what no path may reach, and odd names, each through every call.
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "fs/memory_files_for_test.h"
#include "fs/reason_for_test.h"

namespace quire::fs {
namespace {

// A directory "ws" beside others that it must not reach.
class Confinement : public testing::Test {
protected:
    Confinement() {
        directory.put("ws/src/a.txt", "inside");
        directory.put("ws2/secret", "secret");
        directory.put("secret", "secret");
        files = std::move(DiskFiles::open(directory / "ws", {1, {}}).value());
    }
    ~Confinement() override {
        EXPECT_EQ(directory.get("secret"), "secret");
        EXPECT_EQ(directory.get("ws2/secret"), "secret");
        EXPECT_FALSE(directory.has("new"));
    }
    // The reason for which a caller's path is refused, by resolve() or else by what follows it.
    std::string refusal(const std::string& path) {
        const auto place = files->resolve(path);
        if (!place) return place.error().reason();
        const auto read = files->read(place->path, kLimit);
        if (read) return cat("read ", read->bytes);
        return read.error().reason();
    }
    // No call takes the path as if it had been resolved.
    void expect_closed(const std::string& path) {
        EXPECT_FALSE(files->read(path, kLimit)) << path;
        EXPECT_FALSE(files->save(path, "x", Hash::of("secret"))) << path;
        EXPECT_FALSE(files->remove(path, Hash::of("secret"))) << path;
        EXPECT_FALSE(files->create(path, "x")) << path;
        EXPECT_FALSE(files->stamp(path)) << path;
    }

    TestDirectory directory;
    std::unique_ptr<DiskFiles> files;
};

TEST_F(Confinement, NoPathLeadsOut) {
    directory.link("ws/up", "..");
    directory.link("ws/far", directory / "secret");
    directory.link("ws/near", "../secret");
    directory.link("ws/chain", "up/secret");
    directory.link("ws/sibling", "../ws2");
    const std::pair<std::string, std::string_view> attempts[] = {
        {"../secret", "outside_workspace"},
        {"src/../../secret", "outside_workspace"},
        {"src/./../../secret", "outside_workspace"},
        {"..", "outside_workspace"},
        {"/etc/passwd", "outside_workspace"},
        {directory / "secret", "outside_workspace"},
        {directory / "ws2/secret", "outside_workspace"},  // Begins like the directory's own path.
        {directory / "ws/../secret", "outside_workspace"},
        {"../ws2/secret", "outside_workspace"},
        {"up/secret", "outside_workspace"},
        {"far", "outside_workspace"},
        {"near", "outside_workspace"},
        {"chain", "outside_workspace"},
        {"sibling/secret", "outside_workspace"},
        {"src/a.txt/../../../secret", "file_not_found"},
        {"none/../../secret", "file_not_found"},
        {std::string("src/a.txt\0.png", 14), "invalid_path"},
        {std::string(5000, 'x'), "invalid_path"},
        {std::string(300, 'x'), "invalid_path"},
        {"SRC/a.txt", "file_not_found"},
        {"src", "not_a_file"},
        {"src/a.txt/", "read inside"},
        {"./src//a.txt", "read inside"},
        {"src/../src/a.txt", "read inside"},
        {directory / "ws/src/a.txt", "read inside"},
    };
    for (const auto& [path, expected] : attempts) EXPECT_EQ(refusal(path), expected) << path;
    for (const std::string path : {"../secret", "../new", "up/secret", "up/new", "far", "near",
                                   "chain", "sibling/secret", "sibling/new", "/etc/passwd"}) {
        expect_closed(path);
    }
    EXPECT_TRUE(std::filesystem::is_symlink(directory / "ws/far"));
}

TEST_F(Confinement, OnlyRegularFilesAreRead) {
    ASSERT_EQ(::mkfifo((directory / "ws/fifo").c_str(), 0600), 0);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string at = directory / "ws/socket";
    ASSERT_LT(at.size(), sizeof address.sun_path);
    at.copy(address.sun_path, at.size());
    ASSERT_EQ(::bind(socket, reinterpret_cast<struct sockaddr*>(&address), sizeof address), 0);
    std::vector<std::pair<std::string, std::string>> kinds = {
        {"fifo", "fifo"}, {"socket", "socket"}, {"src", "directory"}};
    if (::mknod((directory / "ws/device").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0) {
        kinds.emplace_back("device", "device");
    } else {
        std::printf("[  SKIPPED ] devices: making one needs root\n");
    }
    for (const auto& [name, kind] : kinds) {
        const auto read = files->read(name, kLimit);
        ASSERT_FALSE(read) << name;
        EXPECT_EQ(read.error().reason(), "not_a_file") << name;
        EXPECT_EQ(*read.error().details().find("kind"), Value(kind)) << name;
        EXPECT_EQ(reason(files->save(name, "x", Hash::of(""))), "not_a_file") << name;
        EXPECT_EQ(reason(files->remove(name, Hash::of(""))), "not_a_file") << name;
        EXPECT_EQ(reason(files->create(name, "x")), "file_exists") << name;
    }
    EXPECT_EQ(files->list(10, {})->entries.size(), 1U);
    ::close(socket);
}

TEST_F(Confinement, LinksOfTheKernelItselfLeadNowhere) {
    std::filesystem::create_directory(directory / "ws/p");
    if (::mount("proc", (directory / "ws/p").c_str(), "proc", 0, nullptr) != 0)
        GTEST_SKIP() << "mounting proc needs root";
    const Fd held(::open((directory / "secret").c_str(), O_RDONLY));
    const std::pair<std::string, std::string_view> attempts[] = {
        {"p/self/root/etc/passwd", "outside_workspace"},
        {"p/self/cwd/x", "outside_workspace"},
        {"p/self/exe", "outside_workspace"},
        {cat("p/self/fd/", held.get()), "outside_workspace"},
        {"p/self/ns/mnt", "file_not_found"},
    };
    for (const auto& [path, expected] : attempts) EXPECT_EQ(refusal(path), expected) << path;
    for (const auto& [path, expected] : attempts) EXPECT_FALSE(files->read(path, kLimit)) << path;
    const std::string self = cat("p/", ::getpid(), "/fd/", held.get());
    EXPECT_FALSE(files->save(self, "x", Hash::of("secret")));
    EXPECT_EQ(::umount2((directory / "ws/p").c_str(), MNT_DETACH), 0);
}

TEST_F(Confinement, AMountInTheDirectoryIsPartOfIt) {
    std::filesystem::create_directory(directory / "ws/m");
    if (::mount("none", (directory / "ws/m").c_str(), "tmpfs", 0, nullptr) != 0)
        GTEST_SKIP() << "mounting needs root";
    directory.put("ws/m/f", "mounted");
    directory.link("ws/m/out", "../../secret");

    EXPECT_EQ(refusal("m/f"), "read mounted");
    EXPECT_EQ(reason(files->save("m/f", "saved", Hash::of("mounted"))), "ok");
    EXPECT_EQ(directory.get("ws/m/f"), "saved");
    EXPECT_EQ(refusal("m/../src/a.txt"), "read inside");
    EXPECT_EQ(refusal("m/out"), "outside_workspace");
    EXPECT_EQ(::umount2((directory / "ws/m").c_str(), MNT_DETACH), 0);
}

TEST_F(Confinement, ANameIsAnyBytes) {
    for (const std::string name :
         {"-rf", " x ", "x.", "a\nb", "a\x01\x1b[2J", "\xE2\x80\xAEtxt.exe", "\xE2\x80\x8Bx", "~",
          "a\\b", "*", "$(x)", "%2e%2e", "CON", ":"}) {
        ASSERT_EQ(reason(files->create(name, "one")), "ok") << name;
        const auto place = files->resolve(name);
        ASSERT_TRUE(place);
        EXPECT_EQ(place->path, name);
        EXPECT_EQ(reason(files->save(name, "two", Hash::of("one"))), "ok") << name;
        EXPECT_EQ(directory.get(cat("ws/", name)), "two") << name;
        EXPECT_EQ(files->list(100, {})->entries.size(), 2U) << name;
        EXPECT_EQ(reason(files->remove(name, Hash::of("two"))), "ok") << name;
    }
    // No caller can name it, so a list keeps it apart.
    directory.put("ws/\xFF\xFE", "x");
    EXPECT_EQ(files->read("\xFF\xFE", kLimit)->bytes, "x");
    EXPECT_EQ(files->list(100, {})->unnamed.size(), 1U);
    EXPECT_EQ(files->list(100, {})->entries.size(), 1U);
}

TEST_F(Confinement, AFileIsKnownByAllItsNames) {
    directory.put("ws/.quire/state", "state");
    std::filesystem::create_hard_link(directory / "ws/.quire/state", directory / "ws/innocent");
    std::filesystem::create_hard_link(directory / "ws/src/a.txt", directory / "ws/b");
    std::filesystem::create_hard_link(directory / "secret", directory / "ws/c");

    EXPECT_EQ(files->resolve("innocent")->hard_links, std::vector<std::string>{".quire/state"});
    EXPECT_FALSE(files->resolve("innocent")->linked_elsewhere);
    EXPECT_EQ(files->resolve("b")->hard_links, std::vector<std::string>{"src/a.txt"});
    EXPECT_TRUE(files->resolve("c")->hard_links.empty());
    EXPECT_TRUE(files->resolve("c")->linked_elsewhere);
    EXPECT_EQ(reason(files->save("c", "x", Hash::of("secret"))), "hard_linked");
    EXPECT_EQ(reason(files->save("b", "x", Hash::of("inside"))), "hard_linked");
    EXPECT_EQ(reason(files->remove("b", Hash::of("inside"))), "ok");
    EXPECT_TRUE(files->resolve("src/a.txt")->hard_links.empty());
}

// Stands for a file system that ignores case, which takes another kernel than most have.
TEST(CaseFolding, APathHasTheNamesOfTheDisk) {
    MemoryFiles files;
    files.put("Docs/Plan.md", "plan");
    files.link("Short", "docs");
    files.ignore_case();

    EXPECT_EQ(files.resolve("dOCS/pLAN.MD")->path, "Docs/Plan.md");
    EXPECT_EQ(files.resolve("docs")->kind, Kind::directory);
    EXPECT_EQ(files.resolve("DOCS/new.md")->path, "Docs/new.md");
    EXPECT_EQ(files.resolve("short/PLAN.md")->path, "Docs/Plan.md");
    EXPECT_EQ(files.resolve("other/X")->path, "other/X");
}

TEST_F(Confinement, NamesThatDifferInCaseAreTwoFilesWhereTheDiskSaysSo) {
    directory.put("ws/Case", "upper");
    directory.put("ws/case", "lower");
    // Even two names of one file that differ in nothing else.
    std::filesystem::create_hard_link(directory / "ws/Case", directory / "ws/cASE");

    EXPECT_EQ(refusal("Case"), "read upper");
    EXPECT_EQ(refusal("case"), "read lower");
    EXPECT_EQ(files->resolve("cASE")->path, "cASE");
    EXPECT_EQ(files->resolve("Case")->path, "Case");
}

}  // namespace
}  // namespace quire::fs
