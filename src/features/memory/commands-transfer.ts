import { type Command, Option } from 'commander'
import type { CommandKit } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { MEMORY_SCOPES, type MemoryScope } from './types.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly scope?: MemoryScope
  readonly trusted?: boolean
}

const MAX_SHOWN = 20

/** `memory export`: all notes on stdout. */
export function describeMemoryExport(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Print all notes as JSON lines, which tool-hub memory import takes.')
    .addOption(new Option('--scope <scope>', 'Only of this scope').choices([...MEMORY_SCOPES]))
    .addHelpText('after', '\nExamples:\n  tool-hub memory export > memory.jsonl')
    .action((flags: Flags) => exportNotes(kit, flags))
}

/** `memory import`: notes from a file. */
export function describeMemoryImport(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description(
      'Take notes from a file of JSON lines. They count as content from outside until you promote each, unless you trust the file.',
    )
    .argument('<file>', 'File of JSON lines, or - for stdin')
    .option('--trusted', 'Believe what the file says of its notes, as for an export of your own')
    .addHelpText('after', '\nExamples:\n  tool-hub memory import memory.jsonl --trusted')
    .action((file: string, flags: Flags) => importNotes(kit, file, flags))
}

async function exportNotes(kit: CommandKit, { scope, ...flags }: Flags): Promise<void> {
  await kit.withHub(flags, async ({ memory }) => {
    for await (const line of await memory.export(scope ? { scope } : {})) {
      if (kit.readerGone.aborted) return
      await kit.print(line)
    }
  })
}

async function importNotes(kit: CommandKit, file: string, flags: Flags): Promise<void> {
  const { trusted = false } = flags
  const done = await kit.withHub(flags, ({ memory }) =>
    memory.import(linesOf(kit, file), { by: kit.callerName(), trusted }),
  )
  if (done.bad.length > 0) process.exitCode = 1
  if (flags.json) return kit.printJson(done)
  for (const { line, why } of done.bad.slice(0, MAX_SHOWN)) kit.say(`${escapeLine(file)}:${line} ${escapeLine(why)}`)
  if (done.bad.length > MAX_SHOWN) kit.say(`… and ${done.bad.length - MAX_SHOWN} more lines.`)
  await kit.print(
    `Imported ${done.imported} notes; ${done.known} were there already; ${done.bad.length} lines do not fit.`,
  )
}

/** The lines by their number; a line that cannot be read stays one that cannot. */
async function* linesOf(kit: CommandKit, file: string): AsyncGenerator<string> {
  let number = 0
  for await (const line of kit.readJsonLines(file)) {
    // Blank lines are passed over there, and count here.
    while (++number < line.number) yield ''
    yield 'value' in line ? JSON.stringify(line.value) : line.problem
  }
}
