#!/usr/bin/env python3
"""Ends with 1 if the last run of ctest left tests out for want of something that `./lockstep test` installs.

The log of a run is build/release/Testing/Temporary/LastTest.log.
"""
import pathlib
import re
import sys

# What depends on the processor, or on the version of NVRTC.
FINE = ("this CPU has one set of kernels", "this NVRTC does not compile for it")
REASON = re.compile(r"(?m)^.*: Skipped\n(.*)$|^(OK \(skipped=.*|Without (?:OpenCL|CUDA): .*)$")


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    if "[  PASSED  ]" not in text:
        sys.exit(f"{sys.argv[1]}: no test of GoogleTest has passed in this run")
    reasons = {reason for pair in REASON.findall(text) for reason in pair if reason}
    if missing := sorted(reasons - set(FINE)):
        sys.exit("tests were skipped:\n" + "\n".join(missing))


if __name__ == "__main__":
    main()
