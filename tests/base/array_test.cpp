// The array against std::vector, with the elements that it copies as bytes and with those that it does not.

#include "shoal/base/detail/array.h"

#include "shoal/base/detail/few_array.h"
#include "shoal/base/random.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shoal {
namespace {

/// Counts its objects and knows where it lies, so that no array can move it as bytes.
class Counted {
public:
    static inline std::int64_t num_alive = 0;

    Counted(int number = 0) : number_(number) { ++num_alive; }
    Counted(const Counted& other) : number_(other.number()) { ++num_alive; }
    Counted(Counted&& other) noexcept : number_(other.number()) {
        other.number_ = -1;
        ++num_alive;
    }
    Counted& operator=(const Counted& other) {
        number_ = other.number();
        return *this;
    }
    Counted& operator=(Counted&& other) noexcept {
        const int number = other.number();
        other.number_ = -1;
        number_ = number;
        return *this;
    }
    ~Counted() {
        EXPECT_EQ(self_, this);
        self_ = nullptr;
        --num_alive;
    }

    int number() const {
        EXPECT_EQ(self_, this) << "an object was used before its construction or after its destruction";
        return number_;
    }
    friend bool operator==(const Counted& a, const Counted& b) { return a.number() == b.number(); }

private:
    const Counted* self_ = this;
    int number_;
};

std::string make(int number, std::string*) { return "a text that needs memory: " + std::to_string(number); }
template <class T>
T make(int number, T*) {
    return T(number);
}

template <class T>
class ArrayOf : public testing::Test {
protected:
    static T make_value(int number) { return make(number, static_cast<T*>(nullptr)); }
    T random_value() { return make_value(static_cast<int>(random_.below(200))); }
    std::size_t random_place() { return random_.below(static_cast<std::uint32_t>(array_.size()) + 1); }
    std::vector<T> random_values() {
        std::vector<T> values;
        for (std::uint32_t count = random_.below(9); count > 0; --count) values.push_back(random_value());
        return values;
    }
    void change_ends();
    void change_inside();
    void replace();

    shoal_test::LeakCheck leaks_;
    Random random_{shoal_test::seed()};
    Array<T> array_{Owner("array")};
    std::vector<T> model_;
};

using Elements = testing::Types<int, bool, std::uint64_t, std::string, Counted>;
TYPED_TEST_SUITE(ArrayOf, Elements);

template <class T>
void ArrayOf<T>::change_ends() {
    const T value = random_value();
    const std::vector<T> values = random_values();
    switch (random_.below(6)) {
        case 0:
            array_.push_back(value);
            return model_.push_back(value);
        case 1:
            EXPECT_EQ(array_.emplace_back(value), value);
            return model_.push_back(value);
        case 2:
            if (model_.empty()) return;
            array_.pop_back();
            return model_.pop_back();
        case 3: {
            const std::size_t size = random_.below(40);
            array_.resize(size);
            return model_.resize(size);
        }
        case 4: {
            const std::size_t size = random_.below(40);
            array_.resize(size, value);
            return model_.resize(size, value);
        }
        default:
            array_.append(values.begin(), values.end());
            model_.insert(model_.end(), values.begin(), values.end());
    }
}

template <class T>
void ArrayOf<T>::change_inside() {
    const T value = random_value();
    const std::vector<T> values = random_values();
    const std::size_t at = random_place(), end = at + random_.below(static_cast<std::uint32_t>(model_.size() - at) + 1);
    const auto place = [&](auto begin, std::size_t index) { return begin + static_cast<std::ptrdiff_t>(index); };
    switch (random_.below(5)) {
        case 0:
            EXPECT_EQ(array_.insert(array_.begin() + at, value), array_.begin() + at);
            model_.insert(place(model_.begin(), at), value);
            return;
        case 1:
            EXPECT_EQ(array_.insert(array_.begin() + at, values.begin(), values.end()), array_.begin() + at);
            model_.insert(place(model_.begin(), at), values.begin(), values.end());
            return;
        case 2:
            EXPECT_EQ(array_.erase(array_.begin() + at, array_.begin() + end), array_.begin() + at);
            model_.erase(place(model_.begin(), at), place(model_.begin(), end));
            return;
        case 3:
            if (at == model_.size()) return;
            array_.erase(array_.begin() + at);
            model_.erase(place(model_.begin(), at));
            return;
        default:
            EXPECT_EQ(erase(array_, value), std::erase(model_, value));
    }
}

template <class T>
void ArrayOf<T>::replace() {
    const T value = random_value();
    const std::vector<T> values = random_values();
    switch (random_.below(7)) {
        case 0:
            array_.assign(values.begin(), values.end());
            return static_cast<void>(model_ = values);
        case 1:
            array_.assign(values.size(), value);
            return model_.assign(values.size(), value);
        case 2: {
            Array<T> other(values.begin(), values.end(), Owner("other"));
            array_.swap(other);
            EXPECT_EQ(other, Array<T>(model_.begin(), model_.end()));
            return static_cast<void>(model_ = values);
        }
        case 3: {
            const Array<T> copy = array_;
            EXPECT_EQ(copy, array_);
            Array<T> moved = std::move(array_);
            EXPECT_TRUE(array_.empty());  // NOLINT: that is the claim
            EXPECT_EQ(moved, copy);
            return static_cast<void>(array_ = std::move(moved));
        }
        case 4: {
            Array<T> copy{Owner("copy")};
            copy = array_;
            return static_cast<void>(array_ = copy);
        }
        case 5:
            return array_.reserve(random_.below(60));
        default:
            array_.clear();
            model_.clear();
    }
}

TYPED_TEST(ArrayOf, random_calls_do_what_they_do_to_a_vector) {
    SCOPED_TRACE(shoal_test::seed_text());
    for (std::int64_t i = shoal_test::scaled_operations(100'000); i > 0; --i) {
        const std::uint32_t kind = this->random_.below(12);
        if (kind < 7)
            this->change_ends();
        else if (kind < 11)
            this->change_inside();
        else
            this->replace();
        ASSERT_EQ(this->array_.size(), this->model_.size());
        ASSERT_GE(this->array_.capacity(), this->array_.size());
        ASSERT_EQ(this->array_.empty(), this->model_.empty());
        for (std::size_t k = 0; k < this->model_.size(); ++k) ASSERT_EQ(this->array_[k], this->model_[k]) << k;
    }
    this->array_ = Array<TypeParam>();
    this->model_ = {};
    EXPECT_EQ(Counted::num_alive, 0);
}

TYPED_TEST(ArrayOf, an_element_can_be_added_again_while_the_array_grows) {
    this->array_.push_back(this->make_value(1));
    for (int i = 0; i < 100; ++i) {
        this->array_.push_back(this->array_[0]);
        this->array_.emplace_back(this->array_[0]);
        this->array_.insert(this->array_.begin(), this->array_.back());
        this->array_.resize(this->array_.size() + 1, this->array_[0]);
    }
    const TypeParam value = this->make_value(1);
    for (const TypeParam& element : this->array_) ASSERT_EQ(element, value);
    EXPECT_EQ(this->array_.size(), 401u);
    this->array_.assign(3, this->array_[0]);
    EXPECT_EQ(this->array_, Array<TypeParam>(3, value));
}

TYPED_TEST(ArrayOf, an_empty_array_holds_no_memory) {
    const std::size_t before = bookkeeping_bytes();
    Array<TypeParam> array{Owner("nothing")}, other(array);
    array.resize(0);
    array.reserve(0);
    array.assign(std::size_t(0), TypeParam());
    array.insert(array.end(), other.begin(), other.end());
    array.erase(array.begin(), array.end());
    array = other;
    array.clear();
    EXPECT_EQ(array, other);
    EXPECT_EQ(array.data(), nullptr);
    EXPECT_EQ(bookkeeping_bytes(), before);
}

TYPED_TEST(ArrayOf, arrays_are_equal_when_their_elements_are) {
    const Array<TypeParam> array{this->make_value(1), this->make_value(0)};
    EXPECT_EQ(array, (Array<TypeParam>{this->make_value(1), this->make_value(0)}));
    EXPECT_NE(array, (Array<TypeParam>{this->make_value(0), this->make_value(0)}));
    EXPECT_NE(array, (Array<TypeParam>{this->make_value(1)}));
}

TYPED_TEST(ArrayOf, clearing_keeps_memory_and_assigning_nothing_does) {
    this->array_.assign(10, this->make_value(1));
    const TypeParam* const memory = this->array_.data();
    this->array_.clear();
    this->array_.assign(10, this->make_value(0));
    EXPECT_EQ(this->array_.data(), memory);
    this->array_ = {};
    EXPECT_TRUE(this->array_.empty());
    EXPECT_EQ(this->array_.data(), memory);
}

TEST(Array, elements_that_only_move_are_moved) {
    const shoal_test::LeakCheck leaks;
    Array<std::unique_ptr<int>> array{Owner("pointers")};
    for (int i = 0; i < 20; ++i) array.push_back(std::make_unique<int>(i));
    array.insert(array.begin() + 3, std::make_unique<int>(100));
    array.erase(array.begin());
    array.resize(25);
    Array<std::unique_ptr<int>> moved = std::move(array);
    ASSERT_EQ(moved.size(), 25u);
    EXPECT_EQ(*moved[0], 1);
    EXPECT_EQ(*moved[2], 100);
    EXPECT_EQ(*moved[19], 19);
    EXPECT_EQ(moved[24], nullptr);
    EXPECT_EQ(erase_if(moved, [](const std::unique_ptr<int>& one) { return one == nullptr; }), 5u);
    EXPECT_EQ(moved.size(), 20u);
}

TEST(Array, a_span_sees_the_elements) {
    Array<bool> array(3, false, Owner("flags"));
    const std::span<bool> span = array;
    span[1] = true;
    EXPECT_TRUE(array[1]);
    const std::span<const bool> seen = std::as_const(array);
    EXPECT_EQ(seen.data(), array.data());
    EXPECT_EQ(seen.size(), 3u);
}

TEST(Array, moves_to_itself_and_copies_to_itself_change_nothing) {
    Array<std::string> array{"one", "two"};
    Array<std::string>& same = array;
    array = same;
    EXPECT_EQ(array, (Array<std::string>{"one", "two"}));
    array = std::move(same);
    EXPECT_EQ(array, (Array<std::string>{"one", "two"}));
}

TEST(ArrayDeathTest, more_elements_than_memory_can_have_end_the_program) {
    Array<std::uint64_t> array{Owner("numbers of stars")};
    EXPECT_DEATH(array.reserve(~std::size_t(0) / 4), "out of bookkeeping memory: numbers of stars");
}

// Up to four elements lie in the object itself, more of them in an array of its own.
TEST(FewArray, holds_what_a_vector_does_and_copies_and_moves_it_below_and_above_its_few) {
    for (std::uint32_t count = 0; count < 12; ++count) {
        FewArray<std::uint32_t, 4> few{Owner("test")};
        std::vector<std::uint32_t> model;
        for (std::uint32_t i = 0; i < count; ++i) few.push_back(i * i), model.push_back(i * i);
        few.append(count % 3, 7), model.insert(model.end(), count % 3, 7);
        const auto is_model = [&](const FewArray<std::uint32_t, 4>& array) {
            return std::ranges::equal(array, model) && array.size() == model.size() && array.empty() == model.empty();
        };
        EXPECT_TRUE(is_model(few)) << count;
        FewArray<std::uint32_t, 4> copy = few;
        few.push_back(1), few.clear();
        EXPECT_TRUE(few.empty() && is_model(copy)) << "a copy keeps its elements: " << count;
        few.push_back(3);
        EXPECT_EQ(few[0], 3u) << "it is filled again: " << count;
        FewArray<std::uint32_t, 4> moved = std::move(copy);
        EXPECT_TRUE(is_model(moved) && copy.empty()) << count;  // NOLINT(bugprone-use-after-move)
        few = moved;
        moved = FewArray<std::uint32_t, 4>{Owner("test")};
        EXPECT_TRUE(is_model(few) && moved.empty()) << count;
    }
}

}  // namespace
}  // namespace shoal
