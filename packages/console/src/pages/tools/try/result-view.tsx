import { Download } from 'lucide-react'
import { Link } from 'wouter'
import type { ScriptResult, ToolResult } from '../../../api/types.ts'
import { runPath } from '../../../calls/call.ts'
import { ArtifactList, saveFile } from '../../../components/artifact-list.tsx'
import { Badge, StatusBadge, type Tone } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Facts } from '../../../components/details.tsx'
import { JsonView } from '../../../components/json-view.tsx'
import { Note } from '../../../components/note.tsx'
import { type PlainColumn, PlainTable } from '../../../components/plain-table.tsx'
import { Code, VisibleText } from '../../../components/text.tsx'
import { Duration } from '../../../components/time.tsx'
import { formatBytes } from '../../../lib/format.ts'
import styles from './try.module.css'

interface ResultViewProps {
  readonly tool: string
  readonly run: string
  readonly result: ToolResult
  readonly progress: string
}

/** The result of a call: its content, data, artifacts and evidence. */
export function ResultView({ tool, run, result, progress }: ResultViewProps) {
  const { content, data, artifacts, evidence, meta, error } = result
  // The service has checked what its own tools return.
  const script = !error && tool.startsWith('core/code.') ? (data as ScriptResult | undefined) : undefined
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
            {error.retryable && ' It may work later.'}
          </p>
        </Note>
      )}
      {script && <ScriptResultView run={run} script={script} />}
      {content.length > 0 && !error && !script && (
        <Part title="Content, as a model sees it">
          <ContentBlocks blocks={content} />
        </Part>
      )}
      {data !== undefined && !script && (
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
      <Part title="Details">
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

const SCRIPT_TONES = {
  completed: 'ok',
  suspended: 'warn',
  running: 'info',
  failed: 'bad',
  cancelled: 'quiet',
} as const satisfies Record<ScriptResult['status'], Tone>

/** What became of a script: its value or its failure, its logs and its calls. */
function ScriptResultView({ run, script }: { run: string; script: ScriptResult }) {
  const { status, value, logs, calls, kind, message, hint, line, column, approvals = [] } = script
  return (
    <>
      <Part title="Script">
        <p>
          <Badge tone={SCRIPT_TONES[status]}>{status}</Badge>
        </p>
        {status === 'failed' && (
          <Note tone="bad" title={<VisibleText text={message ?? 'The script failed.'} />}>
            {hint !== undefined && (
              <p>
                <VisibleText text={hint} />
              </p>
            )}
            <p>
              <code>{kind}</code>
              {line !== undefined && ` in line ${line}`}
              {column !== undefined && `, column ${column}`}
            </p>
          </Note>
        )}
        {status === 'suspended' && (
          <p>
            <Link to={`/approvals/script-${encodeURIComponent(script.script)}`}>
              {approvals.length === 1 ? '1 call waits' : `${approvals.length} calls wait`} for approval
            </Link>
            ; core/code.wait continues the script.
          </p>
        )}
      </Part>
      {status === 'completed' && (
        <Part title="Value">
          <JsonView value={value ?? null} label="value" />
        </Part>
      )}
      {logs.length > 0 && (
        <Part title="Logs">
          <Code text={logs.join('\n')} label="Logs" />
        </Part>
      )}
      <Part title={`Calls (${calls.length})`}>
        {calls.length === 0 ? (
          <p className={styles.other}>No call was made.</p>
        ) : (
          <ScriptCalls run={run} calls={calls} />
        )}
      </Part>
    </>
  )
}

type ScriptCall = ScriptResult['calls'][number]

/** The calls of a script, in its order. */
function ScriptCalls({ run, calls }: { run: string; calls: readonly ScriptCall[] }) {
  const columns: readonly PlainColumn<ScriptCall>[] = [
    {
      id: 'tool',
      title: 'Tool',
      isName: true,
      cell: ({ tool, callId }) =>
        callId === undefined ? (
          <VisibleText text={tool} />
        ) : (
          <Link to={runPath(run, callId)}>
            <VisibleText text={tool} />
          </Link>
        ),
    },
    { id: 'line', title: 'Line', align: 'end', cell: ({ line = '–' }) => line },
    { id: 'status', title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    { id: 'error', title: 'Error', isWide: true, cell: ({ error = '' }) => <VisibleText text={error} /> },
  ]
  return <PlainTable label="Calls of the script" rows={calls} columns={columns} rowKey={({ seq }) => String(seq)} />
}

type Block = ToolResult['content'][number]

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

/** The content of a result: text and images; other content as a download or a link. */
function ContentBlocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <div className={styles.blocks}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no name, and are never reordered.
        <OneBlock key={index} block={block} number={index + 1} />
      ))}
    </div>
  )
}

function OneBlock({ block, number }: { block: Block; number: number }) {
  if (block.type === 'text') return <Code text={block.text} label={`Text ${number}`} />
  if (block.type === 'image' && IMAGES.has(block.mediaType)) {
    return (
      <img
        className={styles.image}
        src={`data:${block.mediaType};base64,${block.data}`}
        alt={`Content ${number}, made by the tool`}
      />
    )
  }
  if (block.type === 'resource-link') {
    return (
      <p className={styles.other}>
        Link to <VisibleText text={block.title ?? block.name} />:{' '}
        <code>
          <VisibleText text={block.uri} />
        </code>
      </p>
    )
  }
  if (block.type === 'resource' && block.text !== undefined) return <Code text={block.text} label={block.uri} />
  return <Bytes data={block.data ?? ''} words={block.mediaType ?? block.type} number={number} />
}

function Bytes({ data, words, number }: { data: string; words: string; number: number }) {
  const bytes = readBase64(data)
  if (!bytes) return <p className={styles.other}>Content {number} cannot be read.</p>
  return (
    <p className={styles.other}>
      <VisibleText text={words} />, {formatBytes(bytes.length)}{' '}
      <Button size="small" icon={Download} onClick={() => saveFile(`content-${number}`, bytes)}>
        Download
      </Button>
    </p>
  )
}

/** The evidence of a call. */
function EvidenceList({ evidence }: { evidence: ToolResult['evidence'] }) {
  return (
    <ul className={styles.evidence} aria-label="Evidence">
      {evidence.map(({ type, ref, summary }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same may be said twice, and the order never changes.
        <li key={index}>
          {type}{' '}
          <code>
            <VisibleText text={ref} />
          </code>{' '}
          <span className={styles.evidenceSummary}>
            <VisibleText text={summary} />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** The duration of a call, its rule, its approver, and notices. */
function ResultMeta({ meta }: { meta: ToolResult['meta'] }) {
  const { durationMs, attempts, truncated, cached, abandoned, rule, approvedBy, labels = [], notices = [] } = meta
  return (
    <Facts
      facts={[
        ['Took', <Duration key="took" ms={durationMs} />],
        ['Attempts', attempts > 1 && String(attempts)],
        ['Rule', rule && <VisibleText key="rule" text={rule} />],
        ['Approved by', approvedBy && <VisibleText key="by" text={approvedBy} />],
        ['Truncated', truncated && cutWords(truncated.cutChars)],
        ['Cached', cached && 'the result of an earlier call with the same key'],
        ['Abandoned', abandoned && 'it did not stop when it was asked to'],
        ['Labels', labels.join(', ')],
        ['Notices', notices.length > 0 && <VisibleText key="notices" text={notices.join(' ')} />],
      ]}
    />
  )
}

function cutWords(cutChars: number | undefined): string {
  if (cutChars === undefined) return 'the text was truncated; the full text is an artifact'
  return `${cutChars.toLocaleString('en')} characters; the full text is an artifact`
}

/** Decodes base64; undefined if it is not valid. */
function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    // Written by a tool: the page shows that it cannot be read.
    return undefined
  }
}
