"""IEEE 754 arithmetic made of integers: every operation is exact, then rounded once to nearest even.

A number is a Python float that the format can hold; a zero has a sign. Operands are finite, results may be infinite. No
operation is left to the machine's own arithmetic.
"""
import collections
import fractions
import math
import struct

Format = collections.namedtuple("Format", "precision least_exponent most_exponent")
SINGLE = Format(24, -126, 127)
DOUBLE = Format(53, -1022, 1023)


def rounded(exact, form, zero=0.0):
    """The number of the format nearest to a fraction; `zero` is what an exact zero becomes."""
    exact = fractions.Fraction(exact)
    if exact == 0:
        return zero
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < fractions.Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent, form.least_exponent) - (form.precision - 1)
    scaled = size / fractions.Fraction(2) ** unit
    whole = round(scaled)  # Python rounds a fraction's tie to even
    if fractions.Fraction(whole) * fractions.Fraction(2) ** unit >= fractions.Fraction(2) ** (form.most_exponent + 1):
        return math.copysign(math.inf, exact)
    return math.copysign(math.ldexp(whole, unit), exact)


def fma(a, b, c, form):
    """a * b + c of finite numbers, rounded once."""
    product = fractions.Fraction(a) * fractions.Fraction(b)
    product_negative = math.copysign(1, a) != math.copysign(1, b)
    both_negative_zeros = product == 0 and c == 0 and product_negative and math.copysign(1, c) < 0
    return rounded(product + fractions.Fraction(c), form, -0.0 if both_negative_zeros else 0.0)


def add(a, b, form):
    return fma(a, 1.0, b, form)


def subtract(a, b, form):
    return add(a, -b, form)


def multiply(a, b, form):
    negative = math.copysign(1, a) != math.copysign(1, b)
    return fma(a, b, -0.0 if negative else 0.0, form)


def divide(a, b, form):
    """Of finite numbers, b not zero."""
    negative = math.copysign(1, a) != math.copysign(1, b)
    return rounded(fractions.Fraction(a) / fractions.Fraction(b), form, -0.0 if negative else 0.0)


def square_root(a, form):
    """Of a positive finite number. 2 * precision bits of the root and a sticky one decide the rounding."""
    exact = fractions.Fraction(a)
    shift = 4 * form.precision + 2 * max(0, exact.denominator.bit_length())
    scaled = exact * fractions.Fraction(2) ** shift
    root = math.isqrt(scaled.numerator // scaled.denominator)
    sticky = fractions.Fraction(0) if root * root == scaled else fractions.Fraction(1, 2)
    return rounded((root + sticky) / fractions.Fraction(2) ** (shift // 2), form)


def single(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def single_bits(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def double_bits(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]
