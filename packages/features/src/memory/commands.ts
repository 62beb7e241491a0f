import type { CommandBuilder, CommandKit } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import { describeMemoryReview } from './commands-review.ts'
import { MEMORY_SCOPES, type MemoryNote, type MemoryScope } from './types.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly scope?: MemoryScope
  readonly key?: string
  readonly tag?: string
  readonly limit?: string
}

const EXAMPLES = `
New notes of agents wait in the archive of their run until you review them: tool-hub memory review.

Examples:
  tool-hub memory
  tool-hub memory review
  tool-hub memory search "staging server" --scope shared
  tool-hub memory show note-4f1d2a9b8c7e6f50
  tool-hub memory forget note-4f1d2a9b8c7e6f50
  tool-hub memory export > memory.jsonl`

/** `memory`: what agents remember. */
export function memoryCommand(command: CommandBuilder, kit: CommandKit): void {
  const { addConfigOption } = kit
  const addFilters = (to: CommandBuilder) =>
    addConfigOption(to)
      .addOption(kit.choice('--scope <scope>', 'Only notes of this scope', MEMORY_SCOPES))
      .option('--key <key>', 'Only notes of one run, session or agent: agent:token:ci')
      .option('--tag <tag>', 'Only notes with this tag')
      .option('--limit <number>', 'Maximum number of notes', '50')
  command.description('Review, search and manage the notes of agents.')
  addFilters(kit.addDefaultList(command, 'List the notes, newest first')).action((flags: Flags) =>
    list(kit, undefined, flags),
  )
  command.addHelpText('after', EXAMPLES)
  describeMemoryReview(command.command('review').summary('Review notes that wait'), kit)
  addFilters(command.command('search'))
    .summary('Find notes by words')
    .description('Find notes by words in all scopes, as agents do; best first.')
    .argument('<words...>', 'Words to search for')
    .action((words: string[], flags: Flags) => list(kit, words.join(' '), flags))
  addConfigOption(command.command('show'))
    .summary('Show a note and its origin')
    .description('Show the full text of a note and its origin.')
    .argument('<id>', 'Id of the note')
    .action((id: string, flags: Flags) => show(kit, id, flags))
  addConfigOption(command.command('forget'))
    .summary('Delete a note')
    .description('Delete a note permanently.')
    .argument('<id>', 'Id of the note')
    .action((id: string, flags: Flags) => forget(kit, id, flags))
  describeMemoryExport(command.command('export').summary('Print all notes as JSON lines'), kit)
  describeMemoryImport(command.command('import').summary('Import notes from a file of JSON lines'), kit)
}

async function list(kit: CommandKit, query: string | undefined, flags: Flags): Promise<void> {
  const { scope, key, tag } = flags
  const limit = readLimit(kit, flags)
  const filter = { ...(scope && { scope }), ...(key && { key }), ...(tag && { tags: [tag] }), limit }
  const { notes } = await kit.withHub(flags, ({ memory }) => memory.search({ ...filter, ...(query && { query }) }))
  if (flags.json) return kit.printJson(notes)
  if (notes.length === 0) return kit.say(query === undefined ? 'There are no notes.' : 'No matching notes.')
  await kit.print(kit.table(notes.map(row)))
}

async function show(kit: CommandKit, id: string, flags: Flags): Promise<void> {
  const note = await kit.withHub(flags, ({ memory }) => memory.find(id))
  if (!note) throw unknownNote(kit, id)
  await (flags.json ? kit.printJson(note) : kit.print(describeNote(note)))
}

async function forget(kit: CommandKit, id: string, flags: Flags): Promise<void> {
  const isGone = await kit.withHub(flags, ({ memory }) => memory.forget(id, { by: kit.callerName() }))
  if (!isGone) throw unknownNote(kit, id)
  await (flags.json ? kit.printJson({ forgotten: id }) : kit.print(`Forgot ${id}.`))
}

/** A whole number from 1 to 500. */
function readLimit({ usageError }: CommandKit, { limit = '50' }: Flags): number {
  const number = Number(limit)
  if (Number.isInteger(number) && number >= 1 && number <= 500) return number
  throw usageError(`--limit ${limit} is not a number of notes.`, 'Use a whole number from 1 to 500.')
}

function row({ id, key, content, tags, createdAt, origin }: MemoryNote): string[] {
  const doubt = origin.tainted && !origin.reviewed ? 'unreviewed' : ''
  return [id, key, dateOf(createdAt), doubt, tags.join(','), content.slice(0, 200)]
}

function describeNote({ id, key, content, tags, createdAt, updatedAt, origin }: MemoryNote): string {
  const facts = Object.entries({
    scope: key,
    tags: tags.join(', '),
    written: dateOf(createdAt),
    changed: updatedAt === createdAt ? '' : dateOf(updatedAt),
    run: origin.run,
    call: origin.callId,
    by: origin.principal ?? origin.caller,
    promoted: origin.promotedBy && `by ${origin.promotedBy}`,
    imported: origin.importedBy && `by ${origin.importedBy}`,
    label: origin.tainted ? `untrusted, ${origin.reviewed ? 'reviewed' : 'not reviewed'}` : '',
  })
  const lines = facts.flatMap(([name, value]) => (value ? [`  ${name.padEnd(9)} ${escapeLine(value)}`] : []))
  return escapeText([id, ...lines, '', content].join('\n'))
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

function unknownNote({ usageError }: CommandKit, id: string): Error {
  return usageError(`Note ${JSON.stringify(id.slice(0, 100))} not found.`, 'List the notes with tool-hub memory.')
}

interface TransferFlags {
  readonly config?: string
  readonly json?: boolean
  readonly scope?: MemoryScope
  readonly trusted?: boolean
}

const MAX_SHOWN = 20

/** `memory export`: all notes on stdout. */
function describeMemoryExport(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Print all notes as JSON lines, the format of tool-hub memory import.')
    .addOption(kit.choice('--scope <scope>', 'Only notes of this scope', MEMORY_SCOPES))
    .addHelpText('after', '\nExamples:\n  tool-hub memory export > memory.jsonl')
    .action((flags: TransferFlags) => exportNotes(kit, flags))
}

/** `memory import`: notes from a file. */
function describeMemoryImport(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description(
      'Import notes from a file of JSON lines. They count as untrusted content until you promote them, unless you use --trusted.',
    )
    .argument('<file>', 'File of JSON lines, or - for stdin')
    .option('--trusted', 'Trust the origins in the file, for example of your own export')
    .addHelpText('after', '\nExamples:\n  tool-hub memory import memory.jsonl --trusted')
    .action((file: string, flags: TransferFlags) => importNotes(kit, file, flags))
}

async function exportNotes(kit: CommandKit, { scope, ...flags }: TransferFlags): Promise<void> {
  await kit.withHub(flags, async ({ memory }) => {
    for await (const line of await memory.export(scope ? { scope } : {})) {
      if (kit.readerGone.aborted) return
      await kit.print(line)
    }
  })
}

async function importNotes(kit: CommandKit, file: string, flags: TransferFlags): Promise<void> {
  const { trusted = false } = flags
  const done = await kit.withHub(flags, ({ memory }) =>
    memory.import(linesOf(kit, file), { by: kit.callerName(), trusted }),
  )
  if (done.bad.length > 0) process.exitCode = 1
  if (flags.json) return kit.printJson(done)
  for (const { line, why } of done.bad.slice(0, MAX_SHOWN)) kit.say(`${escapeLine(file)}:${line} ${escapeLine(why)}`)
  if (done.bad.length > MAX_SHOWN) kit.say(`… and ${done.bad.length - MAX_SHOWN} more lines.`)
  await kit.print(
    `Imported ${done.imported} notes; ${done.known} existed already; ${done.bad.length} lines are invalid.`,
  )
}

/** The lines of the file; invalid ones stay invalid, so that the import reports them. */
async function* linesOf(kit: CommandKit, file: string): AsyncGenerator<string> {
  let number = 0
  for await (const line of kit.readJsonLines(file)) {
    // `readJsonLines` skips blank lines, but they count for line numbers.
    while (++number < line.number) yield ''
    yield 'value' in line ? JSON.stringify(line.value) : line.problem
  }
}
