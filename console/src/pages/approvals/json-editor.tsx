import { useEffect, useState } from 'react'
import { Field } from '../../components/field.tsx'
import styles from './json-editor.module.css'

interface JsonEditorProps {
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  readonly onReady: (isReady: boolean) => void
}

/** A value as JSON text; while it is none, the value stays what it was and cannot be sent. */
export function JsonEditor({ value, onChange, onReady }: JsonEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2) ?? '')
  const problem = problemOf(text)
  useEffect(() => {
    onReady(problem === undefined)
    return () => onReady(true)
  }, [problem, onReady])
  const change = (next: string) => {
    setText(next)
    if (problemOf(next) === undefined) onChange(JSON.parse(next))
  }
  return (
    <Field label="Arguments as JSON" problem={problem}>
      {(control) => (
        <textarea
          {...control}
          className={`${control.className} ${styles.editor}`}
          rows={Math.min(20, Math.max(6, text.split('\n').length + 1))}
          spellCheck={false}
          value={text}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Field>
  )
}

function problemOf(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `Not JSON yet: ${(error as Error).message}`
  }
}
