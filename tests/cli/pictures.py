"""Small sets of pictures in MNIST's format."""
import random
import struct

SIDE = 28
TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def idx_images(count, pixels, side=SIDE, magic=0x803):
    return struct.pack(">IIII", magic, count, side, side) + pixels


def idx_labels(labels, magic=0x801):
    return struct.pack(">II", magic, len(labels)) + bytes(labels)


def pictures(labels, source):
    """Noise, and a bright bar whose place tells the class."""
    result = bytearray(source.randbytes(len(labels) * SIDE * SIDE).translate(bytes(i // 8 for i in range(256))))
    for index, label in enumerate(labels):
        start = index * SIDE * SIDE + (2 * label + 4) * SIDE
        result[start:start + 2 * SIDE] = bytes([240]) * (2 * SIDE)
    return bytes(result)


def write_pictures(folder, train, test):
    folder.mkdir()
    source = random.Random(1)
    for (images_name, labels_name), count in ((TRAIN, train), (TEST, test)):
        labels = [source.randrange(10) for _ in range(count)]
        (folder / images_name).write_bytes(idx_images(count, pictures(labels, source)))
        (folder / labels_name).write_bytes(idx_labels(labels))
