#!/usr/bin/env bash
# Every command that README.md and examples/ print, run as printed, in a fresh copy of the sources.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=$(bash test/oracle/venv.sh python test/clients/requirements-python.txt)
spark=$(bash test/oracle/venv.sh spark test/clients/requirements-spark.txt)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/copy"
git ls-files -z --cached --others --exclude-standard | tar --create --null --ignore-failed-read --files-from=- | tar --extract --directory "$out/copy"
python3 test/clients/printed_commands.py "$out/copy" "$out" "$(dirname "$python")" "$(dirname "$spark")"
