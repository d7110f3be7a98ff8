#!/usr/bin/env bash
# Makes the files that seek.ts reads, once, under ${SLUICE_CACHE:-~/.cache/sluice}/bench: about 2 GB, ten minutes. See test/oracle/README.md
# for what it needs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cassandra=$here/../oracle/cassandra.sh
bench=${SLUICE_CACHE:-$HOME/.cache/sluice}/bench
version=5.0.8
made() { compgen -G "$1" > /dev/null; }
bulk() { # FORMAT SET PROFILE ROWS OPTIONS...
  local format=$1 set=$2 profile=$3
  made "$bench/$set/bulk/$profile-*/*-Data.db" && return 0
  mkdir -p "$bench/$set"
  "$cassandra" bulk $version "$format" "$bench/$set" "${@:3}"
}
for format in oa da; do
  bulk $format $format narrow 2000000
  bulk $format $format onebig 1000000
  bulk $format $format wide 1000000 --partition-rows 1000
  bulk $format $format bigblob 400
  bulk $format $format-text wide 200 --partition-rows 8 --value-bytes 1048576
  # A table with one partition of half its bytes.
  skewed=$bench/$format-skewed/bulk/$(basename "$bench/$format"/bulk/wide-*)
  if ! made "$skewed/*-Data.db"; then
    mkdir -p "$skewed"
    cp "$bench/$format"/bulk/wide-*/* "$skewed"
    for file in "$bench/$format"/bulk/onebig-*/*; do
      name=$(basename "$file")
      cp "$file" "$skewed/${name/#oa-2-/oa-3-}"
    done
  fi
done
# What an offline writer makes has no bloom filter to speak of: a node writes the files anew.
bulk da da-4 narrow 2000000 --sstables 4
if ! made "$bench/da-node/bulk/narrow-*/*-Data.db"; then
  export CASSANDRA_PYTHON=${CASSANDRA_PYTHON:-$("$here/../oracle/venv.sh" oracle "$here/../oracle/requirements.txt")}
  node=$(mktemp -d)
  "$cassandra" start $version da "$node" 9342
  "$cassandra" cql "$node" < "$bench/da-4/schema.narrow.cql"
  "$cassandra" nodetool "$node" import --copy-data bulk narrow "$bench"/da-4/bulk/narrow-*
  "$cassandra" nodetool "$node" upgradesstables -a bulk narrow
  "$cassandra" stop "$node"
  mkdir -p "$bench/da-node"
  cp -r "$node/data/bulk" "$bench/da-node/"
  rm -rf "$node"
fi
