// What judge/check computes for every element of an output, in one pass. Compiled without contraction: every product
// and every sum is rounded by itself.
#include <cmath>
#include <cstddef>
#include <limits>

namespace {

template <class T>
bool all_near(const double *values, const double *bound, const T *actual, std::size_t count) {
    unsigned far = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double error = std::fabs(values[i] - static_cast<double>(actual[i]));
        far |= !(error <= bound[i]) | !(error <= std::numeric_limits<double>::max());
    }
    return far == 0;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// Writes the bounds of judge.check.tolerance to `bound`. `magnitude` is null where an element's is its absolute value.
EXPORT void gpujudge_bounds(const double *values, const double *magnitude, std::size_t count, double growth,
                            double factor, double written, double least, double *bound) {
    for (std::size_t i = 0; i < count; ++i) {
        const double absolute = std::fabs(values[i]);
        const double scale = magnitude == nullptr ? absolute : magnitude[i];
        const double allowed = (growth * absolute + scale) * factor + written * absolute + least;
        bound[i] = absolute <= std::numeric_limits<double>::max() ? allowed : 0.0;
    }
}

// Returns whether every difference is finite and within its bound. `actual` holds floats if `single`, else doubles.
EXPORT bool gpujudge_all_near(const double *values, const double *bound, const void *actual, bool single,
                              std::size_t count) {
    return single ? all_near(values, bound, static_cast<const float *>(actual), count)
                  : all_near(values, bound, static_cast<const double *>(actual), count);
}
