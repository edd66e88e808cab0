"""Safetensors files, taken apart and put together without any of the format's rules."""
import json
import struct


def read(path):
    """The header as a dict, and the bytes after it."""
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8:8 + size]), content[8 + size:]


def write(path, header, values, size=None):
    """`header` is a dict, or the text itself; `size` is what the file claims of it."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    path.write_bytes(struct.pack("<Q", len(text) if size is None else size) + text + values)
