import { Search, X } from 'lucide-react'
import { useRef } from 'react'
import { useShortcut } from '../keyboard/use-shortcut.ts'
import { IconButton } from './icon-button.tsx'
import { KeyHint } from './key-hint.tsx'
import styles from './search-field.module.css'

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The search of a page; `/` goes there, Escape empties it and goes back. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  useShortcut('/', label, () => input.current?.focus())
  return (
    <div className={styles.field}>
      <Search size={14} aria-hidden="true" className={styles.icon} />
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
        className={styles.input}
      />
      {value === '' && <KeyHint keys="/" />}
      {value !== '' && <IconButton size="small" icon={X} label="Clear the search" onClick={() => onChange('')} />}
    </div>
  )
}
