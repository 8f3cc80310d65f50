#!/usr/bin/env bash
# man_page.sh QUIRE: prints the manual page quire(1), made of what the program's own --help prints for
# itself and for each command, so that the page and the help cannot differ.
set -euo pipefail
quire=$1
# A variable of the caller would otherwise be shown as a default.
unset QUIRE_WORKSPACE QUIRE_ACTOR QUIRE_PROFILE

# The commands below `quire $@`, in the order of the help.
subcommands() {
    "$quire" "$@" --help | awk '/^Subcommands:/ { inside = 1; next } inside && /^$/ { exit } inside && /^  [a-z]/ { print $1 }'
}

# Turns the help of one command, on standard input, into roff. The help has options and subcommands from column 3 on
# and what they mean from column 31 on, in the next line where the name is too long.
roff() {
    awk -v whole="$1" '
        function safe(text) {
            gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text)
            if (text ~ /^[.\x27]/) text = "\\&" text
            return text
        }
        function verbatim_end() { if (verbatim) print ".fi\n.RE"; verbatim = 0 }
        /^Usage: / { print ".PP\n.B " safe(substr($0, 8)); next }
        /^(Options|Positionals|Subcommands):/ {
            verbatim_end(); listed = 1
            if (whole) print ".SH " toupper($1 == "Subcommands:" ? "commands" : substr($1, 1, length($1) - 1))
            else if ($1 == "Subcommands:") print ".PP\nIts commands:"
            next
        }
        /^(Example|Examples|First steps):$/ {
            listed = 0
            print whole ? ".SH " toupper(substr($0, 1, length($0) - 1)) : ".PP\n" safe($0)
            print ".RS\n.nf"; verbatim = 1
            next
        }
        /^$/ { verbatim_end(); if (!listed) print ".PP"; next }
        verbatim { print safe(substr($0, 3)); next }
        listed && /^  [^ ]/ {
            name = substr($0, 3, 28); meaning = substr($0, 31)
            if (length($0) < 31 || substr($0, 29, 2) != "  ") { name = substr($0, 3); meaning = "" }
            sub(/ +$/, "", name)
            print ".TP\n.B " safe(name)
            if (meaning != "") print safe(meaning)
            next
        }
        { sub(/^ +/, ""); if ($0 != "") print safe($0) }
        END { verbatim_end() }'
}

command_page() { # WORDS...
    printf '.SS quire %s\n' "$*"
    "$quire" "$@" --help | roff ''
    local inner
    for inner in $(subcommands "$@"); do command_page "$@" "$inner"; done
}

version=$("$quire" --version)
printf '.\\" -*- coding: utf-8 -*-\n'
printf '.TH QUIRE 1 "" "%s" "User Commands"\n' "${version% (*}"
printf '.SH NAME\nquire \\- a workspace that several agents and people edit at once\n'
printf '.SH DESCRIPTION\n'
"$quire" --help | roff whole
printf '.SH EACH COMMAND\n'
for command in $(subcommands); do command_page "$command"; done
cat <<'ROFF'
.SH FILES
.TP
.B quire.toml
The settings of a workspace, at its root.
.TP
.B .quire/
What the workspace holds: documents, their history and the audit log. The socket and the log of its kernel are there too.
.SH SEE ALSO
The documentation is installed in the folder
.IR share/doc/quire .
ROFF
