import { type Command, Option } from 'commander'
import { MEMORY_SCOPES, type MemoryScope } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { callerName } from '../hub/caller-name.ts'
import { withHub } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { readJsonLines } from '../input/read-json-lines.ts'
import { interruptSignal } from '../interrupt.ts'
import { print, printJson, readerGone, say } from '../output/print.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly scope?: MemoryScope
  readonly trusted?: boolean
}

const MAX_SHOWN = 20

/** `memory export`: all notes on stdout. */
export function describeMemoryExport(command: Command): void {
  addConfigOption(command)
    .description('Print all notes as JSON lines, which tool-hub memory import takes.')
    .addOption(new Option('--scope <scope>', 'Only of this scope').choices([...MEMORY_SCOPES]))
    .addHelpText('after', '\nExamples:\n  tool-hub memory export > memory.jsonl')
    .action(exportNotes)
}

/** `memory import`: notes from a file. */
export function describeMemoryImport(command: Command): void {
  addConfigOption(command)
    .description(
      'Take notes from a file of JSON lines. They count as content from outside until you promote each, unless you trust the file.',
    )
    .argument('<file>', 'File of JSON lines, or - for stdin')
    .option('--trusted', 'Believe what the file says of its notes, as for an export of your own')
    .addHelpText('after', '\nExamples:\n  tool-hub memory import memory.jsonl --trusted')
    .action(importNotes)
}

async function exportNotes({ scope, ...flags }: Flags): Promise<void> {
  await withHub(flags, async ({ memory }) => {
    for await (const line of await memory.export(scope ? { scope } : {})) {
      if (readerGone.aborted) return
      await print(line)
    }
  })
}

async function importNotes(file: string, flags: Flags): Promise<void> {
  const { trusted = false } = flags
  const done = await withHub(flags, ({ memory }) => memory.import(linesOf(file), { by: callerName(), trusted }))
  if (done.bad.length > 0) process.exitCode = 1
  if (flags.json) return printJson(done)
  for (const { line, why } of done.bad.slice(0, MAX_SHOWN)) say(`${escapeLine(file)}:${line} ${escapeLine(why)}`)
  if (done.bad.length > MAX_SHOWN) say(`… and ${done.bad.length - MAX_SHOWN} more lines.`)
  await print(`Imported ${done.imported} notes; ${done.known} were there already; ${done.bad.length} lines do not fit.`)
}

/** The lines by their number; a line that cannot be read stays one that cannot. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let number = 0
  for await (const line of readJsonLines(file, interruptSignal())) {
    // Blank lines are passed over there, and count here.
    while (++number < line.number) yield ''
    yield 'value' in line ? JSON.stringify(line.value) : line.problem
  }
}
