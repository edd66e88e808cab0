"""Networks of Lockstep's zoo in PyTorch, layer for layer."""
from torch import nn


def lenet():
    network = nn.Sequential(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(),
                            nn.AvgPool2d(2), nn.Flatten(), nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10))
    for parameter in network.parameters():
        (nn.init.normal_(parameter, std=0.01) if parameter.dim() > 1 else nn.init.zeros_(parameter))
    return network


class Residual(nn.Module):
    """Two convolutions of 3x3 with batch norm; with a stride, a convolution of 1x1 fits the shortcut to their result."""

    def __init__(self, taken, given, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(taken, given, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(given)
        self.conv2 = nn.Conv2d(given, given, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(given)
        self.shortcut = nn.Conv2d(taken, given, 1, stride) if stride != 1 else nn.Identity()

    def forward(self, x):
        y = self.norm1(self.conv1(x)).relu()
        return (self.norm2(self.conv2(y)) + self.shortcut(x)).relu()


def resnet8():
    return nn.Sequential(nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), Residual(16, 16, 1),
                         Residual(16, 32, 2), Residual(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(64, 10))


class BookResidual(nn.Module):
    """The book's: every convolution has a bias."""

    def __init__(self, taken, given, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(taken, given, 3, stride, 1)
        self.conv2 = nn.Conv2d(given, given, 3, 1, 1)
        self.conv3 = nn.Conv2d(taken, given, 1, stride) if stride != 1 else None
        self.bn1 = nn.BatchNorm2d(given)
        self.bn2 = nn.BatchNorm2d(given)

    def forward(self, x):
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (y + (self.conv3(x) if self.conv3 else x)).relu()


def resnet18(channels=1):
    """With the names of the book's modules, so that its weights load here and there."""
    network = nn.Sequential(nn.Conv2d(channels, 64, 3, 1, 1), nn.BatchNorm2d(64), nn.ReLU())
    taken = 64
    for number, given in enumerate((64, 128, 256, 512), 1):
        stride = 1 if number == 1 else 2
        network.add_module(f"resnet_block{number}", nn.Sequential(BookResidual(taken, given, stride),
                                                                  BookResidual(given, given, 1)))
        taken = given
    network.add_module("global_avg_pool", nn.AdaptiveAvgPool2d((1, 1)))
    network.add_module("fc", nn.Sequential(nn.Flatten(), nn.Linear(512, 10)))
    return with_weights(network, lambda weight: nn.init.normal_(weight, std=0.01))


def with_weights(network, start):
    """Weights of convolutions and linear layers by `start`, biases 0."""
    for module in network.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            start(module.weight)
            nn.init.zeros_(module.bias)
    return network


def wide_layers(taken):
    return (nn.Flatten(), nn.Linear(taken, 4096), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4096, 4096), nn.ReLU(),
            nn.Dropout(0.5), nn.Linear(4096, 10))


def alexnet():
    """For 3x64x64, with the original's two groups and without local response normalisation."""
    return with_weights(nn.Sequential(
        nn.Conv2d(3, 96, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(96, 256, 5, 1, 2, groups=2), nn.ReLU(),
        nn.MaxPool2d(3, 2), nn.Conv2d(256, 384, 3, 1, 1), nn.ReLU(), nn.Conv2d(384, 384, 3, 1, 1, groups=2), nn.ReLU(),
        nn.Conv2d(384, 256, 3, 1, 1, groups=2), nn.ReLU(), nn.MaxPool2d(3, 2), *wide_layers(256)), nn.init.xavier_uniform_)


def vgg11():
    """For 3x32x32."""
    layers, taken = [], 3
    for convolutions, given in ((1, 64), (1, 128), (2, 256), (2, 512), (2, 512)):
        for _ in range(convolutions):
            layers += [nn.Conv2d(taken, given, 3, 1, 1), nn.ReLU()]
            taken = given
        layers.append(nn.MaxPool2d(2, 2))
    return with_weights(nn.Sequential(*layers, *wide_layers(512)), nn.init.xavier_uniform_)


NETWORKS = {"lenet": lenet, "resnet8": resnet8, "resnet18": resnet18, "alexnet": alexnet, "vgg11": vgg11}
