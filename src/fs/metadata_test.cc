// The properties of a file that a save keeps, and the saves that are refused because they cannot.
#include <filesystem>

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "fs/disk_files.h"

namespace quire::fs {
namespace {

// POSIX ACL, version 2: user rw, user 1234 r, group r, mask r, others nothing.
const std::string kAcl(
    "\x02\0\0\0"
    "\x01\0\x06\0\xFF\xFF\xFF\xFF"
    "\x02\0\x04\0\xD2\x04\0\0"
    "\x04\0\x04\0\xFF\xFF\xFF\xFF"
    "\x10\0\x04\0\xFF\xFF\xFF\xFF"
    "\x20\0\0\0\xFF\xFF\xFF\xFF",
    44);
// File capabilities, revision 2: cap_net_raw, permitted and effective.
const std::string kCapability("\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);

std::string attribute_of(const std::string& path, const char* name) {
    char value[256] = {};
    const ssize_t size = ::getxattr(path.c_str(), name, value, sizeof value);
    return size < 0 ? "<none>" : std::string(value, static_cast<std::size_t>(size));
}

bool give(const std::string& path, const char* name, const std::string& value) {
    return ::setxattr(path.c_str(), name, value.data(), value.size(), 0) == 0;
}

Result<Saved> save_in(const TestDirectory& directory) {
    const auto files = std::move(DiskFiles::open(directory.path(), {1, {}}).value());
    return files->save("f", "new", Hash::of("old"));
}

// Saves as a user without rights, in a process of its own, and returns the reason and the message.
std::string saved_as(uid_t user, const TestDirectory& directory) {
    int ends[2] = {};
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) {
        std::string said = "no rights";
        if (::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 &&
            ::setresuid(user, user, user) == 0) {
            const auto saved = save_in(directory);
            said = saved ? "ok" : cat(saved.error().reason(), ": ", saved.error().message());
        }
        ::_exit(::write(ends[1], said.data(), said.size()) < 0 ? 1 : 0);
    }
    ::close(ends[1]);
    char said[1000] = {};
    const ssize_t size = ::read(ends[0], said, sizeof said);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return size < 0 ? "" : std::string(said, static_cast<std::size_t>(size));
}

class Metadata : public testing::Test {
protected:
    Metadata() {
        directory.put("f", "old");
        ::chmod(directory.path().c_str(), 0777);
    }
    TestDirectory directory;
    std::string f = directory / "f";
};

TEST_F(Metadata, AnAccessListIsKept) {
    if (!give(f, "system.posix_acl_access", kAcl))
        GTEST_SKIP() << "the file system has no access lists";

    ASSERT_TRUE(save_in(directory));

    EXPECT_EQ(attribute_of(f, "system.posix_acl_access"), kAcl);
    EXPECT_EQ(directory.get("f"), "new");
}

TEST_F(Metadata, CapabilitiesAreKeptOrTheSaveIsRefused) {
    if (!give(f, "security.capability", kCapability))
        GTEST_SKIP() << "giving a file capabilities needs root";
    ASSERT_TRUE(save_in(directory));
    EXPECT_EQ(attribute_of(f, "security.capability"), kCapability);

    directory.put("f", "old");
    ASSERT_TRUE(give(f, "security.capability", kCapability));
    ASSERT_EQ(::chown(f.c_str(), 2000, 2000), 0);
    // A change of owner takes them away.
    ASSERT_TRUE(give(f, "security.capability", kCapability));
    const std::string said = saved_as(2000, directory);
    EXPECT_TRUE(said.starts_with("metadata_lost: ")) << said;
    EXPECT_NE(said.find("security.capability"), std::string::npos) << said;
    EXPECT_EQ(directory.get("f"), "old");
    EXPECT_EQ(attribute_of(f, "security.capability"), kCapability);
}

TEST_F(Metadata, AnOwnerThatCannotBeKeptRefusesTheSave) {
    if (::geteuid() != 0) GTEST_SKIP() << "changing the owner of a file needs root";
    ASSERT_EQ(::chown(f.c_str(), 1234, 1234), 0);
    ASSERT_EQ(::chmod(f.c_str(), 0666), 0);

    const std::string said = saved_as(2000, directory);

    EXPECT_TRUE(said.starts_with("metadata_lost: ")) << said;
    EXPECT_NE(said.find("owner"), std::string::npos) << said;
    EXPECT_EQ(directory.get("f"), "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST_F(Metadata, AUsersOwnFileIsSavedWithItsModeAndAttributes) {
    if (::geteuid() != 0) GTEST_SKIP() << "becoming another user needs root";
    ASSERT_EQ(::chown(f.c_str(), 2000, 2000), 0);
    ASSERT_EQ(::chmod(f.c_str(), 0640), 0);
    ASSERT_TRUE(give(f, "user.origin", "here"));

    EXPECT_EQ(saved_as(2000, directory), "ok");

    struct stat status = {};
    ASSERT_EQ(::stat(f.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640U);
    EXPECT_EQ(status.st_uid, 2000U);
    EXPECT_EQ(attribute_of(f, "user.origin"), "here");
}

}  // namespace
}  // namespace quire::fs
