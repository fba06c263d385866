#include "apps/linear/loss.hpp"

#include <vector>

#include "core/text.hpp"

namespace troupe {
namespace {

constexpr loss_kind all_losses[] = {loss_kind::logistic, loss_kind::squared,
                                    loss_kind::squared_hinge};

}  // namespace

result<loss_kind> loss_of(const std::string& word) {
  std::vector<std::string> words;
  for (const auto loss : all_losses) {
    if (word == to_string(loss)) return loss;
    words.emplace_back(to_string(loss));
  }
  const auto near = nearest(word, words);
  return error{errc::bad_config, "there is no loss '" + word + "'" +
                                     (near.empty() ? "; there are logistic, squared, squared_hinge"
                                                   : "; did you mean '" + near + "'?")};
}

const char* to_string(loss_kind loss) {
  switch (loss) {
    case loss_kind::logistic:
      return "logistic";
    case loss_kind::squared:
      return "squared";
    case loss_kind::squared_hinge:
      return "squared_hinge";
  }
  return "unknown";
}

}  // namespace troupe
