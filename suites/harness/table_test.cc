// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace kvroof {
namespace {

TEST(Table, AlignsTextLeftAndNumbersRight) {
  Table table({{"plan", Table::Align::left}, {"TTFT ms"}, {"speedup"}});
  table.add_row({"recompute", "261", "1"});
  table.add_row({"copy", "43.2"});
  EXPECT_EQ(table.text(),
            "plan       TTFT ms  speedup\n"
            "---------  -------  -------\n"
            "recompute      261        1\n"
            "copy          43.2\n");
}

TEST(Table, CutsTheWidestTextToFitAndNeverANumber) {
  Table table({{"name", Table::Align::left}, {"bytes"}, {"reason", Table::Align::left}});
  table.add_row({"short", "12345678901234567890", std::string(200, 'x')});
  std::istringstream lines(table.text(80));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80 + std::string("…").size() - 1) << line;
  }
  EXPECT_NE(table.text(80).find("12345678901234567890"), std::string::npos);
  EXPECT_NE(table.text(80).find("x…\n"), std::string::npos);
  EXPECT_NE(table.text(10).find("12345678901234567890"), std::string::npos);
}

TEST(Table, CountsCharactersAndCutsBetweenThem) {
  Table table({{"größe", Table::Align::left}, {"n"}});
  table.add_row({"ä", "1"});
  EXPECT_EQ(table.text(), "größe  n\n-----  -\nä      1\n");
  Table narrow({{"t", Table::Align::left}});
  narrow.add_row({"äöüäöüäöü"});
  EXPECT_NE(narrow.text(7).find("äöüäöü…\n"), std::string::npos);
}

TEST(Table, WithoutColumnsIsTwoEmptyLines) { EXPECT_EQ(Table({}).text(), "\n\n"); }

TEST(Significant, KeepsThreeDigits) {
  EXPECT_EQ(significant(51.28), "51.3");
  EXPECT_EQ(significant(0.0123456), "0.0123");
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(12345), "12300");
  EXPECT_EQ(significant(12345, 4), "12340");
  EXPECT_EQ(significant(-2.5), "-2.50");
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(1e-9), "1.00e-09");
  EXPECT_EQ(significant(4.5e12), "4.50e+12");
  EXPECT_EQ(significant(NAN), "-");
  EXPECT_EQ(significant(INFINITY), "inf");
  EXPECT_EQ(milliseconds(0.0432), "43.2");
}

TEST(Counts, AreInTheUnitsOfTheCommandLine) {
  EXPECT_EQ(token_count(10240), "10k");
  EXPECT_EQ(token_count(1000), "1000");
  EXPECT_EQ(token_count(0), "0");
  EXPECT_EQ(byte_count(2 << 20), "2 MiB");
  EXPECT_EQ(byte_count(100), "100 B");
  EXPECT_EQ(byte_count(13421772800), "12.5 GiB");
}

// 23.0 is 4.2 % below 24.0, and 30.8 is 28.3 % above it.
TEST(IntervalText, GivesBothSidesWhereTheyDiffer) {
  EXPECT_EQ(interval_text({23.0, 30.8}, 24.0), "-4/+28%");
  EXPECT_EQ(interval_text({6225, 7179}, 6225), "-0/+15%");
  EXPECT_EQ(interval_text({90, 110}, 100), "±10%");
  EXPECT_EQ(interval_text({98, 102.9}, 100), "±2.9%");  // the farther side
  EXPECT_EQ(interval_text({98, 103.1}, 100), "-2/+3%");
}

}  // namespace
}  // namespace kvroof
