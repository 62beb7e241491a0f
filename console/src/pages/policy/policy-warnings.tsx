import type { PolicyState } from '../../api/types.ts'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'

/** What is doubtful about the rules, and what to do about it. */
export function PolicyWarnings({ warnings }: Pick<PolicyState, 'warnings'>) {
  return warnings.map(({ level, message, source, hint }, index) => (
    <Note
      // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and come all at once.
      key={index}
      tone={level === 'error' ? 'bad' : 'warn'}
      title={<VisibleText text={message} />}
    >
      {hint !== undefined && (
        <p>
          <VisibleText text={hint} />
        </p>
      )}
      <p>
        <code>
          <VisibleText text={source} />
        </code>
      </p>
    </Note>
  ))
}
