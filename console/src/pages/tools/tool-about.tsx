import type { ToolEntry } from '../../api/types.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { SchemaTable } from './schema-table.tsx'
import styles from './tool-about.module.css'

/** What a tool is for, what it takes, what it gives. */
export function ToolAbout({ tool }: { tool: ToolEntry }) {
  return (
    <div className={styles.about}>
      <p className={styles.description}>
        <VisibleText text={tool.description} />
      </p>
      <SchemaTable
        title="Parameters"
        schema={tool.parameters}
        nothing={tool.visible ? 'It takes no arguments.' : 'They are not told while it is hidden.'}
      />
      {tool.output && <SchemaTable title="Output" schema={tool.output} nothing="Its output has no named parts." />}
      {!tool.output && (
        <section>
          <h3>Output</h3>
          <p className={styles.quiet}>It declares no output schema: what it gives is text, or any JSON.</p>
        </section>
      )}
    </div>
  )
}
