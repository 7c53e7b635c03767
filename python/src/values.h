#pragma once
// Values of fields as NumPy and Python see them.
//
//     field                         dtype            shape of n rows
//     bool, integers, floats        the same         (n,)
//     vec2, vec3, vec4, quaternion  float32          (n, 2) (n, 3) (n, 4) (n, 4)
//     matrix3x4                     float32          (n, 3, 4)
//     enum                          its integer      (n,)             text names an enumerator
//     string id, resource id        uint64           (n,)             text is hashed and, in a world, kept
//     entity                        uint32           (n,)
//     fixed string                  S<capacity>      (n,)
//     array of any of these         as above         (n, length, ...)
//
// Thread: the one that has the interpreter's lock.

#include "shoal/base/detail/string_table.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/resource/library.h"
#include "shoal/table/detail/any_value.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace shoal_python {

namespace py = pybind11;
using namespace shoal;

/// What a call of shoal refuses; `shoal.Error` in Python.
struct Error : std::runtime_error {
    explicit Error(std::string_view message) : std::runtime_error(std::string(message)) {}
};
/// A text with mistakes; `shoal.CompileError`.
struct CompileError : std::runtime_error {
    explicit CompileError(std::string_view message) : std::runtime_error(std::string(message)) {}
};
/// A call that would move rows which arrays show; `shoal.BusyError`.
struct BusyError : std::runtime_error {
    explicit BusyError(std::string_view message) : std::runtime_error(std::string(message)) {}
};

inline void require(const Status& status) {
    if (!status) throw Error(status.message());
}
template <class T>
T require(Result<T>&& result) {
    if (!result) throw Error(result.message());
    return std::move(*result);
}

/// Elements of an array, without its rows.
struct ArrayType {
    py::dtype dtype;
    std::vector<py::ssize_t> shape;  ///< of one row
    std::size_t lane_stride = 0;     ///< bytes from one float of a vector to the next if they are apart
};
/// Errors: the type has no array, such as one that stays in its blob; throws Error, which calls it `name`.
ArrayType array_type(const ValueType& type, std::string_view name);

/// Returns an array over memory that `base` keeps alive.
py::array view_of(const ArrayType& type, std::size_t num_rows, const std::byte* first, std::size_t stride,
                  const py::object& base, bool is_writable);
void set_read_only(const py::array& array);

/// What values may refer to: entities that must live, and texts that are kept. Both may be missing.
struct ValueContext {
    const EntityManager* entities = nullptr;
    StringTable* strings = nullptr;
    const ResourceLibrary* library = nullptr;
};

/// Sets `num_rows` values, `stride` bytes apart, to what Python gives: a value for all, or one for each.
/// Errors: another type, a number out of range, another shape; throws TypeError or ValueError, which call it `name`.
void fill(std::byte* first, std::size_t stride, std::size_t num_rows, const ValueType& type, const py::object& given,
          const ValueContext& context, std::string_view name);
/// The same for parts whose floats are `lane_stride` bytes apart; 0: side by side.
void fill(std::byte* first, std::size_t stride, std::size_t num_rows, const ValueType& type, std::size_t lane_stride,
          const py::object& given, const ValueContext& context, std::string_view name);
/// Returns a value of that type. Errors: as above.
AnyValue any_value(const ValueType& type, const py::object& given, const ValueContext& context, std::string_view name);
/// Returns a value of the type that Python's has: bool, int64, double, text, vectors.
AnyValue guessed_value(const py::object& given, std::string_view name);
py::object to_python(const AnyValue& value, const ValueContext& context);

/// Returns ids from a number, a list or an array. Errors: throws TypeError or ValueError.
std::vector<Entity> entities_from(const py::object& given);
py::array to_array(std::span<const Entity> entities);

}  // namespace shoal_python
