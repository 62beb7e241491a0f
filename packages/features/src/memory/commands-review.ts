import type { CommandBuilder, CommandFlags, CommandKit } from '@tool-hub/core'
import { revealLine, revealText } from '@tool-hub/core/lib'
import type { MemoryCandidate, MemoryService } from './types.ts'

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

const EXAMPLES = `
Examples:
  tool-hub memory review                   asks about each note, in a terminal
  tool-hub memory review --list --run run-20261116-101500-0a1b2c3d
  tool-hub memory review --promote run-20261116-101500-0a1b2c3d.4f1d2a9b8c7e6f50 --scope shared
  tool-hub memory review --reject run-20261116-101500-0a1b2c3d.4f1d2a9b8c7e6f50 --reason "out of date"`

/** `memory review`: decides on notes that wait. */
export function describeMemoryReview(group: CommandBuilder, kit: CommandKit): void {
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
    .addHelpText('after', EXAMPLES)
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
