import { Leaf } from 'lucide-react'
import type { ToolEntry } from '../../api/types.ts'
import colors from '../../components/badge.module.css'
import { Badge } from '../../components/badge.tsx'
import { Tooltip } from '../../components/button.tsx'
import { capabilityFacts, inUsualOrder } from './capability-facts.ts'
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
