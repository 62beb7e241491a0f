import { readFile, writeFile } from 'node:fs/promises'
import {
  type CallFlags,
  type CommandKit,
  DEFAULT_LIMITS,
  type ErrorCode,
  type FeatureOptions,
  type HubOptions,
  ToolError,
} from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import { createPrincipalLookup } from '@tool-hub/server/auth'
import { Option } from 'commander'
import { EXIT, interrupt, interruptSignal, UsageError } from './exit.ts'
import { readCliConfig } from './hub/config.ts'
import { openDataStore } from './hub/data-store.ts'
import { withCurrentRoot } from './hub/folders.ts'
import { withHub, withHubHere, withHubOf } from './hub/with-hub.ts'
import { readJsonLines } from './input/json-lines.ts'
import { addCommand, addConfigOption, parseCount, parseTime } from './input/options.ts'
import { parseJsonInput, readStdin } from './input/read-arguments.ts'
import { callerName } from './invocation.ts'
import { narrate } from './output/describe-request.ts'
import { countNoun, minuteOf, table } from './output/layout.ts'
import { canAsk, print, printBytes, printJson, printJsonLine, printTable, readerGone, say } from './output/print.ts'
import { sayError } from './report-error.ts'

/** What the command line provides to the commands of features. */
export const commandKit: CommandKit = {
  // Other options of the same name as those of calls, such as --run, are filters here.
  withHub: ({ config, root }, use) => withHub({ config, root }, use),
  withServiceHub,
  withCalls,
  addCommand,
  addConfigOption,
  choice(flags, description, choices, defaultValue) {
    const option = new Option(flags, description).choices(choices)
    return defaultValue === undefined ? option : option.default(defaultValue)
  },
  parseCount,
  parseTime,
  print,
  printBytes,
  printJson,
  printJsonLine,
  say,
  sayError,
  table,
  printTable,
  minuteOf,
  countNoun,
  usageError: (message, hint) => new UsageError(message, hint),
  callerName,
  canAsk,
  async select({ message, options, initialValue }) {
    const prompts = await import('@clack/prompts')
    const choice = await prompts.select<string>({
      message,
      options: options.map(({ value, label }) => ({ value, label })),
      initialValue,
      showInstructions: false,
      ...place(),
    })
    if (prompts.isCancel(choice)) return stop()
    return options.find(({ value }) => value === choice)!.value
  },
  async askText(question) {
    const prompts = await import('@clack/prompts')
    const text = await prompts.text({ ...question, ...place() })
    return prompts.isCancel(text) ? stop() : text
  },
  writeNewFile,
  readStdin,
  readTextFile,
  parseJson: parseJsonInput,
  exitCodes: EXIT,
  readJsonLines: (file) => readJsonLines(file, interruptSignal()),
  interruptSignal,
  readerGone,
}

function place() {
  return { output: process.stderr, signal: interruptSignal() }
}

/** The prompt handles Ctrl-C, which ends the whole command and not only the question. */
function stop(): undefined {
  interrupt()
}

async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    const why = errnoOf(error) === 'EEXIST' ? 'is there already' : `cannot be written (${errnoOf(error)})`
    throw new UsageError(`${file} ${why}.`, 'Name another file.')
  }
}

async function readTextFile(file: string): Promise<string> {
  if (file === '-') return readStdin()
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = errnoOf(error)
    const why = code === 'ENOENT' ? 'does not exist' : code === 'EISDIR' ? 'is a folder' : `cannot be read (${code})`
    throw new UsageError(`${file} ${why}.`, 'Name a file, or - for stdin.')
  }
}

/** What they say is wrong with the words of the command line. */
const OF_WORDS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INPUT_SCHEMA_INVALID',
  'NOT_FOUND',
  'CONFLICT',
  'TOOL_NOT_FOUND',
  'BUDGET_EXCEEDED',
])

/** The hub of the data folder as the service has it: work of others that is done here looks their tokens up. */
async function withServiceHub<T>(
  flags: { readonly config?: string },
  use: (hub: Hub, options: HubOptions) => Promise<T>,
): Promise<T> {
  const { options } = await readCliConfig(flags)
  const store = openDataStore(options)
  const principals = createPrincipalLookup(store, Date.now)
  const whole = { caller: callerName(), ...options, store, principals }
  try {
    return await withHubOf(whole, (hub) => use(hub, whole))
  } catch (error) {
    if (!ToolError.is(error) || !OF_WORDS.has(error.code)) throw error
    throw new UsageError(error.message, error.fix.hint)
  } finally {
    await store.close()
  }
}

async function withCalls<T>(
  { wait, ...flags }: CallFlags,
  sections: FeatureOptions,
  use: (call: (tool: string, input: unknown) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  if (flags.yes && wait !== undefined) throw new UsageError('--yes and --wait exclude each other.', 'Give one of them.')
  const waitMs = wait === undefined ? undefined : parseTime('--wait', wait)
  const useHub = (hub: Hub, options: HubOptions) => {
    narrate(hub, options, flags)
    return use(async (tool, input) => {
      const { error, data } = await hub.callDynamic(tool, input, { signal: interruptSignal() })
      if (error) throw new ToolError(error.code, error.message, { fix: error.fix, data })
      return data
    })
  }
  return withHubHere(flags, useHub, (options) => {
    const { approve, ...chosen } = withCurrentRoot(withSections(options, sections))
    // Who waits for somebody else waits in the store; a command that does not wait leaves its requests there.
    if (approve && waitMs === undefined) return { ...chosen, approve }
    const timeoutMs = waitMs === undefined ? options.approvals?.timeoutMs : waitMs + DEFAULT_LIMITS.approvalMs
    return {
      ...chosen,
      approvals: { ...options.approvals, inbox: true, ...(timeoutMs !== undefined && { timeoutMs }) },
    }
  })
}

function withSections(options: HubOptions, sections: FeatureOptions): HubOptions {
  const merged = Object.entries(sections).map(([name, section]) => [
    name,
    { ...options[name as keyof FeatureOptions], ...section },
  ])
  return { ...options, ...Object.fromEntries(merged) }
}
