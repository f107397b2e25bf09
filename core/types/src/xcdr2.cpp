#include "llamada/types/xcdr2.hpp"

namespace llamada::types {

namespace {

std::uint16_t representation(Extensibility extensibility, std::endian order) {
  const auto big = 6 + 2 * static_cast<unsigned>(extensibility);
  return static_cast<std::uint16_t>(big + (order == std::endian::little ? 1 : 0));
}

void reverse_each(std::byte* bytes, std::size_t total_bytes, std::size_t size_bytes) {
  for (std::size_t at = 0; at < total_bytes; at += size_bytes)
    std::reverse(bytes + at, bytes + at + size_bytes);
}

std::size_t padding(std::size_t position, std::size_t size_bytes) {
  const std::size_t alignment = std::min<std::size_t>(size_bytes, 4);
  return (alignment - position % alignment) % alignment;
}

}  // namespace

void Xcdr2Writer::begin_encapsulation(Extensibility extensibility) {
  const std::uint16_t id = representation(extensibility, order_);
  bytes_ = {std::byte(id >> 8), std::byte(id & 0xff), std::byte{0}, std::byte{0}};
  origin_ = encapsulation_size_bytes;
}

void Xcdr2Writer::end_encapsulation() {
  const std::size_t pad = padding(bytes_.size() - origin_, 4);
  bytes_.resize(bytes_.size() + pad);
  bytes_[3] = std::byte(pad);
}

void Xcdr2Writer::align(std::size_t size_bytes) {
  bytes_.resize(bytes_.size() + padding(bytes_.size() - origin_, size_bytes));
}

void Xcdr2Writer::swap_each(std::size_t begin, std::size_t size_bytes) {
  reverse_each(bytes_.data() + begin, bytes_.size() - begin, size_bytes);
}

void Xcdr2Writer::put_string(const std::string& text) {
  if (text.find('\0') != std::string::npos) return fail("a string holds a NUL character");
  if (text.size() >= UINT32_MAX) return fail("a string is longer than 4 GiB");
  put(static_cast<std::uint32_t>(text.size() + 1));
  put_all(text.data(), text.size());
  put('\0');
}

void prepend_member(std::string& sentence, const char* name) {
  constexpr std::size_t length_max = 160;
  if (sentence.size() < length_max)
    sentence = std::string(name) + ": " + sentence;
  else if (!sentence.starts_with("...: "))
    sentence = "...: " + sentence;
}

void Xcdr2Writer::enter() {
  if (++depth_ > nesting_max)
    fail(fmt::format("more than {} levels within one another, which no reader follows", nesting_max));
}

std::size_t Xcdr2Writer::open_length() {
  enter();
  put(std::uint32_t{0});
  return bytes_.size() - sizeof(std::uint32_t);
}

void Xcdr2Writer::close_length(std::size_t place) {
  leave();
  const std::size_t length = bytes_.size() - place - sizeof(std::uint32_t);
  if (length > UINT32_MAX) return fail("more than 4 GiB in one member");
  store_length(place, static_cast<std::uint32_t>(length));
}

void Xcdr2Writer::store_length(std::size_t place, std::uint32_t length) {
  std::memcpy(bytes_.data() + place, &length, sizeof(length));
  if (order_ != std::endian::native)
    std::reverse(bytes_.data() + place, bytes_.data() + place + sizeof(length));
}

void Xcdr2Writer::fail(std::string sentence) {
  if (failed_) return;
  failed_ = true;
  sentence_ = std::move(sentence);
}

Result<std::vector<std::byte>> Xcdr2Writer::finish() && {
  if (failed_) return failure(Errc::invalid_argument, "{}", sentence_);
  return std::move(bytes_);
}

Result<Xcdr2Reader> Xcdr2Reader::open(std::span<const std::byte> sample, Extensibility extensibility) {
  if (sample.size() < encapsulation_size_bytes) {
    return failure(Errc::parse_error, "a sample of {} bytes has no encapsulation header", sample.size());
  }
  const auto id = std::to_integer<unsigned>(sample[0]) << 8 | std::to_integer<unsigned>(sample[1]);
  const auto order = (id & 1) != 0 ? std::endian::little : std::endian::big;
  if (id != representation(extensibility, order)) {
    return failure(Errc::parse_error, "representation {:#06x} where the type, which is {}, has {:#06x}", id,
                   to_string(extensibility), representation(extensibility, order));
  }
  const std::size_t pad = std::to_integer<std::size_t>(sample[3]) & 3;
  const auto body = sample.subspan(encapsulation_size_bytes);
  if (pad > body.size()) return failure(Errc::parse_error, "more padding than bytes");
  return Xcdr2Reader(body.first(body.size() - pad), order);
}

void Xcdr2Reader::align(std::size_t size_bytes) {
  position_ = std::min(position_ + padding(position_, size_bytes), end_);
}

bool Xcdr2Reader::has(std::size_t count, std::size_t size_bytes) {
  if (failed_) return false;
  if (count <= (end_ - position_) / size_bytes) return true;
  fail(fmt::format("ends {} bytes into {} of {} bytes each", end_ - position_, count, size_bytes));
  return false;
}

bool Xcdr2Reader::are_booleans(std::size_t count) {
  const auto range = bytes_.subspan(position_, count);
  if (std::all_of(range.begin(), range.end(), [](std::byte each) { return each <= std::byte{1}; }))
    return true;
  fail("a boolean is neither 0 nor 1");
  return false;
}

void Xcdr2Reader::swap_each(void* values, std::size_t count, std::size_t size_bytes) {
  reverse_each(static_cast<std::byte*>(values), count * size_bytes, size_bytes);
}

std::string Xcdr2Reader::get_string(std::uint32_t bound) {
  const auto length = get<std::uint32_t>();
  if (length == 0 || !has(length, 1)) return {};
  const auto* text = reinterpret_cast<const char*>(bytes_.data() + position_);
  position_ += length;
  if (std::memchr(text, '\0', length) != text + length - 1) {
    fail("a string does not end with its only NUL");
    return {};
  }
  if (bound != 0 && length - 1 > bound) {
    fail(fmt::format("{} characters where at most {} are allowed", length - 1, bound));
    return {};
  }
  return {text, length - 1};
}

std::uint32_t Xcdr2Reader::get_count(std::uint32_t bound, std::size_t least_bytes) {
  const auto count = get<std::uint32_t>();
  if (bound != 0 && count > bound) {
    fail(fmt::format("{} elements where at most {} are allowed", count, bound));
    return 0;
  }
  return has(count, least_bytes) ? count : 0;
}

std::size_t Xcdr2Reader::enter(std::uint32_t length) {
  const std::size_t outer_end = end_;
  if (++depth_ > nesting_max) fail(fmt::format("more than {} levels within one another", nesting_max));
  if (has(length, 1)) end_ = position_ + length;
  return outer_end;
}

void Xcdr2Reader::leave(std::size_t outer_end) {
  --depth_;
  position_ = end_;
  end_ = outer_end;
}

void Xcdr2Reader::fail(std::string sentence) {
  if (failed_) return;
  failed_ = true;
  sentence_ = std::move(sentence);
}

Status Xcdr2Reader::status() const {
  if (failed_) return failure(Errc::parse_error, "{}", sentence_);
  return {};
}

}  // namespace llamada::types
