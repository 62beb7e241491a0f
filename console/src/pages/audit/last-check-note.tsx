import { Note } from '../../components/note.tsx'
import { Time } from '../../components/time.tsx'
import type { LastCheck } from './last-check.ts'

/** When all records were last checked in this browser, and what that found. */
export function LastCheckNote({ check: { at, runs, lines, broken, unproven } }: { check: LastCheck }) {
  const count = (number: number) => number.toLocaleString('en')
  const found =
    broken > 0
      ? `${count(broken)} of ${count(runs)} records were damaged`
      : unproven > 0
        ? `the end of ${count(unproven)} of ${count(runs)} records was not proven`
        : `all ${count(runs)} records were intact`
  return (
    <Note
      tone={broken > 0 ? 'bad' : unproven > 0 ? 'warn' : 'ok'}
      title={
        <>
          Last check, <Time at={at} />: {found}
        </>
      }
    >
      <p>{count(lines)} lines were read, in this browser. What was written since then is not covered: verify again.</p>
    </Note>
  )
}
