// The words of elementary.inc in OpenCL C 1.2: one float per work item. Plain C, so that a kernel's source is
// this text, elementary.inc and the kernel, one after the other. CUDA and C++ read it too, after
// gpu/kernels/prelude.inc has given them OpenCL's builtins.
#ifdef __OPENCL_VERSION__  // the unit test reads this as C++
#pragma OPENCL FP_CONTRACT OFF
#endif

typedef float Real;
typedef uint Whole;  // wraps; the two right shifts are those of a signed number
typedef int Truth;

static inline Real ls_constant(float value) { return value; }
static inline Real ls_add(Real a, Real b) { return a + b; }
static inline Real ls_sub(Real a, Real b) { return a - b; }
static inline Real ls_mul(Real a, Real b) { return a * b; }
static inline Real ls_fma(Real a, Real b, Real c) { return fma(a, b, c); }
static inline Truth ls_less(Real a, Real b) { return a < b; }
static inline Truth ls_equal(Real a, Real b) { return a == b; }
static inline Real ls_select(Truth truth, Real yes, Real no) { return truth ? yes : no; }

static inline Whole ls_whole_constant(int value) { return as_uint(value); }
static inline Whole ls_whole_add(Whole a, Whole b) { return a + b; }
static inline Whole ls_whole_sub(Whole a, Whole b) { return a - b; }
static inline Whole ls_shift_left_23(Whole a) { return a << 23; }
static inline Whole ls_shift_right_1(Whole a) { return as_uint(as_int(a) >> 1); }
static inline Whole ls_shift_right_23(Whole a) { return as_uint(as_int(a) >> 23); }

static inline Whole ls_bits(Real a) { return as_uint(a); }
static inline Real ls_real_of_bits(Whole a) { return as_float(a); }
static inline Real ls_real_of_whole(Whole a) { return convert_float(as_int(a)); }
