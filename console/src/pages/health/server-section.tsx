import { LoaderCircle, Unplug } from 'lucide-react'
import type { Health } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { Section } from '../../components/section.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './health.module.css'

type Server = Health['servers'][number]

const COLUMNS: readonly PlainColumn<Server>[] = [
  { id: 'name', title: 'Server', isName: true, cell: ({ name }) => <VisibleText text={name} /> },
  { id: 'state', title: 'State', cell: ({ state }) => <ServerState state={state} /> },
  { id: 'tools', title: 'Tools', align: 'end', cell: ({ tools }) => tools.toLocaleString('en') },
  {
    id: 'problem',
    title: 'Problem and what to do',
    isWide: true,
    cell: ({ name, problem, changed, state }) => {
      if (problem === undefined && changed !== undefined) return <ChangedTools name={name} changed={changed} />
      if (problem === undefined) return state === 'disabled' ? 'Switched off in the config.' : '–'
      return (
        <>
          <VisibleText text={problem} />{' '}
          <span className={styles.muted}>
            Try it: <code>tool-hub mcp test {name}</code>
          </span>
        </>
      )
    },
  },
]

/** The MCP servers that the hub has tools from. */
export function ServerSection({ servers }: Pick<Health, 'servers'>) {
  return (
    <Section title="Upstream MCP servers">
      {servers.length === 0 && (
        <p className={styles.muted}>
          None. Add one with <code>tool-hub mcp add NAME -- COMMAND</code>, or under <code>mcpServers</code> in the
          config.
        </p>
      )}
      {servers.length > 0 && (
        <PlainTable label="Upstream MCP servers" rows={servers} columns={COLUMNS} rowKey={({ name }) => name} />
      )}
    </Section>
  )
}

/** Until the owner accepts them, models see changed tools as they were and new ones not at all. */
function ChangedTools({ name, changed }: { name: string; changed: number }) {
  return (
    <>
      {changed.toLocaleString('en')} {changed === 1 ? 'tool' : 'tools'} changed or new since the server was first seen.{' '}
      <span className={styles.muted}>
        Look: <code>tool-hub mcp test {name}</code>, accept: <code>tool-hub mcp pin {name}</code>
      </span>
    </>
  )
}

function ServerState({ state }: { state: string }) {
  if (state === 'connected') return <Badge tone="ok">connected</Badge>
  if (state === 'connecting')
    return (
      <Badge tone="info" icon={LoaderCircle}>
        connecting
      </Badge>
    )
  if (state === 'down')
    return (
      <Badge tone="bad" icon={Unplug}>
        down
      </Badge>
    )
  return (
    <Badge>
      <VisibleText text={state} />
    </Badge>
  )
}
