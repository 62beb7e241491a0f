import { Fragment } from 'react'
import type { CallEntry } from '../../api/types.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './call-details.module.css'
import { type CallStory, numberOf, textOf } from './read-call.ts'

/** Who called, why and where from. */
export function CallFacts({ call, story: { facts, end } }: { call: CallEntry; story: CallStory }) {
  const { caller, principal, run, parent, callId } = call
  const attempts = numberOf(end, 'attempts')
  const rows: readonly (readonly [name: string, value: string | undefined])[] = [
    ['Caller', principal === undefined || principal === caller ? caller : `${principal} (calls itself ${caller})`],
    ['Purpose', textOf(facts, 'purpose')],
    ['Called as', textOf(facts, 'wire')],
    ['Session', textOf(facts, 'session')],
    ['Came by', textOf(facts, 'via')],
    ['Attempts', attempts !== undefined && attempts > 1 ? String(attempts) : undefined],
    ['Dry run', facts?.dryRun === true ? 'yes: nothing was changed' : undefined],
    ['From cache', end?.cached === true ? 'yes: the result of an earlier call' : undefined],
    ['Call', callId],
  ]
  return (
    <dl className={styles.facts}>
      {rows.map(
        ([name, value]) =>
          value !== undefined && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>
                <VisibleText text={value} />
              </dd>
            </Fragment>
          ),
      )}
      <dt>Run</dt>
      <dd>
        <Link to={`/runs/${encodeURIComponent(run)}`}>{run}</Link>
      </dd>
      {parent !== undefined && (
        <>
          <dt>Made by</dt>
          <dd>
            <Link to={`/live/${encodeURIComponent(parent)}`}>{parent}</Link>
          </dd>
        </>
      )}
    </dl>
  )
}
