#pragma once
// A view of contiguous elements that somebody else owns (C++17 has no std::span).

#include <cassert>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace troupe {

template <class T>
class span {
 public:
  using value_type = std::remove_cv_t<T>;

  constexpr span() = default;
  constexpr span(T* data, std::size_t size) : data_(data), size_(size) {}
  template <class Container, class = decltype(std::declval<Container&>().data()),
            class = std::enable_if_t<!std::is_same_v<std::decay_t<Container>, span>>>
  constexpr span(Container&& c)
      : data_(c.data()), size_(c.size()) {}  // NOLINT: a view of a container
  template <std::size_t N>
  constexpr span(T (&array)[N]) : data_(array), size_(N) {}  // NOLINT

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }

  span subspan(std::size_t from, std::size_t count) const {
    assert(from + count <= size_);
    return {data_ + from, count};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace troupe
