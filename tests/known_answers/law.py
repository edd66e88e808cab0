"""exp, log, random and normal numbers, initial weights and shuffles, written from the text of docs/arithmetic.md.

It shares no line with the library. Philox, XXH3 and AS241 are written from what their authors published. Naive and slow:
it makes the tables that the library is held against.
"""
import decimal
import fractions
import math

from ieee import DOUBLE, SINGLE, add, divide, fma, multiply, rounded, square_root, subtract

h = float.fromhex

# exp and log

LN2_HIGH, LN2_LOW = h("0x1.62e4p-1"), h("0x1.7f7d1cp-20")
EXP_MAGIC = h("0x1.8p+23")
EXP_COEFFICIENTS = [h(c) for c in ("0x1.a124f2p-13", "0x1.6d4324p-10", "0x1.1110e0p-7", "0x1.5554eap-5",
                                   "0x1.555556p-3", "0x1p-1")]
LOG_LEAST = h("0x1.6a09e6p-1")
LOG_COEFFICIENTS = [h(c) for c in ("0x1.1d8ea6p-4", "-0x1.d635bcp-4", "0x1.dea282p-4", "-0x1.fcf4c6p-4",
                                   "0x1.23d21ap-3", "-0x1.555b4ap-3", "0x1.999d5ap-3", "-0x1.fffffcp-3",
                                   "0x1.555554p-2")]


def horner(coefficients, x, form):
    value = coefficients[0]
    for c in coefficients[1:]:
        value = fma(value, x, c, form)
    return value


def exp(x):
    if math.isnan(x):
        return x
    x = min(max(x, -104.0), 89.0)
    t = fma(x, h("0x1.715476p+0"), EXP_MAGIC, SINGLE)
    n = subtract(t, EXP_MAGIC, SINGLE)
    high = fma(n, -LN2_HIGH, x, SINGLE)
    low = multiply(n, -LN2_LOW, SINGLE)
    r = add(high, low, SINGLE)
    q = horner(EXP_COEFFICIENTS, r, SINGLE)
    p = add(1.0, add(high, fma(multiply(r, r, SINGLE), q, low, SINGLE), SINGLE), SINGLE)
    a = math.floor(fractions.Fraction(n) / 2)
    return multiply(multiply(p, 2.0 ** a, SINGLE), 2.0 ** (int(n) - a), SINGLE)


def exponent_and_fraction(x, least, form):
    """x = 2^k (1 + f) with 1 + f in [least, 2 least); f is exact."""
    fraction, k = math.frexp(x)
    if fraction < least:
        fraction, k = 2 * fraction, k - 1
    return k, rounded(fractions.Fraction(fraction) - 1, form)


def log(x):
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0:
        return -math.inf
    if math.isinf(x):
        return x
    shift = 0
    if x < 2.0 ** -126:
        x, shift = x * 2.0 ** 23, 23
    k, f = exponent_and_fraction(x, LOG_LEAST, SINGLE)
    k = float(k - shift)
    q = horner(LOG_COEFFICIENTS, f, SINGLE)
    u = multiply(multiply(f, f, SINGLE), fma(f, q, -0.5, SINGLE), SINGLE)
    return fma(k, LN2_HIGH, add(f, fma(k, LN2_LOW, u, SINGLE), SINGLE), SINGLE)


# Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011)

def philox(counter, key):
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = ((second >> 32) ^ c1 ^ k0, second & 0xFFFFFFFF, (first >> 32) ^ c3 ^ k1, first & 0xFFFFFFFF)
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3


# XXH3, 64 bits, of 9 to 32 bytes: as long as the names of streams are (github.com/Cyan4973/xxHash, XXH3 specification)

MASK = 0xFFFFFFFFFFFFFFFF
XXH3_SECRET = bytes.fromhex("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
                            "cb79e64eccc0e578825ad07dccff7221b8084674f743248e")
XXH_PRIME_1 = 0x9E3779B185EBCA87


def read64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def fold(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def avalanche(value):
    value ^= value >> 37
    value = value * 0x165667919E3779F9 & MASK
    return value ^ (value >> 32)


def xxh3(data):
    size = len(data)
    if not 9 <= size <= 32:
        raise ValueError(f"{size} bytes; this XXH3 takes 9 to 32")
    if size <= 16:
        low = read64(data, 0) ^ read64(XXH3_SECRET, 24) ^ read64(XXH3_SECRET, 32)
        high = read64(data, size - 8) ^ read64(XXH3_SECRET, 40) ^ read64(XXH3_SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche((size + swapped + high + fold(low, high)) & MASK)
    value = size * XXH_PRIME_1
    for at, secret in ((0, 0), (size - 16, 16)):
        value += fold(read64(data, at) ^ read64(XXH3_SECRET, secret),
                      read64(data, at + 8) ^ read64(XXH3_SECRET, secret + 8))
    return avalanche(value & MASK)


# Random words and shuffles

def stream(name):
    return xxh3(name.encode()) & 0xFFFFFFFF


def block(seed, number, epoch, stream_word):
    return philox((number & 0xFFFFFFFF, number >> 32, epoch, stream_word), (seed & 0xFFFFFFFF, seed >> 32))


def word(seed, index, epoch, stream_word):
    return block(seed, index // 4, epoch, stream_word)[index % 4]


def shuffle(seed, epoch, count):
    def key(index):
        words = block(seed, index // 2, epoch, stream("shuffle:train"))
        j = index % 2
        return words[2 * j] | words[2 * j + 1] << 32, index
    return sorted(range(count), key=key)


# Normal numbers, in double

DOUBLE_LOG_LEAST = h("0x1.6a09e667f3bcdp-1")
DOUBLE_LOG_COEFFICIENTS = [rounded(fractions.Fraction(1, n), DOUBLE) for n in range(23, 1, -2)]


def double_log(x):
    """Of a positive normal number."""
    k, f = exponent_and_fraction(x, DOUBLE_LOG_LEAST, DOUBLE)
    k = float(k)
    s = divide(f, add(2.0, f, DOUBLE), DOUBLE)
    z = multiply(s, s, DOUBLE)
    q = horner(DOUBLE_LOG_COEFFICIENTS, z, DOUBLE)
    twice = multiply(2.0, s, DOUBLE)
    small = fma(k, h("-0x1.8432a1b0e2634p-43"), multiply(multiply(twice, z, DOUBLE), q, DOUBLE), DOUBLE)
    return fma(k, h("0x1.62e42fefa4p-1"), add(twice, small, DOUBLE), DOUBLE)


def decimals(*texts):
    """Coefficients of a polynomial, highest power first, each rounded once to double."""
    return [rounded(fractions.Fraction(decimal.Decimal(text)), DOUBLE) for text in texts]


# Wichura, Algorithm AS 241, Applied Statistics 37 (1988), PPND16
A = decimals("2509.0809287301226727", "33430.575583588128105", "67265.770927008700853", "45921.953931549871457",
             "13731.693765509461125", "1971.5909503065514427", "133.14166789178437745", "3.3871328727963666080")
B = decimals("5226.4952788528545610", "28729.085735721942674", "39307.895800092710610", "21213.794301586595867",
             "5394.1960214247511077", "687.18700749205790830", "42.313330701600911252", "1")
C = decimals("7.7454501427834140764e-4", "0.0227238449892691845833", "0.241780725177450611770",
             "1.27045825245236838258", "3.64784832476320460504", "5.76949722146069140550", "4.63033784615654529590",
             "1.42343711074968357734")
D = decimals("1.05075007164441684324e-9", "5.475938084995344946e-4", "0.0151986665636164571966",
             "0.148103976427480074590", "0.689767334985100004550", "1.67638483018380384940", "2.05319162663775882187",
             "1")


def normal(random_word):
    """The standard normal number of a word, as a double."""
    p = rounded(fractions.Fraction(2 * random_word + 1, 2 ** 33), DOUBLE)
    q = subtract(p, 0.5, DOUBLE)
    if abs(q) <= rounded(fractions.Fraction(425, 1000), DOUBLE):
        r = fma(-q, q, rounded(fractions.Fraction(180625, 10 ** 6), DOUBLE), DOUBLE)
        return divide(multiply(q, horner(A, r, DOUBLE), DOUBLE), horner(B, r, DOUBLE), DOUBLE)
    tail = min(p, subtract(1.0, p, DOUBLE))
    r = subtract(square_root(-double_log(tail), DOUBLE), rounded(fractions.Fraction(16, 10), DOUBLE), DOUBLE)
    return math.copysign(divide(horner(C, r, DOUBLE), horner(D, r, DOUBLE), DOUBLE), q)


# Dropout

def dropout_word(seed, epoch, layer, elements, example, element):
    """The word that decides on an element; `example` is its number in the dataset, `elements` are those of the layer."""
    of_an_example = -(-elements // 4) * 4
    return word(seed, example * of_an_example + element, epoch, stream("dropout:" + layer))


def dropout_threshold(p):
    return math.ceil(fractions.Fraction(p) * 2 ** 24)


def dropout_scale(p):
    return rounded(fractions.Fraction(divide(1.0, subtract(1.0, p, DOUBLE), DOUBLE)), SINGLE)


def uniform_weight(seed, parameter, element, fans):
    """One element of a parameter that starts evenly in +-sqrt(6 / fans)."""
    bound = rounded(fractions.Fraction(square_root(divide(6.0, float(fans), DOUBLE), DOUBLE)), SINGLE)
    u = (word(seed, element, 0, stream("init:" + parameter)) >> 8) * 2.0 ** -24
    return fma(2 * u, bound, -bound, SINGLE)


def initial_weight(seed, parameter, element, sigma):
    """One element of a parameter that is no bias. `sigma` is a decimal text."""
    z = rounded(fractions.Fraction(normal(word(seed, element, 0, stream("init:" + parameter)))), SINGLE)
    return multiply(z, rounded(fractions.Fraction(sigma), SINGLE), SINGLE)
