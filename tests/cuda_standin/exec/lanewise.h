// Makes operations over 32 lanes out of functions of single values, and names them as PTX does.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "exec/machine.h"

namespace standin {

// How an instruction runs and how wide its result and its sources are: 1 for a predicate, 0 for none.
struct Form {
  Handler full = nullptr;
  Handler masked = nullptr;
  std::array<int, 5> bits{};
};

using Forms = std::unordered_map<std::string, Form>;

template <class T>
constexpr int kBits = static_cast<int>(8 * sizeof(T));
template <>
inline constexpr int kBits<Pred> = 1;

template <auto Function>
struct Lanewise;

template <class D, class... S, D (*Function)(S...)>
struct Lanewise<Function> {
  static void full(Warp& warp, const Op& op) { full(warp, op, std::index_sequence_for<S...>()); }
  static void masked(Warp& warp, const Op& op) { masked(warp, op, std::index_sequence_for<S...>()); }
  static Form form() { return {full, masked, {kBits<D>, kBits<S>...}}; }

 private:
  template <std::size_t... I>
  static void full(Warp& warp, const Op& op, std::index_sequence<I...>) {
    const auto loop = [](D* d, const S*... s) {
#pragma omp simd
      for (int i = 0; i < kLanes; ++i) d[i] = Function(s[i]...);
    };
    loop(warp.lanes<D>(op.d[0]), warp.lanes<const S>(op.s[I])...);
  }

  template <std::size_t... I>
  static void masked(Warp& warp, const Op& op, std::index_sequence<I...>) {
    const auto loop = [](const std::uint32_t* blend, D* d, const S*... s) {
#pragma omp simd
      for (int i = 0; i < kLanes; ++i) d[i] = blend[i] != 0 ? Function(s[i]...) : d[i];
    };
    loop(warp.blend, warp.lanes<D>(op.d[0]), warp.lanes<const S>(op.s[I])...);
  }
};

// The types of PTX and the C++ values that stand for them.
template <class T>
struct Tag {
  using Value = T;
};
struct U8 : Tag<std::uint8_t> {
  static constexpr std::string_view name = "u8";
};
struct U16 : Tag<std::uint16_t> {
  static constexpr std::string_view name = "u16";
};
struct U32 : Tag<std::uint32_t> {
  static constexpr std::string_view name = "u32";
};
struct U64 : Tag<std::uint64_t> {
  static constexpr std::string_view name = "u64";
};
struct S8 : Tag<std::int8_t> {
  static constexpr std::string_view name = "s8";
};
struct S16 : Tag<std::int16_t> {
  static constexpr std::string_view name = "s16";
};
struct S32 : Tag<std::int32_t> {
  static constexpr std::string_view name = "s32";
};
struct S64 : Tag<std::int64_t> {
  static constexpr std::string_view name = "s64";
};
struct B16 : Tag<std::uint16_t> {
  static constexpr std::string_view name = "b16";
};
struct B32 : Tag<std::uint32_t> {
  static constexpr std::string_view name = "b32";
};
struct B64 : Tag<std::uint64_t> {
  static constexpr std::string_view name = "b64";
};
struct F32 : Tag<float> {
  static constexpr std::string_view name = "f32";
};
struct F64 : Tag<double> {
  static constexpr std::string_view name = "f64";
};
struct P : Tag<Pred> {
  static constexpr std::string_view name = "pred";
};

// Adds `Operation::of<T>` as "prefix.type" for each type.
template <class Operation, class... Types>
void add_family(Forms& forms, std::string_view prefix) {
  (forms.emplace(std::string(prefix) + "." + std::string(Types::name),
                 Lanewise<&Operation::template of<typename Types::Value>>::form()),
   ...);
}

// The instructions by group. Single-precision arithmetic comes in two kinds: exact, and with denormals
// flushed.
enum class Denormals { kept, flushed };
void add_integer_forms(Forms& forms);
void add_bit_forms(Forms& forms);
void add_float_forms(Forms& forms, Denormals denormals);
void add_compare_forms(Forms& forms, Denormals denormals);
void add_convert_forms(Forms& forms);

}  // namespace standin
