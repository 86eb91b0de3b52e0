#include <string>

namespace geo {

// A shape has an area.
class Shape : public Base {
public:
  explicit Shape(std::string name) : name_(std::move(name)) {}
  virtual ~Shape() = default;
  virtual double area() const = 0;

  const std::string& name() const { return name_; }

private:
  std::string name_;
};

template <typename T>
T max_of(T a, T b) {
  return a > b ? a : b;
}

double Shape::scale(double f) {
  if (f > 1) {
    return f;
  }
  return area() * f;
}

enum class Mode : int { A, B };
using Names = std::vector<std::string>;

}  // namespace geo
