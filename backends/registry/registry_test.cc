// SPDX-License-Identifier: Apache-2.0
// Device names as DESIGN section 5 lists them, and how opening each ends.
#include "backends/registry/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvroof {
namespace {

using ::testing::HasSubstr;
using Options = std::map<std::string, std::string>;

struct Good {
  const char* text;
  const char* adapter;
  const char* selector;
  Options options;
};

TEST(ParseDevice, AcceptsEveryDocumentedForm) {
  const Good kGood[] = {
      {"host", "host", "", {}},
      {"host:balance=h100-sxm", "host", "", {{"balance", "h100-sxm"}}},
      {"host:link=5GB/s", "host", "", {{"link", "5GB/s"}}},
      {"host,link=5GB/s", "host", "", {{"link", "5GB/s"}}},
      {"sim:h100-sxm", "sim", "h100-sxm", {}},
      {"sim:h100-sxm,link=pcie4x16", "sim", "h100-sxm", {{"link", "pcie4x16"}}},
      {"sim:profile.json", "sim", "profile.json", {}},
      {"sim:/tmp/my profiles/a:b.json", "sim", "/tmp/my profiles/a:b.json", {}},
      {"sim:h100-sxm*4", "sim", "h100-sxm", {{"devices", "4"}}},
      {"sim:h100-sxm*4,link=x", "sim", "h100-sxm", {{"devices", "4"}, {"link", "x"}}},
      {"cuda:0", "cuda", "0", {}},
      {"rocm:0", "rocm", "0", {}},
      {"xpu:0", "xpu", "0", {}},
      {"host:a=1,b=2=3", "host", "", {{"a", "1"}, {"b", "2=3"}}},
  };
  for (const Good& good : kGood) {
    const auto spec = parse_device(good.text);
    ASSERT_TRUE(spec.ok()) << good.text << ": " << spec.status().text;
    EXPECT_EQ(spec->adapter, good.adapter) << good.text;
    EXPECT_EQ(spec->selector, good.selector) << good.text;
    EXPECT_EQ(spec->options, good.options) << good.text;
  }
}

TEST(ParseDevice, RefusesWithASentenceThatNamesTheProblem) {
  const std::pair<std::string, const char*> kBad[] = {
      {"", "empty"},
      {":0", "not an adapter's name"},
      {"Host", "'Host' is not an adapter's name"},
      {"ho st", "'ho st' is not an adapter's name"},
      {"host:", "nothing follows the ':'"},
      {"sim:*4", "nothing follows the ':'"},
      {"sim:a*", "number of devices"},
      {"sim:a*0", "number of devices"},
      {"sim:a*-1", "number of devices"},
      {"sim:a*4*4", "number of devices"},
      {"sim:a*99999", "number of devices"},
      {"sim:a,", "'' is not an option of the form key=value"},
      {"sim:a,b", "'b' is not an option of the form key=value"},
      {"host,fast", "'fast' is not an option of the form key=value"},
      {"sim:a,link=", "option 'link' has no value"},
      {"sim:a,=x", "not an option's name"},
      {"sim:a,LINK=x", "'LINK' is not an option's name"},
      {"sim:a,link=x,link=y", "option 'link' is given twice"},
      {"sim:a*2,devices=3", "option 'devices' is given twice"},
      {"sim:a\n", "control characters"},
      {std::string("si\0m", 4), "control characters"},
  };
  for (const auto& [text, part] : kBad) {
    const auto spec = parse_device(text);
    EXPECT_EQ(spec.code(), Code::invalid) << text;
    EXPECT_THAT(spec.status().text, HasSubstr(part));
  }
}

Status open(std::string_view text) {
  auto spec = parse_device(text);
  return spec ? open_device(*spec).status() : spec.status();
}

TEST(Registry, UnknownAdapterListsTheKnownOnes) {
  const Status status = open("foo:0");
  EXPECT_EQ(status.code, Code::invalid);
  for (const Adapter& adapter : adapters()) {
    EXPECT_THAT(status.text, HasSubstr(std::string(adapter.name)));
  }
}

TEST(Registry, AdaptersThatThisBuildLacksAreMissingDevicesAndNotBadInput) {
  for (const char* text : {"cuda:9", "rocm:0", "xpu:0", "cuda"}) {
    EXPECT_EQ(open(text).code, Code::unsupported) << text;
    EXPECT_THAT(open(text).text, HasSubstr("This build contains no"));
  }
  EXPECT_EQ(open("cuda:fast").code, Code::invalid);
  EXPECT_EQ(open("cuda:0,link=x").code, Code::invalid);
}

TEST(Registry, EveryProbeEndsReadyOrWithAReason) {
  for (const Adapter& adapter : adapters()) {
    const AdapterReport report = adapter.probe();
    EXPECT_EQ(report.state == AdapterState::ready, report.reason.empty()) << adapter.name;
    EXPECT_NE(adapter.name, "null");
  }
}

TEST(Rate, HasDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_rate("5GB/s"), 5e9);
  EXPECT_EQ(parse_rate("512MiB/s"), 0x1p29);
  EXPECT_EQ(parse_rate("1.5KiB/s"), 1536);
  EXPECT_EQ(parse_rate("4096B/s"), 4096);
  for (const std::string_view text :
       {"", "GB/s", "0GB/s", "-1GB/s", "1.2.3GB/s", "1gb/s", "5 GB/s", "1e9B/s", "nan", "0.3B/s",
        "99999999999TB/s", ".B/s", "5GB"}) {
    EXPECT_EQ(parse_rate(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kvroof
