import { useMemo } from 'react'
import type { ToolEntry } from '../../api/types.ts'
import { Code } from '../../components/code.tsx'
import styles from './call-samples.module.css'
import { sampleInput } from './example-input.ts'
import { writeClient, writeCurl } from './write-samples.ts'

/** How to call a tool from a shell and from code, with an example of its input. */
export function CallSamples({ tool }: { tool: ToolEntry }) {
  const input = useMemo(() => sampleInput(tool.parameters), [tool])
  const { origin } = window.location
  return (
    <div className={styles.samples}>
      <p>
        Make a token with <code>tool-hub tokens add NAME --scopes call</code> and put it into{' '}
        <code>TOOL_HUB_TOKEN</code>. Commands and destructive calls also need <code>--allow-danger</code>.
      </p>
      <section>
        <h3>curl</h3>
        <Code text={writeCurl(origin, tool.tool, input)} label="curl command" />
        <p className={styles.quiet}>
          Add <code>-H &apos;accept: text/event-stream&apos;</code> to be told what happens on the way, and{' '}
          <code>&quot;dryRun&quot;: true</code> beside the input to hear only what would happen.
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
