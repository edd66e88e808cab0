#!/usr/bin/env python3
"""Holds every #include of src/ and app/ against the table of rooms in src/CMakeLists.txt.

A room includes itself and what it USES. The room reference (the naive twins) is included only by tests and itself. Tests and app/ include what they like. Public headers (include/lockstep) and examples include
each other's <lockstep/...> and the standard library, nothing else; of the rooms only api, and base for the one Error,
include public headers. No file grows past MOST_LINES. Tests get programs from checked_data_parallel() or from a Runner.
A layer with an instruction and kernels of its own is known to few files: see CONTRIBUTING.md, "Adding a layer".
"""
import argparse
import itertools
import pathlib
import re
import sys

MOST_LINES = 500
SOURCES = {".h", ".cpp", ".inc"}
LAYER, MOST_FILES_OF_A_LAYER = "dropout", 10
WITHOUT_LAYERS = ("src/run/", "src/train/", "src/transport/", "src/program/exchange/")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s+(["<][^">]+[">])')
PUBLIC_INCLUDE = re.compile(r"<lockstep/(\w+\.h)>")
STANDARD_INCLUDE = re.compile(r"<\w+>")
# Programs that nothing has held against check_order(). In the room program the function needs no namespace.
UNCHECKED = re.compile(r"\bprogram::data_parallel\(")
UNCHECKED_IN_ITS_ROOM = re.compile(r"(?<!\w)data_parallel\(")


def read_table(cmake_lists):
    """room -> the rooms it may include, itself among them."""
    text = re.sub(r"#.*", "", cmake_lists.read_text())
    table = {}
    for arguments in re.findall(r"^ *room\(([^)]*)\)", text, re.MULTILINE):
        words = arguments.split()
        uses = words[words.index("USES") + 1:] if "USES" in words else []
        uses = list(itertools.takewhile(lambda word: word not in ("LINKS", "TESTS"), uses))
        table[words[0]] = {words[0], *uses}
    return table


def is_test(path):
    return path.name.endswith(("_test.cpp", "_for_test.h"))


def is_twin(path):
    return "reference" in path.parts[:2]


def fault_of_include(path, included, table):
    """What is wrong with `path` (relative to src/ or app/'s parent) including `included`, or None."""
    if is_test(path):
        return None
    target = pathlib.PurePosixPath(included)
    if is_twin(target) and not is_twin(path):
        return f'"{included}" is a naive twin; only tests and twins may include it'
    if path.parts[0] == "app":
        return None
    room, wanted = path.parts[1], target.parts[0]
    if len(target.parts) == 1 or wanted not in table:
        return f'"{included}" names no room; write "room/file.h", and <...> for what is not ours'
    allowed = table.get(room, {room})
    if wanted not in allowed:
        return f"room {room} may not include {wanted}; it may include {', '.join(sorted(allowed))}"
    return None


def fault_of_public_include(path, included, public_headers):
    """What is wrong with a public header, an example or a room including `included`, or None."""
    public = PUBLIC_INCLUDE.fullmatch(included)
    if path.parts[0] in ("include", "examples"):
        if public and public.group(1) in public_headers or STANDARD_INCLUDE.fullmatch(included):
            return None
        return f"{included} is not for users; include <lockstep/...> and the standard library alone"
    if public and path.parts[0] == "src" and path.parts[1] != "api" and path.parts[1:] != ("base", "error.h"):
        return f"{included} is for users; of the rooms api includes it"
    return None


def is_unchecked(path, line):
    """Does a test make programs without checking them?"""
    if not is_test(path) or path.name == "checked_for_test.h":
        return False
    in_its_room = path.parts[:2] == ("src", "program")
    return bool((UNCHECKED_IN_ITS_ROOM if in_its_room else UNCHECKED).search(line))


def files_of_layer(root):
    """The production files whose code names LAYER, but for the models that have such layers."""
    files = [root / "src/CMakeLists.txt"]
    files += [p for folder in ("include", "src") for p in (root / folder).rglob("*") if p.suffix in SOURCES]
    for file in sorted(files):
        path = file.relative_to(root)
        if is_test(path) or is_twin(path) or path.match("model/zoo*.cpp"):
            continue
        if path.name == "kernels_host.h":  # of the GPU kernels' tests
            continue
        code = re.sub(r"//.*", "", file.read_text())
        if re.search(LAYER, code, re.IGNORECASE):
            yield path


def faults_of_layer(root):
    known = [path.as_posix() for path in files_of_layer(root)]
    if not 1 <= len(known) <= MOST_FILES_OF_A_LAYER:
        yield f"{(known or ['src'])[0]}:1: {len(known)} files name {LAYER}, {MOST_FILES_OF_A_LAYER} may: {', '.join(known)}"
    for path in known:
        if path.startswith(WITHOUT_LAYERS):
            yield f"{path}:1: names {LAYER}; nothing here knows a kind of layer"


def violations(root):
    table = read_table(root / "src/CMakeLists.txt")
    if not table:
        yield "src/CMakeLists.txt:1: found no room(...) table"
    for room in sorted(p.name for p in (root / "src").iterdir() if p.is_dir() and any(p.rglob("*.cpp"))):
        if room not in table:
            yield f"src/CMakeLists.txt:1: room {room} has sources but no row in the table"
    public_headers = {p.name for p in (root / "include/lockstep").glob("*.h")}
    folders = ("include", "src", "app", "examples")
    files = [p for folder in folders for p in (root / folder).rglob("*") if p.suffix in SOURCES]
    for file in sorted(files):
        path = file.relative_to(root)
        lines = file.read_text().splitlines()
        if len(lines) > MOST_LINES:
            yield f"{path}:{len(lines)}: {len(lines)} lines, more than {MOST_LINES}; split it by ideas"
        for number, line in enumerate(lines, 1):
            any_include = ANY_INCLUDE.match(line)
            fault = any_include and fault_of_public_include(path, any_include.group(1), public_headers)
            include = INCLUDE.match(line)
            if include and not fault:
                fault = fault_of_include(path, include.group(1), table)
            if is_unchecked(path, line):
                fault = "a test gets programs from checked_data_parallel(), or leaves them to a Runner"
            if fault:
                yield f"{path}:{number}: {fault}"
    yield from faults_of_layer(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    found = list(violations(parser.parse_args().root))
    print("\n".join(found) if found else "every include keeps to the table of rooms")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
