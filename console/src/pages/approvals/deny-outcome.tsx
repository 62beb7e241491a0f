import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import type { Denial } from './deny-each.ts'

const TITLES = { late: 'Answered before:', failed: 'Not denied:' } as const

/** What became of those that were not denied. */
export function DenyOutcome({ denials }: { denials: readonly Denial[] }) {
  const done = denials.filter(({ outcome }) => outcome === 'denied').length
  return (
    <>
      <p>
        {done} of {denials.length} were denied.
      </p>
      {denials.map(({ id, tool, outcome, words }) =>
        outcome === 'denied' ? null : (
          <Note
            key={id}
            tone={outcome === 'late' ? 'info' : 'bad'}
            title={<VisibleText text={`${TITLES[outcome]} ${tool}`} />}
          >
            {words !== undefined && (
              <p>
                <VisibleText text={words} />
              </p>
            )}
          </Note>
        ),
      )}
    </>
  )
}
