import { writeFile } from 'node:fs/promises'
import type { CommandKit } from '../core/index.ts'
import { errnoOf } from '../lib/index.ts'
import { EXIT, interrupt, interruptSignal, UsageError } from './exit.ts'
import { withServiceHub } from './hub/service-hub.ts'
import { withHub } from './hub/with-hub.ts'
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
