#pragma once
// An evaluation as a line: of JSON for history.jsonl (docs/evaluation.md), and of text for people.

#include <string>

#include "messages/control.pb.h"

namespace troupe::console {

std::string json_line(const pb::EvaluationRecord& record);  // with its newline
std::string text_line(const pb::EvaluationRecord& record);  // without

}  // namespace troupe::console
