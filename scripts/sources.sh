#!/usr/bin/env bash
# The C++ sources of this tree, one a line: those under version control and those not ignored by it.
cd "$(dirname "$0")/.." || exit 1
git ls-files --cached --others --exclude-standard -- '*.cc' '*.h' | while read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
done
