import { ArrowLeft, EyeOff, Wrench } from 'lucide-react'
import { type CSSProperties, useMemo } from 'react'
import { Link } from 'wouter'
import type { ToolEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { CopyButton } from '../../components/button.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { Note } from '../../components/note.tsx'
import { Tabs } from '../../components/page.tsx'
import type { JsonSchema } from '../../components/schema-form/json-schema.ts'
import { EmptyState } from '../../components/states.tsx'
import { Code, VisibleText } from '../../components/text.tsx'
import { useShortcut } from '../../lib/shortcuts.ts'
import { useSearchParam } from '../../router/router.ts'
import { CapabilityBadges } from './capabilities.tsx'
import { toolPath } from './find-tools.ts'
import { sampleInput, writeClient, writeCurl } from './samples.ts'
import { flattenSchema, type SchemaLine } from './schema-lines.ts'
import styles from './tools.module.css'
import { TryTool } from './try/try-tool.tsx'

interface ToolPanelProps {
  readonly tools: readonly ToolEntry[]
  readonly tool: string | undefined
  /** Shown instead of the list, with a link back. */
  readonly isAlone: boolean
}

/** The selected tool, or how to select one. */
export function ToolPanel({ tools, tool: name, isAlone }: ToolPanelProps) {
  const tool = tools.find((entry) => entry.tool === name || entry.name === name)
  return (
    <section className={styles.panel} aria-label={tool ? `Tool ${tool.tool}` : 'Tool'}>
      {isAlone && (
        <Link to={toolPath(undefined)} className={styles.back}>
          <ArrowLeft size={14} aria-hidden="true" /> All tools
        </Link>
      )}
      {tool && <Chosen key={tool.tool} tool={tool} />}
      {!tool && name !== undefined && (
        <EmptyState icon={Wrench} title={`Tool ${name} not found`}>
          The server that provides it may be down (see Health), or it has another name: search for it.
        </EmptyState>
      )}
      {name === undefined && (
        <EmptyState icon={Wrench} title="Choose a tool">
          Press <kbd>j</kbd> and <kbd>k</kbd> to go through the list, <kbd>/</kbd> to search.
        </EmptyState>
      )}
    </section>
  )
}

function Chosen({ tool }: { tool: ToolEntry }) {
  const [tab, setTab] = useSearchParam('tab', 'about')
  useShortcut('t', 'Try the tool', () => setTab('try'))
  return (
    <>
      <header className={styles.header}>
        <h2 className={styles.heading}>
          <VisibleText text={tool.title ?? tool.tool} />
        </h2>
        <p className={styles.names}>
          <code>
            <VisibleText text={tool.tool} />
          </code>
          <CopyButton text={tool.tool} label="Copy the name" />
          {tool.name !== tool.tool && (
            <span className={styles.wire}>
              models call it{' '}
              <code>
                <VisibleText text={tool.name} />
              </code>
            </span>
          )}
        </p>
        <CapabilityBadges capabilities={tool.capabilities} />
      </header>
      {!tool.visible && (
        <Note tone="warn" icon={EyeOff} title="Hidden from you, and from agents with the same permissions">
          <VisibleText text={tool.why ?? 'No reason is known.'} />
        </Note>
      )}
      <div className={styles.tabs}>
        <Tabs
          label="Views of the tool"
          selected={tab}
          onSelect={setTab}
          tabs={[
            { id: 'about', title: 'About', content: <ToolAbout tool={tool} /> },
            { id: 'try', title: 'Try it', content: <TryTool tool={tool} /> },
            { id: 'code', title: 'Call it from code', content: <CallSamples tool={tool} /> },
          ]}
        />
      </div>
    </>
  )
}

/** The description of a tool, its parameters and its output. */
function ToolAbout({ tool }: { tool: ToolEntry }) {
  return (
    <div className={styles.about}>
      <p className={styles.description}>
        <VisibleText text={tool.description} />
      </p>
      <SchemaTable
        title="Parameters"
        schema={tool.parameters}
        nothing={tool.visible ? 'This tool takes no arguments.' : 'They are not shown while the tool is hidden.'}
      />
      {tool.output && <SchemaTable title="Output" schema={tool.output} nothing="Its output has no named properties." />}
      {!tool.output && (
        <section>
          <h3>Output</h3>
          <p className={styles.quiet}>It declares no output schema: its output is text or any JSON.</p>
        </section>
      )}
    </div>
  )
}

interface SchemaTableProps {
  readonly title: string
  readonly schema: Readonly<Record<string, unknown>>
  /** Shown if the schema has no properties. */
  readonly nothing: string
}

/** A schema as a list of properties, and as JSON. */
function SchemaTable({ title, schema, nothing }: SchemaTableProps) {
  const lines = useMemo(() => flattenSchema(schema as JsonSchema), [schema])
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {lines.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      {lines.length > 0 && (
        <dl className={styles.lines} aria-label={title}>
          {lines.map((line) => (
            <Line key={line.path} line={line} />
          ))}
        </dl>
      )}
      <details>
        <summary className={styles.summary}>As JSON Schema</summary>
        <JsonView value={schema} label={`${title} schema`} openDepth={1} />
      </details>
    </section>
  )
}

function Line({ line: { path, depth, type, isRequired, description, default: preset } }: { line: SchemaLine }) {
  return (
    <div className={styles.line} style={{ '--depth': depth } as CSSProperties}>
      <dt className={styles.lineName}>
        <code>
          <VisibleText text={path} />
        </code>
        {isRequired && <Badge tone="info">required</Badge>}
      </dt>
      <dd className={styles.lineAbout}>
        <span className={styles.type}>
          <VisibleText text={type} />
          {preset !== undefined && (
            <>
              ; default <VisibleText text={JSON.stringify(preset)} />
            </>
          )}
        </span>
        {description !== undefined && (
          <span>
            <VisibleText text={description} />
          </span>
        )}
      </dd>
    </div>
  )
}

/** How to call a tool from a shell and from code, with an example input. */
function CallSamples({ tool }: { tool: ToolEntry }) {
  const input = useMemo(() => sampleInput(tool.parameters), [tool])
  const { origin } = window.location
  return (
    <div className={styles.samples}>
      <p>
        Create a token with <code>tool-hub tokens add NAME --scopes call</code> and store it in{' '}
        <code>TOOL_HUB_TOKEN</code>. Commands and destructive calls also need <code>--allow-danger</code>.
      </p>
      <section>
        <h3>curl</h3>
        <Code text={writeCurl(origin, tool.tool, input)} label="curl command" />
        <p className={styles.quiet}>
          Add <code>-H &apos;accept: text/event-stream&apos;</code> to receive events during the call, and{' '}
          <code>&quot;dryRun&quot;: true</code> next to the input for a dry run.
        </p>
      </section>
      <section>
        <h3>The client, in TypeScript</h3>
        <Code text={writeClient(origin, tool.tool, input)} label="Client code" />
      </section>
      <p className={styles.quiet}>
        Over MCP at <code>{origin}/mcp</code> it is called <code>{tool.name}</code>.
      </p>
    </div>
  )
}
