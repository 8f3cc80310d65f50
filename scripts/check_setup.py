#!/usr/bin/env python3
"""Runs scripts/install-deps.sh against an apt-get and an npm that only pretend, and reads what people would read.

Then the program alone is configured, as a newcomer does it. While packages are fetched there is a line every few seconds, and where one of the two fails, the words say what to
do. Nothing is installed: the script works on a copy of the tree's lists, and the programs that it calls are ours.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
FAULTS = []

APT_GET = """#!/bin/bash
[ "$1" = update ] && exit 0
[ -e "$0.fails" ] && { echo 'E: Unable to locate package libre2-dev'; exit 100; }
echo '0 upgraded, 2 newly installed, 0 to remove and 0 not upgraded.'
echo 'Need to get 1,234 kB of archives.'
echo 'Get:1 http://deb.debian.org/debian bookworm/main amd64 libre2-dev amd64 20220601 [100 kB]'
sleep 2.2
echo 'Unpacking libre2-dev (20220601) ...'
sleep 2.2
echo 'Setting up libre2-dev:amd64 (20220601) ...'
"""
NPM = """#!/bin/bash
[ -e "$0.fails" ] && { echo 'npm http fetch GET 200 x/y-1.0.0.tgz'; echo 'npm ERR! code ENOTFOUND'; exit 1; }
echo 'npm http fetch GET 200 https://registry.npmjs.org/ajv/-/ajv-8.20.0.tgz 50ms (cache miss)'
mkdir -p node_modules
"""


def expect(said, *words):
    for each in words:
        if each not in said:
            FAULTS.append(f"nothing says {each!r} in:\n{said}")


def configure_for_people(build):
    """Configures as `make build` and `make run` do, for which the packages of the tests need not be there."""
    done = subprocess.run(["cmake", "--preset", "release", "-B", build, "-DQUIRE_TESTS=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"],
                          cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        FAULTS.append(f"a build without tests cannot be configured:\n{done.stdout}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree, programs = Path(folder) / "tree", Path(folder) / "bin"
        (tree / "scripts").mkdir(parents=True)
        (tree / "tests/node").mkdir(parents=True)
        programs.mkdir()
        for name in ["scripts/install-deps.sh", "scripts/packages.txt", "tests/node/package-lock.json"]:
            (tree / name).write_bytes((SOURCE / name).read_bytes())
        # Nothing is installed for this dpkg-query, and whoever runs the test is nobody's root.
        for name, text in {"apt-get": APT_GET, "npm": NPM, "dpkg-query": "#!/bin/sh\nexit 1\n", "sudo": '#!/bin/sh\nexec "$@"\n',
                           "id": "#!/bin/sh\necho 1000\n"}.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)

        def install(*groups, status=0, **variables):
            done = subprocess.run(["bash", tree / "scripts/install-deps.sh", *groups], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"} | variables)
            if done.returncode != status:
                FAULTS.append(f"{groups} ended with {done.returncode}, not {status}:\n{done.stdout}")
            return done.stdout

        expect(install("build"), "installing with sudo apt-get:", "libre2-dev", "apt-get fetches 1,234 kB", "fetched 1 of 2 packages: libre2-dev",
               "unpacked 1 of 2 packages: libre2-dev", "set up 1 of 2 packages: libre2-dev", "quire: installed")
        (programs / "apt-get.fails").touch()
        expect(install("build", status=1), "E: Unable to locate package libre2-dev", "renewing the package lists", "could not install")
        (programs / "apt-get.fails").unlink()

        if install("node", QUIRE_WITHOUT_NODE="1") != "":
            FAULTS.append("QUIRE_WITHOUT_NODE=1 is not heeded")
        (programs / "npm.fails").touch()
        said = install("node", status=1)
        expect(said, "npm ERR! code ENOTFOUND", "npm ping", "npm config set proxy", "QUIRE_WITHOUT_NODE=1")
        if " http fetch" in said:
            FAULTS.append(f"the fetches are repeated before the reason:\n{said}")
        (programs / "npm.fails").unlink()
        expect(install("node"), "fetching at most", "fetched 1 node packages: ajv-8.20.0", "quire: installed")
        configure_for_people(Path(folder) / "build")
    print("\n".join(FAULTS) or "what is fetched is said, and what to do where it fails")
    return 1 if FAULTS else 0


sys.exit(main())
