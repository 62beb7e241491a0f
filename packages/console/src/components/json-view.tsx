import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { CopyButton } from './button.tsx'
import styles from './json-view.module.css'
import { VisibleText } from './text.tsx'

const SHOWN_AT_FIRST = 100
const LONG_TEXT = 2_000

/** A JSON value as a tree. Hidden characters are shown; copying gives the JSON. */
export function JsonView({
  value,
  label = 'JSON',
  openDepth = 2,
}: {
  value: unknown
  label?: string
  openDepth?: number
}) {
  return (
    <figure className={styles.view} aria-label={label}>
      <div className={styles.tree}>
        <Node value={value} depth={0} openDepth={openDepth} />
      </div>
      <div className={styles.copy}>
        <CopyButton text={() => JSON.stringify(value, null, 2) ?? ''} label={`Copy ${label}`} />
      </div>
    </figure>
  )
}

interface NodeProps {
  readonly name?: string
  readonly value: unknown
  readonly depth: number
  readonly openDepth: number
}

function Node({ name, value, depth, openDepth }: NodeProps) {
  const entries = entriesOf(value)
  if (entries === undefined) {
    return (
      <div className={styles.line}>
        <Name name={name} />
        <Leaf value={value} />
      </div>
    )
  }
  return <Branch name={name} value={value} entries={entries} depth={depth} openDepth={openDepth} />
}

function Branch({ name, value, entries, depth, openDepth }: NodeProps & { entries: readonly [string, unknown][] }) {
  const [isOpen, setOpen] = useState(depth < openDepth)
  const [shown, setShown] = useState(SHOWN_AT_FIRST)
  const isList = Array.isArray(value)
  const count = isList ? `[${entries.length}]` : `{${entries.length}}`
  if (entries.length === 0) {
    return (
      <div className={styles.line}>
        <Name name={name} />
        <span className={styles.count}>{isList ? '[]' : '{}'}</span>
      </div>
    )
  }
  const Icon = isOpen ? ChevronDown : ChevronRight
  return (
    <div>
      <button type="button" className={styles.toggle} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon size={12} aria-hidden="true" />
        <Name name={name} />
        <span className={styles.count}>{count}</span>
      </button>
      {isOpen && (
        <div className={styles.children}>
          {entries.slice(0, shown).map(([key, child]) => (
            <Node key={key} name={key} value={child} depth={depth + 1} openDepth={openDepth} />
          ))}
          {entries.length > shown && (
            <button type="button" className={styles.more} onClick={() => setShown(shown + 1_000)}>
              Show {Math.min(1_000, entries.length - shown)} more of {entries.length}
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null
  return (
    <span className={styles.name}>
      <VisibleText text={name} />:{' '}
    </span>
  )
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span className={styles.literal}>{String(value)}</span>
  const isLong = value.length > LONG_TEXT && !isWhole
  return (
    <span className={styles.string}>
      &quot;
      <VisibleText text={isLong ? value.slice(0, LONG_TEXT) : value} />
      {!isLong && <>&quot;</>}
      {isLong && (
        <button type="button" className={styles.more} onClick={() => setWhole(true)}>
          … all {value.length.toLocaleString('en')} characters
        </button>
      )}
    </span>
  )
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value)
}
