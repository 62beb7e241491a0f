import type { Command } from 'commander'
import type { HistoryEntry } from '../../core/index.ts'
import { escapeLine, escapeText } from '../../lib/index.ts'
import { type HubFlags, withHub } from '../hub/with-hub.ts'
import { addConfigOption, parseCount } from '../input/options.ts'
import { print, printJson, say } from '../output/print.ts'

type Flags = HubFlags & {
  readonly json?: boolean
  readonly limit?: string
  readonly before?: string
  readonly after?: string
}

/** `sessions history`: what happened in one. */
export function describeSessionsHistory(command: Command): void {
  addConfigOption(command)
    .description('Show the calls and messages of a session, oldest first. Default: the newest part.')
    .argument('<session>', 'Its id or label, or the id of a run')
    .option('--limit <number>', 'The most entries, 200 at most', '50')
    .option('--before <place>', 'What came before that place')
    .option('--after <place>', 'What came after that place')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions history researcher --limit 20')
    .action(show)
}

async function show(session: string, { limit = '50', before, after, ...flags }: Flags): Promise<void> {
  const wish = { limit: parseCount('--limit', limit), ...(before && { before }), ...(after && { after }) }
  const page = await withHub(flags, ({ sessions }) => sessions.history(session, wish))
  if (flags.json) return printJson(page)
  if (page.entries.length === 0) say('Nothing happened there.')
  else await print(page.entries.map(line).join('\n'))
  if (page.earlier !== undefined) say(`Earlier: --before ${page.earlier}`)
}

function line(entry: HistoryEntry): string {
  const time = entry.at.slice(0, 19).replace('T', ' ')
  if (entry.type === 'call') return escapeLine(`${time}  ${entry.tool}  ${entry.status}  ${entry.summary}`)
  const { from, to, text, isUntrusted } = entry.message
  const mark = isUntrusted ? '  [from outside]' : ''
  return `${escapeLine(`${time}  ${from} -> ${to}${mark}`)}\n${escapeText(text).replaceAll(/^/gm, '  ')}`
}
