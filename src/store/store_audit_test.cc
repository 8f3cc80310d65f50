// The audit log in every store: its entries are noted at once and written with the next batch.
#include <atomic>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "store/audit_chain.h"
#include "store/store_contract_for_test.h"

namespace quire::store {
namespace {

// The bodies of the audit log, which must be whole.
Texts audited(Store& store) {
    AuditWalk walk(store.audit_origin().value());
    Texts bodies;
    const std::vector<AuditEntry> log = store.audit_after(0, 100'000).value();
    for (const AuditEntry& entry : log) {
        const auto wrong = walk.take(entry);
        EXPECT_FALSE(wrong) << entry.seq << ": " << *wrong;
        bodies.push_back(entry.body);
    }
    return bodies;
}

TYPED_TEST(StoreContract, AuditEntriesAreChainedInTheOrderInWhichTheyCame) {
    ASSERT_TRUE(commit(this->store(), {.audit = {"1", "2"}}));
    EXPECT_TRUE(this->store().note("3"));
    EXPECT_TRUE(this->store().note("4"));
    ASSERT_TRUE(commit(this->store(), {.audit = {"5"}}));
    EXPECT_EQ(audited(this->store()), (Texts{"1", "2", "3", "4", "5"}));
    const AuditHash head = this->store().audit_before(1000, 1)->at(0).hash;
    this->reopen();
    EXPECT_EQ(this->store().audit_before(1000, 1)->at(0).hash, head);
    ASSERT_TRUE(commit(this->store(), {.audit = {"6"}}));
    EXPECT_EQ(audited(this->store()), (Texts{"1", "2", "3", "4", "5", "6"}));
}

TYPED_TEST(StoreContract, AuditEntriesAreReadInPieces) {
    ASSERT_TRUE(commit(this->store(), {.audit = {"1", "2", "3", "4", "5"}}));
    const auto seqs = [](const Result<std::vector<AuditEntry>>& entries) {
        std::vector<std::uint64_t> out;
        for (const AuditEntry& entry : *entries) out.push_back(entry.seq);
        return out;
    };
    using Seqs = std::vector<std::uint64_t>;
    EXPECT_EQ(seqs(this->store().audit_before(~std::uint64_t{0}, 2)), (Seqs{5, 4}));
    EXPECT_EQ(seqs(this->store().audit_before(4, 9)), (Seqs{3, 2, 1}));
    EXPECT_EQ(seqs(this->store().audit_before(1, 9)), Seqs());
    EXPECT_EQ(seqs(this->store().audit_after(0, 2)), (Seqs{1, 2}));
    EXPECT_EQ(seqs(this->store().audit_after(4, 9)), (Seqs{5}));
}

TYPED_TEST(StoreContract, NotesAreWrittenWithinASecondWithoutABatch) {
    EXPECT_TRUE(this->store().note("alone"));
    for (int i = 0; i < 6000 && audited(this->store()).empty(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(audited(this->store()), (Texts{"alone"}));
}

TYPED_TEST(StoreContract, NotesAreWrittenAtTheEnd) {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(this->store().note(std::to_string(i)));
    this->reopen();
    EXPECT_EQ(audited(this->store()).size(), 100U);
}

TYPED_TEST(StoreContract, TheNotesOfARefusedBatchGoWithTheNext) {
    ASSERT_TRUE(commit(this->store(), update(1, "before")));
    this->disk_.fill_disk();
    EXPECT_TRUE(this->store().note("called"));
    Batch refused = huge(1);
    refused.audit = {"done"};
    EXPECT_EQ(reason(commit(this->store(), std::move(refused))), "disk_full");
    EXPECT_TRUE(this->store().note("called again"));
    // Refused as the document is fenced: it never gets to the disk.
    Batch fenced = update(1, "fenced");
    fenced.audit = {"done, too"};
    EXPECT_EQ(reason(commit(this->store(), std::move(fenced))), "document_fenced");
    Batch taken = block(2, "b", 1);
    taken.audit = {"done at last"};
    EXPECT_TRUE(commit(this->store(), std::move(taken)));
    EXPECT_EQ(audited(this->store()), (Texts{"called", "called again", "done at last"}));
    this->disk_.free_disk();
}

// Refusals in between change nothing: when a batch is durable, so is everything noted before it.
TYPED_TEST(StoreContract, NotesAreDurableWithAnyBatchThatComesAfterThem) {
    ASSERT_TRUE(commit(this->store(), update(1, "before")));
    this->disk_.fill_disk();
    std::vector<std::future<Result<void>>> answers;
    for (int i = 0; i < 60; ++i) {
        EXPECT_TRUE(this->store().note(std::to_string(i)));
        const DocumentKey key = 10 + i;
        answers.push_back(start(this->store(), i % 3 == 0 ? huge(key) : block(key, "b", 1)));
    }
    int refused = 0;
    for (auto& answer : answers) refused += answer.get().has_value() ? 0 : 1;
    EXPECT_EQ(refused, 20);
    const Texts log = audited(this->store());
    ASSERT_EQ(log.size(), 60U);
    for (int i = 0; i < 60; ++i) EXPECT_EQ(log[static_cast<std::size_t>(i)], std::to_string(i));
    this->disk_.free_disk();
}

TYPED_TEST(StoreContract, ConcurrentWritersMakeOneChain) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 100; ++i) {
                EXPECT_TRUE(this->store().note("n" + std::to_string(thread)));
                Batch batch = block(1 + thread, "b", static_cast<std::uint64_t>(i + 1));
                batch.audit = {"b" + std::to_string(thread)};
                this->store().commit(std::move(batch), [](Result<void>) {});
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    this->reopen();
    EXPECT_EQ(audited(this->store()).size(), 800U);
}

TYPED_TEST(StoreContract, OnAFullDiskNotesAreBoundedAndNoneIsLost) {
    this->disk_.fill_disk();
    const std::string large(Store::kMostNoted / 4, 'x');
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(this->store().note(large));
    EXPECT_EQ(reason(commit(this->store(), {})), "disk_full");
    std::size_t taken = 4;
    // While it is tried again there is room for more, now and then.
    bool is_full = false;
    for (int i = 0; i < 60'000 && !is_full; ++i) {
        is_full = !this->store().note("one more");
        taken += is_full ? 0 : 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(is_full);
    this->disk_.free_disk();
    ASSERT_TRUE(commit(this->store(), {}));
    EXPECT_TRUE(this->store().note("room again"));
    ASSERT_TRUE(commit(this->store(), {}));
    EXPECT_EQ(audited(this->store()).size(), taken + 1);
}

}  // namespace
}  // namespace quire::store
