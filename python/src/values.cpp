#include "values.h"

#include "shoal/job/detail/work_scope.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace shoal_python {

namespace {

py::module_ numpy() { return py::module_::import("numpy"); }

py::dtype integer_dtype(bool is_signed, std::uint32_t num_bytes) {
    return py::dtype(std::string(is_signed ? "i" : "u") + std::to_string(num_bytes));
}

bool has_negative(const ValueType& type) {
    return std::ranges::any_of(type.enumerators, [](const EnumeratorDefinition& e) { return e.value < 0; });
}

py::dtype dtype_of(const ValueType& type, std::string_view name) {
    switch (type.type) {
        case FieldType::kBool:
            return py::dtype("?");
        case FieldType::kInt8:
        case FieldType::kInt16:
        case FieldType::kInt32:
        case FieldType::kInt64:
            return integer_dtype(true, type.value_bytes);
        case FieldType::kUint8:
        case FieldType::kUint16:
        case FieldType::kUint32:
        case FieldType::kUint64:
        case FieldType::kStringId:
        case FieldType::kResourceId:
        case FieldType::kEntity:
            return integer_dtype(false, type.value_bytes);
        case FieldType::kEnum:
            return integer_dtype(has_negative(type), type.value_bytes);
        case FieldType::kDouble:
            return py::dtype("f8");
        case FieldType::kFixedString:
            return py::dtype("S" + std::to_string(type.value_bytes));
        case FieldType::kBlobArray:
        case FieldType::kOpaque:
            throw Error(concat(quoted(name), " is ", type.to_text(),
                               ", which has no array here; World.get() reads what stays in a blob"));
        default:
            return py::dtype("f4");
    }
}

/// Says which field a message of NumPy is about, and throws it as what it was; others are thrown on.
[[noreturn]] void throw_about(std::string_view name, const py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw error;
    const std::string message = concat(quoted(name), ": ", std::string(py::str(error.value())));
    if (error.matches(PyExc_ValueError)) throw py::value_error(message);
    throw py::type_error(message);
}

[[noreturn]] void refuse_type(std::string_view name, const ValueType& type, const py::array& given) {
    throw py::type_error(concat(quoted(name), " is ", type.to_text(), "; it cannot be set to values of type ",
                                std::string(py::str(given.dtype()))));
}

bool is_integer(FieldType type) {
    return (type >= FieldType::kInt8 && type <= FieldType::kUint64) || type == FieldType::kEnum ||
           type == FieldType::kStringId || type == FieldType::kResourceId || type == FieldType::kEntity;
}

/// Errors: a number that does not fit.
void check_range(const py::array& numbers, const py::dtype& dtype, std::string_view name) {
    if (numbers.size() == 0) return;
    const py::object limits = numpy().attr("iinfo")(dtype);
    const py::object least = numbers.attr("min")(), most = numbers.attr("max")();
    const py::object low = limits.attr("min"), high = limits.attr("max");
    if (py::int_(least) < py::int_(low) || py::int_(most) > py::int_(high))
        throw py::value_error(concat(quoted(name), " holds numbers from ", std::string(py::str(low)), " to ",
                                     std::string(py::str(high)), "; given are ", std::string(py::str(least)), " to ",
                                     std::string(py::str(most))));
}

std::int64_t enumerator_of(const ValueType& type, const std::string& text, std::string_view name) {
    std::vector<std::string_view> names;
    for (const EnumeratorDefinition& enumerator : type.enumerators) {
        if (enumerator.name == text) return enumerator.value;
        names.push_back(enumerator.name);
    }
    throw py::value_error(concat(quoted(name), " has no value ", quoted(text), "; ", hint_for(text, names)));
}

/// Lets the world keep a text; while passes run, when it settles. Errors: it is not UTF-8, or another one has its hash.
void keep_text(StringTable& strings, const std::string& text) {
    require(WorkScope::current() != nullptr ? strings.note(text) : strings.intern_until_unused(text).status());
}

/// Numbers in place of texts: of enumerators, or hashes. Errors: a text that is none.
py::array numbers_of_texts(const py::array& texts, const ValueType& type, const ValueContext& context,
                           std::string_view name) {
    const py::list flat = texts.attr("ravel")().attr("tolist")();
    py::list numbers;
    for (const auto& item : flat) {
        const auto text = py::cast<std::string>(item);
        if (type.type == FieldType::kEnum) {
            numbers.append(enumerator_of(type, text, name));
        } else if (type.type == FieldType::kStringId && context.strings != nullptr) {
            keep_text(*context.strings, text);
            numbers.append(StringId(text).hash);
        } else {
            numbers.append(StringId(text).hash);
        }
    }
    const py::dtype dtype(type.type == FieldType::kEnum ? "i8" : "u8");
    return py::array(numpy().attr("array")(numbers, dtype).attr("reshape")(texts.attr("shape")));
}

void check_entities(const py::array& ids, const ValueContext& context, std::string_view name) {
    if (context.entities == nullptr) return;
    for (const Entity entity : entities_from(ids))
        if (entity && !context.entities->alive(entity))
            throw Error(concat(quoted(name), " is set to entity ", std::uint64_t(entity.id), ", which is dead"));
}

void check_texts(const py::array& texts, const ValueType& type, std::string_view name) {
    for (const auto& item : py::list(texts.attr("ravel")().attr("tolist")())) {
        const auto text = py::cast<std::string>(item);
        if (text.size() >= type.value_bytes)
            throw py::value_error(concat(quoted(name), " has room for ", type.value_bytes - 1, " bytes of text; ",
                                         quoted(text), " has ", text.size()));
    }
}

/// Returns whole numbers that NumPy has made floats or objects of, because some are beyond 2^63 and others are not: each as
/// it was given. An array that was given is what it is.
py::array exact_integers(const py::object& given, py::array array, const py::dtype& dtype, std::string_view name) {
    const char kind = array.dtype().kind();
    if (py::isinstance<py::array>(given) || (kind != 'f' && kind != 'O') || array.size() == 0) return array;
    const py::array objects(numpy().attr("asarray")(given, "O"));
    const py::object whole = numpy().attr("integer");
    for (const auto& item : py::list(objects.attr("ravel")().attr("tolist")()))
        if (py::isinstance<py::bool_>(item) || (!py::isinstance<py::int_>(item) && !py::isinstance(item, whole)))
            return array;
    check_range(objects, dtype, name);
    return py::array(objects.attr("astype")(dtype));
}

/// Errors: a number that the floats of a field cannot hold, not even rounded, or a whole one of 64 bits that would be rounded.
void check_floats(const py::array& array, const py::dtype& dtype, std::string_view name) {
    const bool is_whole = array.dtype().kind() != 'f';
    if (array.dtype().itemsize() < (is_whole ? 8 : dtype.itemsize() + 1) || array.size() == 0) return;
    const py::object bound =
        is_whole ? py::object(py::int_(std::uint64_t(1) << 53)) : numpy().attr("finfo")(dtype).attr("max");
    const py::object beyond =
        is_whole ? array.attr("__gt__")(bound).attr("__or__")(array.attr("__lt__")(-py::int_(bound)))
                 : numpy().attr("isfinite")(array).attr("__and__")(numpy().attr("abs")(array).attr("__gt__")(bound));
    for (const auto& item : py::list(array.attr("__getitem__")(beyond).attr("tolist")())) {
        const bool is_exact = is_whole && py::int_(py::float_(py::reinterpret_borrow<py::object>(item))).equal(item);
        if (!is_exact)
            throw py::value_error(concat(quoted(name), " holds ", dtype.itemsize() == 4 ? "floats" : "doubles",
                                         ", which cannot be ", std::string(py::str(item))));
    }
}

/// Returns what is given as an array that can be copied to one of `dtype`. Errors: it cannot.
py::array checked(const py::object& given, const ValueType& type, const py::dtype& dtype, const ValueContext& context,
                  std::string_view name) {
    py::array array(numpy().attr("asarray")(given));
    if (is_integer(type.type)) array = exact_integers(given, array, dtype, name);
    const char kind = array.dtype().kind();
    const bool is_text = kind == 'U' || kind == 'S';
    if (type.type == FieldType::kFixedString) {
        if (!is_text) refuse_type(name, type, array);
        check_texts(array, type, name);
        return kind == 'S' ? array : py::array(numpy().attr("char").attr("encode")(array, "utf-8"));
    }
    if (is_text &&
        (type.type == FieldType::kEnum || type.type == FieldType::kStringId || type.type == FieldType::kResourceId)) {
        array = numbers_of_texts(array, type, context, name);
    } else if (type.type == FieldType::kBool) {
        if (kind != 'b') refuse_type(name, type, array);
        return array;
    } else if (kind != 'i' && kind != 'u' && (kind != 'b' || is_integer(type.type)) &&
               (kind != 'f' || is_integer(type.type)) && array.size() != 0) {
        refuse_type(name, type, array);
    }
    if (is_integer(type.type))
        check_range(array, dtype, name);
    else
        check_floats(array, dtype, name);
    if (type.type == FieldType::kEntity) check_entities(array, context, name);
    return array;
}

}  // namespace

ArrayType array_type(const ValueType& type, std::string_view name) {
    ArrayType found{dtype_of(type, name), {}};
    if (type.array_length != 0) found.shape.push_back(type.array_length);
    if (type.type == FieldType::kMatrix3x4) {
        found.shape.insert(found.shape.end(), {3, 4});
    } else if (const std::uint32_t lanes = field_type_lanes(type.type); lanes > 1) {
        found.shape.push_back(lanes);
    }
    return found;
}

py::array view_of(const ArrayType& type, std::size_t num_rows, const std::byte* first, std::size_t stride,
                  const py::object& base, bool is_writable) {
    std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(num_rows)}, strides(type.shape.size() + 1);
    shape.insert(shape.end(), type.shape.begin(), type.shape.end());
    py::ssize_t bytes = type.dtype.itemsize();
    for (std::size_t i = type.shape.size(); i > 0; --i) strides[i] = bytes, bytes *= type.shape[i - 1];
    if (type.lane_stride != 0) strides.back() = static_cast<py::ssize_t>(type.lane_stride);
    strides[0] = static_cast<py::ssize_t>(stride);
    py::array array(type.dtype, shape, strides, first, base);
    if (!is_writable) set_read_only(array);
    return array;
}

void set_read_only(const py::array& array) {
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
}

void fill(std::byte* first, std::size_t stride, std::size_t num_rows, const ValueType& type, const py::object& given,
          const ValueContext& context, std::string_view name) {
    fill(first, stride, num_rows, type, 0, given, context, name);
}

void fill(std::byte* first, std::size_t stride, std::size_t num_rows, const ValueType& type, std::size_t lane_stride,
          const py::object& given, const ValueContext& context, std::string_view name) {
    ArrayType to = array_type(type, name);
    to.lane_stride = lane_stride;
    try {
        const py::array values = checked(given, type, to.dtype, context, name);
        const py::array view = view_of(to, num_rows, first, stride, py::none(), true);
        numpy().attr("copyto")(view, values, py::arg("casting") = "unsafe");
    } catch (const py::error_already_set& error) {
        throw_about(name, error);
    }
}

AnyValue any_value(const ValueType& type, const py::object& given, const ValueContext& context, std::string_view name) {
    if (type.type == FieldType::kOpaque) array_type(type, name);  // throws
    AnyValue value(type);
    fill(value.bytes().data(), type.num_bytes(), 1, type, given, context, name);
    return value;
}

AnyValue guessed_value(const py::object& given, std::string_view name) {
    const py::object scalar = numpy().attr("generic");
    if (py::isinstance(given, scalar))
        if (const py::object item = given.attr("item")(); !py::isinstance(item, scalar))
            return guessed_value(item, name);
    if (py::isinstance<py::bool_>(given)) return given.cast<bool>();
    if (py::isinstance<py::int_>(given)) {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
        if (overflow != 0) throw py::value_error(concat(quoted(name), " takes whole numbers of 64 bits"));
        return std::int64_t(number);
    }
    if (py::isinstance<py::float_>(given)) return given.cast<double>();
    if (py::isinstance<py::str>(given)) return given.cast<std::string>();
    const py::array_t<float> lanes = py::array_t<float>::ensure(given);
    if (!lanes) PyErr_Clear();
    const float* const v = lanes ? lanes.data() : nullptr;
    if (lanes && lanes.ndim() == 1 && lanes.size() == 2) return Vec2{v[0], v[1]};
    if (lanes && lanes.ndim() == 1 && lanes.size() == 3) return Vec3{v[0], v[1], v[2]};
    if (lanes && lanes.ndim() == 1 && lanes.size() == 4) return Vec4{v[0], v[1], v[2], v[3]};
    throw py::type_error(concat(quoted(name), " takes a bool, a number, a text, or 2 to 4 numbers"));
}

namespace {

py::object blob_array(const AnyValue& value, const ValueContext& context) {
    BlobArrayBase array;
    std::memcpy(static_cast<void*>(&array), value.bytes().data(), sizeof array);
    const FieldType element = value.type().element_type;
    std::span<const std::byte> bytes;
    if (context.library != nullptr) bytes = context.library->view_bytes(array, element);
    const ValueType type{element, FieldType(0), 0, field_type_bytes(element), {}};
    if (type.value_bytes == 0) throw Error("the array holds values whose type is not known here");
    const py::array view = view_of(array_type(type, "array"), bytes.size() / type.value_bytes, bytes.data(),
                                   type.value_bytes, py::none(), false);
    return view.attr("copy")();
}

std::int64_t enum_number(const AnyValue& value) {
    std::int64_t number = 0;
    std::memcpy(&number, value.bytes().data(), value.type().value_bytes);
    const int unused = 64 - 8 * static_cast<int>(value.type().value_bytes);
    if (has_negative(value.type())) number = number << unused >> unused;
    return number;
}

}  // namespace

py::object to_python(const AnyValue& value, const ValueContext& context) {
    const ValueType& type = value.type();
    if (type.type == FieldType::kBlobArray && type.array_length == 0) return blob_array(value, context);
    if (type.type == FieldType::kEnum && type.array_length == 0) {
        const std::int64_t number = enum_number(value);
        for (const EnumeratorDefinition& enumerator : type.enumerators)
            if (enumerator.value == number) return py::str(enumerator.name);
        return py::int_(number);
    }
    if (type.type == FieldType::kStringId && type.array_length == 0 && context.strings != nullptr) {
        const std::string_view text = context.strings->text(*value.as<StringId>());
        if (!text.empty()) return py::str(std::string(text));
    }
    if (type.type == FieldType::kFixedString && type.array_length == 0) {
        const auto* const first = reinterpret_cast<const char*>(value.bytes().data());
        const std::string text(first, strnlen(first, type.value_bytes));
        return py::reinterpret_steal<py::object>(
            PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
    }
    const py::array view =
        view_of(array_type(type, "value"), 1, value.bytes().data(), type.num_bytes(), py::none(), false);
    const py::object copy = view.attr("copy")().attr("__getitem__")(0);
    return py::isinstance<py::array>(copy) ? copy : copy.attr("item")();
}

std::vector<Entity> entities_from(const py::object& given) {
    const py::array array(numpy().attr("asarray")(given));
    const char kind = array.dtype().kind();
    if (kind != 'i' && kind != 'u' && array.size() != 0)
        throw py::type_error(concat("entities are whole numbers, not ", std::string(py::str(array.dtype()))));
    check_range(array, integer_dtype(false, sizeof(Entity)), "entity");
    const py::array flat(
        numpy().attr("ascontiguousarray")(array, integer_dtype(false, sizeof(Entity))).attr("ravel")());
    const auto* const first = static_cast<const Entity*>(flat.data());
    return {first, first + flat.size()};
}

py::array to_array(std::span<const Entity> entities) {
    const ArrayType type{integer_dtype(false, sizeof(Entity)), {}};
    const py::array view = view_of(type, entities.size(), reinterpret_cast<const std::byte*>(entities.data()),
                                   sizeof(Entity), py::none(), false);
    return view.attr("copy")();
}

}  // namespace shoal_python
