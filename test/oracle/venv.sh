#!/usr/bin/env bash
# A Python environment for a test: makes it once, uses it again, prints the path of its python.
#   venv.sh NAME REQUIREMENTS.txt     ->  ${SLUICE_CACHE:-~/.cache/sluice}/venv-NAME/bin/python
# It is made anew when the requirements or the Python version differ from those it was made from. Several processes may ask
# at once: one builds, the others wait for it. A half-made environment is never used: the marker is written last.
# SLUICE_PYTHON  the Python to build from (default python3)
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,6p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2; }
name=$1 requirements=$2
[[ $name =~ ^[A-Za-z0-9._-]+$ ]] || { echo "venv.sh: not a name: $name" >&2; exit 2; }
[ -f "$requirements" ] || { echo "venv.sh: no such file: $requirements" >&2; exit 2; }
base=${SLUICE_PYTHON:-python3}
cache=${SLUICE_CACHE:-$HOME/.cache/sluice}
dir=$cache/venv-$name
mkdir -p "$cache"
want=$("$base" --version 2>&1; cat "$requirements")

made() { [ -x "$dir/bin/python" ] && [ -f "$dir/complete" ] && [ "$(cat "$dir/complete")" = "$want" ]; }

if ! made; then
  exec 9> "$dir.lock"
  flock 9 2>/dev/null || true
  if ! made; then
    echo "making $dir" >&2
    rm -rf "$dir"
    "$base" -m venv "$dir" >&2
    # Compiling all of it would take as long again.
    "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile -r "$requirements" >&2
    printf '%s\n' "$want" > "$dir/complete"
  fi
fi
echo "$dir/bin/python"
