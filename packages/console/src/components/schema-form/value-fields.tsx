import { createContext, use, useState } from 'react'
import { Field, type FieldControl } from '../field.tsx'
import { VisibleText } from '../text.tsx'
import { type JsonSchema, kindOf, type Problems, valuesOf } from './json-schema.ts'
import styles from './schema-form.module.css'
import type { SchemaFieldProps } from './schema-form.tsx'

/** A text, a number, a checkbox, or a choice of values. */
export function SimpleField(props: SchemaFieldProps) {
  const { schema, name, path, isRequired } = props
  const { problems } = use(FormContext)
  return (
    <Field
      label={<VisibleText text={schema.title ?? name} />}
      description={schema.description === undefined ? undefined : <VisibleText text={schema.description} />}
      problem={problems.get(path)}
      isRequired={isRequired}
    >
      {(control) => <Control {...props} control={control} />}
    </Field>
  )
}

function Control({ schema, value, isRequired, onChange, control }: SchemaFieldProps & { control: FieldControl }) {
  const kind = kindOf(schema)
  const placeholder = schema.default === undefined ? undefined : `default: ${String(schema.default)}`
  if (kind === 'choice-of-values') {
    const values = valuesOf(schema)
    const chosen = value === undefined ? '' : String(values.indexOf(value))
    return (
      <select {...control} value={chosen} onChange={({ target }) => onChange(values[Number(target.value || -1)])}>
        {(!isRequired || value === undefined) && <option value="">not given</option>}
        {values.map((option, index) => (
          <option key={String(option)} value={index}>
            {String(option)}
          </option>
        ))}
      </select>
    )
  }
  if (kind === 'flag') {
    const { required: _, ...rest } = control
    const isChecked = (value ?? schema.default) === true
    return <input {...rest} type="checkbox" checked={isChecked} onChange={({ target }) => onChange(target.checked)} />
  }
  if (kind === 'number') {
    return (
      <input
        {...control}
        type="number"
        step={schema.type === 'integer' ? 1 : 'any'}
        min={schema.minimum}
        max={schema.maximum}
        placeholder={placeholder}
        value={typeof value === 'number' ? value : ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
      />
    )
  }
  const text = typeof value === 'string' ? value : ''
  const change = (next: string) => onChange(next === '' && !isRequired ? undefined : next)
  return (
    <textarea
      {...control}
      rows={Math.min(12, Math.max(1, text.split('\n').length))}
      data-single-line={!text.includes('\n') || undefined}
      placeholder={placeholder}
      spellCheck={false}
      value={text}
      onChange={({ target }) => change(target.value)}
    />
  )
}

/** JSON text, for schemas without a control of their own. While it is not valid JSON, the value does not change. */
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
    return { problem: `Not valid JSON: ${(error as Error).message}` }
  }
}

/** What every field of a form needs: the root schema, for references, and the problems. */
export const FormContext = createContext<{ readonly root: JsonSchema; readonly problems: Problems }>({
  root: {},
  problems: new Map(),
})
