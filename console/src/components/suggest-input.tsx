import { type InputHTMLAttributes, useId } from 'react'
import { classNames } from './class-names.ts'
import fieldStyles from './field.module.css'

/** Something to choose; `about` says more of it. */
interface Suggestion {
  readonly value: string
  readonly about?: string
}

interface SuggestInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange' | 'list'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly suggestions: readonly Suggestion[]
}

const MOST = 500

/** A line of text with what it could be, as the browser shows it; anything else may be typed. */
export function SuggestInput({ value, onChange, suggestions, className, ...rest }: SuggestInputProps) {
  const id = useId()
  return (
    <>
      <input
        {...rest}
        list={id}
        spellCheck={false}
        autoComplete="off"
        className={classNames(fieldStyles.control, className)}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {suggestions.slice(0, MOST).map((each) => (
          <option key={each.value} value={each.value}>
            {each.about}
          </option>
        ))}
      </datalist>
    </>
  )
}
