import { Link } from 'wouter'
import { api } from '../../api/session.ts'
import { useResource } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/text.tsx'
import { classNames } from '../../lib/class-names.ts'
import styles from './runs.module.css'

/** Lists the files that run by themselves and that the run has changed; shows nothing if there are none. */
export function RunLaterNote({ run }: { run: string }) {
  const { data } = useResource(['run-later', run], () => api.runs.runLater(run), { refreshOn: ['call'], run })
  if (data === undefined || data.files.length === 0) return null
  return (
    <Note tone="warn" title="These files run by themselves and were changed">
      <p>Look at them before you commit, install or push.</p>
      <ul className={classNames(styles.findings, styles.files)}>
        {data.files.map(({ path, by, callId }) => (
          <li key={path}>
            <Link to={runPath(run, callId)}>
              <code>
                <VisibleText text={path} />
              </code>
            </Link>
            , run or obeyed by <VisibleText text={by} />
          </li>
        ))}
      </ul>
      {data.isTruncated && <p>There are more; the record has them all.</p>}
    </Note>
  )
}
