import { use } from 'react'
import { Field, type FieldControl } from '../field.tsx'
import { VisibleText } from '../visible-text.tsx'
import { FormContext } from './form-context.ts'
import { kindOf, valuesOf } from './json-schema.ts'
import type { SchemaFieldProps } from './schema-field.tsx'

/** A text, a number, a yes or no, or one of some values. */
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
