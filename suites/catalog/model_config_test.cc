// SPDX-License-Identifier: Apache-2.0
#include "suites/catalog/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "suites/catalog/catalog.h"

namespace kvroof {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

json small() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"hidden_size", 64},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"intermediate_size", 128},
          {"vocab_size", 100},
          {"max_position_embeddings", 2048},
          {"hidden_act", "silu"}};
}

json with(const char* key, json value) {
  json config = small();
  config[key] = std::move(value);
  return config;
}

std::string complaint(const std::string& text) {
  const auto shape = parse_model_config(text, "x/config.json");
  EXPECT_EQ(shape.code(), Code::invalid);
  EXPECT_THAT(shape.status().text, HasSubstr("x/config.json"));
  EXPECT_EQ(shape.status().text.find('\n'), std::string::npos);
  return shape.status().text;
}

TEST(ModelConfig, ReadsADenseModel) {
  const auto shape = parse_model_config(small().dump(), "x");
  ASSERT_TRUE(shape.ok()) << shape.status().text;
  EXPECT_EQ(shape->head_dim, 16u);  // 64 / 4
  EXPECT_FALSE(shape->tied_embeddings);
  EXPECT_EQ(kv_bytes_per_token(*shape, DType::bf16), 2u * 2 * 2 * 16 * 2);
}

TEST(ModelConfig, NamesEveryKeyThatIsMissing) {
  for (const char* key :
       {"architectures", "hidden_size", "num_hidden_layers", "num_attention_heads",
        "intermediate_size", "vocab_size", "max_position_embeddings"}) {
    json config = small();
    config.erase(key);
    EXPECT_THAT(complaint(config.dump()), HasSubstr(key));
  }
}

TEST(ModelConfig, RefusesHostileValues) {
  EXPECT_THAT(complaint(with("num_attention_heads", 0).dump()), HasSubstr("num_attention_heads"));
  EXPECT_THAT(complaint(with("num_key_value_heads", 3).dump()), HasSubstr("divisor of the 4"));
  json seven = with("num_attention_heads", 7);
  seven["num_key_value_heads"] = 7;
  EXPECT_THAT(complaint(seven.dump()), HasSubstr("divisor of hidden_size 64"));
  EXPECT_THAT(complaint(with("num_hidden_layers", 1000000000).dump()),
              AllOf(HasSubstr("num_hidden_layers"), HasSubstr("1000000000"), HasSubstr("1000")));
  EXPECT_THAT(complaint(with("hidden_size", "64").dump()), HasSubstr("hidden_size"));
  EXPECT_THAT(complaint(with("hidden_size", -64).dump()), HasSubstr("hidden_size"));
  EXPECT_THAT(complaint(with("hidden_size", 1e300).dump()), HasSubstr("hidden_size"));
  EXPECT_THAT(complaint(with("hidden_size", 18446744073709551615u).dump()),
              HasSubstr("hidden_size"));
  EXPECT_THAT(complaint(with("vocab_size", json::array({1})).dump()), HasSubstr("vocab_size"));
  EXPECT_THAT(complaint(with("rope_theta", -1).dump()), HasSubstr("rope_theta"));
  EXPECT_THAT(complaint(with("tie_word_embeddings", "yes").dump()),
              HasSubstr("tie_word_embeddings"));
  EXPECT_THAT(complaint(with("head_dim", 15).dump()), HasSubstr("head_dim"));
}

TEST(ModelConfig, RefusesWhatIsNoConfig) {
  for (const char* text : {"", "[]", "{", "null", "\"x\"", "{\"a\":}", "\xff\xfe"}) complaint(text);
  const std::string deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_THAT(complaint(deep), HasSubstr("levels deep"));
}

TEST(ModelConfig, RefusesOtherFamiliesByName) {
  EXPECT_THAT(complaint(with("architectures", {"DeepseekV3ForCausalLM"}).dump()),
              AllOf(HasSubstr("DeepseekV3ForCausalLM"), HasSubstr("LlamaForCausalLM")));
  EXPECT_THAT(complaint(with("num_local_experts", 8).dump()), HasSubstr("num_local_experts"));
  EXPECT_THAT(complaint(with("sliding_window", 4096).dump()), HasSubstr("sliding_window"));
  EXPECT_THAT(complaint(with("attention_bias", true).dump()), HasSubstr("attention_bias"));
  EXPECT_THAT(complaint(with("rope_scaling", {{"rope_type", "yarn"}, {"factor", 4}}).dump()),
              HasSubstr("rope_scaling"));
}

TEST(ModelConfig, PathsAndNamesThatAreNotThere) {
  EXPECT_THAT(find_model("no/such/config.json").status().text, HasSubstr("no/such/config.json"));
  EXPECT_THAT(find_model("llama-9").status().text,
              AllOf(HasSubstr("llama-9"), HasSubstr("llama-3.1-8b")));
}

struct Known {
  const char* name;
  std::uint64_t body_millions, kv_bytes;  // the published geometry, P rounded to 10^6
};
class Catalogue : public testing::TestWithParam<Known> {};

TEST_P(Catalogue, AgreesWithThePublishedGeometry) {
  const auto shape = find_model(GetParam().name);
  ASSERT_TRUE(shape.ok()) << shape.status().text;
  EXPECT_EQ(std::llround(static_cast<double>(body_parameters(*shape)) / 1e6),
            GetParam().body_millions);
  EXPECT_EQ(kv_bytes_per_token(*shape, DType::bf16), GetParam().kv_bytes);
  EXPECT_THAT(shape->source, HasSubstr("https://"));
}

INSTANTIATE_TEST_SUITE_P(
    Dense, Catalogue,
    testing::Values(Known{"llama-3.1-8b", 6979, 131072}, Known{"llama-3.1-70b", 68451, 327680},
                    Known{"llama-3.1-405b", 401647, 516096}, Known{"llama-3.2-1b", 973, 32768},
                    Known{"llama-3.2-3b", 2819, 114688}, Known{"qwen3-8b", 6946, 147456},
                    Known{"qwen3-32b", 31206, 262144}, Known{"mistral-7b-v0.3", 6979, 131072},
                    Known{"mistral-nemo-12b", 10905, 163840}, Known{"phi-4", 13631, 204800}));

TEST(Catalogue, HoldsNothingUntested) { EXPECT_EQ(model_configs().size(), 10u); }

}  // namespace
}  // namespace kvroof
