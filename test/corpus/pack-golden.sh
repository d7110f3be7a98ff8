#!/usr/bin/env bash
# Packs golden sets, as test/oracle/golden.py writes them, into test/golden/NAME.tar.br for the corpus tests.
#   pack-golden.sh DIR [NAME...]     DIR/NAME/{data,expected,schema.cql,...}; without names: every set in DIR
# sstabledump/ goes into an archive of its own, dumps-NAME.tar.br. The same input gives the same bytes. Needs GNU tar and node.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,4p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2; }
from=$1; shift
out=$(cd "$(dirname "${BASH_SOURCE[0]}")/../golden" && pwd)
[ $# -gt 0 ] || mapfile -t names < <(cd "$from" && for d in */data; do echo "${d%/data}"; done)
[ $# -eq 0 ] || names=("$@")
pack() { # ARCHIVE FOLDER PART...
  local archive=$1 folder=$2; shift 2
  tar --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' -C "$folder" -cf - "$@" |
    node -e '
      const { readFileSync, writeFileSync } = require("node:fs"), zlib = require("node:zlib"), c = zlib.constants;
      const tar = readFileSync(0);
      const packed = zlib.brotliCompressSync(tar, { params: {
        [c.BROTLI_PARAM_QUALITY]: 11, [c.BROTLI_PARAM_LGWIN]: 24, [c.BROTLI_PARAM_SIZE_HINT]: tar.length } });
      writeFileSync(process.argv[1] + ".new", packed);
      console.log(process.argv[1], tar.length, "->", packed.length);' "$archive"
  mv "$archive.new" "$archive"
}
for name in "${names[@]}"; do
  parts=()
  for p in data expected schema.cql schema.internals.cql; do [ ! -e "$from/$name/$p" ] || parts+=("$p"); done
  pack "$out/$name.tar.br" "$from/$name" "${parts[@]}"
  [ -z "$(ls -A "$from/$name/sstabledump" 2>/dev/null)" ] || pack "$out/dumps-$name.tar.br" "$from/$name" sstabledump
done
