import {
  AppWindow,
  Bomb,
  BookOpen,
  Bot,
  Brain,
  CalendarClock,
  Globe,
  Leaf,
  type LucideIcon,
  Mail,
  PencilLine,
  Presentation,
  Send,
  Server,
  SquareTerminal,
} from 'lucide-react'
import type { ToolEntry } from '../../api/types.ts'
import colors from '../../components/badge.module.css'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Tooltip } from '../../components/button.tsx'
import styles from './tools.module.css'

/** The capabilities of a tool, with explanations. */
export function CapabilityBadges({ capabilities }: { capabilities: readonly string[] }) {
  if (capabilities.length === 0) {
    return (
      <Explained words="It has no side effects, so it needs no approval.">
        <Badge tone="ok" icon={Leaf}>
          pure
        </Badge>
      </Explained>
    )
  }
  return (
    <ul className={styles.badges} aria-label="Capabilities">
      {capabilities.map((capability) => {
        const { icon, tone, words } = capabilityFacts(capability)
        return (
          <li key={capability}>
            <Explained words={words}>
              <Badge tone={tone} icon={icon}>
                {capability}
              </Badge>
            </Explained>
          </li>
        )
      })}
    </ul>
  )
}

function Explained({ words, children }: { words: string; children: React.ReactNode }) {
  return (
    <Tooltip text={words}>
      <button type="button" className={styles.badge}>
        {children}
        <span className="visually-hidden">: {words}</span>
      </button>
    </Tooltip>
  )
}

/** The capabilities of a tool as icons. */
export function CapabilityIcons({ capabilities }: { capabilities: readonly string[] }) {
  if (capabilities.length === 0) return <span />
  return (
    <span className={styles.icons}>
      {capabilities.map((capability) => {
        const { icon: Icon, tone } = capabilityFacts(capability)
        return (
          <span key={capability} title={capability} className={colors.colored} data-tone={tone}>
            <Icon size={13} aria-hidden="true" />
            <span className="visually-hidden"> {capability}</span>
          </span>
        )
      })}
    </span>
  )
}

/** The legend of the capability icons in the list. */
export function CapabilityLegend({ tools }: { tools: readonly ToolEntry[] }) {
  const capabilities = inUsualOrder(tools.flatMap((tool) => tool.capabilities))
  if (capabilities.length === 0) return null
  return (
    <ul className={styles.legend} aria-label="What the icons mean">
      {capabilities.map((capability) => {
        const { icon: Icon, tone, brief, words } = capabilityFacts(capability)
        return (
          <li key={capability} title={`${capability}: ${words}`}>
            <Icon size={13} aria-hidden="true" className={colors.colored} data-tone={tone} /> {brief}
          </li>
        )
      })}
    </ul>
  )
}

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
function capabilityFacts(capability: string): CapabilityFacts {
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
function inUsualOrder(capabilities: readonly string[]): string[] {
  const named = new Set(capabilities)
  const known = [...KNOWN.keys()].filter((capability) => named.has(capability))
  return [...new Set([...known, ...named])]
}
