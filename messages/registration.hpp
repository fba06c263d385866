#pragma once
// Every type that may travel, registered under the name that it travels by.

#include <caf/actor_system_config.hpp>
#include <string>
#include <vector>

#include "messages/control.pb.h"
#include "messages/data.pb.h"
#include "messages/glue.hpp"

namespace troupe {

// Calls visit(T{}, "name") for every message type: one list, so that registration and the
// round-trip test agree.
template <class Visitor>
void for_each_message_type(Visitor&& visit) {
  visit(blob{}, "troupe.blob");
  visit(pb::View{}, "troupe.View");
  visit(pb::PushHeader{}, "troupe.PushHeader");
  visit(pb::PushReply{}, "troupe.PushReply");
  visit(pb::PullHeader{}, "troupe.PullHeader");
  visit(pb::PullReply{}, "troupe.PullReply");
  visit(pb::AdoptSlot{}, "troupe.AdoptSlot");
  visit(pb::SlotNumbers{}, "troupe.SlotNumbers");
  visit(pb::CopyHeader{}, "troupe.CopyHeader");
  visit(pb::CopyReply{}, "troupe.CopyReply");
  visit(pb::Beat{}, "troupe.Beat");
  visit(pb::LeaseRequest{}, "troupe.LeaseRequest");
  visit(pb::LeaseReply{}, "troupe.LeaseReply");
  visit(pb::ServerReport{}, "troupe.ServerReport");
  visit(pb::DrainNode{}, "troupe.DrainNode");
  visit(pb::Rebalance{}, "troupe.Rebalance");
  visit(pb::Join{}, "troupe.Join");
  visit(pb::JoinReply{}, "troupe.JoinReply");
  visit(pb::NodeDown{}, "troupe.NodeDown");
  visit(pb::ViewReply{}, "troupe.ViewReply");
  visit(pb::Assignment{}, "troupe.Assignment");
  visit(pb::StopSlots{}, "troupe.StopSlots");
  visit(pb::Progress{}, "troupe.Progress");
  visit(pb::SlotFailed{}, "troupe.SlotFailed");
  visit(pb::EvaluateTask{}, "troupe.EvaluateTask");
  visit(pb::EvaluatedPart{}, "troupe.EvaluatedPart");
  visit(pb::Summarise{}, "troupe.Summarise");
  visit(pb::TableSummary{}, "troupe.TableSummary");
  visit(pb::SavePart{}, "troupe.SavePart");
  visit(pb::SavedPart{}, "troupe.SavedPart");
  visit(pb::LoadPart{}, "troupe.LoadPart");
  visit(pb::LoadedPart{}, "troupe.LoadedPart");
  visit(pb::StopJob{}, "troupe.StopJob");
  visit(pb::CommandReply{}, "troupe.CommandReply");
  visit(pb::TakeCheckpoint{}, "troupe.TakeCheckpoint");
  visit(pb::JobQuery{}, "troupe.JobQuery");
  visit(pb::JobText{}, "troupe.JobText");
  visit(pb::StatusQuery{}, "troupe.StatusQuery");
  visit(pb::JobStatus{}, "troupe.JobStatus");
}

void register_message_types(caf::actor_system_config& config);

}  // namespace troupe
