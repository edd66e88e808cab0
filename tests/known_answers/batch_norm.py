"""Batch norm, from the formulas of Ioffe and Szegedy, 2015, and of PyTorch's documentation, in Python's doubles.

Training with the statistics of each group of examples, its gradients, the running statistics, and the evaluation that uses
them. It shares no line with the library and nothing with law.py: no rounding here is the law's.
"""
import math

# name: examples, channels, positions, examples of a group (0: all), mean of x, eps, momentum
CASES = {
    "sync": (37, 3, 2, 0, 0.5, 1e-5, 0.1),
    "ghost": (37, 3, 2, 16, 0.5, 1e-5, 0.1),
    "ghost-larger": (21, 2, 3, 32, -1.0, 1e-5, 0.25),
    "linear": (50, 3, 1, 32, 0.0, 0.001, 0.5),
    "far": (33, 1, 4, 0, 10.0, 1e-5, 0.1),
    "one-example": (1, 2, 12, 0, 0.0, 0.5, 1.0),
}


def given_numbers(seed, count):
    """Multiples of 1/1024 between -1 and 1, by a linear congruential generator."""
    numbers, state = [], seed
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2 ** 31
        numbers.append((state // 2 ** 10 % 2048 - 1024) / 1024)
    return numbers


def normalise(values, mean, variance, eps):
    return [(v - mean) / math.sqrt(variance + eps) for v in values]


class Channel:
    """One channel: its parameters, its running statistics, and what is found out about it, in order of (example, position)."""

    def __init__(self, gamma, beta, running_mean, running_var, eps, momentum):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, eps, momentum
        self.running_mean, self.running_var = running_mean, running_var
        self.y, self.dx, self.dgamma, self.dbeta = [], [], 0.0, 0.0

    def train_on(self, x, dy):
        """A group: y, gradients, running statistics. dx by the chain rule through mean and variance, one by one."""
        n = len(x)
        mean = math.fsum(x) / n
        variance = math.fsum((v - mean) ** 2 for v in x) / n
        h = normalise(x, mean, variance, self.eps)
        self.y += [self.gamma * v + self.beta for v in h]
        self.dbeta += math.fsum(dy)
        self.dgamma += math.fsum(g * v for g, v in zip(dy, h))

        dh = [g * self.gamma for g in dy]
        dvariance = math.fsum(g * (v - mean) for g, v in zip(dh, x)) * -0.5 * (variance + self.eps) ** -1.5
        dmean = (-math.fsum(dh) / math.sqrt(variance + self.eps)
                 + dvariance * math.fsum(-2 * (v - mean) for v in x) / n)
        self.dx += [g / math.sqrt(variance + self.eps) + dvariance * 2 * (v - mean) / n + dmean / n
                    for g, v in zip(dh, x)]

        unbiased = variance * n / (n - 1)
        self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean
        self.running_var = (1 - self.momentum) * self.running_var + self.momentum * unbiased

    def evaluate(self, x):
        h = normalise(x, self.running_mean, self.running_var, self.eps)
        return [self.gamma * v + self.beta for v in h]


def parts(values, size):
    return [values[first:first + size] for first in range(0, len(values), size)]


def line(name, numbers, text=repr):
    return " ".join([name, *map(text, numbers)])


def answer(number):
    return f"{number:.10g}"


def table():
    """case NAME and its sizes and options; what is given; the answers. x, dy, y, dx and evaluation lie channel by channel,
    a channel's numbers by (example, position); evaluation is that of x with the new running statistics."""
    for number, (name, (examples, channels, positions, ghost, offset, eps, momentum)) in enumerate(CASES.items()):
        seed, size = 1000 * (number + 1), examples * positions
        x = [v + offset for v in given_numbers(seed, channels * size)]
        dy = given_numbers(seed + 1, channels * size)
        parameters = [[1 + v / 2 for v in given_numbers(seed + 2, channels)], given_numbers(seed + 3, channels),
                      given_numbers(seed + 4, channels), [1.5 + v for v in given_numbers(seed + 5, channels)]]
        found = []
        for c, (of_x, of_dy) in enumerate(zip(parts(x, size), parts(dy, size))):
            channel = Channel(*(p[c] for p in parameters), eps, momentum)
            group = (ghost or examples) * positions
            for of_group in zip(parts(of_x, group), parts(of_dy, group)):
                channel.train_on(*of_group)
            found.append(channel)
        yield line("case", (name, examples, channels, positions, ghost, eps, momentum), str)
        for what, numbers in zip(("gamma", "beta", "running_mean", "running_var", "x", "dy"), (*parameters, x, dy)):
            yield line(what, numbers)
        for what in ("y", "dx"):
            yield line("answer_" + what, (v for channel in found for v in getattr(channel, what)), answer)
        for what in ("dgamma", "dbeta", "running_mean", "running_var"):
            yield line("answer_" + what, (getattr(channel, what) for channel in found), answer)
        yield line("answer_evaluation", (v for channel, of_x in zip(found, parts(x, size))
                                         for v in channel.evaluate(of_x)), answer)
