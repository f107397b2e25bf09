#pragma once

#include <cstdint>
#include <utility>

namespace llamada::mpi {

/// An object that lives as long as somebody refers to it: a handle of the program, a request in flight,
/// another object. MPI lets a program free a handle whose object is still in use (MPI 3.1, 2.5.1). Not for
/// several threads: the facade runs in the thread that called MPI_Init.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 protected:
  virtual ~Counted() = default;

 private:
  template <typename T>
  friend class Reference;
  std::uint32_t reference_count_ = 0;
};

/// Keeps a Counted object alive.
template <typename T>
class Reference {
 public:
  Reference() = default;
  explicit Reference(T* object) : object_(object) {
    if (object_) ++counted()->reference_count_;
  }
  Reference(const Reference& other) : Reference(other.object_) {}
  Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference() {
    if (object_ && --counted()->reference_count_ == 0) delete counted();
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Counted* counted() const { return object_; }
  T* object_ = nullptr;
};

/// A new object and the first reference to it.
template <typename T, typename... Arguments>
Reference<T> make_counted(Arguments&&... arguments) {
  return Reference<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace llamada::mpi
