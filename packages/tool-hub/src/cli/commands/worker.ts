import { parseDuration } from '@tool-hub/core/config'
import { VERSION } from '@tool-hub/core/lib'
import type { Command } from 'commander'
import { EXIT, endInterrupted, interruptSignal, UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { callerName } from '../invocation.ts'
import { addLogOptions, type LogFlags, logEntry, openLog } from '../output/log.ts'
import { print, printJsonLine, style } from '../output/print.ts'

interface Flags extends LogFlags {
  readonly config?: string
  readonly labels?: string
  readonly concurrency?: string
  readonly drain?: string
  readonly metrics?: string
  readonly json?: boolean
}

const DEFAULT_DRAIN_MS = 30_000

const EXAMPLES = `
A worker executes calls that services with the same store send to it: calls of tools with where: worker:gpu, and calls that
a rule with limit: { runOn: worker:gpu } allows. It needs the config, the tools and the PostgreSQL store of the services, and
takes only calls all of whose labels it has. See docs/reference/workers.md.

SIGTERM or Ctrl-C drains the worker: it takes no more calls, finishes the running ones, and exits with 0. Calls that take
longer than --drain are stopped, and it exits with 1. A second signal ends it immediately.

Examples:
  tool-hub worker --labels gpu,eu --concurrency 4
  tool-hub worker --config /etc/tool-hub/tool-hub.yaml
  tool-hub worker --drain 5m
  tool-hub worker --metrics 127.0.0.1:9464  Prometheus reads http://127.0.0.1:9464/metrics
  tool-hub worker --json                    one line of JSON with id and labels, for scripts`

/** `worker`: executes calls of services, until it is interrupted. */
export function describeWorker(command: Command): void {
  addLogOptions(
    command
      .description('Run a worker: it executes calls of services that share its PostgreSQL store.')
      .option('--config <file>', 'Config file. Default: the nearest tool-hub.yaml, here or above')
      .option('--labels <list>', 'Labels of this worker, separated by commas, instead of worker.labels. Default: none')
      .option(
        '--concurrency <number>',
        'How many calls it executes concurrently, instead of worker.concurrency. Default: 4',
      )
      .option(
        '--drain <time>',
        'How long running calls may continue after SIGTERM, instead of worker.drain. Default: 30s',
      )
      .option(
        '--metrics <address>',
        'Address and port for /metrics and /healthz, without a token, instead of worker.metrics. Default: nowhere',
      ),
    'worker',
  )
    .addHelpText('after', EXAMPLES)
    .action(work)
}

async function work(flags: Flags): Promise<void> {
  const { file, options, worker: section, warnings } = await readCliConfig({ ...flags, isQuiet: true })
  const { startWorker } = await import('@tool-hub/server')
  const { drainMs = DEFAULT_DRAIN_MS, log: logOptions, ...given } = { ...section, ...readFlags(flags) }
  const log = openLog(logOptions, flags)
  for (const warning of warnings) log.warn('config-warning', warning)
  const signal = interruptSignal()
  const started = await startWorker(
    { ...options, caller: options.caller ?? callerName() },
    {
      ...given,
      onLog({ level, message, tool, callId }) {
        // The end of a call is in the log of the service that has its run, too.
        log.write(logEntry(level === 'info' ? 'debug' : level, 'job', message, { tool, callId }))
      },
    },
  )
  const { metricsUrl } = started
  const { id, labels } = started.worker
  const fields = { process: id, version: VERSION, labels: labels.join(',') }
  log.write(logEntry('info', 'worker-started', `Worker ${id} takes calls.`, fields))
  await (flags.json ? printJsonLine({ id, labels, metricsUrl }) : greet(id, labels, file))
  if (metricsUrl !== undefined && !flags.json) await print(`Its metrics are at ${metricsUrl}.`)
  await untilAborted(signal)
  log.write(logEntry('info', 'worker-draining', 'The worker takes no more calls; those under way may finish.'))
  const isDrained = await started.drain({ timeoutMs: drainMs })
  log.write(
    isDrained
      ? logEntry('info', 'worker-stopped', 'The worker has ended.')
      : logEntry('warn', 'worker-stopped', 'The worker has ended, and has stopped calls that took too long.'),
  )
  // A signal is the normal end of a worker.
  endInterrupted(isDrained ? EXIT.ok : EXIT.failed)
}

async function greet(id: string, labels: readonly string[], file: string | undefined): Promise<void> {
  const which = labels.length === 0 ? 'without labels' : `with the labels ${labels.join(', ')}`
  await print(`${style('bold', `tool-hub ${VERSION}`)} worker ${id} ${which} is ready (config: ${file ?? 'none'}).`)
  await print('Ctrl-C drains it.')
}

function readFlags({ labels, concurrency, drain, metrics }: Flags) {
  return {
    ...(labels !== undefined && { labels: labels === '' ? [] : labels.split(',').map((label) => label.trim()) }),
    ...(concurrency !== undefined && { concurrency: countOf(concurrency) }),
    ...(drain !== undefined && { drainMs: parseDuration(drain) }),
    ...(metrics !== undefined && { metrics }),
  }
}

function countOf(text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count >= 1) return count
  throw new UsageError(
    `--concurrency takes a number of calls, not ${JSON.stringify(text)}.`,
    'Use a whole number, 1 or more.',
  )
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
}
