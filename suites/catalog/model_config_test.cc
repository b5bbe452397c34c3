// SPDX-License-Identifier: Apache-2.0
#include "suites/catalog/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
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
  EXPECT_THAT(complaint(with("architectures", {"MambaForCausalLM"}).dump()),
              AllOf(HasSubstr("MambaForCausalLM"), HasSubstr("LlamaForCausalLM")));
  EXPECT_THAT(complaint(with("num_local_experts", 8).dump()), HasSubstr("num_local_experts"));
  EXPECT_THAT(complaint(with("rope_scaling", {{"rope_type", "spiral"}, {"factor", 4}}).dump()),
              HasSubstr("rope_scaling"));
}

json catalogued(const char* name) {
  return json::parse(find_entry(model_configs(), name)->text).at("config");
}

TEST(ModelConfig, RefusesExpertsThatMakeNoSense) {
  json config = catalogued("mixtral-8x7b");
  config["num_experts_per_tok"] = 9;
  EXPECT_THAT(complaint(config.dump()),
              AllOf(HasSubstr("num_experts_per_tok"), HasSubstr("at most the 8 experts")));
  config.erase("num_experts_per_tok");
  EXPECT_THAT(complaint(config.dump()), HasSubstr("num_experts_per_tok"));
  config = catalogued("deepseek-v3");
  config["kv_lora_rank"] = 0;
  EXPECT_THAT(complaint(config.dump()), HasSubstr("kv_lora_rank"));
  config = catalogued("qwen3-30b-a3b");
  for (const json& odd : {json("none"), json({1.5}), json({-1}), json({48})}) {
    config["mlp_only_layers"] = odd;
    EXPECT_THAT(complaint(config.dump()), HasSubstr("mlp_only_layers"));
  }
  config = catalogued("deepseek-v3");
  config["first_k_dense_replace"] = 62;
  EXPECT_THAT(complaint(config.dump()), HasSubstr("first_k_dense_replace"));
}

TEST(ModelConfig, RefusesWindowsAndLayerListsThatMakeNoSense) {
  EXPECT_THAT(complaint(with("layer_types", {"full_attention"}).dump()), HasSubstr("2 layers"));
  EXPECT_THAT(complaint(with("layer_types", {"full_attention", "sliding_attention"}).dump()),
              HasSubstr("sliding_window"));
  EXPECT_THAT(complaint(with("sliding_window", 0).dump()), HasSubstr("sliding_window"));
  EXPECT_THAT(complaint(with("sliding_window", 2049).dump()),
              AllOf(HasSubstr("sliding_window"), HasSubstr("from 1 to 2048")));
  json config = catalogued("gpt-oss-20b");
  config["layer_types"].erase(0);
  EXPECT_THAT(complaint(config.dump()), AllOf(HasSubstr("layer_types"), HasSubstr("24 layers")));
  config = catalogued("gpt-oss-20b");
  config["layer_types"][3] = "chunked_attention";
  EXPECT_THAT(complaint(config.dump()), HasSubstr("layer_types"));
  config = catalogued("gemma-3-27b");
  config["text_config"]["head_dim"] = 7;
  EXPECT_THAT(complaint(config.dump()), AllOf(HasSubstr("text_config"), HasSubstr("head_dim")));
  config.erase("text_config");
  EXPECT_THAT(complaint(config.dump()), HasSubstr("text_config"));
}

TEST(ModelConfig, ReadsWindowsByLayer) {
  const auto mistral = parse_model_config(with("sliding_window", 512).dump(), "x");
  ASSERT_TRUE(mistral.ok());
  EXPECT_EQ(mistral->kind(0).window, 512u);
  EXPECT_EQ(growing_kv_bytes_per_token(*mistral, DType::bf16), 0u);
  json oss = catalogued("gpt-oss-20b");
  oss.erase("sliding_window");
  EXPECT_EQ(parse_model_config(oss.dump(), "x")->kind(0).window, 128u);
  json phi = with("sliding_window", 2049);  // their way to say none
  phi["architectures"] = {"Phi3ForCausalLM"};
  const auto phi3 = parse_model_config(phi.dump(), "x");
  ASSERT_TRUE(phi3.ok()) << phi3.status().text;
  EXPECT_EQ(phi3->kind(0).window, 0u);
  const auto gemma = find_model("gemma-3-27b");
  EXPECT_EQ(gemma->kind(4).window, 1024u);
  EXPECT_EQ(gemma->kind(5).window, 0u);
}

// The text_config of https://huggingface.co/google/gemma-3-4b-it/blob/main/config.json, which
// leaves out what is the family's default.
TEST(ModelConfig, Gemma3NeedNotStateItsHeads) {
  const json config = {{"architectures", {"Gemma3ForConditionalGeneration"}},
                       {"text_config",
                        {{"hidden_size", 2560},
                         {"intermediate_size", 10240},
                         {"model_type", "gemma3_text"},
                         {"num_hidden_layers", 34},
                         {"rope_scaling", {{"factor", 8.0}, {"rope_type", "linear"}}},
                         {"sliding_window", 1024}}}};
  const auto shape = parse_model_config(config.dump(), "x");
  ASSERT_TRUE(shape.ok()) << shape.status().text;
  EXPECT_EQ(kv_bytes_per_token(*shape, DType::bf16), 34u * 2 * 4 * 256 * 2);
  EXPECT_EQ(growing_kv_bytes_per_token(*shape, DType::bf16), 5u * 2 * 4 * 256 * 2);
  EXPECT_NEAR(static_cast<double>(total_parameters(*shape)), 3.88e9, 0.01e9);
}

// Each size at its limit: the counts must hold it.
TEST(ModelConfig, CountsDoNotOverflow) {
  json config = with("num_hidden_layers", 1000);
  config["architectures"] = {"MixtralForCausalLM"};
  config["hidden_size"] = 1u << 18, config["intermediate_size"] = 1u << 20;
  config["num_local_experts"] = 4096, config["num_experts_per_tok"] = 4096;
  const auto shape = parse_model_config(config.dump(), "x");
  ASSERT_TRUE(shape.ok()) << shape.status().text;
  EXPECT_GT(static_cast<double>(total_parameters(*shape)), 1000.0 * 4096 * 3 * 0x1p38);
}

TEST(ModelConfig, TellsAQuantizationThatIsNotApplied) {
  EXPECT_EQ(find_model("deepseek-v3")->quantization, "fp8");
  EXPECT_EQ(find_model("llama-3.1-8b")->quantization, "");
  EXPECT_THAT(complaint(with("quantization_config", {{"bits", 4}}).dump()),
              HasSubstr("quant_method"));
}

TEST(ModelConfig, PathsAndNamesThatAreNotThere) {
  EXPECT_THAT(find_model("no/such/config.json").status().text, HasSubstr("no/such/config.json"));
  EXPECT_THAT(find_model("llama-9").status().text,
              AllOf(HasSubstr("llama-9"), HasSubstr("llama-3.1-8b")));
}

struct Known {
  const char* name;
  std::uint64_t body_millions, total_millions;  // P, and all parameters, rounded to 10^6
  std::uint64_t kv_bytes, growing_kv_bytes;     // a token, in bf16
};
class Catalogue : public testing::TestWithParam<Known> {};

std::uint64_t millions(std::uint64_t count) { return (count + 500'000) / 1'000'000; }

TEST_P(Catalogue, AgreesWithThePublishedGeometry) {
  const Known& known = GetParam();
  const auto shape = find_model(known.name);
  ASSERT_TRUE(shape.ok()) << shape.status().text;
  EXPECT_EQ(millions(body_parameters(*shape)), known.body_millions);
  EXPECT_EQ(millions(total_parameters(*shape)), known.total_millions);
  EXPECT_EQ(kv_bytes_per_token(*shape, DType::bf16), known.kv_bytes);
  EXPECT_EQ(growing_kv_bytes_per_token(*shape, DType::bf16), known.growing_kv_bytes);
  EXPECT_THAT(shape->source, HasSubstr("https://"));
}

const Known kKnown[] = {{"llama-3.1-8b", 6979, 8030, 131072, 131072},
                        {"llama-3.1-70b", 68451, 70554, 327680, 327680},
                        {"llama-3.1-405b", 401647, 405853, 516096, 516096},
                        {"llama-3.2-1b", 973, 1236, 32768, 32768},
                        {"llama-3.2-3b", 2819, 3213, 114688, 114688},
                        {"qwen3-8b", 6946, 8191, 147456, 147456},
                        {"qwen3-32b", 31206, 32762, 262144, 262144},
                        {"qwen3-30b-a3b", 2730, 30532, 98304, 98304},
                        {"qwen3-235b-a22b", 20945, 235094, 192512, 192512},
                        {"mistral-7b-v0.3", 6979, 7248, 131072, 131072},
                        {"mistral-nemo-12b", 10905, 12248, 163840, 163840},
                        {"mixtral-8x7b", 12618, 46703, 131072, 131072},
                        {"deepseek-v3", 35698, 671026, 70272, 70272},
                        {"gpt-oss-20b", 3029, 20915, 49152, 24576},
                        {"gpt-oss-120b", 4554, 116829, 73728, 36864},
                        {"gemma-3-27b", 25598, 27009, 507904, 81920},
                        {"phi-4", 13631, 14660, 204800, 204800}};

// As a test's name may be written.
std::string underscored(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Each, Catalogue, testing::ValuesIn(kKnown),
                         [](const auto& tested) { return underscored(tested.param.name); });

// Two families' config.json with every key that their publishers wrote, quantization and tokenizer
// keys too (source: the catalogue's entry of the same name): they open as they are.
class Published : public testing::TestWithParam<const char*> {};

TEST_P(Published, OpensUnchanged) {
  const auto own = find_model(GetParam());
  const auto published =
      find_model(std::string(KVROOF_PUBLISHED_CONFIGS) + "/" + GetParam() + ".json");
  ASSERT_TRUE(published.ok()) << published.status().text;
  EXPECT_EQ(total_parameters(*published), total_parameters(*own));
  EXPECT_EQ(body_parameters(*published), body_parameters(*own));
  EXPECT_EQ(prefill_flops(*published, 1000, 5000), prefill_flops(*own, 1000, 5000));
  EXPECT_EQ(kv_bytes(*published, DType::bf16, 5000), kv_bytes(*own, DType::bf16, 5000));
}

INSTANTIATE_TEST_SUITE_P(Configs, Published, testing::Values("deepseek-v3", "gpt-oss-120b"),
                         [](const auto& tested) { return underscored(tested.param); });

// Attention's share of the FLOPs at `tokens`, up to a factor that all models have.
double alpha(const ModelShape& s, double tokens) {
  return s.layers * s.heads * s.head_dim * tokens / static_cast<double>(body_parameters(s));
}

TEST(Catalogue, TheTunnelsModelIsAsLlamaAtEightTimesTheContext) {
  const auto tunnel = find_model("tunnel-512"), llama = find_model("llama-3.1-8b");
  ASSERT_TRUE(tunnel.ok()) << tunnel.status().text;
  for (const double n : {1024.0, 10240.0, 102400.0}) {
    EXPECT_NEAR(alpha(*tunnel, n / 8) / alpha(*llama, n), 1, 0.01);
  }
  EXPECT_GE(8ull * tunnel->max_position, llama->max_position);
  EXPECT_THAT(tunnel->source, HasSubstr("kvroof's own"));
}

constexpr std::size_t kOwn = 1;  // tunnel-512, which nobody has published

TEST(Catalogue, HoldsNothingUntested) {
  EXPECT_EQ(model_configs().size(), std::size(kKnown) + kOwn);
}

}  // namespace
}  // namespace kvroof
