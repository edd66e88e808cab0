#!/usr/bin/env python3
"""What the hot GPU kernels become in a GPU's own instructions: a Markdown table an architecture. No GPU is needed.

    bench/sass.py build/release [--architectures 80,90,120]

Compiles the kernels with NVRTC, disassembles them with cuobjdump and nvdisasm, and looks at registers, memory on the
stack (spilled registers: there must be none), shared memory, how many threads a multiprocessor holds at once, and what
the inner loop consists of: multiply-adds, loads, accesses of the stack. Where no loop multiplies, all instructions are
counted. Tools that are not installed come from PyPI, into a venv in the build directory. Fails if a hot kernel has
anything on the stack, or if the inner loop of one that multiplies whole tiles has less than 75 % FFMA.
"""
import argparse
import collections
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv

HOT = re.compile(r"(convolve|convolve_pool|convolve_back|multiply)_\d+|lane_chain|outer_product|winograd_\w+")
# Tiles of 8 packs. Those of one pack, for devices with fewer than four, load as much for an eighth of the work.
WHOLE_TILES = re.compile(r"(convolve|convolve_pool|convolve_back|multiply)_8|lane_chain|outer_product")
LEAST_SHARE = 0.75
OPTIONS = ["--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "-std=c++17",
           "--device-as-default-execution-space"]
TOOLKIT = pathlib.Path("/usr/local/cuda")
WHEELS = ["nvidia-cuda-nvrtc", "nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm"]

# CUDA's programming guide, technical specifications per compute capability: of a multiprocessor.
Limits = collections.namedtuple("Limits", "threads blocks shared_kib")
LIMITS = {75: Limits(1024, 16, 64), 80: Limits(2048, 32, 164), 86: Limits(1536, 16, 100), 87: Limits(1536, 16, 164),
          89: Limits(1536, 24, 100), 90: Limits(2048, 32, 228), 100: Limits(2048, 32, 228), 103: Limits(2048, 32, 228),
          110: Limits(1536, 24, 228), 120: Limits(1536, 24, 100), 121: Limits(1536, 24, 100)}
REGISTERS_OF_A_QUARTER = 16384  # a multiprocessor has four parts, each with its own registers
SHARED_OF_THE_SYSTEM = 1024  # bytes of each block from 8.0 on; from 9.0 on cuobjdump counts them

Instruction = collections.namedtuple("Instruction", "address name target")  # target: of a branch, or None


class Tools:
    """NVRTC and the disassemblers: installed ones, or wheels."""

    def __init__(self, folder):
        self.folder = folder / "sass-venv"

    def wheel(self, pattern):
        if not self.folder.exists():
            print(f"installing {', '.join(WHEELS)} into {self.folder}", file=sys.stderr)
            venv.create(self.folder, with_pip=True)
            subprocess.run([self.folder / "bin/pip", "install", "--quiet", *WHEELS], check=True)
        found = sorted(self.folder.glob(f"lib/python*/site-packages/nvidia/**/{pattern}"))
        if not found:
            sys.exit(f"{self.folder} has no {pattern}; remove it, and it is made again")
        return found[-1]

    def program(self, name):
        found = shutil.which(name) or shutil.which(name, path=TOOLKIT / "bin")
        return pathlib.Path(found) if found else self.wheel(f"bin/{name}")

    def nvrtc(self):
        installed = TOOLKIT / "lib64/libnvrtc.so"
        return ctypes.CDLL(str(installed if installed.exists() else self.wheel("lib/libnvrtc.so.*")))


def compile_cubin(nvrtc, source, architecture):
    def must(error, call):
        if error:
            nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
            sys.exit(f"{call} failed for sm_{architecture}: {nvrtc.nvrtcGetErrorString(error).decode()}")

    def text(get_size, get):
        size = ctypes.c_size_t()
        must(get_size(program, ctypes.byref(size)), get_size.__name__)
        buffer = ctypes.create_string_buffer(size.value)
        must(get(program, buffer), get.__name__)
        return buffer.raw

    program = ctypes.c_void_p()
    must(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None), "nvrtcCreateProgram")
    options = [option.encode() for option in [*OPTIONS, f"--gpu-architecture=sm_{architecture}"]]
    error = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if error:
        print(text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).decode(), file=sys.stderr)
    must(error, "nvrtcCompileProgram")
    cubin = text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin


def resources(text):
    """kernel -> what cuobjdump --dump-resource-usage says of it: REG, STACK, SHARED, LOCAL."""
    found = re.findall(r"Function (\w+):\s*\n\s*(REG:.*)", text)
    return {name: {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", line)} for name, line in found}


def instructions(text):
    """kernel -> its instructions, from cuobjdump -sass."""
    line = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
    kernels = {}
    for part in re.split(r"^\s*Function : ", text, flags=re.MULTILINE)[1:]:
        found = []
        for address, name, operands in line.findall(part):
            branch = re.search(r"\b0x([0-9a-f]+)\s*$", operands) if name.startswith("BRA") else None
            found.append(Instruction(int(address, 16), name, int(branch.group(1), 16) if branch else None))
        kernels[part.split(None, 1)[0]] = found
    return kernels


def is_multiply_add(instruction):
    return instruction.name.startswith("FFMA")


def inner_loop(code):
    """The loop without a loop in it that has the most multiply-adds; None if no loop has any."""
    # The branch to itself that ends every kernel is none.
    spans = [(i.target, i.address) for i in code if i.target is not None and i.target < i.address]
    innermost = [(first, last) for first, last in spans
                 if not any((a, b) != (first, last) and first <= a and b <= last for a, b in spans)]
    loops = [[i for i in code if first <= i.address <= last] for first, last in innermost]
    best = max(loops, key=lambda loop: sum(map(is_multiply_add, loop)), default=[])
    return best if any(map(is_multiply_add, best)) else None


def occupancy(architecture, registers, shared, group):
    """Threads that a multiprocessor holds at once, of those it could."""
    limits = LIMITS[architecture]
    warps = group // 32
    per_warp = -(-registers // 8) * 8 * 32
    blocks = min(limits.blocks, limits.threads // group, REGISTERS_OF_A_QUARTER // per_warp * 4 // warps,
                 limits.shared_kib * 1024 // max(1, shared + SHARED_OF_THE_SYSTEM * (80 <= architecture < 90)))
    return blocks * group / limits.threads


def share(body):
    return sum(map(is_multiply_add, body)) / len(body)


def row(architecture, name, used, code, group):
    loop = inner_loop(code)
    body = loop or code
    adds = sum(map(is_multiply_add, body))
    names = collections.Counter(i.name.split(".")[0] for i in body)
    where = "loop" if loop else "all"
    return (f"| {name} | {used['REG']} | {used['STACK']} | {used['SHARED']} | "
            f"{occupancy(architecture, used['REG'], used['SHARED'], group):.0%} | {where} | {len(body)} | {adds} | "
            f"{share(body):.0%} | {names['LDG']} | {names['LDS']} | {names['LDL'] + names['STL']} |")


def table(architecture, cubin, tools, group):
    """The table, and what is wrong with hot kernels."""
    environment = dict(os.environ, PATH=f"{tools.program('nvdisasm').parent}:{os.environ.get('PATH', '')}")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()

        def dump(option):
            return subprocess.run([tools.program("cuobjdump"), option, file.name], check=True, capture_output=True,
                                  text=True, env=environment).stdout

        used, code = resources(dump("--dump-resource-usage")), instructions(dump("-sass"))
    hot = sorted(name for name in used if HOT.fullmatch(name))
    lines = [f"## sm_{architecture}", "",
             "| kernel | registers | stack bytes | shared bytes | occupancy | of | instructions | FFMA | share | LDG "
             "| LDS | stack |",
             "|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|"]
    lines += [row(architecture, name, used[name], code[name], group) for name in hot]
    wrong = [f"sm_{architecture} {name}: on the stack, where only registers should be" for name in hot
             if used[name]["STACK"] + used[name]["LOCAL"] > 0]
    wrong += [f"sm_{architecture} {name}: less than {LEAST_SHARE:.0%} FFMA" for name in hot
              if WHOLE_TILES.fullmatch(name) and share(inner_loop(code[name]) or code[name]) < LEAST_SHARE]
    return "\n".join(lines) + "\n", wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build directory that has bench/kernel_source")
    parser.add_argument("--architectures", default="80,90,120", help="of " + ", ".join(map(str, LIMITS)))
    arguments = parser.parse_args()
    source = subprocess.run([arguments.build / "bench/kernel_source"], check=True, capture_output=True).stdout
    group = int(re.search(rb"#define LOCKSTEP_GROUP (\d+)", source).group(1))
    tools = Tools(arguments.build)
    nvrtc = tools.nvrtc()
    wrong = []
    for architecture in map(int, arguments.architectures.split(",")):
        text, found = table(architecture, compile_cubin(nvrtc, source, architecture), tools, group)
        print(text, flush=True)
        wrong += found
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
