// The command line: commands, flags and their help. What a command does is in the file of its name, loaded only when it runs.

import { availableParallelism } from 'node:os'
import { Command, CommanderError, Option } from 'commander'
import { COUNT_PARAMETERS, DIGEST_PARAMETERS, ROWS_PARAMETERS, SPLITS_PARAMETERS } from '../parameters.ts'
import { VERSION } from '../version.ts'
import { addDataFlags, addParameterFlags, logFormat } from './options.ts'
import { addRemoteFlags } from './remote-flags.ts'
import { reportError } from './report-error.ts'
import { addLimitFlags } from './serve-limits.ts'
import { addTokenFlags } from './token.ts'

/** Runs one command; sets the exit code and never throws. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = createProgram()
  // A closed pipe is told to whoever writes; unheard it would end the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) {
      // commander has written help, version or what is wrong with the command line.
      process.exitCode = error.exitCode === 0 ? 0 : 64
      return
    }
    reportError(error, logFormat(commandFlags(program)))
  }
}

export function createProgram(): Command {
  const program = new Command('sluice')
    .description("Exports Apache Cassandra tables in bulk: reads SSTables from disk and streams a table's live rows")
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(sluice --help shows what there is)')

  const serving = addDataFlags(program.command('serve').description('serve tables over HTTP'))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 takes a free one', '9180')
    .option('--flight-port <number>', 'port to serve Arrow Flight on too; 0 takes a free one')
    .option('--workers <number>', 'threads that scans run in; 0: none of their own', String(availableParallelism()))
    .option('--shutdown-timeout <seconds>', 'how long streams may go on after SIGINT or SIGTERM', '30')
  addTokenFlags(serving, 'token that clients have to bear, over HTTP and Flight')
  addLimitFlags(serving)
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .option('--demo', 'print requests to try on the sample data')
    .action(async (flags) => (await import('./serve.ts')).serve(flags))

  const exporting = addDataFlags(
    program.command('export').description('write the rows of a table to a file or a pipe'),
    false,
  )
    .argument('<keyspace.table>', 'table, named as in CQL')
    .option('-o, --output <file>', 'file to write, complete or not at all; - or nothing: standard output')
  addTokenFlags(addRemoteFlags(exporting), 'with --url: token that the server asks for')
  addParameterFlags(exporting, ROWS_PARAMETERS)
    .option('--stats', 'print counters of the scan to stderr, as JSON')
    .option('-q, --quiet', 'no warnings and no summary')
    .addOption(logFormatOption())
    .action(async (table, flags) => (await import('./export.ts')).exportTable(table, flags))

  addDataFlags(program.command('tables').description('list the tables there are'))
    .addOption(new Option('--format <format>').choices(['text', 'json']).default('text'))
    .addOption(logFormatOption())
    .action(async (flags) => (await import('./tables.ts')).listTables(flags))

  const splitting = addDataFlags(
    program.command('splits').description('cut a table into parts of about equal bytes, for many readers'),
  ).argument('<keyspace.table>', 'table, named as in CQL')
  addParameterFlags(splitting, SPLITS_PARAMETERS)
    .addOption(new Option('--format <format>').choices(['text', 'json']).default('text'))
    .addOption(logFormatOption())
    .action(async (table, flags) => (await import('./splits.ts')).showSplits(table, flags))

  const counting = addDataFlags(
    program.command('count').description('count rows, partitions and tombstones, without reading columns'),
  ).argument('<keyspace.table>', 'table, named as in CQL')
  addParameterFlags(counting, COUNT_PARAMETERS)
    .option('--stats', 'print counters of the scan to stderr, as JSON')
    .addOption(new Option('--format <format>').choices(['text', 'json']).default('text'))
    .addOption(logFormatOption())
    .action(async (table, flags) => (await import('./count.ts')).showCount(table, flags))

  const digesting = addDataFlags(
    program.command('digest').description('hash the rows of a table: equal for equal rows, whatever files hold them'),
  ).argument('<keyspace.table>', 'table, named as in CQL')
  addParameterFlags(digesting, DIGEST_PARAMETERS)
    .addOption(new Option('--format <format>').choices(['text', 'json']).default('text'))
    .addOption(logFormatOption())
    .action(async (table, flags) => (await import('./digest.ts')).showDigest(table, flags))

  program
    .command('inspect')
    .description('show what SSTables say of themselves: header, ranges, histograms, compression, largest partitions')
    .argument('<file...>', 'Data.db or another component of an SSTable')
    .addOption(new Option('--format <format>').choices(['text', 'json']).default('text'))
    .option('--largest <number>', 'how many of the largest partitions to list', '10')
    .addOption(logFormatOption())
    .action(async (files, flags) => (await import('./inspect.ts')).inspect(files, flags))

  addDataFlags(
    program.command('verify').description('read the SSTables of a table whole and check all that can be checked'),
  )
    .argument('<keyspace.table>', 'table, named as in CQL')
    .addOption(new Option('--format <format>').choices(['text', 'json']).default('text'))
    .addOption(logFormatOption())
    .action(async (table, flags) => (await import('./verify.ts')).verify(table, flags))

  addDataFlags(program.command('schema').description('show a table in CQL, with the Arrow type of each column'))
    .argument('<keyspace.table>', 'table, named as in CQL')
    .addOption(new Option('--format <format>').choices(['cql', 'json']).default('cql'))
    .addOption(logFormatOption())
    .action(async (table, flags) => (await import('./schema.ts')).showSchema(table, flags))

  return program
}

function logFormatOption(): Option {
  return new Option('--log-format <format>', 'form of errors and warnings').choices(['text', 'json']).default('text')
}

function logLevelOption(): Option {
  return new Option('--log-level <level>', 'least severe messages to log, as JSON lines on stderr')
    .choices(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
}

/** The flags of the command that ran. */
function commandFlags(program: Command): { logFormat?: string } {
  const name = program.args[0]
  return program.commands.find((command) => command.name() === name)?.opts() ?? {}
}
