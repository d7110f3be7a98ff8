# For the client tests: servers of the built product on free ports. Sourced; ends the servers when the script ends.

main=${SLUICE_MAIN:-dist/src/cli/main.js}
out=$(mktemp -d)
servers=()

finish() {
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$out"
}
trap finish EXIT

# start_server DATA [FLAG...]: sets url, and location where --flight-port is among the flags.
start_server() {
  local data=$1 log="$out/server-${#servers[@]}.log"
  shift
  : >"$log"
  node "$main" serve --data "$data" --port 0 --log-level warn "$@" >"$log" 2>"$log.err" &
  servers+=($!)
  local wanted='^Sluice listens on '
  case " $* " in *' --flight-port '*) wanted='^Arrow Flight listens on ' ;; esac
  for _ in $(seq 600); do
    if grep -q "$wanted" "$log"; then
      url=$(sed -n 's/^Sluice listens on //p' "$log")
      location=$(sed -n 's/^Arrow Flight listens on //p' "$log")
      return
    fi
    kill -0 "${servers[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  echo "the server over $data did not start:" >&2
  cat "$log" "$log.err" >&2
  exit 1
}

# start_samples: the sample data from a server without a token, and from one with: sets sample, locked and token.
start_samples() {
  start_server examples/data
  sample=$url
  token=s3cr3t-$RANDOM
  SLUICE_TOKEN=$token start_server examples/data
  locked=$url
}
