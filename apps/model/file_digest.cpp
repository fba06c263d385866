#include "apps/model/file_digest.hpp"

namespace troupe {

result<pb::ModelFile> describe_file(file_system& files, const std::string& folder,
                                    const std::string& name) {
  const auto sum = sum_of_file(files, folder + "/" + name);
  if (!sum) return sum.failure();
  pb::ModelFile record;
  record.set_name(name);
  record.set_size(sum->size);
  record.set_digest(sum->checksum);
  return record;
}

}  // namespace troupe
