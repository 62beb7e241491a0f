import { type Command, Option } from 'commander'
import { MEMORY_SCOPES, type MemoryNote, type MemoryScope } from '../../core/index.ts'
import { escapeLine, escapeText } from '../../lib/index.ts'
import { callerName } from '../hub/caller-name.ts'
import { withHub } from '../hub/with-hub.ts'
import { addDefaultList } from '../input/add-default-list.ts'
import { addConfigOption } from '../input/add-options.ts'
import { print, printJson, say } from '../output/print.ts'
import { table } from '../output/table.ts'
import { UsageError } from '../usage-error.ts'
import { describeMemoryReview } from './memory-review.ts'
import { describeMemoryExport, describeMemoryImport } from './memory-transfer.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly scope?: MemoryScope
  readonly key?: string
  readonly tag?: string
  readonly limit?: string
}

const EXAMPLES = `
What agents write waits in the archive of its run until you have looked: tool-hub memory review.

Examples:
  tool-hub memory
  tool-hub memory review
  tool-hub memory search "staging server" --scope shared
  tool-hub memory show note-4f1d2a9b8c7e6f50
  tool-hub memory forget note-4f1d2a9b8c7e6f50
  tool-hub memory export > memory.jsonl`

/** `memory`: what agents remember. */
export function describeMemory(command: Command): void {
  command.description('Look at what agents remember, and decide what they may.')
  addFilters(addDefaultList(command, 'List the notes, newest first')).action((flags: Flags) => list(undefined, flags))
  command.addHelpText('after', EXAMPLES)
  describeMemoryReview(command.command('review').summary('Decide on notes that wait'))
  addFilters(command.command('search'))
    .summary('Find notes by words')
    .description('Find notes by words, as agents do, in all scopes; the best first.')
    .argument('<words...>', 'What to look for')
    .action((words: string[], flags: Flags) => list(words.join(' '), flags))
  addConfigOption(command.command('show'))
    .summary('Show a note, and where it comes from')
    .description('Show a note with all its text and where it comes from.')
    .argument('<id>', 'Id of the note')
    .action(show)
  addConfigOption(command.command('forget'))
    .summary('Take a note away')
    .description('Take a note away for good.')
    .argument('<id>', 'Id of the note')
    .action(forget)
  describeMemoryExport(command.command('export').summary('Print all notes as JSON lines'))
  describeMemoryImport(command.command('import').summary('Take notes from a file of JSON lines'))
}

function addFilters(command: Command): Command {
  return addConfigOption(command)
    .addOption(new Option('--scope <scope>', 'Only of this scope').choices([...MEMORY_SCOPES]))
    .option('--key <key>', 'Only of one run, session or agent: agent:token:ci')
    .option('--tag <tag>', 'Only with this tag')
    .option('--limit <number>', 'How many at most', '50')
}

async function list(query: string | undefined, flags: Flags): Promise<void> {
  const { scope, key, tag } = flags
  const filter = { ...(scope && { scope }), ...(key && { key }), ...(tag && { tags: [tag] }), limit: readLimit(flags) }
  const { notes } = await withHub(flags, ({ memory }) => memory.search({ ...filter, ...(query && { query }) }))
  if (flags.json) return printJson(notes)
  if (notes.length === 0) return say(query === undefined ? 'There is no note.' : 'No note fits.')
  await print(table(notes.map(row)))
}

async function show(id: string, flags: Flags): Promise<void> {
  const note = await withHub(flags, ({ memory }) => memory.find(id))
  if (!note) throw unknownNote(id)
  await (flags.json ? printJson(note) : print(describeNote(note)))
}

async function forget(id: string, flags: Flags): Promise<void> {
  const isGone = await withHub(flags, ({ memory }) => memory.forget(id, { by: callerName() }))
  if (!isGone) throw unknownNote(id)
  await (flags.json ? printJson({ forgotten: id }) : print(`Forgot ${id}.`))
}

/** A whole number from 1 to 500. */
export function readLimit({ limit = '50' }: { readonly limit?: string }): number {
  const number = Number(limit)
  if (Number.isInteger(number) && number >= 1 && number <= 500) return number
  throw new UsageError(`--limit ${limit} is not a number of notes.`, 'Give a whole number from 1 to 500.')
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

function unknownNote(id: string): UsageError {
  return new UsageError(`There is no note ${JSON.stringify(id.slice(0, 100))}.`, 'List them with tool-hub memory.')
}
