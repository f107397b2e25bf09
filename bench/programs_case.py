"""Whole programs of others, for bench.py: HPCC, of whose source package in Debian the upstream archive is taken, and the NAS Parallel
Benchmarks (their MPI version, 3.4), from the folder that --npb names. Each MPI's own compilers build its own.
"""
import re
import shutil
import subprocess
from pathlib import Path

from case import PEERS, Case

ROOT = Path(__file__).resolve().parent.parent
RANKS = (2, 4)
# The order of HPL's matrix, from which HPCC derives the sizes of its other parts.
HPCC_ORDER = 5000
NPB_PROGRAMS, NPB_CLASSES = ("is", "cg", "mg", "ft", "lu"), ("W", "A")
# But for LU A they take two seconds or less, of which a busy host makes four at times. The two profiles are to be told apart by less than
# ours from the others, who take part in every fourth turn.
NPB_TURNS, LU_A_TURNS, HPCC_TURNS, RARE_TURNS = 16, 4, 4, 4

# HPL calls MPI_Address and MPI_Type_struct, which Open MPI declares only for those who ask.
HPCC_MAKE = """SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir -p
RM = /bin/rm -f
TOUCH = touch
ARCH = bench
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle -DOMPI_OMIT_MPI1_COMPAT_DECLS=0
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) -lopenblas -lm
HPL_DEFS = $(F2CDEFS) $(HPL_INCLUDES)
CC = {c}
CCNOOPT = $(HPL_DEFS) -w
CCFLAGS = $(HPL_DEFS) -O2 -fcommon -w
LINKER = $(CC)
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""

NPB_MAKE = """MPIFC = {fortran}
FLINK = $(MPIFC)
FFLAGS = -O3 -w -fallow-argument-mismatch -fallow-invalid-boz
FLINKFLAGS = $(FFLAGS)
MPICC = {c}
CLINK = $(MPICC)
CFLAGS = -O3 -w
CLINKFLAGS = $(CFLAGS)
CC = gcc
BINDIR = ../bin
RAND = randi8
"""


class Hpcc(Case):
    """Its whole time, if its checks of its own results pass."""

    is_long = True

    def __init__(self, programs, ranks):
        super().__init__(f"hpcc {ranks}", "hpcc", ranks, turns=HPCC_TURNS, rarely=PEERS, rare_turns=RARE_TURNS)
        self.programs = programs

    def prepare(self, folder):
        """The input that it comes with, but for the matrix's order and the grid of ranks."""
        lines = (self.programs.source() / "_hpccinf.txt").read_text().splitlines()
        rows = 2 if self.ranks % 4 == 0 else 1
        for line, value in ((5, HPCC_ORDER), (10, rows), (11, self.ranks // rows)):
            lines[line] = str(value)
        (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")

    def figures(self, text, seconds, folder):
        output = folder / "hpccoutf.txt"
        if not output.exists() or "\nSuccess=1\n" not in output.read_text():
            raise ValueError("its output does not say Success=1")
        return [[self.name, seconds, "s"]]


class Npb(Case):
    """The rate that it measures itself, and its whole time, if its verification is successful."""

    is_long = True

    def figures(self, text, seconds, folder):
        rate = re.search(r"Mop/s total +=\s+([0-9.]+)", text)
        if not rate or not re.search(r"Verification +=\s+SUCCESSFUL", text):
            raise ValueError("its verification is not successful")
        return [[self.name, float(rate[1]), "Mop/s"], ["whole-" + self.name, seconds, "s"]]


def run(command, folder, what):
    """OSError with the end of what it said: it failed."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise OSError(f"{what}: {(done.stdout.strip().splitlines() or ['?'])[-1]}")


class HpccPrograms:
    name, packages = "hpcc", ("libopenblas-serial-dev", "dpkg-dev")

    def __init__(self, sources):
        self.sources = sources

    def cases(self):
        return [Hpcc(self, ranks) for ranks in RANKS]

    def source(self):
        return next(path for path in self.sources.glob("hpcc-*") if path.is_dir())

    def fetch(self):
        """OSError: the source package does not come."""
        run([str(ROOT / "tests/support/debian_source.sh"), "--upstream", "hpcc", str(self.sources)], ROOT, "its source package")

    def make(self, c, fortran, folder):
        """The program's name, built in `folder`. OSError: it does not build."""
        tree = folder / "hpcc-source"
        shutil.copytree(self.source(), tree)
        (tree / "hpl/Make.bench").write_text(HPCC_MAKE.replace("{c}", c))
        run(["make", "arch=bench"], tree, "make")
        (tree / "hpcc").rename(folder / "hpcc")
        shutil.rmtree(tree)
        return {"hpcc"}


class NpbPrograms:
    name, packages = "npb", ("gfortran",)

    def __init__(self, source):
        self.source = source

    def cases(self):
        return [Npb(f"{program}.{class_} {ranks}", f"{program}.{class_}.x", ranks, rarely=PEERS, rare_turns=RARE_TURNS,
                    turns=LU_A_TURNS if (program, class_) == ("lu", "A") else NPB_TURNS)
                for ranks in RANKS for class_ in NPB_CLASSES for program in NPB_PROGRAMS]

    def fetch(self):
        """OSError: the folder is not that of the MPI version."""
        if not (self.source / "MPI_dummy").is_dir():
            raise OSError(f"{self.source} has no MPI_dummy: --npb takes the unpacked folder NPB3.4-MPI")

    def make(self, c, fortran, folder):
        """The programs' names, built in `folder`. OSError: one does not build."""
        tree = folder / "npb-source"
        shutil.copytree(self.source, tree)
        (tree / "bin").mkdir(exist_ok=True)
        (tree / "config/make.def").write_text(NPB_MAKE.replace("{c}", c).replace("{fortran}", fortran))
        run(["make", "clean"], tree, "make clean")
        names = set()
        for program in NPB_PROGRAMS:
            for class_ in NPB_CLASSES:
                run(["make", program, f"CLASS={class_}"], tree, f"make {program} CLASS={class_}")
                name = f"{program}.{class_}.x"
                (tree / "bin" / name).rename(folder / name)
                names.add(name)
        shutil.rmtree(tree)
        return names
