#include "text/utc_time.h"

#include <gtest/gtest.h>

namespace quire::text {
namespace {

TEST(UtcTime, AMomentIsWrittenToTheMillisecond) {
    EXPECT_EQ(utc_time(0), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(utc_time(1'737'642'725'120), "2025-01-23T14:32:05.120Z");
    EXPECT_EQ(utc_time(-1), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(utc_time(951'782'400'000), "2000-02-29T00:00:00.000Z");
    EXPECT_EQ(utc_time(INT64_MAX), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(utc_time(INT64_MIN), "0000-01-01T00:00:00.000Z");
}

}  // namespace
}  // namespace quire::text
