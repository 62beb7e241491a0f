import { EyeOff } from 'lucide-react'
import type { ToolEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import { CapabilityIcons } from './capability-icons.tsx'
import styles from './tool-link.module.css'
import { toolPath } from './tool-path.ts'

/** A tool in the list: its name, what it is, what it needs. */
export function ToolLink({ tool, isCurrent }: { tool: ToolEntry; isCurrent: boolean }) {
  const { tool: name, title, visible, why, capabilities } = tool
  return (
    <li className={styles.item}>
      <Link to={toolPath(name)} className={styles.link} aria-current={isCurrent ? 'true' : undefined}>
        <span className={styles.name}>
          <VisibleText text={name} />
        </span>
        <CapabilityIcons capabilities={capabilities} />
        {title !== undefined && (
          <span className={styles.title}>
            <VisibleText text={title} />
          </span>
        )}
        {!visible && (
          <span className={styles.why}>
            <Badge icon={EyeOff}>hidden</Badge> <VisibleText text={why ?? ''} />
          </span>
        )}
      </Link>
    </li>
  )
}
