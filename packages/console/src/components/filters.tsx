import { Search, X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { useShortcut } from '../lib/shortcuts.ts'
import { IconButton, KeyHint } from './button.tsx'
import fieldStyles from './field.module.css'
import styles from './field.module.css'

/** The row above a list: a `SearchField`, `FilterSelect`s, and a summary such as the number of items. */
export function FilterBar({ children, summary }: { children: ReactNode; summary?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a form would send itself; `search` as an element is younger than our browsers.
    <div className={styles.bar} role="search">
      {children}
      {summary !== undefined && (
        <span className={styles.barSummary} aria-live="polite">
          {summary}
        </span>
      )}
    </div>
  )
}

interface FilterSelectProps {
  readonly label: string
  readonly value: string
  /** Values and labels; '' is the option for everything. */
  readonly options: readonly (readonly [value: string, words: string])[]
  readonly onChange: (value: string) => void
}

/** A native select, which works with every keyboard and phone. */
export function FilterSelect({ label, value, options, onChange }: FilterSelectProps) {
  return (
    <select
      className={fieldStyles.select}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {options.map(([option, words]) => (
        <option key={option} value={option}>
          {words}
        </option>
      ))}
    </select>
  )
}

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The search field of a page. `/` focuses it, Escape clears and leaves it. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  useShortcut('/', label, () => input.current?.focus())
  return (
    <div className={styles.search}>
      <Search size={14} aria-hidden="true" className={styles.searchIcon} />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        maxLength={200}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          onChange('')
          event.currentTarget.blur()
        }}
        className={styles.searchInput}
      />
      {value === '' && <KeyHint keys="/" />}
      {value !== '' && <IconButton size="small" icon={X} label="Clear the search" onClick={() => onChange('')} />}
    </div>
  )
}
