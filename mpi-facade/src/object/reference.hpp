#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace llamada::mpi {

/// An object that lives as long as somebody refers to it: a handle of the program, a request in flight,
/// another object. MPI lets a program free a handle whose object is still in use (MPI 3.1, 2.5.1). Not for
/// several threads, for the facade runs in the thread that called MPI_Init; but for objects of a class that
/// has a member shared_between_threads, which exist before MPI_Init.
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
    if (object_) add();
  }
  Reference(const Reference& other) : Reference(other.object_) {}
  Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference() {
    if (object_ && remove() == 0) delete counted();
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  void add() {
    // Relaxed: who adds a reference has one.
    if constexpr (requires { T::shared_between_threads; })
      std::atomic_ref(counted()->reference_count_).fetch_add(1, std::memory_order_relaxed);
    else
      ++counted()->reference_count_;
  }
  std::uint32_t remove() {
    // Acquire and release: the last one to go has what the others did to the object.
    if constexpr (requires { T::shared_between_threads; })
      return std::atomic_ref(counted()->reference_count_).fetch_sub(1, std::memory_order_acq_rel) - 1;
    else
      return --counted()->reference_count_;
  }
  Counted* counted() const { return object_; }
  T* object_ = nullptr;
};

/// A new object and the first reference to it.
template <typename T, typename... Arguments>
Reference<T> make_counted(Arguments&&... arguments) {
  return Reference<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace llamada::mpi
