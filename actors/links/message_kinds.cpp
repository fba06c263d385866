#include "actors/links/message_kinds.hpp"

#include <caf/atom.hpp>
#include <caf/error.hpp>
#include <caf/make_message.hpp>
#include <caf/sec.hpp>
#include <type_traits>

#include "core/text.hpp"
#include "messages/scheduler_interface.hpp"
#include "messages/server_interface.hpp"
#include "messages/worker_interface.hpp"

namespace troupe {
namespace {

// Who may send what to whom, as a set of pairs of roles.
using pairs = std::uint64_t;
constexpr pairs way(pb::Role from, pb::Role to) {
  return pairs{1} << (static_cast<unsigned>(from) * 8 + static_cast<unsigned>(to));
}

constexpr auto sch = pb::SCHEDULER;
constexpr auto srv = pb::SERVER;
constexpr auto wrk = pb::WORKER;
constexpr auto adm = pb::ADMIN;

// For whom a message says it speaks.
using speaker = std::optional<role_id>;
template <class T>
speaker speaker_of(const T&) {
  return std::nullopt;
}
template <class T>
speaker named(const T& m) {
  return role_id{m.role(), m.index()};
}
speaker speaker_of(const pb::Join& m) {
  return named(m);
}
speaker speaker_of(const pb::Beat& m) {
  return named(m);
}
speaker speaker_of(const pb::NodeDown& m) {
  return named(m);
}
speaker speaker_of(const pb::DrainNode& m) {
  return named(m);
}
speaker speaker_of(const pb::JobQuery& m) {
  return named(m);
}
speaker speaker_of(const pb::StatusQuery& m) {
  return m.role() == pb::ROLE_UNSPECIFIED ? speaker{} : named(m);
}
speaker speaker_of(const pb::ServerReport& m) {
  return server_role(m.server());
}
speaker speaker_of(const pb::LeaseRequest& m) {
  return server_role(m.server());
}
speaker speaker_of(const pb::Progress& m) {
  return worker_role(m.worker());
}
speaker speaker_of(const pb::SlotFailed& m) {
  return worker_role(m.worker());
}

struct entry {
  message_kind kind;
  caf::atom_value atom{};  // of a request
  pairs ways = 0;
  bool (*fits)(const caf::message&) = nullptr;
  bool (*encode)(const caf::message&, link_message&) = nullptr;
  result<caf::message> (*decode)(const message_parts&, caf::atom_value) = nullptr;
  speaker (*speaks_for)(const caf::message&) = nullptr;
};

// The elements of a kind: perhaps an atom, a protobuf message, and up to two blobs.
template <bool WithAtom, class Pb, int Blobs>
struct elements {
  static constexpr std::size_t head = WithAtom ? 1 : 0;

  static bool fits(const caf::message& m) {
    if (m.size() != head + 1 + Blobs) return false;
    if (WithAtom && !m.match_element<caf::atom_value>(0)) return false;
    if (!m.match_element<Pb>(head)) return false;
    for (int i = 0; i < Blobs; ++i)
      if (!m.match_element<blob>(head + 1 + static_cast<std::size_t>(i))) return false;
    return true;
  }
  static bool encode(const caf::message& m, link_message& out) {
    if (!m.get_as<Pb>(head).SerializeToString(&out.text)) return false;
    if constexpr (Blobs > 0) out.first = m.get_as<blob>(head + 1);
    if constexpr (Blobs > 1) out.second = m.get_as<blob>(head + 2);
    return true;
  }
  static result<caf::message> decode(const message_parts& parts, caf::atom_value atom) {
    Pb text;
    if (!text.ParseFromArray(parts.text.data(), static_cast<int>(parts.text.size())))
      return error{errc::bad_request, "a message that cannot be read"};
    if constexpr (WithAtom && Blobs == 0) return caf::make_message(atom, std::move(text));
    if constexpr (WithAtom && Blobs == 1)
      return caf::make_message(atom, std::move(text), parts.first);
    if constexpr (WithAtom && Blobs == 2)
      return caf::make_message(atom, std::move(text), parts.first, parts.second);
    (void)atom;
    if constexpr (!WithAtom && Blobs == 0) return caf::make_message(std::move(text));
    if constexpr (!WithAtom && Blobs == 1) return caf::make_message(std::move(text), parts.first);
    if constexpr (!WithAtom && Blobs == 2)
      return caf::make_message(std::move(text), parts.first, parts.second);
  }
  static speaker speaks_for(const caf::message& m) { return speaker_of(m.get_as<Pb>(head)); }
};

template <class Pb, int Blobs = 0>
entry request(std::uint16_t what, const char* name, caf::atom_value atom, std::uint16_t answer,
              bool urgent, pairs ways) {
  using e = elements<true, Pb, Blobs>;
  return {{what, name, urgent, answer, false, !urgent && Blobs > 0},
          atom,
          ways,
          e::fits,
          e::encode,
          e::decode,
          e::speaks_for};
}

template <class Pb, int Blobs = 0>
entry answer(std::uint16_t what, const char* name, bool urgent) {
  using e = elements<false, Pb, Blobs>;
  return {
      {what, name, urgent, 0, true, !urgent}, {}, 0, e::fits, e::encode, e::decode, e::speaks_for};
}

// Numbers are never given anew: docs/formats.md.
const entry table[] = {
    request<pb::PushHeader, 2>(1, "push", push_atom::value, 101, false, way(wrk, srv)),
    request<pb::PullHeader, 1>(2, "pull", pull_atom::value, 102, false, way(wrk, srv)),
    request<pb::AdoptSlot>(3, "adopt", adopt_atom::value, 103, true, way(wrk, srv)),
    request<pb::View>(4, "view", view_atom::value, 104, true, way(sch, srv) | way(sch, wrk)),
    request<pb::CopyHeader, 2>(5, "copy", copy_atom::value, 105, false, way(srv, srv)),
    request<pb::LeaseRequest>(6, "lease", lease_atom::value, 106, true,
                              way(srv, srv) | way(srv, sch)),
    request<pb::Summarise>(7, "summary", summary_atom::value, 107, true, way(sch, srv)),
    request<pb::SavePart>(8, "save", save_atom::value, 108, true, way(sch, srv)),
    request<pb::LoadPart>(9, "load", load_atom::value, 109, true, way(sch, srv)),
    request<pb::Join>(10, "join", join_atom::value, 110, true, way(srv, sch) | way(wrk, sch)),
    request<pb::Beat>(11, "beat", beat_atom::value, 0, true, way(srv, sch) | way(wrk, sch)),
    request<pb::ServerReport>(12, "report", report_atom::value, 0, true, way(srv, sch)),
    request<pb::DrainNode>(13, "drain", drain_atom::value, 111, true,
                           way(adm, sch) | way(srv, sch) | way(wrk, sch)),
    request<pb::Rebalance>(14, "rebalance", even_atom::value, 111, true, way(adm, sch)),
    request<pb::TakeCheckpoint>(15, "checkpoint", take_atom::value, 111, true, way(adm, sch)),
    request<pb::NodeDown>(16, "down", down_atom::value, 0, true, way(srv, sch) | way(wrk, sch)),
    request<pb::Progress>(17, "progress", progr_atom::value, 0, true, way(wrk, sch)),
    request<pb::SlotFailed>(18, "failed", failed_atom::value, 0, true, way(wrk, sch)),
    request<pb::StatusQuery>(19, "status", status_atom::value, 112, true,
                             way(adm, sch) | way(srv, sch) | way(wrk, sch)),
    request<pb::JobQuery>(20, "job", job_atom::value, 113, true, way(wrk, sch) | way(adm, sch)),
    request<pb::StopJob>(21, "stop", stop_atom::value, 111, true, way(adm, sch)),
    request<pb::Assignment>(22, "assign", assign_atom::value, 0, true, way(sch, wrk)),
    request<pb::StopSlots>(23, "stop slots", stop_atom::value, 0, true, way(sch, wrk)),
    request<pb::EvaluateTask>(24, "evaluate", eval_atom::value, 114, true, way(sch, wrk)),

    answer<pb::PushReply>(101, "push reply", false),
    answer<pb::PullReply, 2>(102, "pull reply", false),
    answer<pb::SlotNumbers>(103, "slot numbers", true),
    answer<pb::ViewReply>(104, "view reply", true),
    answer<pb::CopyReply>(105, "copy reply", false),
    answer<pb::LeaseReply>(106, "lease reply", true),
    answer<pb::TableSummary>(107, "table summary", true),
    answer<pb::SavedPart>(108, "saved part", true),
    answer<pb::LoadedPart>(109, "loaded part", true),
    answer<pb::JoinReply>(110, "join reply", true),
    answer<pb::CommandReply>(111, "command reply", true),
    answer<pb::JobStatus>(112, "job status", true),
    answer<pb::JobText>(113, "job text", true),
    answer<pb::EvaluatedPart, 1>(114, "evaluated part", false),
};

// By number: the table has a place for each below this.
constexpr std::uint16_t numbers = 128;

const entry* entry_of(std::uint16_t what) {
  static const auto by_number = [] {
    std::vector<const entry*> all(numbers, nullptr);
    for (const auto& e : table) all[e.kind.what] = &e;
    return all;
  }();
  return what < numbers ? by_number[what] : nullptr;
}

}  // namespace

const message_kind* kind_of_request(const caf::message& content) {
  if (content.empty() || !content.match_element<caf::atom_value>(0)) return nullptr;
  const auto atom = content.get_as<caf::atom_value>(0);
  for (const auto& e : table)
    if (e.atom == atom && !e.kind.is_answer && e.fits(content)) return &e.kind;
  return nullptr;
}

const message_kind* kind_by_number(std::uint16_t what) {
  const auto* e = entry_of(what);
  return e == nullptr ? nullptr : &e->kind;
}

bool encode(const message_kind& kind, const caf::message& content, link_message& out) {
  const auto* e = entry_of(kind.what);
  if (!e->fits(content) || !e->encode(content, out)) return false;
  out.what = kind.what;
  out.urgent = kind.urgent;
  out.answer = kind.is_answer;
  return true;
}

result<caf::message> decode(const message_kind& kind, const message_parts& parts) {
  const auto* e = entry_of(kind.what);
  return e->decode(parts, e->atom);
}

std::optional<std::string> objection_to(const message_kind& kind, const caf::message& content,
                                        role_id from, pb::Role to) {
  const auto* e = entry_of(kind.what);
  if (kind.is_answer || (e->ways & way(from.role, to)) == 0)
    return format("the role %s may not send '%s' here", to_string(from).c_str(), kind.name);
  if (from.role == pb::SCHEDULER || from.role == pb::ADMIN) return std::nullopt;
  if (const auto who = e->speaks_for(content); who && !(*who == from))
    return format("a '%s' in the name of %s", kind.name, to_string(*who).c_str());
  return std::nullopt;
}

void encode_error(const std::string& text, link_message& out) {
  out.what = error_answer;
  out.answer = out.urgent = true;
  out.text = text.substr(0, 1000);
  out.first = out.second = {};
}

caf::message decode_error(const message_parts& parts) {
  return caf::make_message(
      caf::make_error(caf::sec::runtime_error, std::string(parts.text.substr(0, 1000))));
}

}  // namespace troupe
