// The constants of fast convolution, each formed exactly and rounded once to fp32, for lines of N
// frequencies. Plain data for vector code. winograd_constants_test.cpp derives every number again in exact
// rationals. Names are those of docs/arithmetic.md: points p_i, polynomials Z and Q_i in z = p^2, scales s_0
// and s_i. An odd N has no frequency at infinity.
#pragma once

namespace lockstep::arithmetic {

// kPairs             pairs of points +p_i, -p_i
// power[i][k]        p_i^k
// z[k]               Z_k, the coefficient of z^k
// q[i][k]            Q_ik
// pq[i][k]           p_i Q_ik
// scale0, scale[i]   s_0, s_i
// scaled_power[i][j] s_i p_i^j
template <int N>
struct WinogradConstants;

template <>
struct WinogradConstants<4> {
  static constexpr int kPairs = 1;
  static constexpr float power[kPairs][5] = {{0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f}};
  static constexpr float z[kPairs + 1] = {-0x1p+0f, 0x1p+0f};
  static constexpr float q[kPairs][kPairs] = {{0x1p+0f}};
  static constexpr float pq[kPairs][kPairs] = {{0x1p+0f}};
  static constexpr float scale0 = -0x1p+0f;
  static constexpr float scale[kPairs] = {0x1p-1f};
  static constexpr float scaled_power[kPairs][5] = {{0x1p-1f, 0x1p-1f, 0x1p-1f, 0x1p-1f, 0x1p-1f}};
};

template <>
struct WinogradConstants<6> {
  static constexpr int kPairs = 2;
  static constexpr float power[kPairs][5] = {{0x1p+0f, 0x1.4p-1f, 0x1.9p-2f, 0x1.f4p-3f, 0x1.388p-3f},
                                             {0x1p+0f, 0x1.8p+0f, 0x1.2p+1f, 0x1.bp+1f, 0x1.44p+2f}};
  static constexpr float z[kPairs + 1] = {0x1.c2p-1f, -0x1.52p+1f, 0x1p+0f};
  static constexpr float q[kPairs][kPairs] = {{-0x1.2p+1f, 0x1p+0f}, {-0x1.9p-2f, 0x1p+0f}};
  static constexpr float pq[kPairs][kPairs] = {{-0x1.68p+0f, 0x1.4p-1f}, {-0x1.2cp-1f, 0x1.8p+0f}};
  static constexpr float scale0 = 0x1.234568p+0f;
  static constexpr float scale[kPairs] = {-0x1.607668p-1f, 0x1.e98802p-4f};
  static constexpr float scaled_power[kPairs][5] = {
      {-0x1.607668p-1f, -0x1.b89402p-2f, -0x1.135c82p-2f, -0x1.5833a2p-3f, -0x1.ae408ap-4f},
      {0x1.e98802p-4f, 0x1.6f2602p-3f, 0x1.135c82p-2f, 0x1.9d0ac2p-2f, 0x1.35c812p-1f}};
};

template <>
struct WinogradConstants<8> {
  static constexpr int kPairs = 3;
  static constexpr float power[kPairs][5] = {{0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f},
                                             {0x1p+0f, 0x1p-1f, 0x1p-2f, 0x1p-3f, 0x1p-4f},
                                             {0x1p+0f, 0x1p+1f, 0x1p+2f, 0x1p+3f, 0x1p+4f}};
  static constexpr float z[kPairs + 1] = {-0x1p+0f, 0x1.5p+2f, -0x1.5p+2f, 0x1p+0f};
  static constexpr float q[kPairs][kPairs] = {
      {0x1p+0f, -0x1.1p+2f, 0x1p+0f}, {0x1p+2f, -0x1.4p+2f, 0x1p+0f}, {0x1p-2f, -0x1.4p+0f, 0x1p+0f}};
  static constexpr float pq[kPairs][kPairs] = {
      {0x1p+0f, -0x1.1p+2f, 0x1p+0f}, {0x1p+1f, -0x1.4p+1f, 0x1p-1f}, {0x1p-1f, -0x1.4p+1f, 0x1p+1f}};
  static constexpr float scale0 = -0x1p+0f;
  static constexpr float scale[kPairs] = {-0x1.c71c72p-3f, 0x1.6c16c2p-1f, 0x1.6c16c2p-7f};
  static constexpr float scaled_power[kPairs][5] = {
      {-0x1.c71c72p-3f, -0x1.c71c72p-3f, -0x1.c71c72p-3f, -0x1.c71c72p-3f, -0x1.c71c72p-3f},
      {0x1.6c16c2p-1f, 0x1.6c16c2p-2f, 0x1.6c16c2p-3f, 0x1.6c16c2p-4f, 0x1.6c16c2p-5f},
      {0x1.6c16c2p-7f, 0x1.6c16c2p-6f, 0x1.6c16c2p-5f, 0x1.6c16c2p-4f, 0x1.6c16c2p-3f}};
};

template <>
struct WinogradConstants<9> {
  static constexpr int kPairs = 4;
  static constexpr float power[kPairs][7] = {
      {0x1p+0f, 0x1p-1f, 0x1p-2f, 0x1p-3f, 0x1p-4f, 0x1p-5f, 0x1p-6f},
      {0x1p+0f, 0x1.cp-1f, 0x1.88p-1f, 0x1.57p-1f, 0x1.2c2p-1f, 0x1.069cp-1f, 0x1.cb91p-2f},
      {0x1p+0f, 0x1.8p+0f, 0x1.2p+1f, 0x1.bp+1f, 0x1.44p+2f, 0x1.e6p+2f, 0x1.6c8p+3f},
      {0x1p+0f, 0x1p+2f, 0x1p+4f, 0x1p+6f, 0x1p+8f, 0x1p+10f, 0x1p+12f}};
  static constexpr float z[kPairs + 1] = {0x1.b9p+2f, -0x1.4072p+5f, 0x1.b5dp+5f, -0x1.344p+4f, 0x1p+0f};
  static constexpr float q[kPairs][kPairs] = {{-0x1.b9p+4f, 0x1.8fc8p+5f, -0x1.304p+4f, 0x1p+0f},
                                              {-0x1.2p+3f, 0x1.448p+5f, -0x1.28p+4f, 0x1p+0f},
                                              {-0x1.88p+1f, 0x1.071p+4f, -0x1.104p+4f, 0x1p+0f},
                                              {-0x1.b9p-2f, 0x1.3dp+1f, -0x1.a2p+1f, 0x1p+0f}};
  static constexpr float pq[kPairs][kPairs] = {{-0x1.b9p+3f, 0x1.8fc8p+4f, -0x1.304p+3f, 0x1p-1f},
                                               {-0x1.f8p+2f, 0x1.1bfp+5f, -0x1.03p+4f, 0x1.cp-1f},
                                               {-0x1.26p+2f, 0x1.8a98p+4f, -0x1.986p+4f, 0x1.8p+0f},
                                               {-0x1.b9p+0f, 0x1.3dp+3f, -0x1.a2p+3f, 0x1p+2f}};
  static constexpr float scale0 = 0x1.293726p-3f;
  static constexpr float scale[kPairs] = {-0x1.f85d96p-4f, 0x1.cad1b8p-5f, -0x1.64c5b4p-8f, 0x1.3dd3f2p-17f};
  static constexpr float scaled_power[kPairs][7] = {
      {-0x1.f85d96p-4f, -0x1.f85d96p-5f, -0x1.f85d96p-6f, -0x1.f85d96p-7f, -0x1.f85d96p-8f, -0x1.f85d96p-9f,
       -0x1.f85d96p-10f},
      {0x1.cad1b8p-5f, 0x1.917782p-5f, 0x1.5f4892p-5f, 0x1.335f8p-5f, 0x1.0cf39p-5f, 0x1.d6aa3ap-6f,
       0x1.9bd4f4p-6f},
      {-0x1.64c5b4p-8f, -0x1.0b9446p-7f, -0x1.915e6ap-7f, -0x1.2d06dp-6f, -0x1.c38a38p-6f, -0x1.52a7aap-5f,
       -0x1.fbfb7ep-5f},
      {0x1.3dd3f2p-17f, 0x1.3dd3f2p-15f, 0x1.3dd3f2p-13f, 0x1.3dd3f2p-11f, 0x1.3dd3f2p-9f, 0x1.3dd3f2p-7f,
       0x1.3dd3f2p-5f}};
};

}  // namespace lockstep::arithmetic
