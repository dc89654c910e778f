// Digits drawn by a program, in MNIST's format: strokes with random position, size, slant, thickness and noise.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <sinter/data.hpp>
#include <sinter/sinter.hpp>
#include <vector>

namespace digits {

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

/// Part of an ellipse, counted clockwise in turns from the right.
inline Stroke arc(Point center, double width, double height, double from, double to) {
  Stroke points;
  for (int i = 0; i <= 12; ++i) {
    const double angle = 2 * 3.14159265358979 * (from + (to - from) * i / 12);
    points.push_back({center.x + width * std::cos(angle), center.y + height * std::sin(angle)});
  }
  return points;
}

/// In a square from -1 to 1, y downwards.
inline const std::array<std::vector<Stroke>, 10>& strokes() {
  static const std::array<std::vector<Stroke>, 10> all{{
      {arc({0, 0}, 0.6, 0.9, 0, 1)},
      {{{-0.3, -0.6}, {0, -0.9}, {0, 0.9}}},
      {arc({0, -0.4}, 0.55, 0.5, 0.5, 1.1), {{0.4, -0.1}, {-0.6, 0.9}, {0.6, 0.9}}},
      {arc({0, -0.45}, 0.5, 0.45, 0.5, 1.25), arc({0, 0.45}, 0.55, 0.45, 0.75, 1.45)},
      {{{0.3, 0.9}, {0.3, -0.9}, {-0.6, 0.3}, {0.6, 0.3}}},
      {{{0.5, -0.9}, {-0.45, -0.9}, {-0.5, -0.1}}, arc({0, 0.3}, 0.55, 0.6, 0.63, 1.4)},
      {{{0.3, -0.9}, {-0.35, -0.1}, {-0.55, 0.4}}, arc({0, 0.4}, 0.55, 0.5, 0, 1)},
      {{{-0.6, -0.9}, {0.6, -0.9}, {-0.1, 0.9}}},
      {arc({0, -0.45}, 0.45, 0.45, 0, 1), arc({0, 0.45}, 0.55, 0.45, 0, 1)},
      {arc({0, -0.4}, 0.55, 0.5, 0, 1), {{0.55, -0.4}, {0.3, 0.9}}},
  }};
  return all;
}

inline double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double t = std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/// Draws a digit into 28 x 28 pixels.
template <class Random>
void draw(int digit, std::uint8_t* pixels, Random& random) {
  const auto between = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  const double size = between(7.5, 10.5), slant = between(-0.35, 0.35), turn = between(-0.2, 0.2);
  const double x = 13.5 + between(-2, 2), y = 13.5 + between(-2, 2), thickness = between(0.9, 1.7);
  std::vector<Stroke> drawn = strokes()[static_cast<std::size_t>(digit)];
  for (Stroke& stroke : drawn)
    for (Point& p : stroke) {
      const Point bent{p.x - slant * p.y + between(-0.06, 0.06), p.y + between(-0.06, 0.06)};
      p = {x + size * (bent.x * std::cos(turn) - bent.y * std::sin(turn)),
           y + size * (bent.x * std::sin(turn) + bent.y * std::cos(turn))};
    }
  for (int row = 0; row < 28; ++row)
    for (int column = 0; column < 28; ++column) {
      double nearest = 28;
      for (const Stroke& stroke : drawn)
        for (std::size_t i = 1; i < stroke.size(); ++i)
          nearest = std::min(nearest, distance({double(column), double(row)}, stroke[i - 1], stroke[i]));
      const double ink = std::clamp(thickness + 0.5 - nearest, 0.0, 1.0) + between(-0.1, 0.1);
      *pixels++ = static_cast<std::uint8_t>(255 * std::clamp(ink, 0.0, 1.0));
    }
}

}  // namespace digits

/// Images, uint8 (count, 28, 28), and labels, int64 (count), which the seed determines.
inline sinter::ImageDataset drawn_digits(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(count * 28 * 28));
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int64_t>(random() % 10));
    digits::draw(static_cast<int>(labels.back()), &pixels[static_cast<std::size_t>(i * 28 * 28)], random);
  }
  return sinter::ImageDataset(sinter::from_blob(pixels.data(), {count, 28, 28}).clone(),
                              sinter::from_blob(labels.data(), {count}).clone());
}
