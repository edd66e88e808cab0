#!/usr/bin/env python3
"""The OpenCL tests once more, on implementations that share no compiler with PoCL: Intel's CPU runtime, and Oclgrind,
which interprets the kernels and reports data races and accesses out of bounds. And what NVIDIA's compiler makes of them.

Intel's runtime is the one in --venv (packages.txt: thorough-pypi), Oclgrind is Debian's.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OCLGRIND = pathlib.Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
# What Oclgrind takes a step through, a linear, a direct and a fast model: an interpreter needs an hour for all of them.
FEW_STEPS = ":".join(f"*/{style}Case{case}" for style in ("Lanes", "NarrowPacks", "Packs") for case in (0, 4, 21))
SECONDS = 1800
SKIPPED = re.compile(r"\[  SKIPPED \]|skipped=|^Without (OpenCL|CUDA): ", re.MULTILINE)
COMPLAINT = re.compile(r"\brace\b|[Ii]nvalid (read|write)|divergence")


def run(what, command, environment):
    """The command's output; ends the program if it fails or skips anything."""
    print(f"=== {what}: {' '.join(command)}", flush=True)
    try:
        ran = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False,
                             timeout=SECONDS)
    except subprocess.TimeoutExpired:
        sys.exit(f"{what}: not done after {SECONDS} s")
    text = ran.stdout + ran.stderr
    if ran.returncode != 0 or "[  PASSED  ] 0 tests" in text or SKIPPED.search(text):
        sys.exit(f"{text}\n{what}: exit code {ran.returncode}, or tests were skipped")
    print(*re.findall(r"(?m)^(?:\[  PASSED  \].*|Ran .*)$", text), sep="\n", flush=True)
    return text


def vendors(folder, library):
    """The environment in which `library` is the only implementation."""
    if not pathlib.Path(library).exists():
        sys.exit(f"{library} is missing; run ./lockstep test --thorough")
    (pathlib.Path(folder) / "only.icd").write_text(f"{library}\n")
    # Compiled kernels are kept there, too.
    return {"OCL_ICD_VENDORS": str(folder), "TEST_TMPDIR": str(folder), "LOCKSTEP_CACHE": str(folder)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    build, venv = arguments.build.resolve(), arguments.venv.resolve()
    run("Kernels in a GPU's own instructions", [sys.executable, str(HERE.parent / "bench" / "sass.py"), str(build)], {})
    tests = build / "tests"
    with tempfile.TemporaryDirectory() as folder:
        intel = vendors(folder, venv / "lib" / "libintelocl.so")
        intel["LD_LIBRARY_PATH"] = str(venv / "lib")
        run("Intel's OpenCL, steps", [str(tests / "gpu_test"), "--gtest_filter=*OpenCl*-*FiniteMath*:*Header*"], intel)
        run("Intel's OpenCL, devices together", [str(tests / "run_test"), "--gtest_filter=*OpenClParallel*"], intel)
        run("Intel's OpenCL, random cases", [str(tests / "property_test")], intel)
        intel["LOCKSTEP_BINARY"] = str(build / "lockstep")
        run("Intel's OpenCL, the program", [sys.executable, str(HERE / "cli" / "devices_test.py")], intel)
    with tempfile.TemporaryDirectory() as folder:
        oclgrind = vendors(folder, OCLGRIND) | {"OCLGRIND_DATA_RACES": "1"}
        text = run("Oclgrind", [str(tests / "gpu_test"), f"--gtest_filter={FEW_STEPS}"], oclgrind)
        if complaint := COMPLAINT.search(text):
            sys.exit(f"{text}\nOclgrind complains: {complaint.group()}")


if __name__ == "__main__":
    main()
