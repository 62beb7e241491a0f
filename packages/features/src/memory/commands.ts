import type { CommandBuilder, CommandFlags, CommandKit } from '@tool-hub/core'
import { escapeLine, escapeText, revealLine, revealText } from '@tool-hub/core/lib'
import { MEMORY_SCOPES, type MemoryCandidate, type MemoryNote, type MemoryScope, type MemoryService } from './types.ts'

type ListFlags = CommandFlags & {
  readonly scope?: MemoryScope
  readonly key?: string
  readonly tag?: string
  readonly limit?: string
}
type ImportFlags = CommandFlags & { readonly trusted?: boolean }

const MAX_SHOWN = 20
const ID = { '<id>': 'Id of the note' }

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
  const { addCommand, withHub } = kit
  const scope = (summary: string) => kit.choice('--scope <scope>', summary, MEMORY_SCOPES)
  const addFilters = (to: CommandBuilder) =>
    to
      .addOption(scope('Only notes of this scope'))
      .option('--key <key>', 'Only notes of one run, session or agent: agent:token:ci')
      .option('--tag <tag>', 'Only notes with this tag')
      .option('--limit <number>', 'Maximum number of notes', '50')
  const showNotes = (empty: string) => (notes: readonly MemoryNote[]) =>
    kit.printTable(
      notes.map((note) => row(kit, note)),
      empty,
    )
  command.description('Review, search and manage the notes of agents.')
  addCommand(command, {
    name: 'list',
    summary: 'List the notes, newest first',
    options: addFilters,
    run: (flags: ListFlags) => search(kit, flags),
    show: showNotes('There are no notes.'),
  })
  command.addHelpText('after', EXAMPLES)
  describeMemoryReview(command, kit)
  addCommand(command, {
    name: 'search',
    summary: 'Find notes by words',
    description: 'Find notes by words in all scopes, as agents do; best first.',
    words: { '<words...>': 'Words to search for' },
    options: addFilters,
    run: (flags: ListFlags, words: string[]) => search(kit, flags, words.join(' ')),
    show: showNotes('No matching notes.'),
  })
  addCommand(command, {
    name: 'show',
    summary: 'Show a note and its origin',
    description: 'Show the full text of a note and its origin.',
    words: ID,
    async run(flags: CommandFlags, id: string) {
      const note = await withHub(flags, ({ memory }) => memory.find(id))
      return note ?? refuseUnknown(kit, id)
    },
    show: (note) => describeNote(kit, note),
  })
  addCommand(command, {
    name: 'forget',
    summary: 'Delete a note',
    description: 'Delete a note permanently.',
    words: ID,
    async run(flags: CommandFlags, id: string) {
      const isGone = await withHub(flags, ({ memory }) => memory.forget(id, { by: kit.callerName() }))
      return isGone ? { forgotten: id } : refuseUnknown(kit, id)
    },
    show: ({ forgotten }) => `Forgot ${forgotten}.`,
  })
  kit
    .addConfigOption(command.command('export'))
    .summary('Print all notes as JSON lines')
    .description('Print all notes as JSON lines, the format of tool-hub memory import.')
    .addOption(scope('Only notes of this scope'))
    .addHelpText('after', '\nExamples:\n  tool-hub memory export > memory.jsonl')
    .action((flags: ListFlags) => exportNotes(kit, flags))
  addCommand(command, {
    name: 'import',
    summary: 'Import notes from a file of JSON lines',
    description:
      'Import notes from a file of JSON lines. They count as untrusted content until you promote them, unless you use --trusted.',
    words: { '<file>': 'File of JSON lines, or - for stdin' },
    options: (to) => to.option('--trusted', 'Trust the origins in the file, for example of your own export'),
    help: '\nExamples:\n  tool-hub memory import memory.jsonl --trusted',
    async run({ trusted = false, ...flags }: ImportFlags, file: string) {
      const how = { by: kit.callerName(), trusted }
      const done = await withHub(flags, ({ memory }) => memory.import(linesOf(kit, file), how))
      if (done.bad.length > 0) process.exitCode = 1
      return done
    },
    show({ imported, known, bad }, _, file) {
      for (const { line, why } of bad.slice(0, MAX_SHOWN)) kit.say(`${escapeLine(file)}:${line} ${escapeLine(why)}`)
      if (bad.length > MAX_SHOWN) kit.say(`… and ${bad.length - MAX_SHOWN} more lines.`)
      return `Imported ${imported} notes; ${known} existed already; ${bad.length} lines are invalid.`
    },
  })
}

async function search(kit: CommandKit, { scope, key, tag, limit, ...flags }: ListFlags, query?: string) {
  const filter = {
    query: query || undefined,
    scope,
    key: key || undefined,
    tags: tag ? [tag] : undefined,
    limit: readLimit(kit, limit),
  }
  const { notes } = await kit.withHub(flags, ({ memory }) => memory.search(filter))
  return notes
}

async function exportNotes(kit: CommandKit, { scope, ...flags }: ListFlags): Promise<void> {
  await kit.withHub(flags, async ({ memory }) => {
    for await (const line of await memory.export({ scope })) {
      if (kit.readerGone.aborted) return
      await kit.print(line)
    }
  })
}

/** A whole number from 1 to 500. */
function readLimit({ usageError }: CommandKit, limit = '50'): number {
  const number = Number(limit)
  if (Number.isInteger(number) && number >= 1 && number <= 500) return number
  throw usageError(`--limit ${limit} is not a number of notes.`, 'Use a whole number from 1 to 500.')
}

function row(kit: CommandKit, { id, key, content, tags, createdAt, origin }: MemoryNote): string[] {
  const doubt = origin.tainted && !origin.reviewed ? 'unreviewed' : ''
  return [id, key, kit.minuteOf(createdAt), doubt, tags.join(','), content.slice(0, 200)]
}

function describeNote(kit: CommandKit, note: MemoryNote): string {
  const { id, key, content, tags, createdAt, updatedAt, origin } = note
  const facts = Object.entries({
    scope: key,
    tags: tags.join(', '),
    written: kit.minuteOf(createdAt),
    changed: updatedAt === createdAt ? '' : kit.minuteOf(updatedAt),
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

function refuseUnknown({ usageError }: CommandKit, id: string): never {
  throw usageError(`Note ${JSON.stringify(id.slice(0, 100))} not found.`, 'List the notes with tool-hub memory.')
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

type Flags = CommandFlags & {
  readonly list?: boolean
  readonly run?: string
  readonly state?: MemoryCandidate['state'] | 'all'
  readonly promote?: string
  readonly reject?: string
  readonly scope?: MemoryCandidate['scope']
  readonly reason?: string
}

/** The decision on a candidate, with a new text if it was edited; `undefined` leaves it waiting. */
type Verdict = { readonly promote: true; readonly content?: string } | { readonly promote: false } | undefined

const REVIEW_EXAMPLES = `
Examples:
  tool-hub memory review                   asks about each note, in a terminal
  tool-hub memory review --list --run run-20261116-101500-0a1b2c3d
  tool-hub memory review --promote run-20261116-101500-0a1b2c3d.4f1d2a9b8c7e6f50 --scope shared
  tool-hub memory review --reject run-20261116-101500-0a1b2c3d.4f1d2a9b8c7e6f50 --reason "out of date"`

/** `memory review`: decides on notes that wait. */
function describeMemoryReview(group: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(group.command('review'))
    .summary('Review notes that wait')
    .description('Review the notes that agents have written. Agents recall the ones that you promote.')
    .option('--list', 'Only list the notes')
    .option('--run <id>', 'Only notes of this run')
    .addOption(
      kit.choice(
        '--state <state>',
        'Only notes in this state, with --list',
        ['waiting', 'promoted', 'rejected', 'all'],
        'waiting',
      ),
    )
    .option('--promote <id>', 'Promote this note unchanged')
    .option('--reject <id>', 'Reject this note')
    .addOption(kit.choice('--scope <scope>', 'Scope of the promoted note', ['run', 'session', 'agent', 'shared']))
    .option('--reason <text>', 'Reason for the rejection')
    .addHelpText('after', REVIEW_EXAMPLES)
    .action((flags: Flags) => review(kit, flags))
}

async function review(kit: CommandKit, flags: Flags): Promise<void> {
  const { promote, reject } = flags
  if (promote !== undefined && reject !== undefined)
    throw kit.usageError('--promote and --reject cannot be used together.', 'Use one of them.')
  await kit.withHub(flags, async ({ memory }) => {
    if (promote !== undefined) return promoteOne(kit, memory, promote, flags)
    if (reject !== undefined) return rejectOne(kit, memory, reject, flags)
    const { run, state = 'waiting' } = flags
    const candidates = await memory.candidates({ state, limit: 500, run })
    if (flags.json) return kit.printJson(candidates)
    if (candidates.length === 0) return kit.say('No notes wait for review.')
    if (flags.list || !kit.canAsk()) return kit.print(candidates.map(describeCandidate).join('\n\n'))
    await reviewEach(kit, memory, candidates, (candidate, text) => askVerdict(kit, candidate, text))
  })
}

/** Asks about each candidate in turn; reports one that was decided concurrently, and continues. */
export async function reviewEach(
  kit: Pick<CommandKit, 'callerName' | 'say' | 'sayError'>,
  memory: Pick<MemoryService, 'promote' | 'reject'>,
  candidates: readonly MemoryCandidate[],
  ask: (candidate: MemoryCandidate, text: string) => Promise<Verdict | 'stop'>,
): Promise<void> {
  const by = kit.callerName()
  let decided = 0
  for (const candidate of candidates) {
    const verdict = await ask(candidate, describeCandidate(candidate))
    if (verdict === 'stop') break
    if (!verdict) continue
    try {
      if (!verdict.promote) await memory.reject(candidate.id, { by })
      else
        await memory.promote(candidate.id, { by, ...(verdict.content !== undefined && { content: verdict.content }) })
      decided++
    } catch (error) {
      kit.sayError((error as Error).message)
    }
  }
  kit.say(`Decided on ${decided} of ${candidates.length}.`)
}

/** Shows a candidate in the terminal, and asks for the decision. */
async function askVerdict(kit: CommandKit, { content }: MemoryCandidate, shown: string): Promise<Verdict | 'stop'> {
  kit.say(`\n${shown}`)
  const choice = await kit.select({
    message: 'May agents remember this?',
    options: [
      { value: 'yes', label: 'Yes' },
      { value: 'edit', label: 'Yes, with changes' },
      { value: 'no', label: 'No' },
      { value: 'later', label: 'Later' },
    ],
    // Enter alone must not promote a note that nobody has read.
    initialValue: 'later',
  })
  if (choice === undefined) return 'stop'
  if (choice === 'later') return undefined
  if (choice !== 'edit') return { promote: choice === 'yes' }
  const edited = await kit.askText({ message: 'Text to remember:', initialValue: content })
  if (edited === undefined) return 'stop'
  return edited.trim() === '' ? undefined : { promote: true, content: edited }
}

async function promoteOne(kit: CommandKit, memory: MemoryService, id: string, { scope, json }: Flags): Promise<void> {
  const note = await memory.promote(id, { by: kit.callerName(), ...(scope && { scope }) })
  await (json ? kit.printJson(note) : kit.print(`Promoted ${id} to ${note.id} (${revealText(note.key)}).`))
}

async function rejectOne(kit: CommandKit, memory: MemoryService, id: string, { reason, json }: Flags): Promise<void> {
  const candidate = await memory.reject(id, { by: kit.callerName(), reason })
  await (json ? kit.printJson(candidate) : kit.print(`Rejected ${id}.`))
}

function describeCandidate(candidate: MemoryCandidate): string {
  const { id, key, content, tags, origin, replaces, state, review: made } = candidate
  const facts = Object.entries({
    scope: key,
    tags: tags.join(', '),
    by: `${origin.principal ?? origin.caller ?? 'somebody'}, call ${origin.callId ?? 'unknown'}`,
    written: new Date(origin.at).toISOString(),
    replaces,
    label: origin.tainted ? 'untrusted: its run had read untrusted content' : '',
    state: made ? `${state} by ${made.by}${made.reason ? `: ${made.reason}` : ''}` : '',
  })
  const lines = facts.flatMap(([name, value]) => (value ? [`  ${name.padEnd(9)} ${revealLine(value)}`] : []))
  const text = content.split('\n').map((line) => `  | ${line}`)
  return revealText([id, ...lines, ...text].join('\n'))
}
