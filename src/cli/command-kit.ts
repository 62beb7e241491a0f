import { writeFile } from 'node:fs/promises'
import { type CommandKit, type ErrorCode, type HubOptions, ToolError } from '../core/index.ts'
import type { Hub } from '../hub/index.ts'
import { errnoOf } from '../lib/index.ts'
import { createPrincipalLookup } from '../server/auth/index.ts'
import { EXIT, interrupt, interruptSignal, UsageError } from './exit.ts'
import { readCliConfig } from './hub/config.ts'
import { openDataStore } from './hub/data-store.ts'
import { withHub, withHubOf } from './hub/with-hub.ts'
import { readJsonLines } from './input/json-lines.ts'
import { addConfigOption, addDefaultList, parseCount, parseTime } from './input/options.ts'
import { parseJsonInput, readStdin } from './input/read-arguments.ts'
import { callerName } from './invocation.ts'
import { countNoun, table } from './output/layout.ts'
import { canAsk, print, printBytes, printJson, printJsonLine, readerGone, say } from './output/print.ts'
import { sayError } from './report-error.ts'

/** What the command line provides to the commands of features. */
export const commandKit: CommandKit = {
  withHub,
  withServiceHub,
  addConfigOption,
  addDefaultList,
  parseCount,
  parseTime,
  print,
  printBytes,
  printJson,
  printJsonLine,
  say,
  sayError,
  table,
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
