import type { ToolEntry } from '../../api/types.ts'
import { capabilityFacts, inUsualOrder } from './capabilities.ts'
import styles from './capability-icons.module.css'

/** What the icons beside the tools mean: those that are there, in a few words each. */
export function CapabilityLegend({ tools }: { tools: readonly ToolEntry[] }) {
  const capabilities = inUsualOrder(tools.flatMap((tool) => tool.capabilities))
  if (capabilities.length === 0) return null
  return (
    <ul className={styles.legend} aria-label="What the icons mean">
      {capabilities.map((capability) => {
        const { icon: Icon, tone, brief, words } = capabilityFacts(capability)
        return (
          <li key={capability} title={`${capability}: ${words}`}>
            <Icon size={13} aria-hidden="true" className={styles[tone]} /> {brief}
          </li>
        )
      })}
    </ul>
  )
}
