"""The tensors of the book's ResNet-18 in PyTorch, as its state_dict() names and shapes them: the book's modules, written
down by their rules, with what PyTorch says of convolution, batch norm and linear layers. num_batches_tracked is left out."""


def convolution(taken, given, kernel):
    return {"weight": (given, taken, kernel, kernel), "bias": (given,)}


def batch_norm(channels):
    return {name: (channels,) for name in ("weight", "bias", "running_mean", "running_var")}


def prefixed(name, tensors):
    return {f"{name}.{inner}": shape for inner, shape in tensors.items()}


def residual(taken, given, use_1x1conv):
    modules = {"conv1": convolution(taken, given, 3), "conv2": convolution(given, given, 3)}
    if use_1x1conv:
        modules["conv3"] = convolution(taken, given, 1)
    modules |= {"bn1": batch_norm(given), "bn2": batch_norm(given)}
    return sequential(modules)


def sequential(modules):
    return {name: shape for module, tensors in modules.items() for name, shape in prefixed(module, tensors).items()}


def resnet_block(taken, given, residuals, first_block=False):
    return sequential({str(i): residual(taken if i == 0 else given, given, i == 0 and not first_block)
                       for i in range(residuals)})


def resnet18(classes, channels):
    return sequential({"0": convolution(channels, 64, 3), "1": batch_norm(64),
                       "resnet_block1": resnet_block(64, 64, 2, first_block=True),
                       "resnet_block2": resnet_block(64, 128, 2), "resnet_block3": resnet_block(128, 256, 2),
                       "resnet_block4": resnet_block(256, 512, 2), "fc": {"1.weight": (classes, 512), "1.bias": (classes,)}})


def table():
    for name, shape in sorted(resnet18(10, 1).items()):
        yield " ".join(map(str, (name, *shape)))
