import type { AgentStatus } from '../../api/types.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import { agentPath } from './agent-path.ts'
import { AgentState } from './agent-state.tsx'
import styles from './agents.module.css'

/** The agents that one began. */
export function AgentChildren({ agents, filter }: { agents: AgentStatus['children']; filter: string }) {
  return (
    <ul className={styles.list} aria-label="Agents it began">
      {agents.map(({ id, label, state, runner }) => (
        <li key={id} className={styles.entry}>
          <AgentState state={state} />
          <Link to={agentPath(id, filter)}>
            <VisibleText text={label ?? id} />
          </Link>
          {runner !== undefined && (
            <span className={styles.muted}>
              <VisibleText text={runner} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
