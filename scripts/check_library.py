#!/usr/bin/env python3
"""Installs the libraries into a folder of their own, and builds and runs the examples against what is there.

usage: check_library.py BUILD SOURCE [SANITIZERS]

With CMake's packages, and one example of each library with pkg-config alone. What the headers of this tree have and the
installed ones lack, or a symbol that the archive lacks, fails here.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(part) for part in command)}\n{done.stdout}\nended with {done.returncode}")
    return done.stdout


def main():
    build, source = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        prefix, project = Path(folder) / "prefix", Path(folder) / "build"
        for component in ("crdt", "memory"):
            run("cmake", "--install", build, "--component", component, "--prefix", prefix)
        # The examples are copied, so that nothing of this tree is beside them.
        examples = shutil.copytree(source / "examples", Path(folder) / "examples")
        run("cmake", "-S", examples, "-B", project, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug")
        run("cmake", "--build", project, "--parallel", "2")
        print(run("ctest", "--test-dir", project, "--output-on-failure"))

        packages = [path for path in prefix.rglob("pkgconfig") if path.is_dir()]
        env = dict(os.environ, PKG_CONFIG_PATH=":".join(str(path) for path in packages))
        for package, example in (("quire-crdt", "shared_todo"), ("quire-memory", "agent_memory")):
            flags = run("pkg-config", "--cflags", "--libs", package, env=env).split()
            program = Path(folder) / example
            run(os.environ.get("CXX", "c++"), examples / f"{example}.cc", *flags, "-o", program)
            print(run(program))


main()
