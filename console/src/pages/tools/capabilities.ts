import {
  AppWindow,
  Bomb,
  BookOpen,
  Bot,
  Brain,
  CalendarClock,
  Globe,
  type LucideIcon,
  Mail,
  PencilLine,
  Presentation,
  Send,
  Server,
  SquareTerminal,
} from 'lucide-react'
import type { Tone } from '../../components/badge.tsx'

/** What a capability means for whoever lets an agent have it. */
interface CapabilityFacts {
  readonly icon: LucideIcon
  readonly tone: Tone
  readonly words: string
  /** The same for a legend. */
  readonly brief: string
}

const KNOWN = new Map<string, CapabilityFacts>([
  [
    'read:fs',
    { icon: BookOpen, tone: 'quiet', words: 'Reads files in the folders you have given it.', brief: 'reads files' },
  ],
  [
    'write:fs',
    {
      icon: PencilLine,
      tone: 'info',
      words: 'Makes and changes files in the folders you have given it.',
      brief: 'writes files',
    },
  ],
  [
    'network',
    { icon: Globe, tone: 'info', words: 'Talks to servers on the network that you allow.', brief: 'uses the network' },
  ],
  [
    'send',
    { icon: Send, tone: 'warn', words: 'Sends data away: what leaves cannot be called back.', brief: 'sends data' },
  ],
  [
    'exec',
    {
      icon: SquareTerminal,
      tone: 'warn',
      words: 'Runs commands on this machine, in the sandbox.',
      brief: 'runs commands',
    },
  ],
  [
    'memory',
    {
      icon: Brain,
      tone: 'quiet',
      words: 'Keeps things for later runs, and reads what earlier ones kept.',
      brief: 'remembers',
    },
  ],
  [
    'canvas',
    { icon: Presentation, tone: 'quiet', words: 'Shows pages and forms in this console.', brief: 'shows pages' },
  ],
  [
    'message',
    { icon: Mail, tone: 'info', words: 'Sends messages to people by your channels.', brief: 'writes to people' },
  ],
  ['schedule', { icon: CalendarClock, tone: 'info', words: 'Makes calls at later times.', brief: 'calls later' }],
  ['session', { icon: Bot, tone: 'info', words: 'Starts other agents and writes to them.', brief: 'starts agents' }],
  ['browser', { icon: AppWindow, tone: 'warn', words: 'Opens web pages and acts on them.', brief: 'uses a browser' }],
  [
    'remote',
    {
      icon: Server,
      tone: 'warn',
      words: 'Acts through a server or a client; what that does is not seen here.',
      brief: 'acts elsewhere',
    },
  ],
  [
    'danger:destructive',
    {
      icon: Bomb,
      tone: 'bad',
      words: 'Can destroy what is there: overwrite, delete, replace what was not read.',
      brief: 'can destroy',
    },
  ],
])

/** What is known of a capability; every one that is not known is a reason to look closer. */
export function capabilityFacts(capability: string): CapabilityFacts {
  return (
    KNOWN.get(capability) ?? {
      icon: Server,
      tone: 'warn',
      words: `It declares ${capability}, which is not known here.`,
      brief: capability,
    }
  )
}

/** Each once, those that are known first and from the mildest to the most dangerous. */
export function inUsualOrder(capabilities: readonly string[]): string[] {
  const named = new Set(capabilities)
  const known = [...KNOWN.keys()].filter((capability) => named.has(capability))
  return [...new Set([...known, ...named])]
}
