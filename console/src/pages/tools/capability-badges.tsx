import { Leaf } from 'lucide-react'
import { Badge } from '../../components/badge.tsx'
import { Tooltip } from '../../components/tooltip.tsx'
import { capabilityFacts } from './capabilities.ts'
import styles from './capability-badges.module.css'

/** The capabilities of a tool, each with what it means in plain words. */
export function CapabilityBadges({ capabilities }: { capabilities: readonly string[] }) {
  if (capabilities.length === 0) {
    return (
      <Explained words="It touches nothing outside of itself, so it runs unasked.">
        <Badge tone="ok" icon={Leaf}>
          pure
        </Badge>
      </Explained>
    )
  }
  return (
    <ul className={styles.list} aria-label="Capabilities">
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
