// Types that no topic can have; wrong_types.cmake compiles this file and reads the errors.
#include <set>

#include "dds/dds.hpp"

#define USE(T)                                                                                               \
  void use(dds::topic::Topic<T> topic, dds::pub::DataWriter<T> writer, dds::sub::DataReader<T> reader, T& x, \
           std::vector<dds::sub::Sample<T>>& samples) {                                                      \
    const dds::topic::Topic<T> other(topic.domain_participant(), "other");                                   \
    const dds::topic::ContentFilteredTopic<T> filtered(other, "filtered", "a = 1");                          \
    const dds::sub::DataReader<T> second(reader.subscriber(), filtered);                                     \
    writer << x;                                                                                             \
    writer.key_value(x, writer.register_instance(x));                                                        \
    reader.key_value(x, reader.lookup_instance(x));                                                          \
    reader.take(samples.begin(), 1);                                                                         \
    topic.check_data_type();                                                                                 \
  }

struct Undescribed {
  int a;
};
USE(Undescribed)

namespace elsewhere {
struct Elsewhere {
  int a;
};
}  // namespace elsewhere
using elsewhere::Elsewhere;
LLAMADA_TYPE(Elsewhere, a);
USE(Elsewhere)

struct Base {
  int a;
};
LLAMADA_TYPE(Base, a);
struct Inheriting : Base {
  int b;
};
USE(Inheriting)

struct InheritingUndescribed : Undescribed {
  int b;
};
LLAMADA_TYPE(InheritingUndescribed, LLAMADA_BASE(Undescribed), b);
USE(InheritingUndescribed)

class InheritingPrivately : Base {
 public:
  int b;
};
LLAMADA_TYPE(InheritingPrivately, LLAMADA_BASE(Base), b);
USE(InheritingPrivately)

class PrivateMember {
  int a;

 public:
  int b;
};
LLAMADA_TYPE(PrivateMember, LLAMADA_KEY(a), b);
USE(PrivateMember)

struct WrongName {
  int a;
  int value;
};
LLAMADA_TYPE(WrongName, a, valeu);
USE(WrongName)

struct Function {
  int a;
  int b();
};
LLAMADA_TYPE(Function, a, b);
USE(Function)

struct Pointer {
  int a;
  int* b;
};
LLAMADA_TYPE(Pointer, a, b);
USE(Pointer)

struct Wide {
  int a;
  std::map<int, std::wstring> b;
};
LLAMADA_TYPE(Wide, a, b);
USE(Wide)

struct Container {
  int a;
  std::set<int> b;
};
LLAMADA_TYPE(Container, LLAMADA_KEY(a), b);
USE(Container)

struct Nested {
  int a;
  std::vector<Undescribed> b;
};
LLAMADA_TYPE_APPENDABLE(Nested, a, b);
USE(Nested)

struct NoDefault {
  explicit NoDefault(int a) : a(a) {}
  int a;
};
LLAMADA_TYPE(NoDefault, a);
USE(NoDefault)
