#pragma once
// Filters as job files and scenarios name them: "zstd level=3".

#include <string>

#include "core/result.hpp"
#include "messages/control.pb.h"

namespace troupe {

using filter_texts = google::protobuf::RepeatedPtrField<std::string>;
using filter_specs = google::protobuf::RepeatedPtrField<pb::FilterSpec>;

// Errors are errc::bad_config and quote the text. Whether there is such a filter, and whether it
// has such numbers, is for check_filters() to say.
result<pb::FilterSpec> filter_of(const std::string& text);
// Adds a chain; "none" alone is an empty one.
result<void> add_filters(const filter_texts& chain, filter_specs& to);

}  // namespace troupe
