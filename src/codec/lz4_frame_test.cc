#include "codec/lz4_frame.h"

#include <random>
#include <string_view>

#include <gtest/gtest.h>
#include <lz4frame.h>

#include "base/bytes.h"

namespace quire::codec {
namespace {

constexpr std::size_t kAny = std::size_t{1} << 30;

// Half of it repeats.
Bytes content(std::size_t size) {
    std::mt19937_64 random(size);
    Bytes bytes;
    while (bytes.size() < size) {
        if (random() % 2 == 0 || bytes.empty()) {
            for (int i = 0; i < 20; ++i) bytes.push_back(static_cast<std::uint8_t>(random()));
        } else {
            const std::size_t from = random() % bytes.size();
            for (std::size_t i = 0; i < 50; ++i)
                bytes.push_back(bytes[from + i % (bytes.size() - from)]);
        }
    }
    bytes.resize(size);
    return bytes;
}

Bytes framed(const Bytes& bytes, const LZ4F_preferences_t& preferences) {
    Bytes frame(LZ4F_compressFrameBound(bytes.size(), &preferences));
    frame.resize(
        LZ4F_compressFrame(frame.data(), frame.size(), bytes.data(), bytes.size(), &preferences));
    return frame;
}

std::string frame_refusal(std::span<const std::uint8_t> frame, std::size_t max_size = kAny) {
    const auto bytes = decompress_frame(frame, max_size);
    if (bytes) return "";
    EXPECT_EQ(bytes.error().code(), Errc::corrupt);
    return bytes.error().message();
}

TEST(Lz4Frame, CompressedDataDecompressesToTheSameBytes) {
    for (const std::size_t size : {0, 1, 5, 1000, 65536, 65537, 300'000, 5'000'000}) {
        const Bytes bytes = content(size);
        EXPECT_EQ(decompress_frame(compress_frame(bytes), kAny).value(), bytes) << size;
    }
}

TEST(Lz4Frame, ManySmallBlocksAreReadOneAfterTheOther) {
    const Bytes bytes = content(100'000);
    for (const LZ4F_blockMode_t mode : {LZ4F_blockLinked, LZ4F_blockIndependent}) {
        LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
        preferences.frameInfo.blockMode = mode;
        preferences.autoFlush = 1;  // Each call makes a block.
        LZ4F_cctx* context = nullptr;
        ASSERT_EQ(LZ4F_createCompressionContext(&context, LZ4F_VERSION), 0U);
        Bytes frame(1 << 20);
        std::size_t end = LZ4F_compressBegin(context, frame.data(), frame.size(), &preferences);
        for (std::size_t at = 0; at < bytes.size(); at += 100) {
            end += LZ4F_compressUpdate(context, frame.data() + end, frame.size() - end,
                                       bytes.data() + at, 100, nullptr);
        }
        end += LZ4F_compressEnd(context, frame.data() + end, frame.size() - end, nullptr);
        LZ4F_freeCompressionContext(context);
        frame.resize(end);
        EXPECT_EQ(decompress_frame(frame, kAny).value(), bytes);
        EXPECT_NE(frame_refusal(frame, bytes.size() - 1), "");
    }
}

// Independent blocks, nothing optional: 0x60.
TEST(Lz4Frame, IsWrittenAsLoroWritesIt) {
    EXPECT_EQ(compress_frame(content(1000))[4], 0x60);
    EXPECT_EQ(compress_frame(content(1000))[5], 0x40);
    EXPECT_EQ(compress_frame(content(100'000))[5], 0x50);
}

TEST(Lz4Frame, EveryOptionThatALibraryMayChooseIsRead) {
    const Bytes bytes = content(400'000);
    for (const LZ4F_blockMode_t mode : {LZ4F_blockLinked, LZ4F_blockIndependent}) {
        for (const LZ4F_blockSizeID_t size :
             {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB, LZ4F_max4MB}) {
            for (const bool checked : {false, true}) {
                LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
                preferences.frameInfo.blockMode = mode;
                preferences.frameInfo.blockSizeID = size;
                preferences.frameInfo.contentChecksumFlag =
                    checked ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
                preferences.frameInfo.blockChecksumFlag =
                    checked ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
                preferences.frameInfo.contentSize = checked ? bytes.size() : 0;
                EXPECT_EQ(decompress_frame(framed(bytes, preferences), kAny).value(), bytes);
            }
        }
    }
}

TEST(Lz4Frame, DamageToWhatIsCheckedIsFound) {
    LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
    preferences.frameInfo.blockMode = LZ4F_blockLinked;
    preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
    const Bytes bytes = content(2000);
    const Bytes frame = framed(bytes, preferences);
    for (std::size_t at = 0; at < frame.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            Bytes changed = frame;
            changed[at] = static_cast<std::uint8_t>(changed[at] ^ (1U << bit));
            EXPECT_NE(frame_refusal(changed), "") << at;
        }
        EXPECT_NE(frame_refusal(std::span(frame).first(at)), "") << at;
    }
}

TEST(Lz4Frame, DamageToWhatIsNotCheckedIsHarmless) {
    const Bytes frame = compress_frame(content(3000));
    for (std::size_t at = 0; at < frame.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            Bytes changed = frame;
            changed[at] = static_cast<std::uint8_t>(changed[at] ^ (1U << bit));
            frame_refusal(changed, 1 << 20);
        }
        EXPECT_NE(frame_refusal(std::span(frame).first(at)), "") << at;
    }
}

TEST(Lz4Frame, ABombIsRefusedBeforeItTakesMemory) {
    const Bytes bomb = compress_frame(Bytes(100'000'000));
    EXPECT_LT(bomb.size(), 500'000U);
    EXPECT_NE(frame_refusal(bomb, 99'999'999).find("too large for its input"), std::string::npos);
    EXPECT_EQ(frame_refusal(bomb, 100'000'000), "");
}

TEST(Lz4Frame, BytesAfterAFrameAreRefused) {
    Bytes frame = compress_frame(content(100));
    frame.push_back(0);
    EXPECT_NE(frame_refusal(frame).find("end of an LZ4 frame"), std::string::npos);
}

}  // namespace
}  // namespace quire::codec
