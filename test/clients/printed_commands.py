"""Runs what the documents print: blocks of shell, Python, TypeScript and SQL, in their order, and the commands of the examples' docstrings.

    python printed_commands.py COPY SCRATCH PYTHON_BIN SPARK_BIN

COPY: the sources; each command is run there. Servers run on, on the ports that are printed, until another one is started. Fails where a command
does, and where a server answers curl with a problem.
"""
import ast
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time

COPY, SCRATCH, PYTHON_BIN, SPARK_BIN = (pathlib.Path(path) for path in sys.argv[1:])

# What cannot run here: (file, how the command begins, why).
SKIPPED = [
    ('README.md', 'npm ci && npm test', "it is the gate's first suite"),
    ('examples/spark/to_parquet.py', 'spark-submit', 'needs a cluster and an object store; the same program runs by its other command'),
    ('examples/make-sample.py', 'python=$(test/oracle/venv.sh', 'for the next one'),
    ('examples/make-sample.py', '$python examples/make-sample.py', 'writes the sample anew, with a Cassandra node: minutes'),
]
DOCUMENTS = ['README.md', 'examples/README.md']
COMMAND = re.compile(r'(\$?python|PYTHONPATH=|spark-submit|bash |curl |sluice |npx |npm )')
# Runs until it is stopped; the block goes on once it listens.
SERVER = re.compile(r'(npm run demo|sluice serve)\b')
SECONDS = 300

PRELUDE = r'''
set -euo pipefail -m
serve() { # PORT COMMAND
  stop_servers
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && { echo "port $1 is taken by another process"; exit 1; }
  eval "$2" >"$SCRATCH/server.log" 2>&1 </dev/null &
  echo "$!" >"$SCRATCH/server.pid"
  for _ in $(seq 1800); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
    kill -0 "$(cat "$SCRATCH/server.pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo 'the server did not start:'; cat "$SCRATCH/server.log"; exit 1
}
stop_servers() {
  [ -e "$SCRATCH/server.pid" ] || return 0
  kill -INT -- "-$(cat "$SCRATCH/server.pid")" 2>/dev/null || true
  while kill -0 -- "-$(cat "$SCRATCH/server.pid")" 2>/dev/null; do sleep 0.1; done
  rm "$SCRATCH/server.pid"
}
'''

SQL = '''
import sys, duckdb, importlib.resources
folder = importlib.resources.files('duckdb_extension_httpfs') / 'extensions' / f'v{duckdb.__version__}'
database = duckdb.connect()
database.load_extension(str(folder / 'httpfs.duckdb_extension'))
print(database.sql(sys.stdin.read()))
'''


def blocks(path):
    """(line number, language, text) of each fenced block."""
    text = (COPY / path).read_text()
    for match in re.finditer(r'^```(\w+)\n(.*?)^```$', text, re.M | re.S):
        yield text.count('\n', 0, match.start()) + 1, match[1], match[2]


def docstring_commands(path):
    doc = ast.get_docstring(ast.parse((COPY / path).read_text()), clean=False) or ''  # as it stands: commands are indented
    return [line.strip() for line in doc.splitlines() if line.startswith('  ') and COMMAND.match(line.strip())]


def environment(text):
    # pandas 3 is not yet for Spark: the two have an environment of their own each, as their printed `pip install` says.
    folder = SPARK_BIN if 'spark' in text.lower() else PYTHON_BIN
    python_path = os.pathsep.join(str(COPY / 'examples' / name) for name in ('python', 'spark'))
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(('npm_', 'SLUICE_'))},
        'PATH': os.pathsep.join([str(folder), str(SCRATCH / 'npm' / 'bin'), os.environ['PATH']]),
        'PYTHONPATH': python_path,
        'SCRATCH': str(SCRATCH),
        'npm_config_prefix': str(SCRATCH / 'npm'),  # where `npm install --global` puts things
        'CURL_HOME': str(SCRATCH),  # its .curlrc lets curl fail where the server answers with a problem
        'PIP_DISABLE_PIP_VERSION_CHECK': '1',
        'SPARK_LOCAL_IP': '127.0.0.1',
    }


def shell(text):
    """The block as one script, servers in the background."""
    lines = []
    for line in text.splitlines():
        if not SERVER.search(line) or line.lstrip().startswith('#'):
            lines.append(line)
            continue
        ports = re.findall(r'--(?:flight-)?port (\d+)', line)
        lines.append('serve %s %s' % (ports[-1] if ports else '9180', quoted(line)))
    return PRELUDE + '\n'.join(lines) + '\n'


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def run(where, language, text):
    """Runs a block; gives its output, or ends the whole."""
    begun = time.monotonic()
    if language in ('sh', 'bash'):
        command, given = ['bash', '-c', shell(text)], None
    elif language == 'python':
        command, given = ['python', '-'], text
    elif language == 'sql':
        command, given = ['python', '-c', SQL], text
    elif language == 'ts':
        (COPY / 'printed.ts').write_text(text)
        command, given = ['npx', 'tsx', 'printed.ts'], None
    else:
        sys.exit(f'{where}: a block of {language}, which this script cannot run')
    path = SCRATCH / 'output'
    with open(path, 'w') as output:  # a file, since a server that stays would keep a pipe open
        env = environment(text)
        process = subprocess.Popen(command, cwd=COPY, env=env, stdin=subprocess.PIPE, stdout=output, stderr=output, start_new_session=True)
        try:
            process.communicate(given and given.encode(), timeout=SECONDS)
            ended = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            ended = f'no end within {SECONDS} s'
    if ended != 0:
        print(path.read_text(errors='replace')[-5000:])
        sys.exit(f'{where}: exit code {ended}:\n{textwrap.indent(text, "    ")}')
    print(f'{where}: {first_line(text)} ({time.monotonic() - begun:.1f} s)', flush=True)


def first_line(text):
    return next(line for line in text.splitlines() if line.strip() and not line.startswith('#'))[:100]


def without_skipped(path, text, met):
    """The lines that are to run."""
    kept = []
    for line in text.splitlines():
        reason = next((entry for entry in SKIPPED if entry[0] == path and line.strip().startswith(entry[1])), None)
        if reason is None:
            kept.append(line)
        else:
            met.add(reason)
            print(f'{path}: skipped: {line.strip()}: {reason[2]}')
    return '\n'.join(kept)


def demo_commands():
    """What the demo prints to try."""
    text = (SCRATCH / 'server.log').read_text()
    return re.findall(r'^  [a-z][^:\n]*: +((?:curl|python3) .*)$', text, re.M | re.I)


def main():
    (SCRATCH / '.curlrc').write_text('fail-with-body\n')
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('terminated'))  # the server has to be stopped then too
    met, seen, count = set(), set(), 0
    try:
        for path in DOCUMENTS:
            for line, language, text in blocks(path):
                text = without_skipped(path, text, met)
                if not text.strip():
                    continue
                run(f'{path}:{line}', language, text)
                seen.update(command.split('#')[0].strip() for command in text.splitlines())
                count += 1
                if 'npm run demo' in text:
                    tries = demo_commands()
                    assert len(tries) >= 8, f'the demo printed {len(tries)} commands'
                    for command in tries:
                        run('npm run demo', 'sh', command)
                        count += 1
        for file in sorted((COPY / 'examples').rglob('*.py')):
            path = str(file.relative_to(COPY))
            for command in docstring_commands(path):
                if command.split('#')[0].strip() in seen:
                    continue
                if without_skipped(path, command, met):
                    run(path, 'sh', command)
                    count += 1
    finally:
        subprocess.run(['bash', '-c', PRELUDE + 'stop_servers'], env=environment(''), check=False)
    missed = set(SKIPPED) - met
    if missed:
        sys.exit(f'nothing to skip: {missed}')
    print(f'{count} blocks and commands run as printed, {len(met)} skipped')


main()
