// biome-ignore-all lint/a11y/useSemanticElements: every browser draws a meter in its own colors.

import { LoaderCircle, Unplug } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Health } from '../../api/types.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Note } from '../../components/note.tsx'
import { Section } from '../../components/page.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Duration } from '../../components/time.tsx'
import { formatBytes, formatDuration } from '../../lib/format.ts'
import styles from './health.module.css'

type ToolHealth = Health['tools'][number]

const SHOWN_AT_FIRST = 10

const TOOL_COLUMNS: readonly PlainColumn<ToolHealth>[] = [
  {
    id: 'tool',
    title: 'Tool',
    isName: true,
    isWide: true,
    cell: ({ tool }) => (
      <Link to={`/audit?view=calls&within=hour&tool=${encodeURIComponent(tool)}`}>
        <VisibleText text={tool} />
      </Link>
    ),
  },
  { id: 'calls', title: 'Calls', align: 'end', cell: ({ calls }) => calls.toLocaleString('en') },
  {
    id: 'failures',
    title: 'Failures',
    align: 'end',
    cell: ({ failures }) => (failures === 0 ? '0' : <Badge tone="bad">{failures.toLocaleString('en')}</Badge>),
  },
  {
    id: 'share',
    title: 'Failed',
    align: 'end',
    cell: ({ calls, failures }) => `${calls === 0 ? 0 : Math.round((failures / calls) * 100)} %`,
  },
  { id: 'denials', title: 'Denied', align: 'end', cell: ({ denials }) => denials.toLocaleString('en') },
  {
    id: 'callerErrors',
    title: 'Caller errors',
    align: 'end',
    cell: ({ callerErrors }) => callerErrors.toLocaleString('en'),
  },
  { id: 'mean', title: 'Mean time', align: 'end', cell: ({ meanMs }) => <Duration ms={meanMs} /> },
]

/** The failures of each tool, the highest first. */
export function ToolSection({ tools }: Pick<Health, 'tools'>) {
  const [isWhole, setWhole] = useState(false)
  const sorted = tools.toSorted((a, b) => b.failures - a.failures || b.calls - a.calls)
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN_AT_FIRST)
  return (
    <Section title="Errors by tool" actions={<span className={styles.about}>last hour</span>}>
      {tools.length === 0 && <p className={styles.muted}>No tool was called in the last hour.</p>}
      {tools.length > 0 && (
        <PlainTable label="Errors by tool" rows={shown} columns={TOOL_COLUMNS} rowKey={({ tool }) => tool} />
      )}
      {shown.length < sorted.length && (
        <div>
          <Button size="small" onClick={() => setWhole(true)}>
            Show all {sorted.length} tools
          </Button>
        </div>
      )}
    </Section>
  )
}

type Budget = Health['budgets'][number]

const UNITS = new Map<string, readonly [words: string, format: (value: number) => string]>([
  ['calls', ['calls', (value) => value.toLocaleString('en')]],
  ['wallMs', ['tool time', formatDuration]],
  ['bytes', ['bytes', formatBytes]],
  ['cost', ['cost', (value) => value.toLocaleString('en')]],
])

const BUDGET_COLUMNS: readonly PlainColumn<Budget>[] = [
  { id: 'account', title: 'Account', isName: true, cell: ({ account }) => <VisibleText text={account} /> },
  { id: 'unit', title: 'Unit', cell: ({ unit }) => wordsOf(unit)[0] },
  {
    id: 'used',
    title: 'Used today',
    isWide: true,
    cell: ({ account, unit, used, limit }) => {
      const [words, format] = wordsOf(unit)
      return (
        <Meter
          label={`${words} used by ${account}`}
          value={used}
          limit={limit}
          words={`${format(used)} of ${format(limit)}`}
        />
      )
    },
  },
  { id: 'state', title: 'State', cell: (budget) => stateOf(budget) },
]

/** The daily budgets of the tokens, and how much is used. */
export function BudgetSection({ budgets }: Pick<Health, 'budgets'>) {
  return (
    <Section title="Budgets" actions={<span className={styles.about}>per day</span>}>
      {budgets.length === 0 && (
        <p className={styles.muted}>
          No token has a budget. Set one with <code>tool-hub tokens add NAME --budget calls=1000,time=10m</code>, or
          when you create a token on the Tokens page.
        </p>
      )}
      {budgets.length > 0 && (
        <PlainTable
          label="Budgets"
          rows={budgets}
          columns={BUDGET_COLUMNS}
          rowKey={({ account, unit }) => `${account} ${unit}`}
        />
      )}
    </Section>
  )
}

function wordsOf(unit: string): readonly [words: string, format: (value: number) => string] {
  return UNITS.get(unit) ?? [unit, (value) => value.toLocaleString('en')]
}

function stateOf({ used, limit }: Budget) {
  if (used >= limit) return <Badge tone="bad">used up</Badge>
  return used >= limit * 0.8 ? <Badge tone="warn">nearly used up</Badge> : <Badge tone="ok">enough left</Badge>
}

interface MeterProps {
  readonly label: string
  readonly value: number
  readonly limit: number
  /** The formatted value and limit. */
  readonly words: string
}

/** The used part of a limit, as a bar and as text. */
function Meter({ label, value, limit, words }: MeterProps) {
  const part = limit <= 0 ? 1 : Math.min(1, Math.max(0, value / limit))
  const percent = Math.round(part * 100)
  return (
    <div className={styles.meter}>
      <span>
        {words} ({percent} %)
      </span>
      <div
        className={styles.track}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={`${words}, ${percent} %`}
      >
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect className={styles.fill} data-tone={toneOf(part)} width={part * 100} height={8} />
        </svg>
      </div>
    </div>
  )
}

function toneOf(part: number): 'bad' | 'warn' | undefined {
  if (part >= 1) return 'bad'
  return part >= 0.8 ? 'warn' : undefined
}

type Server = Health['servers'][number]

const SERVER_COLUMNS: readonly PlainColumn<Server>[] = [
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

/** The MCP servers that provide tools to the hub. */
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
        <PlainTable label="Upstream MCP servers" rows={servers} columns={SERVER_COLUMNS} rowKey={({ name }) => name} />
      )}
    </Section>
  )
}

/** Until the owner accepts them, models see changed tools as they were, and no new tools. */
function ChangedTools({ name, changed }: { name: string; changed: number }) {
  return (
    <>
      {changed.toLocaleString('en')} {changed === 1 ? 'tool' : 'tools'} changed or new since the server was first seen.{' '}
      <span className={styles.muted}>
        Review: <code>tool-hub mcp test {name}</code>, accept: <code>tool-hub mcp pin {name}</code>
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

const LEVELS = new Map<string, readonly [tone: Tone, means: string]>([
  [
    'full',
    [
      'ok',
      'Commands see only the folders they are given and reach only the network they are given; dangerous system calls are filtered. This is the strongest level.',
    ],
  ],
  [
    'namespaces',
    ['warn', 'Commands see only the folders and the network they are given, but they can make every system call.'],
  ],
  ['none', ['bad', 'Commands are not sandboxed: they can do everything that the user of the service can do.']],
])

/** The level of the sandbox, what it means, and how to improve it. */
export function SandboxSection({ sandbox: { level, problem } }: Pick<Health, 'sandbox'>) {
  const [tone, means] = LEVELS.get(level) ?? ['warn', 'The level is unknown, so do not rely on the sandbox.']
  return (
    <Section title="Sandbox">
      <div className={styles.row}>
        <span>Level</span>
        <Badge tone={tone}>
          <VisibleText text={level} />
        </Badge>
      </div>
      <p>{means}</p>
      {problem !== undefined && (
        <Note tone="info" title="What would make it stronger">
          <p>
            <VisibleText text={problem} />
          </p>
          <p>
            <code>tool-hub doctor</code> reports the same on the machine, and checks again.
          </p>
        </Note>
      )}
    </Section>
  )
}
