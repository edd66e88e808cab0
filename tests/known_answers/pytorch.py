"""PyTorch's optimizers and learning-rate schedules, from the formulas of its documentation, in Python's doubles.

torch.optim.SGD, Adam and AdamW; torch.optim.lr_scheduler.StepLR, CosineAnnealingLR and LinearLR. It shares no line with
the library and nothing with law.py: no rounding here is the law's.
"""
import math

SHAPE = 5  # weights of a case
STEPS = 20
STEPS_PER_EPOCH, EPOCHS = 4, 5

USUAL = {"lr": 0.01, "momentum": 0.0, "weight_decay": 0.0, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8,
         "schedule": "constant", "step_epochs": 0, "step_factor": 1.0, "lr_min": 0.0, "warmup": 0}

# name: optimizer, options, how large the gradients are
CASES = {
    "sgd": ("sgd", {"lr": 0.125}, 1.0),
    "sgd-decay": ("sgd", {"lr": 0.125, "weight_decay": 0.05}, 1.0),
    "momentum": ("momentum", {"lr": 0.0625, "momentum": 0.9}, 0.25),
    "momentum-decay": ("momentum", {"lr": 0.0625, "momentum": 0.9, "weight_decay": 0.05}, 0.25),
    "nesterov": ("nesterov", {"lr": 0.0625, "momentum": 0.9}, 0.25),
    "nesterov-decay": ("nesterov", {"lr": 0.0625, "momentum": 0.75, "weight_decay": 0.05}, 0.25),
    "adam": ("adam", {}, 1.0),
    "adam-decay": ("adam", {"weight_decay": 0.05}, 1.0),
    "adam-betas": ("adam", {"beta1": 0.5, "beta2": 0.75, "eps": 0.001}, 1.0),
    "adam-tiny": ("adam", {}, 2.0 ** -27),  # gradients as large as eps
    "adamw": ("adamw", {}, 1.0),
    "adamw-decay": ("adamw", {"weight_decay": 0.5}, 1.0),
    "sgd-step": ("sgd", {"lr": 0.125, "schedule": "step", "step_epochs": 2, "step_factor": 0.3}, 1.0),
    "sgd-cosine": ("sgd", {"lr": 0.125, "schedule": "cosine", "lr_min": 0.01}, 1.0),
    "adamw-cosine-warmup": ("adamw", {"weight_decay": 0.1, "schedule": "cosine", "warmup": 6}, 1.0),
    "momentum-step-warmup": ("momentum", {"lr": 0.0625, "momentum": 0.5, "schedule": "step", "step_epochs": 1,
                                          "step_factor": 0.5, "warmup": 10}, 0.25),
}


class SGD:
    """torch.optim.SGD without dampening: the first buffer is the gradient."""

    def __init__(self, options, nesterov):
        self.options, self.nesterov, self.buffer = options, nesterov, None

    def step(self, weights, gradients, lr):
        momentum = self.options["momentum"]
        gradients = [g + self.options["weight_decay"] * w for g, w in zip(gradients, weights)]
        if momentum != 0:
            if self.buffer is None:
                self.buffer = list(gradients)
            else:
                self.buffer = [momentum * b + g for b, g in zip(self.buffer, gradients)]
            if self.nesterov:
                gradients = [g + momentum * b for g, b in zip(gradients, self.buffer)]
            else:
                gradients = self.buffer
        return [w - lr * g for w, g in zip(weights, gradients)]


class Adam:
    """torch.optim.Adam and, decoupled, AdamW, without amsgrad."""

    def __init__(self, options, decoupled):
        self.options, self.decoupled, self.t = options, decoupled, 0
        self.m, self.v = [0.0] * SHAPE, [0.0] * SHAPE

    def step(self, weights, gradients, lr):
        beta1, beta2, decay = (self.options[name] for name in ("beta1", "beta2", "weight_decay"))
        self.t += 1
        if self.decoupled:
            weights = [w - lr * decay * w for w in weights]
        else:
            gradients = [g + decay * w for g, w in zip(gradients, weights)]
        self.m = [beta1 * m + (1 - beta1) * g for m, g in zip(self.m, gradients)]
        self.v = [beta2 * v + (1 - beta2) * g * g for v, g in zip(self.v, gradients)]
        m_hat = [m / (1 - beta1 ** self.t) for m in self.m]
        v_hat = [v / (1 - beta2 ** self.t) for v in self.v]
        return [w - lr * m / (math.sqrt(v) + self.options["eps"]) for w, m, v in zip(weights, m_hat, v_hat)]


def optimizer_of(name, options):
    if name in ("adam", "adamw"):
        return Adam(options, decoupled=name == "adamw")
    return SGD(options, nesterov=name == "nesterov")


def learning_rate(options, step):
    """Of a step from 0 on. StepLR goes by epochs, CosineAnnealingLR by steps, after the warm-up if there is one."""
    lr, warmup = options["lr"], options["warmup"]
    if options["schedule"] == "step":
        lr *= options["step_factor"] ** (step // STEPS_PER_EPOCH // options["step_epochs"])
    if options["schedule"] == "cosine":
        now, whole = max(0, step - warmup), STEPS - warmup
        lr = options["lr_min"] + (lr - options["lr_min"]) * (1 + math.cos(math.pi * now / whole)) / 2
    if step < warmup:  # LinearLR(start_factor=1 / warmup, total_iters=warmup - 1)
        start = 1 / warmup
        lr *= start + (1 - start) * step / (warmup - 1)
    return lr


def given_numbers(seed, count):
    """Multiples of 1/1024 between -1 and 1, by a linear congruential generator."""
    numbers, state = [], seed
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2 ** 31
        numbers.append((state // 2 ** 10 % 2048 - 1024) / 1024)
    return numbers


def table():
    """case NAME OPTIMIZER and its options; start and its weights; then steps with gradients and the weights after them.

    Weights stay away from 0, so that their relative error says something.
    """
    yield f"length {STEPS_PER_EPOCH} {EPOCHS}"
    for number, (name, (optimizer_name, options, size)) in enumerate(CASES.items()):
        options = USUAL | options
        optimizer = optimizer_of(optimizer_name, options)
        weights = [(1 + abs(x)) * (1 if x > 0 else -1) for x in given_numbers(number + 1, SHAPE)]
        yield " ".join(["case", name, optimizer_name, *map(str, options.values())])
        yield " ".join(["start", *map(repr, weights)])
        for step in range(STEPS):
            gradients = [size * g for g in given_numbers(1000 * (number + 1) + step, SHAPE)]
            weights = optimizer.step(weights, gradients, learning_rate(options, step))
            assert min(map(abs, weights)) > 0.25, name
            yield " ".join(["step", *map(repr, gradients), *(f"{w:.12g}" for w in weights)])
