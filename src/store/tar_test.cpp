#include "store/tar.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::store {
namespace {

std::string field(const std::string& archive, std::size_t offset, std::size_t size) {
  return archive.substr(offset, size);
}

// tests/cli/evidence_test.py reads archives with Python's tarfile.
TEST(Tar, IsHeaderAndTextInBlocksAndTwoEmptyOnes) {
  const std::vector<TarFile> files{{"a/one.txt", "hello\n"}, {"a/two.json", std::string(513, 'x')}};
  const std::string archive = tar_of(files);
  ASSERT_EQ(archive.size(), 512u * (2 + 3 + 2));
  EXPECT_TRUE(archive.starts_with(std::string("a/one.txt\0", 10)));
  EXPECT_EQ(field(archive, 124, 12), std::string("00000000006\0", 12));
  EXPECT_EQ(field(archive, 257, 8), std::string("ustar\00000", 8));
  EXPECT_EQ(field(archive, 512, 8), std::string("hello\n\0\0", 8));
  EXPECT_EQ(field(archive, 1024, 10), "a/two.json");
  EXPECT_EQ(field(archive, 1024 + 124, 12), std::string("00000001001\0", 12));
  EXPECT_EQ(archive.substr(archive.size() - 1024), std::string(1024, '\0'));
}

TEST(Tar, TellsNothingAboutWhoMadeItAndWhen) {
  const std::string archive = tar_of(std::vector<TarFile>{{"one", "1"}});
  for (const std::size_t offset : {108U, 116U})
    EXPECT_EQ(field(archive, offset, 8), std::string("0000000\0", 8));
  EXPECT_EQ(field(archive, 136, 12), std::string("00000000000\0", 12));
  EXPECT_EQ(field(archive, 265, 64), std::string(64, '\0')) << "names of user and group";
}

TEST(Tar, TheSumOfTheHeaderCountsItselfAsBlanks) {
  std::string header = tar_of(std::vector<TarFile>{{"one", "1"}}).substr(0, 512);
  const std::string written = header.substr(148, 8);
  header.replace(148, 8, "        ");
  int sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  EXPECT_EQ(written, fmt::format("{:06o}", sum) + '\0' + ' ');
}

TEST(Tar, ANameThatIsTooLongIsADefect) {
  EXPECT_NO_THROW(tar_of(std::vector<TarFile>{{std::string(100, 'n'), ""}}));
  EXPECT_THROW(tar_of(std::vector<TarFile>{{std::string(101, 'n'), ""}}), Error);
}

}  // namespace
}  // namespace lockstep::store
