import type { Health } from '../../api/types.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Note } from '../../components/note.tsx'
import { Section } from '../../components/section.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './health.module.css'

const LEVELS = new Map<string, readonly [tone: Tone, means: string]>([
  [
    'full',
    [
      'ok',
      'Commands see only the folders they are given and reach only the network they are given; dangerous system calls are filtered. This is the strongest level.',
    ],
  ],
  [
    'namespaces',
    [
      'warn',
      'Commands see only the folders and the network they are given, but every system call of the kernel is in their reach.',
    ],
  ],
  ['none', ['bad', 'Commands are not fenced in: they can do all that the user of the service can.']],
])

/** How strongly commands are fenced in, what that means, and what would make it stronger. */
export function SandboxSection({ sandbox: { level, problem } }: Pick<Health, 'sandbox'>) {
  const [tone, means] = LEVELS.get(level) ?? ['warn', 'How strong it is could not be found out, so count on nothing.']
  return (
    <Section title="Sandbox">
      <div className={styles.row}>
        <span>Level</span>
        <Badge tone={tone}>
          <VisibleText text={level} />
        </Badge>
      </div>
      <p>{means}</p>
      {problem !== undefined && (
        <Note tone="info" title="What would make it stronger">
          <p>
            <VisibleText text={problem} />
          </p>
          <p>
            <code>tool-hub doctor</code> says the same on the machine, and checks again.
          </p>
        </Note>
      )}
    </Section>
  )
}
