"""Small sets of pictures in MNIST's format."""
import random
import struct

SIDE = 28
TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
TRAIN_WITH_CHANNELS = ("train-images-idx4-ubyte", "train-labels-idx1-ubyte")
TEST_WITH_CHANNELS = ("t10k-images-idx4-ubyte", "t10k-labels-idx1-ubyte")


def idx_images(count, pixels, side=SIDE, magic=0x803):
    return struct.pack(">IIII", magic, count, side, side) + pixels


def idx_labels(labels, magic=0x801):
    return struct.pack(">II", magic, len(labels)) + bytes(labels)


def idx_images_with_channels(count, pixels, shape):
    return struct.pack(">5I", 0x804, count, *shape) + pixels


def pictures(labels, source, shape=(1, SIDE, SIDE)):
    """Noise, and a bright bar in the first channel whose place tells the class; on pictures of 24 rows or more every class has its own."""
    channels, height, width = shape
    size = channels * height * width
    result = bytearray(source.randbytes(len(labels) * size).translate(bytes(i // 8 for i in range(256))))
    for index, label in enumerate(labels):
        start = index * size + (2 * label + 4) % (height - 1) * width
        result[start:start + 2 * width] = bytes([240]) * (2 * width)
    return bytes(result)


def write_set(folder, names, labels, images):
    """Two files; `images` gives the bytes of the first."""
    images_name, labels_name = names
    (folder / images_name).write_bytes(images)
    (folder / labels_name).write_bytes(idx_labels(labels))


def write_pictures(folder, train, test):
    folder.mkdir()
    source = random.Random(1)
    for names, count in ((TRAIN, train), (TEST, test)):
        labels = [source.randrange(10) for _ in range(count)]
        write_set(folder, names, labels, idx_images(count, pictures(labels, source)))


def write_pictures_with_channels(folder, train, test, shape):
    folder.mkdir()
    source = random.Random(1)
    for names, count in ((TRAIN_WITH_CHANNELS, train), (TEST_WITH_CHANNELS, test)):
        labels = [source.randrange(10) for _ in range(count)]
        write_set(folder, names, labels, idx_images_with_channels(count, pictures(labels, source, shape), shape))
