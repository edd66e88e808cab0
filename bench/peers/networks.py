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


NETWORKS = {"lenet": lenet, "resnet8": resnet8}
