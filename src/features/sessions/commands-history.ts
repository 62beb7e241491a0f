import type { Command } from 'commander'
import type { CommandFlags, CommandKit } from '../../core/index.ts'
import { escapeLine, escapeText } from '../../lib/index.ts'
import type { HistoryEntry } from './types.ts'

type Flags = CommandFlags & {
  readonly json?: boolean
  readonly limit?: string
  readonly before?: string
  readonly after?: string
}

/** `sessions history`: what happened in one. */
export function describeSessionsHistory(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Show the calls and messages of a session, oldest first. Default: the newest part.')
    .argument('<session>', 'Its id or label, or the id of a run')
    .option('--limit <number>', 'The most entries, 200 at most', '50')
    .option('--before <place>', 'What came before that place')
    .option('--after <place>', 'What came after that place')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions history researcher --limit 20')
    .action((session: string, flags: Flags) => show(kit, session, flags))
}

async function show(kit: CommandKit, session: string, { limit = '50', before, after, ...flags }: Flags): Promise<void> {
  const wish = { limit: kit.parseCount('--limit', limit), ...(before && { before }), ...(after && { after }) }
  const page = await kit.withHub(flags, ({ sessions }) => sessions.history(session, wish))
  if (flags.json) return kit.printJson(page)
  if (page.entries.length === 0) kit.say('Nothing happened there.')
  else await kit.print(page.entries.map(line).join('\n'))
  if (page.earlier !== undefined) kit.say(`Earlier: --before ${page.earlier}`)
}

function line(entry: HistoryEntry): string {
  const time = entry.at.slice(0, 19).replace('T', ' ')
  if (entry.type === 'call') return escapeLine(`${time}  ${entry.tool}  ${entry.status}  ${entry.summary}`)
  const { from, to, text, isUntrusted } = entry.message
  const mark = isUntrusted ? '  [from outside]' : ''
  return `${escapeLine(`${time}  ${from} -> ${to}${mark}`)}\n${escapeText(text).replaceAll(/^/gm, '  ')}`
}
