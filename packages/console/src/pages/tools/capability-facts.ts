import {
  AppWindow,
  Bomb,
  BookOpen,
  Bot,
  Braces,
  Brain,
  CalendarClock,
  Globe,
  type LucideIcon,
  Mail,
  PencilLine,
  Presentation,
  Search,
  Send,
  Server,
  SquareTerminal,
} from 'lucide-react'
import type { Tone } from '../../components/badge.tsx'

/** What it means to give an agent a capability. */
interface CapabilityFacts {
  readonly icon: LucideIcon
  readonly tone: Tone
  readonly words: string
  /** A short form for the legend. */
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
      words: 'Creates and changes files in the folders you have given it.',
      brief: 'writes files',
    },
  ],
  [
    'network',
    { icon: Globe, tone: 'info', words: 'Talks to servers on the network that you allow.', brief: 'uses the network' },
  ],
  ['send', { icon: Send, tone: 'warn', words: 'Sends data to others, which cannot be undone.', brief: 'sends data' }],
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
      words: 'Stores notes for later runs, and reads those of earlier runs.',
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
    'code',
    {
      icon: Braces,
      tone: 'info',
      words: 'Runs scripts that call other tools; each of these calls is decided by your rules.',
      brief: 'runs scripts',
    },
  ],
  [
    'discovery',
    { icon: Search, tone: 'quiet', words: 'Finds other tools that the agent may use.', brief: 'finds tools' },
  ],
  [
    'remote',
    {
      icon: Server,
      tone: 'warn',
      words: 'Acts through a server or a client; what that does is not visible here.',
      brief: 'acts elsewhere',
    },
  ],
  [
    'danger:destructive',
    {
      icon: Bomb,
      tone: 'bad',
      words: 'Can destroy data: overwrite, delete, or replace it without reading it.',
      brief: 'can destroy',
    },
  ],
])

/** The facts about a capability; unknown ones are shown as a warning. */
export function capabilityFacts(capability: string): CapabilityFacts {
  return (
    KNOWN.get(capability) ?? {
      icon: Server,
      tone: 'warn',
      words: `It declares ${capability}, which is unknown.`,
      brief: capability,
    }
  )
}

/** Without duplicates; known capabilities first, from harmless to dangerous. */
export function inUsualOrder(capabilities: readonly string[]): string[] {
  const named = new Set(capabilities)
  const known = [...KNOWN.keys()].filter((capability) => named.has(capability))
  return [...new Set([...known, ...named])]
}
