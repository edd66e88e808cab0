#include "store/sealed_tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/refusal_for_test.h"
#include "store/bytes_for_test.h"

namespace lockstep::store {
namespace {

using ::testing::HasSubstr;

TensorFile parse(std::string_view bytes) {
  return parse_sealed_tensor_file(std::as_bytes(std::span(bytes)), "f");
}

std::string refusal(std::string_view bytes) {
  return refusal_of(Fault::data, [&] { parse(bytes); });
}

TensorFile example() {
  return {.tensors = {{.name = "w", .shape = {2, 1}, .values = {1.0f, -2.5f}},
                      {.name = "none", .shape = {5, 0}, .values = {}}},
          .metadata = {{"k", "v\x01"}}};
}

TensorFile sealed() {
  TensorFile file = example();
  seal(file);
  return file;
}

// As if the file had been written like this, so that what follows the header's hash is looked at.
std::string with_header_hash(TensorFile file) {
  file.metadata.erase("hash");
  const std::string header = tensor_file_header(file);
  file.metadata["hash"] = to_hex(hash128(std::as_bytes(std::span(header))));
  return bytes_for_test(file);
}

TEST(SealedTensorFile, ComesBackWithoutItsHashes) {
  const TensorFile file = parse(bytes_for_test(sealed()));
  EXPECT_EQ(bytes_for_test(file), bytes_for_test(example()));
}

TEST(SealedTensorFile, HoldsAHashForEveryTensorAndOne) {
  const TensorFile file = sealed();
  EXPECT_EQ(file.metadata.size(), 4u);
  EXPECT_EQ(file.metadata.at("hash:w"), to_hex(hash128(std::as_bytes(std::span(file.tensors[0].values)))));
  EXPECT_EQ(file.metadata.at("hash:none"), to_hex(hash128({})));
}

TEST(SealedTensorFile, EveryFlippedBitIsFound) {
  const std::string whole = bytes_for_test(sealed());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int mask = 1; mask < 256; ++mask) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      EXPECT_NE(refusal(damaged), "") << at << " " << mask;
    }
  }
}

TEST(SealedTensorFile, DamageIsNamed) {
  std::string bytes = bytes_for_test(sealed());
  bytes.back() ^= 1;
  EXPECT_THAT(refusal(bytes), HasSubstr("f: tensor \"w\": expected hash \""));
  TensorFile other_key = sealed();
  other_key.metadata["k"] = "w";
  EXPECT_THAT(refusal(bytes_for_test(other_key)), HasSubstr("f: header: expected hash \""));
}

TEST(SealedTensorFile, AShapeIsUnderTheHashThoughNoValueShowsIt) {
  TensorFile file = sealed();
  file.tensors[1].shape = {0, 5};
  EXPECT_THAT(refusal(bytes_for_test(file)), HasSubstr("f: header: expected hash \""));
  file = sealed();
  file.tensors[0].shape = {1, 2};
  EXPECT_THAT(refusal(bytes_for_test(file)), HasSubstr("f: header: expected hash \""));
}

TEST(SealedTensorFile, AnotherFormOfTheSameContentIsRefused) {
  std::string bytes = bytes_for_test(sealed());
  const std::size_t padding = bytes.rfind("} ");
  ASSERT_NE(padding, std::string::npos);
  bytes[padding + 1] = '\t';
  EXPECT_EQ(refusal(bytes),
            fmt::format("f: at byte {}: expected the header in the form Lockstep writes, found "
                        "another; it is damaged or of another program",
                        padding + 1));
}

TEST(SealedTensorFile, HashesAndTensorsBelongTogether) {
  EXPECT_EQ(refusal(bytes_for_test(example())),
            "f: header: expected its hash as \"hash\" in __metadata__, found none");
  TensorFile file = sealed();
  file.metadata.erase("hash:none");
  EXPECT_EQ(refusal(with_header_hash(file)),
            "f: tensor \"none\": expected its hash as \"hash:none\" in __metadata__, found none");
  file = sealed();
  file.metadata["hash:ghost"] = to_hex({});
  EXPECT_EQ(refusal(with_header_hash(file)),
            "f: expected a tensor for every hash, found \"hash:ghost\" and no such tensor");
}

TEST(SealedTensorFile, SealingTwiceIsADefect) {
  TensorFile file = sealed();
  EXPECT_THROW(seal(file), Error);
}

}  // namespace
}  // namespace lockstep::store
