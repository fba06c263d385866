#pragma once
// A file's size and checksum, as manifests record them.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/file.hpp"
#include "core/result.hpp"

namespace troupe {

struct file_sum {
  std::uint64_t size = 0;
  std::string checksum;  // 16 hexadecimal digits of XXH3
};

std::string checksum_of(std::string_view text);
result<file_sum> sum_of_file(file_system& files, const std::string& path);  // reads the whole of it

}  // namespace troupe
