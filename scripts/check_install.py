#!/usr/bin/env python3
"""Installs the program as `make install` does, uses it from there, and removes it; then makes the Debian package.

usage: check_install.py BUILD

What is installed has to work without this tree: the program runs, each shell that is here reads its completions, the
manual page names every command, and after `make uninstall` nothing is left. The package is unpacked, not installed;
it has to name the libraries that it needs. Skipped parts say so.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
FAULTS = []


def expect(holds, what):
    if not holds:
        FAULTS.append(what)


def run(*command, status=0, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, **options)
    if done.returncode != status:
        sys.exit(f"{' '.join(str(part) for part in command)}\n{done.stdout}\nended with {done.returncode}, not {status}")
    return done.stdout


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def check_files(prefix):
    """The files that every way of installing brings, by what has to be in them."""
    share = prefix / "share"
    zsh = [path for path in (share / "zsh").rglob("_quire")]
    for path in [share / "bash-completion/completions/quire", share / "fish/vendor_completions.d/quire.fish", *zsh]:
        expect(path.exists() and "quire complete" in path.read_text().replace('"${1:-quire}"', "quire").replace('"${(Q)words[1]}"', "quire"),
               f"{path} has no completions")
    expect(len(zsh) == 1, "there is not one file of completions for zsh")
    expect("Apache License" in (share / "doc/quire/copyright").read_text(), "the license is not installed")
    for document in ["README.md", "docs/memory.md", "docs/formats/store.md", "examples/agent.py"]:
        expect((share / "doc/quire" / document).exists(), f"{document} is not installed")
    page = gzip.decompress((share / "man/man1/quire.1.gz").read_bytes()).decode()
    help_text = run(prefix / "bin/quire", "--help")
    commands = re.findall(r"^  ([a-z]+)  ", help_text[help_text.index("Subcommands:"):], re.MULTILINE)
    expect(len(commands) > 10, "the help lists no commands")
    for command in commands:
        expect(f".SS quire {command}\n" in page, f"the manual page does not have {command}")
    completed = run("bash", "-c", f'source "{share}/bash-completion/completions/quire"; COMP_LINE="quire doc" COMP_POINT=9; '
                    f'_quire "{prefix}/bin/quire" doc quire; echo "${{COMPREPLY[@]}}"')
    expect(completed.strip() == "doctor", f"bash completes 'quire doc' to {completed!r}")
    if shutil.which("man"):
        warnings = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", share / "man/man1/quire.1.gz")
        expect("warning" not in warnings, f"the manual page is not clean: {warnings[:300]}")
    for shell, check in [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])]:
        if shutil.which(shell):
            run(shell, *check, {"bash": share / "bash-completion/completions/quire", "zsh": zsh[0],
                                "fish": share / "fish/vendor_completions.d/quire.fish"}[shell])


def check_install(build, folder):
    home = folder / "home"
    home.mkdir()
    script = SOURCE / "scripts/install.sh"
    prefix = home / "with space"
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "SHELL": "/bin/bash"}
    said = run(script, build, prefix, env=environment)
    expect("is not on your PATH" in said and 'export PATH="$HOME/with space/bin:$PATH"' in said, f"it said: {said}")
    check_files(prefix)
    run(prefix / "bin/quire", "--version", cwd=folder)

    (prefix / "share/doc/quire/kept").write_text("somebody else's")
    listed = prefix / "share/doc/quire/installed-files"
    (prefix / "share/doc/quire/of_an_earlier_version").write_text("")
    listed.write_text(listed.read_text() + "share/doc/quire/of_an_earlier_version\n")
    environment["PATH"] = f"{prefix}/bin:{environment['PATH']}"
    said = run(script, build, prefix, env=environment)
    expect("is on your PATH" in said and "quire doctor" in said, f"it said: {said}")
    expect(not (prefix / "share/doc/quire/of_an_earlier_version").exists(), "a file of an earlier version stayed")

    run(script, "--remove", prefix, env=environment)
    expect(files_below(prefix) == ["share/doc/quire/kept"], f"left behind: {files_below(prefix)}")
    said = run(script, "--remove", prefix, env=environment, status=1)
    expect("PREFIX=DIR" in said, f"it said: {said}")

    run(script, build, env=environment | {"DESTDIR": str(folder / "stage")})
    place = "usr/local" if os.getuid() == 0 else str(home / ".local").lstrip("/")
    expect((folder / "stage" / place / "bin/quire").exists(), "DESTDIR is not heeded")


def check_package(build, folder):
    if not shutil.which("dpkg-shlibdeps"):
        print("the Debian package was not made: dpkg-dev is not installed")
        return
    # In a folder of its own: the build's own package stays as it is.
    run("cpack", "--config", build / "CPackConfig.cmake", "-B", folder / "deb", cwd=folder)
    packages = list((folder / "deb").glob("*.deb"))
    expect(len(packages) == 1, f"made {packages}")
    depends = run("dpkg-deb", "--field", packages[0], "Depends")
    for library in ["libc6", "libsqlite3-0", "libre2", "libseccomp2", "libxxhash0", "liblz4-1", "libmd0"]:
        expect(library in depends, f"the package does not depend on {library}: {depends}")
    run("dpkg-deb", "--extract", packages[0], folder / "root")
    check_files(folder / "root/usr")
    expect((folder / "root/usr/share/zsh/vendor-completions/_quire").exists(), "Debian's zsh does not find the completions")


def main():
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        check_install(build, Path(folder))
        check_package(build, Path(folder))
    print("\n".join(FAULTS) or "installed, used, removed and packaged")
    return 1 if FAULTS else 0


sys.exit(main())
