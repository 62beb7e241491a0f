import { capabilityFacts } from './capabilities.ts'
import styles from './capability-icons.module.css'

/** The capabilities of a tool as icons, where there is no room for badges. */
export function CapabilityIcons({ capabilities }: { capabilities: readonly string[] }) {
  if (capabilities.length === 0) return <span />
  return (
    <span className={styles.icons}>
      {capabilities.map((capability) => {
        const { icon: Icon, tone } = capabilityFacts(capability)
        return (
          <span key={capability} title={capability} className={styles[tone]}>
            <Icon size={13} aria-hidden="true" />
            <span className="visually-hidden"> {capability}</span>
          </span>
        )
      })}
    </span>
  )
}
