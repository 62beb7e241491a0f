import { useMemo } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/session.ts'
import { useResource } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { Note } from '../../components/note.tsx'
import { Loaded } from '../../components/resource.tsx'
import { SourceView } from '../../components/source-view.tsx'
import styles from './approvals.module.css'
import type { ScriptApproval } from './human-request.ts'
import { DetailBlock } from './request-parts.tsx'

interface ScriptBlockProps {
  /** Calls of one script, in its order. */
  readonly calls: readonly [ScriptApproval, ...ScriptApproval[]]
  /** The line to scroll to. Default: the first one that waits. */
  readonly line?: number
}

/** The source of a script; the lines whose calls wait are marked. */
export function ScriptBlock({ calls, line }: ScriptBlockProps) {
  const [{ run, script }] = calls
  return (
    <DetailBlock title="The script">
      {script.source === undefined ? (
        <Note tone="warn" title="The source of the script is not available.">
          <p>It could not be stored, for example because the hub keeps no records. Each call is shown completely.</p>
        </Note>
      ) : (
        <StoredSource run={run} source={script.source} calls={calls} line={line} />
      )}
      {script.source !== undefined && script.source !== `artifact:${script.sha256}` && (
        <p className={styles.quiet}>Secrets in the source are hidden.</p>
      )}
      <p className={styles.quiet}>
        Written by the model; started by <Link to={runPath(run, script.id)}>this call</Link>.
      </p>
    </DetailBlock>
  )
}

function StoredSource({ run, source, calls, line }: ScriptBlockProps & { run: string; source: string }) {
  const query = useResource(['artifact', run, source], async () =>
    new TextDecoder().decode(await api.artifact(source, { run })),
  )
  const marks = useMemo(() => marksOf(calls), [calls])
  return <Loaded query={query}>{(text) => <SourceView text={text} label="Script" marks={marks} line={line} />}</Loaded>
}

/** `waits`, or `2 wait` for a line that makes several calls. */
function marksOf(calls: readonly ScriptApproval[]): Map<number, string> {
  const counts = new Map<number, number>()
  for (const { state, script } of calls)
    if (state === 'waiting' && script.line !== undefined) counts.set(script.line, (counts.get(script.line) ?? 0) + 1)
  return new Map([...counts].map(([at, count]) => [at, count === 1 ? 'waits' : `${count} wait`]))
}
