#!/usr/bin/env python3
"""Holds the documents against the repository: links resolve, named files exist, marked commands run, the law marks what
no code does yet, and the table of mutants has a row for each.

A fenced block that opens with ```sh run is executed by bash -euo pipefail. The blocks of one document share a
scratch folder in which ./lockstep, and $LOCKSTEP, are the program given as --binary.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NAMED = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
REPOSITORY_PATH = re.compile(r"`((?:src|app|docs|tests|bench|cmake|examples)/[^`\s]*)`")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(.*)$")
NO_CODE_YET = "**(no code yet)**"
# What the law may speak of before there is code, by its words there and the names that code for it would have.
LAW_BEFORE_CODE = {
    r"\bdropout\b": r"dropout",
    r"\bbatch norm\b": r"batch_?norm",
    r"\bresidual\b": r"residual",
    r"\bnesterov\b": r"nesterov",
    r"\bweight decay\b": r"weight_?decay",
    r"\badamw?\b": r"\badam",
    r"\bgradient norm\b": r"gradient_?norm",
    r"\baugmentation\b": r"augment",
    r"\bschedules\b": r"learning_?rate_?schedule|lr_?schedule",
    r"\bwith groups\b": r"grouped_?plan|groups_?of_?(the_)?layer",
    r"\btensor parallelism\b": r"tensor_?parallel",
    r"\bpipeline\b": r"pipeline_?(stage|parallel)",
    r"\bmean_c\b": r"channel_?means?\b",
    r"\bbf16\b": r"bf16|bfloat",
}
SECONDS_PER_BLOCK = 600
REPORT_FAILURE = """trap 'echo "failed: $BASH_COMMAND"' ERR\n"""


def parse(text):
    """The prose as (line number, line), and the blocks as (line number, info words, commands)."""
    prose, blocks, fence = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence is None and mark:
            fence, info, start, commands = mark.group(1), mark.group(2).split(), number, []
        elif fence is not None and mark and mark.group(1).startswith(fence) and not mark.group(2):
            blocks.append((start, info, "\n".join(commands) + "\n"))
            fence = None
        elif fence is not None:
            commands.append(line)
        else:
            prose.append((number, line))
    return prose, blocks


def headings(document):
    """The anchors GitHub gives the headings of a document."""
    titles = [line.lstrip("#") for _, line in parse(document.read_text())[0] if re.match(r"#{1,6} ", line)]
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def fault_of_link(document, target, root):
    if re.match(r"[a-z]+:", target):  # https:, mailto:
        return None
    name, _, anchor = target.partition("#")
    file = (document.parent / name) if name else document
    if not file.exists():
        return f"link to {target}: there is no {os.path.relpath(file, root)}"
    if anchor and file.suffix == ".md" and anchor not in headings(file):
        return f"link to {target}: no such heading in {os.path.relpath(file, root)}"
    return None


def fault_of_path(path, root):
    # `src/base/error.{h,cpp}` and `src/<room>/` speak of several or of any
    if re.search(r"[{<*]|\.\.\.|NAME|NNN", path):
        return None
    bare = re.sub(r":\d+$", "", path)
    return None if (root / bare).exists() else f"names `{path}`, which does not exist"


def fault_of_block(commands, folder, binary):
    try:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", REPORT_FAILURE + commands], cwd=folder,
                              env={"LOCKSTEP_CACHE": str(binary.parent / "tests" / "kernels"), **os.environ,
                                   "LOCKSTEP": str(binary)}, timeout=SECONDS_PER_BLOCK,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
    except subprocess.TimeoutExpired as late:
        return f"the block ran longer than {late.timeout:.0f} s:\n{commands}"
    if done.returncode == 0:
        return None
    return f"exit code {done.returncode} from the block\n{commands}with the output\n{done.stdout}"


def paragraphs(prose):
    """(line number, text) of every paragraph, list item and heading, the heading's text before that of all under it."""
    heading, found, open_ = "", [], False
    for number, line in prose:
        if line.startswith("#"):
            heading, open_ = line, False
        elif not line.strip():
            open_ = False
        elif open_ and line.startswith("  "):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line}")
        else:
            found.append((number, f"{heading} {line}"))
            open_ = True
    return found


def faults_of_law(prose, root):
    """A mark is missing, or has outlived its time."""
    sources = "\n".join(file.read_text() for room in ("src", "app", "include") for file in sorted((root / room).rglob("*"))
                        if file.suffix in (".h", ".cpp", ".inc") and not file.stem.endswith("_test"))
    for words, names in LAW_BEFORE_CODE.items():
        code = re.search(names, sources, re.IGNORECASE)
        for number, text in paragraphs(prose):
            if re.search(words, text, re.IGNORECASE) and (NO_CODE_YET in text) == bool(code):
                why = f"but there is {code.group()}" if code else f"there is no code for it, so {NO_CODE_YET} belongs there"
                yield f"{number}: speaks of {re.search(words, text, re.IGNORECASE).group()}, {why}"


def faults_of_mutants(root):
    """A patch without a row in the table, or a row without its patch."""
    document = root / "tests/mutants/README.md"
    rows = {row: number for number, line in enumerate(document.read_text().splitlines(), 1)
            for row in re.findall(r"^\| ([a-z0-9-]+) \|", line) if row != "mutant"}
    patches = {patch.stem for patch in document.parent.glob("*.patch")}
    for name in sorted(patches - rows.keys()):
        yield f"tests/mutants/README.md:1: the table has no row for {name}"
    for name in sorted(rows.keys() - patches):
        yield f"tests/mutants/README.md:{rows[name]}: there is no {name}.patch"


def run_blocks(name, blocks, binary):
    with tempfile.TemporaryDirectory(prefix="lockstep-docs-") as folder:
        launcher = pathlib.Path(folder) / "lockstep"
        launcher.write_text('#!/bin/sh\nexec "$LOCKSTEP" "$@"\n')
        launcher.chmod(0o755)
        for number, info, commands in blocks:
            if info[:1] == ["sh"] and "run" in info[1:]:
                fault = fault_of_block(commands, folder, binary)
                if fault:
                    yield f"{name}:{number}: {fault}"
                    return  # what follows may build on it


def violations(root, binary):
    for document in [root / name for name in NAMED] + sorted((root / "docs").glob("*.md")):
        name = document.relative_to(root)
        if not document.exists():
            yield f"{name}:1: there is no such document"
            continue
        prose, blocks = parse(document.read_text())
        for number, line in prose:
            faults = [fault_of_link(document, target, root) for target in LINK.findall(line)]
            faults += [fault_of_path(path, root) for path in REPOSITORY_PATH.findall(line)]
            yield from (f"{name}:{number}: {fault}" for fault in faults if fault)
        if name == pathlib.Path("docs/arithmetic.md"):
            yield from (f"{name}:{fault}" for fault in faults_of_law(prose, root))
        if binary:
            yield from run_blocks(name, blocks, binary)
    yield from faults_of_mutants(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--binary", type=pathlib.Path, help="the built program; without it no command runs")
    arguments = parser.parse_args()
    binary = arguments.binary and arguments.binary.resolve(strict=True)
    found = list(violations(arguments.root, binary))
    print("\n".join(found) if found else "the documents keep their word")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
