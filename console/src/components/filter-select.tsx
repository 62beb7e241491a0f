import fieldStyles from './field.module.css'

interface FilterSelectProps {
  readonly label: string
  readonly value: string
  /** By value; '' is everything. */
  readonly options: readonly (readonly [value: string, words: string])[]
  readonly onChange: (value: string) => void
}

/** One of a few, as a native select: it works with every keyboard and phone. */
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
