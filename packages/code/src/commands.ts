import { type CallFlags, type CommandFlags, type CommandKit, type FeatureCommand, ToolError } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import { addSavedCommands } from './commands-saved.ts'
import { scriptStatusSchema } from './schema.ts'
import { describeCalls } from './tools/show-script.ts'
import type { ScriptDetail, ScriptEntry, ScriptResult } from './types.ts'

type RunFlags = CallFlags & { readonly input?: string; readonly timeout?: string; readonly calls?: string }
type WaitFlags = CallFlags & { readonly timeout?: string }
type ListFlags = CommandFlags & { readonly run?: string; readonly status?: string; readonly limit: string }

/** Longer than anybody sits at a terminal, and the longest time that a timer takes. */
const AS_LONG_AS_IT_TAKES_MS = 2_147_483_647
const MAX_WAIT_MS = 600_000

const EXAMPLES = `
Examples:
  tool-hub code run count.js
  tool-hub code run report.ts --input '{"folder":"."}' --calls 20
  echo 'return (await tools.core.fs.listDir({ path: "." })).entries.length' | tool-hub code run -
  tool-hub code
  tool-hub code show ID
  tool-hub code wait ID
  tool-hub code save report --file report.ts --description "Count the files of a folder."
  tool-hub call script/report`

const RUN_HELP = `
The script is JavaScript or TypeScript with top-level await: await tools.core.fs.readText({ path: 'a.txt' }). Its value is
the value of its last expression, or what it returns; it is printed as JSON. What it logs goes to stderr. Each of its calls
is decided by policy like any other. Without a terminal, a call that needs approval suspends the script.

Examples:
  tool-hub code run count.js
  tool-hub code run report.ts --input @request.json --timeout 10s
  tool-hub code run deploy.ts --wait 5m`

const ID = { '<id>': 'Id of the script' }
const STATES = scriptStatusSchema.options.join(', ')

/** The command `tool-hub code`. */
export const codeCommand: FeatureCommand = (command, kit) => {
  const { addCommand } = kit
  command.description('Run scripts that call tools, continue suspended ones, and save scripts as tools.')
  addCommand(command, {
    name: 'list',
    summary: 'List the scripts that were suspended at some time, newest first',
    options: (to) =>
      to
        .option('--run <id>', 'Only scripts of this run')
        .option('--status <status>', `Only scripts in this state: ${STATES}`)
        .option('--limit <n>', 'Maximum number', '100'),
    run: (flags: ListFlags) => list(kit, flags),
    show: (scripts) =>
      kit.printTable(
        scripts.map((script) => row(kit, script)),
        'No script has waited for an approval. Run one with tool-hub code run FILE.',
      ),
  })
  command.addHelpText('after', EXAMPLES)
  addCommand(command, {
    name: 'run',
    summary: 'Run a script',
    description: 'Run a script that calls tools. Prints its value as JSON, or with --json its whole result.',
    makesCalls: true,
    words: { '<file>': 'The script, or - for stdin' },
    options: (to) =>
      to
        .option('--input <json>', 'JSON value that the script reads as input, or @FILE. Default: null')
        .option('--timeout <duration>', 'Time limit without waiting for people, if shorter than the one of the config')
        .option('--calls <n>', 'Maximum number of calls, if smaller than the one of the config'),
    help: RUN_HELP,
    run: (flags: RunFlags, file: string) => run(kit, file, flags),
    show: (result, flags) => report(kit, result, flags),
  })
  addCommand(command, {
    name: 'wait',
    summary: 'Continue a suspended script',
    description: 'Wait until somebody has answered what a suspended script waits for, and let it continue.',
    words: ID,
    options: (to) =>
      to
        .option('--timeout <duration>', 'How long to wait for the answers, up to 10m', '30s')
        .option('--root <dir>', 'Folder that tools may read and write')
        .option('--yes', 'Approve every further call that needs approval; recorded as "cli --yes"'),
    help: '\nExamples:\n  tool-hub code wait ID\n  tool-hub code wait ID --timeout 5m',
    run: (flags: WaitFlags, id: string) => wait(kit, id, flags),
    show: (result, flags) => report(kit, result, flags),
  })
  addCommand(command, {
    name: 'cancel',
    summary: 'End a suspended script',
    description: 'End a suspended script. What its calls have done stays.',
    words: ID,
    help: '\nExamples:\n  tool-hub code cancel ID',
    async run(flags: CommandFlags, id: string) {
      const { run } = await findOwn(kit, id, flags)
      const result = await kit.withCalls({ ...flags, run }, {}, (call) => call('core/code.cancel', { script: id }))
      return result as ScriptResult
    },
    show: ({ status }, _, id) => (status === 'cancelled' ? `Cancelled ${id}.` : `${id} had ended: ${status}.`),
  })
  addCommand(command, {
    name: 'show',
    summary: 'Show a script',
    description: 'Show a script that was suspended at some time: its source, its calls, and what it waits for.',
    words: ID,
    help: '\nExamples:\n  tool-hub code show ID',
    run: (flags: CommandFlags, id: string) => find(kit, id, flags),
    async show(script, flags) {
      await kit.print(describe(script))
      if (script.status === 'suspended') kit.say(`Continue with tool-hub code wait ${script.id}${configOption(flags)}`)
    },
  })
  kit
    .addConfigOption(command.command('types'))
    .summary('Print TypeScript declarations of the tools')
    .description('Print TypeScript declarations of the tools that scripts can call, for your editor.')
    .addHelpText('after', '\nExamples:\n  tool-hub code types > tools.d.ts')
    .action((flags: CommandFlags) => kit.withHub(flags, async (hub) => kit.print(await hub.code.declarations())))
  addSavedCommands(command, kit)
}

async function run(kit: CommandKit, file: string, { input, timeout, calls, ...flags }: RunFlags) {
  const request = {
    code: await kit.readTextFile(file),
    ...(input !== undefined && { input: await readInput(kit, input) }),
    ...(timeout !== undefined && { timeoutMs: kit.parseTime('--timeout', timeout) }),
    ...(calls !== undefined && { maxCalls: kit.parseCount('--calls', calls) }),
  }
  const result = await kit.withCalls(flags, { code: { suspendAfterMs: patience(kit, flags) } }, (call) =>
    resultOf(call('core/code.run', request)),
  )
  process.exitCode = exitCodeOf(kit, result)
  return result
}

async function wait(kit: CommandKit, id: string, { timeout = '30s', ...flags }: WaitFlags) {
  const timeoutMs = kit.parseTime('--timeout', timeout)
  if (timeoutMs > MAX_WAIT_MS) throw kit.usageError(`--timeout ${timeout} is too long.`, 'Give at most 10m.')
  const { waiting, run: runId } = await findOwn(kit, id, flags)
  for (const { approval, tool, line, state } of waiting)
    if (state === 'waiting')
      kit.say(`${tool}${placeOf(line)} waits: tool-hub approvals allow ${approval}${configOption(flags)}`)
  const sections = { code: { suspendAfterMs: patience(kit, flags) } }
  const result = await kit.withCalls({ ...flags, run: runId }, sections, (call) =>
    resultOf(call('core/code.wait', { script: id, timeoutMs })),
  )
  process.exitCode = exitCodeOf(kit, result)
  return result
}

function list(kit: CommandKit, { run, status, limit, ...flags }: ListFlags): Promise<readonly ScriptEntry[]> {
  const wanted = scriptStatusSchema.optional().safeParse(status)
  if (!wanted.success) throw kit.usageError(`Invalid status ${JSON.stringify(status)}.`, `Give one of ${STATES}.`)
  const filter = { limit: kit.parseCount('--limit', limit), run, status: wanted.data }
  return kit.withHub(flags, (hub) => hub.code.list(filter))
}

function describe({ id, status, run, caller, principal, sha256, source, calls, waiting }: ScriptDetail): string {
  const who = principal === undefined || principal === caller ? caller : `${principal} (${caller})`
  const lines = source.replace(/\n$/, '').split('\n')
  const width = String(lines.length).length
  return [
    `${id}  ${status}`,
    `run ${run}, by ${escapeLine(who)}`,
    `sha256 ${sha256}`,
    '',
    ...lines.map((line, at) => `${String(at + 1).padStart(width)}  ${escapeText(line)}`),
    '',
    escapeText(describeCalls(calls)),
    ...waiting.map(({ approval, tool, line, state }) => `${state}: ${tool}${placeOf(line)}  ${approval}`),
  ].join('\n')
}

/** The result of a script. The call of one that failed has it in its error. */
async function resultOf(calling: Promise<unknown>): Promise<ScriptResult> {
  try {
    return (await calling) as ScriptResult
  } catch (error) {
    if (ToolError.is(error) && error.data !== undefined) return error.data as ScriptResult
    throw error
  }
}

/** Prints the outcome of a script. */
async function report(kit: CommandKit, result: ScriptResult, flags: CommandFlags): Promise<void> {
  const { script, status, kind, message, line, column, hint, calls } = result
  if (status === 'completed') return kit.printJson(result.value ?? null)
  if (status === 'failed') {
    kit.sayError(`${kind}${placeOf(line, column)}: ${message}`, hint)
    return kit.say(escapeText(describeCalls(calls)))
  }
  if (status === 'cancelled') return kit.say(`Script ${script} is cancelled.`)
  if (status === 'running') return kit.say(`Script ${script} still runs in another process.`)
  kit.say(`Script ${script} is suspended until somebody answers. What it has done is not done again.`)
  kit.say(`Then continue with:\n  tool-hub code wait ${script}${configOption(flags)}`)
}

function exitCodeOf({ exitCodes }: CommandKit, { status, kind }: ScriptResult): number {
  if (status === 'completed') return exitCodes.ok
  if (status === 'suspended') return exitCodes.unapproved
  return kind === 'POLICY_DENIED' || kind === 'APPROVAL_DENIED' ? exitCodes.denied : exitCodes.failed
}

/** How long a script waits in place: for the person at the terminal, or as long as `--wait` says. */
function patience(kit: CommandKit, { wait: duration, yes }: CallFlags): number {
  if (duration !== undefined) return kit.parseTime('--wait', duration)
  return yes || kit.canAsk() ? AS_LONG_AS_IT_TAKES_MS : 0
}

async function readInput(kit: CommandKit, text: string): Promise<unknown> {
  return text.startsWith('@')
    ? kit.parseJson(await kit.readTextFile(text.slice(1)), text.slice(1))
    : kit.parseJson(text, '--input')
}

async function find(kit: CommandKit, id: string, flags: CallFlags): Promise<ScriptDetail> {
  const found = await kit.withHub(flags, (hub) => hub.code.find(id))
  if (found) return found
  throw kit.usageError(
    `Suspended script ${JSON.stringify(id)} not found.`,
    'List them with tool-hub code. Only scripts that waited for an approval are kept.',
  )
}

/** A script that was started here. Those of others continue with their rights, which only they have. */
async function findOwn(kit: CommandKit, id: string, flags: CallFlags): Promise<ScriptDetail> {
  const found = await find(kit, id, flags)
  if (found.principal === undefined) return found
  throw kit.usageError(
    `Script ${id} belongs to ${found.principal}.`,
    'It continues when that caller calls core/code.wait, with its own rights.',
  )
}

function row(kit: CommandKit, script: ScriptEntry): string[] {
  const { id, status, run, caller, principal, approvals, updatedAt } = script
  const waiting = approvals.length === 0 ? '' : `${approvals.length} waiting`
  return [id, status, waiting, kit.minuteOf(updatedAt), run, principal ?? caller]
}

function placeOf(line: number | undefined, column?: number): string {
  if (line === undefined) return ''
  return ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
}

/** Another config may keep its scripts in another folder. */
function configOption({ config }: CommandFlags): string {
  if (config === undefined) return ''
  return ` --config ${/^[\w./-]+$/.test(config) ? config : `'${config.replaceAll("'", "'\\''")}'`}`
}
