import type { ToolResult } from '../../../api/types.ts'
import { ArtifactList } from '../../../components/artifact-list.tsx'
import { Code } from '../../../components/code.tsx'
import { JsonView } from '../../../components/json-view.tsx'
import { Note } from '../../../components/note.tsx'
import { VisibleText } from '../../../components/visible-text.tsx'
import { ContentBlocks } from './content-blocks.tsx'
import { EvidenceList } from './evidence-list.tsx'
import { ResultMeta } from './result-meta.tsx'
import styles from './result-view.module.css'

interface ResultViewProps {
  readonly run: string
  readonly result: ToolResult
  readonly progress: string
}

/** What a call gave: what a model sees of it, the data, what was kept, what can be checked. */
export function ResultView({ run, result, progress }: ResultViewProps) {
  const { content, data, artifacts, evidence, meta, error } = result
  return (
    <div className={styles.result}>
      {error && (
        <Note tone="bad" title={<VisibleText text={error.message} />}>
          {error.fix.hint !== '' && (
            <p>
              <VisibleText text={error.fix.hint} />
            </p>
          )}
          <p>
            <code>{error.code}</code>
            {error.retryable && ' The same may work later.'}
          </p>
        </Note>
      )}
      {content.length > 0 && !error && (
        <Part title="Content, as a model sees it">
          <ContentBlocks blocks={content} />
        </Part>
      )}
      {data !== undefined && (
        <Part title="Data">
          <JsonView value={data} label="data" />
        </Part>
      )}
      {artifacts.length > 0 && (
        <Part title="Artifacts">
          <ArtifactList run={run} artifacts={artifacts} />
        </Part>
      )}
      {evidence.length > 0 && (
        <Part title="Evidence">
          <EvidenceList evidence={evidence} />
        </Part>
      )}
      <Part title="How it went">
        <ResultMeta meta={meta} />
        {progress !== '' && <Code text={progress} label="Progress" />}
      </Part>
    </div>
  )
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}
