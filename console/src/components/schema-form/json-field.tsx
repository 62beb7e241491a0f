import { use, useState } from 'react'
import { Field } from '../field.tsx'
import { VisibleText } from '../visible-text.tsx'
import { FormContext } from './form-context.ts'
import type { SchemaFieldProps } from './schema-field.tsx'
import styles from './schema-form.module.css'

/** What no control is made for, as JSON text; while it is not JSON the value stays what it was. */
export function JsonField({ schema, name, path, isRequired, value, onChange }: SchemaFieldProps) {
  const { problems } = use(FormContext)
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const parsed = parse(text)
  const change = (next: string) => {
    setText(next)
    const now = parse(next)
    if (now.problem === undefined) onChange(now.value)
  }
  return (
    <Field
      label={<VisibleText text={schema.title ?? (name || 'Value')} />}
      description={<VisibleText text={schema.description ?? 'Written as JSON.'} />}
      problem={parsed.problem ?? problems.get(path)}
      isRequired={isRequired}
    >
      {(control) => (
        <textarea
          {...control}
          className={`${control.className} ${styles.json}`}
          spellCheck={false}
          placeholder='{ "key": "value" }'
          value={text}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Field>
  )
}

function parse(text: string): { value?: unknown; problem?: string } {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: `Not JSON yet: ${(error as Error).message}` }
  }
}
