#!/usr/bin/env bash
# Packs golden sets, as test/oracle/golden.py writes them, into test/golden/NAME.tar.br for the corpus tests.
#   pack-golden.sh DIR [NAME...]     DIR/NAME/{data,expected,schema.cql,...}; without names: every set in DIR
# The same input gives the same bytes. sstabledump/ is left out: it serves people, no test reads it. Needs GNU tar and node.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,4p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2; }
from=$1; shift
out=$(cd "$(dirname "${BASH_SOURCE[0]}")/../golden" && pwd)
[ $# -gt 0 ] || mapfile -t names < <(cd "$from" && for d in */data; do echo "${d%/data}"; done)
[ $# -eq 0 ] || names=("$@")
for name in "${names[@]}"; do
  parts=()
  for p in data expected schema.cql schema.internals.cql; do [ ! -e "$from/$name/$p" ] || parts+=("$p"); done
  tar --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' -C "$from/$name" -cf - "${parts[@]}" |
    node -e '
      const { readFileSync, writeFileSync } = require("node:fs"), zlib = require("node:zlib"), c = zlib.constants;
      const tar = readFileSync(0);
      const packed = zlib.brotliCompressSync(tar, { params: {
        [c.BROTLI_PARAM_QUALITY]: 11, [c.BROTLI_PARAM_LGWIN]: 24, [c.BROTLI_PARAM_SIZE_HINT]: tar.length } });
      writeFileSync(process.argv[1] + ".new", packed);
      console.log(process.argv[1], tar.length, "->", packed.length);' "$out/$name.tar.br"
  mv "$out/$name.tar.br.new" "$out/$name.tar.br"
done
