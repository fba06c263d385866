#pragma once
// Bytes that a socket is to take, in pieces: small ones copied together, those of blobs where they
// are.

#include <cstddef>
#include <cstring>
#include <vector>

#include "core/blob.hpp"
#include "core/span.hpp"

namespace troupe {

class outgoing_bytes {
 public:
  static constexpr std::size_t small = 4096;  // is copied

  void add(span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  // Room for so many bytes more, to be filled before any other call.
  std::byte* extend(std::size_t bytes) {
    const auto at = copied_.size();
    copied_.resize(at + bytes);
    size_ += bytes;
    if (!pieces_.empty() && pieces_.back().data == nullptr)
      pieces_.back().size += bytes;
    else
      pieces_.push_back({nullptr, at, bytes});
    return copied_.data() + at;
  }
  // A part of the owner's bytes, which it keeps alive.
  void add(const blob& owner, span<const std::byte> bytes) {
    if (bytes.size() < small) return add(bytes);
    owners_.push_back(owner);
    pieces_.push_back({bytes.data(), 0, bytes.size()});
    size_ += bytes.size();
  }

  std::size_t size() const { return size_; }
  void clear() {
    copied_.clear();
    pieces_.clear();
    owners_.clear();
    size_ = 0;
  }
  // Calls with each piece, in order.
  template <class Visitor>
  void each(Visitor visit) const {
    for (const auto& p : pieces_)
      visit(span<const std::byte>(p.data != nullptr ? p.data : copied_.data() + p.at, p.size));
  }

 private:
  struct piece {
    const std::byte* data;  // null: copied
    std::size_t at, size;
  };
  std::vector<std::byte> copied_;
  std::vector<piece> pieces_;
  std::vector<blob> owners_;
  std::size_t size_ = 0;
};

}  // namespace troupe
