"""resnet8 in numpy, from the formulas of its layers: loss, gradients, running statistics, evaluation.

It shares no line with Lockstep, and no rounding here is the law's. Arrays are [channel, example, y, x]; `dtype` is that of
every number in between, double unless a caller wants to see what plain fp32 makes of it.
"""
import numpy as np

EPS, MOMENTUM, CLASSES = 1e-5, 0.1, 10
BLOCKS = (("block1", 16, 16, 1), ("block2", 16, 32, 2), ("block3", 32, 64, 2))  # channels taken and given, stride


def convolutions(biased):
    """By name: (outputs, inputs, kernel, stride, has it a bias). Those before a batch norm have one if `biased`."""
    found = {"conv1": (16, 1, 3, 1, biased)}
    for block, taken, given, stride in BLOCKS:
        found[f"{block}_conv1"] = (given, taken, 3, stride, biased)
        found[f"{block}_conv2"] = (given, given, 3, 1, biased)
        if stride != 1:
            found[f"{block}_shortcut"] = (given, taken, 1, stride, True)
    return found


def norms():
    """By name: the channels."""
    named = {"norm1": 16}
    for block, _, given, _ in BLOCKS:
        named |= {f"{block}_norm1": given, f"{block}_norm2": given}
    return named


def drawn_weights(seed, biased=False):
    """Every parameter by name, in fp32, none at a value that would hide a mistake."""
    source = np.random.default_rng(seed)
    weights = {}
    for name, (outputs, inputs, kernel, _, has_bias) in convolutions(biased).items():
        weights[f"{name}.weight"] = source.normal(0, (2 / (inputs * kernel ** 2)) ** 0.5, (outputs, inputs, kernel, kernel))
        if has_bias:
            weights[f"{name}.bias"] = source.normal(0, 0.3, outputs)
    for name, channels in norms().items():
        weights |= {f"{name}.weight": source.uniform(0.5, 1.5, channels), f"{name}.bias": source.uniform(-0.5, 0.5, channels),
                    f"{name}.running_mean": source.normal(0, 0.5, channels),
                    f"{name}.running_var": source.uniform(0.5, 2, channels)}
    weights |= {"linear1.weight": source.normal(0, 0.2, (CLASSES, 64)), "linear1.bias": source.normal(0, 0.3, CLASSES)}
    return {name: values.astype(np.float32) for name, values in weights.items()}


class Resnet8:
    """After train(): loss, gradients by name (means over the minibatch), and running statistics by name."""

    def __init__(self, weights, biased=False, ghost=0, dtype=np.float64):
        self.weights = {name: values.astype(dtype) for name, values in weights.items()}
        self.convolutions, self.ghost, self.dtype = convolutions(biased), ghost, dtype
        self.gradients, self.running = {}, {}

    # Each layer in training gives its value and a function from that value's gradient to its input's.

    def convolution(self, name, x):
        outputs, inputs, kernel, stride, has_bias = self.convolutions[name]
        weight, pad = self.weights[f"{name}.weight"], kernel // 2
        padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        examples, height, width = x.shape[1], -(-x.shape[2] // stride), -(-x.shape[3] // stride)

        def tap(array, ky, kx):
            return array[:, :, ky:ky + stride * (height - 1) + 1:stride, kx:kx + stride * (width - 1) + 1:stride]

        taps = [(ky, kx) for ky in range(kernel) for kx in range(kernel)]
        y = sum(weight[:, :, ky, kx] @ tap(padded, ky, kx).reshape(inputs, -1) for ky, kx in taps)
        if has_bias:
            y = y + self.weights[f"{name}.bias"][:, None]

        def backward(dy):
            flat, dweight, dpadded = dy.reshape(outputs, -1), np.empty_like(weight), np.zeros_like(padded)
            for ky, kx in taps:
                dweight[:, :, ky, kx] = flat @ tap(padded, ky, kx).reshape(inputs, -1).T
                tap(dpadded, ky, kx)[...] += (weight[:, :, ky, kx].T @ flat).reshape(inputs, examples, height, width)
            self.gradients[f"{name}.weight"] = dweight
            if has_bias:
                self.gradients[f"{name}.bias"] = flat.sum(1)
            return dpadded[:, :, pad:pad + x.shape[2], pad:pad + x.shape[3]]

        return y.reshape(outputs, examples, height, width), backward

    def norm(self, name, x):
        gamma, beta = (self.weights[f"{name}.{what}"][:, None, None, None] for what in ("weight", "bias"))
        examples = x.shape[1]
        ghost = self.ghost or examples
        groups = [slice(first, min(first + ghost, examples)) for first in range(0, examples, ghost)]
        running_mean, running_var = (self.weights[f"{name}.{what}"] for what in ("running_mean", "running_var"))
        h, deviation = np.empty_like(x), []
        for group in groups:
            of = x[:, group]
            mean, var = of.mean((1, 2, 3)), of.var((1, 2, 3))
            deviation.append(np.sqrt(var + self.dtype(EPS))[:, None, None, None])
            h[:, group] = (of - mean[:, None, None, None]) / deviation[-1]
            count = of[0].size
            running_mean = (1 - MOMENTUM) * running_mean + MOMENTUM * mean
            running_var = (1 - MOMENTUM) * running_var + MOMENTUM * (var * count / (count - 1))
        self.running |= {f"{name}.running_mean": running_mean, f"{name}.running_var": running_var}

        def backward(dy):
            self.gradients |= {f"{name}.weight": (dy * h).sum((1, 2, 3)), f"{name}.bias": dy.sum((1, 2, 3))}
            dx = np.empty_like(x)
            for group, of_group in zip(groups, deviation):
                d, n = dy[:, group], h[:, group]
                means = (values.mean((1, 2, 3), keepdims=True) for values in (d, d * n))
                dx[:, group] = gamma / of_group * (d - next(means) - n * next(means))
            return dx

        return gamma * h + beta, backward

    @staticmethod
    def relu(x):
        return np.maximum(x, 0), lambda dy: np.where(x > 0, dy, 0)

    def block(self, name, x, stride):
        y, back = x, []
        for layer, what in ((self.convolution, "conv1"), (self.norm, "norm1"), (self.relu, None), (self.convolution, "conv2"),
                            (self.norm, "norm2")):
            y, backward = layer(f"{name}_{what}", y) if what else layer(y)
            back.append(backward)
        shortcut, shortcut_back = self.convolution(f"{name}_shortcut", x) if stride != 1 else (x, lambda dy: dy)
        result, relu_back = self.relu(y + shortcut)

        def backward(dy):
            dy = relu_back(dy)
            dx = shortcut_back(dy)
            for layer_back in reversed(back):
                dy = layer_back(dy)
            return dx + dy

        return result, backward

    def train(self, pictures, labels):
        """pictures: [example, y, x], from 0 to 1."""
        x, back = pictures[None].astype(self.dtype), []
        for layer in (lambda x: self.convolution("conv1", x), lambda x: self.norm("norm1", x), self.relu,
                      *(lambda x, b=block: self.block(b[0], x, b[3]) for block in BLOCKS)):
            x, backward = layer(x)
            back.append(backward)
        pooled = x.mean((2, 3))  # [channel, example]
        logits = self.weights["linear1.weight"] @ pooled + self.weights["linear1.bias"][:, None]
        self.loss, probability = cross_entropy(logits, labels)
        dlogits = probability
        dlogits[labels, np.arange(len(labels))] -= 1
        dlogits /= len(labels)
        self.gradients |= {"linear1.weight": dlogits @ pooled.T, "linear1.bias": dlogits.sum(1)}
        dx = (self.weights["linear1.weight"].T @ dlogits / x[0, 0].size)[:, :, None, None] * np.ones_like(x)
        for backward in reversed(back):
            dx = backward(dx)

    def evaluate(self, pictures, labels):
        """(mean loss, accuracy), with the running statistics that the weights have."""

        def layer(conv, norm, x):
            y, _ = self.convolution(conv, x)
            of = {what: self.weights[f"{norm}.{what}"][:, None, None, None]
                  for what in ("weight", "bias", "running_mean", "running_var")}
            return of["weight"] * (y - of["running_mean"]) / np.sqrt(of["running_var"] + EPS) + of["bias"]

        x = np.maximum(layer("conv1", "norm1", pictures[None].astype(self.dtype)), 0)
        for name, _, _, stride in BLOCKS:
            y = np.maximum(layer(f"{name}_conv1", f"{name}_norm1", x), 0)
            y = layer(f"{name}_conv2", f"{name}_norm2", y)
            x = np.maximum(y + (self.convolution(f"{name}_shortcut", x)[0] if stride != 1 else x), 0)
        logits = self.weights["linear1.weight"] @ x.mean((2, 3)) + self.weights["linear1.bias"][:, None]
        return cross_entropy(logits, labels)[0], np.mean(logits.argmax(0) == labels)


def cross_entropy(logits, labels):
    """(mean loss, probabilities [class, example])"""
    shifted = logits - logits.max(0)
    exponentials = np.exp(shifted)
    sums = exponentials.sum(0)
    return np.mean(np.log(sums) - shifted[labels, np.arange(len(labels))]), exponentials / sums
