import { ToolError } from '../../errors.ts'
import type { CommandReading } from '../../policy/shell/reading.ts'
import type { Risk } from '../../policy/shell/risk.ts'
import type { Call } from '../call.ts'
import type { RunState } from '../parts.ts'

const MAX_HOSTS = 5
/** Programs of which it is known that they go to the addresses among their words. */
const REACHING: ReadonlySet<Risk> = new Set(['network', 'sends', 'pushes', 'publishes', 'installs'])

/** What is known of how a command will end in its sandbox: the hosts that it names and cannot reach. */
export function sandboxNotes({ doors }: Pick<RunState, 'doors'>, call: Call, reading: CommandReading): string[] {
  // Without a sandbox nobody keeps it from the network.
  if (call.sandbox === undefined || call.sandbox === 'none') return []
  const urls = reading.parts.flatMap(({ words, risks = [] }) =>
    risks.some((risk) => REACHING.has(risk))
      ? words.filter((word) => word !== undefined && /^https?:\/\//i.test(word))
      : [],
  )
  const closed = new Set<string>()
  for (const url of urls) if (isClosed(doors, call, url!)) closed.add(new URL(url!).hostname)
  return [...closed]
    .slice(0, MAX_HOSTS)
    .map((host) => `The sandbox cannot reach ${host}, which sandbox.network does not name, so this will fail.`)
}

function isClosed(doors: RunState['doors'], { tool }: Call, url: string): boolean {
  if (!URL.canParse(url)) return false
  // A tool that declares no network has none for its commands, whatever the owner allows others.
  if (!tool!.capabilities.has('network')) return true
  try {
    doors.network().resolve(url)
    return false
  } catch (error) {
    return ToolError.is(error) && error.code === 'HTTP_DISALLOWED_HOST'
  }
}
