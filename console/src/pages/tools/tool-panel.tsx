import { ArrowLeft, EyeOff, Wrench } from 'lucide-react'
import type { ToolEntry } from '../../api/types.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Note } from '../../components/note.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { Link } from '../../router/link.tsx'
import { useSearchParam } from '../../router/router.ts'
import { CallSamples } from './call-samples.tsx'
import { CapabilityBadges } from './capability-badges.tsx'
import { ToolAbout } from './tool-about.tsx'
import styles from './tool-panel.module.css'
import { toolPath } from './tool-path.ts'
import { TryTool } from './try/try-tool.tsx'

interface ToolPanelProps {
  readonly tools: readonly ToolEntry[]
  readonly tool: string | undefined
  /** In the place of the catalogue, with a way back. */
  readonly isAlone: boolean
}

/** The tool that was chosen, or what to do to see one. */
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
        <EmptyState icon={Wrench} title={`There is no tool ${name} now`}>
          The server that brings it may be away (see Health), or it has another name: search for it.
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
        <h2 className={styles.title}>
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
        <Note tone="warn" icon={EyeOff} title="Hidden from you, and from agents like you">
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
