#include <vector>
namespace a::b {
namespace { int anon; }
using namespace std;
using std::string;
using Al = std::vector<int>;
template <typename T> using Tl = std::vector<T>;
namespace fs = std::filesystem;
template <typename T>
class EXPORT Foo final : public Base<T>, private ns::Other {
 public:
  Foo(int a) : a_(a), b_{1} {}
  virtual ~Foo() = default;
  explicit Foo(const Foo&) = delete;
  int get() const override { return a_; }
  static Foo* make(int x);
  Foo& operator=(const Foo& o);
  operator bool() const { return true; }
  template <class U> void tm(U&& u);
  struct Inner { int z; };
  enum class K { A, B };
  typedef int I;
  friend class Bar;
  friend void ff(Foo);
  int a_; std::unique_ptr<Bar> b_ = nullptr; static const int kMax = 3;
  int (*fnp)(int);
};
class Fwd;
template<> class Foo<int> { void x(); };
}
template <typename T> int a::b::Foo<T>::get2(int x) const { return this->a_ + x; }
a::b::Foo<int>::~Foo() {}
std::vector<int> Cls::method(const std::string& s, Foo* f) {
  auto p = std::make_unique<Bar>(1);
  auto q = new Baz(2);
  Foo x(1), y{2};
  Foo z = Foo::create();
  auto l = [&](int k) { return k + s.size(); };
  for (auto& e : f->items()) { e.go(); }
  p->run(); this->foo(); ns::call<int>(3); obj.tm<int>(2);
  static_cast<Derived*>(f)->m();
  throw Err("x");
  try {} catch (const Ex& e) { e.what(); }
  return {};
}
bool operator==(const A& a, const B& b);
extern "C" int cfun(void);
extern "C" { int cf2(void) { return 1; } }
constexpr int kTop = 3;
TEST(Suite, Name) { EXPECT_EQ(1, f()); }
union U { int a; };
concept_t c;
template <class T> concept Con = requires(T t) { t.x(); };
