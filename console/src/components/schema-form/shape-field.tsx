import { use, useId, useState } from 'react'
import fieldStyles from '../field.module.css'
import { FormContext } from './form-context.ts'
import { alternativesOf, firstValue, type JsonSchema, resolve } from './json-schema.ts'
import { SchemaField, type SchemaFieldProps } from './schema-field.tsx'
import styles from './schema-form.module.css'

/** oneOf and anyOf: choose a shape, then fill it in. */
export function ShapeField(props: SchemaFieldProps) {
  const { schema, name, isRequired, value, onChange } = props
  const { root } = use(FormContext)
  const id = useId()
  const shapes = (alternativesOf(schema) ?? []).map((shape) => resolve(shape, root))
  const [chosen, setChosen] = useState(() => (value === undefined ? -1 : fitting(shapes, value)))
  const shape = value === undefined && !isRequired ? undefined : shapes[Math.max(0, chosen)]
  const choose = (index: number) => {
    setChosen(index)
    onChange(index === -1 ? undefined : (firstValue(shapes[index] ?? {}, root) ?? null))
  }
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>
        <label htmlFor={id}>{schema.title ?? (name || 'Shape')}</label>
        <select
          id={id}
          className={fieldStyles.select}
          value={shape === undefined ? -1 : Math.max(0, chosen)}
          onChange={({ target }) => choose(Number(target.value))}
        >
          {!isRequired && <option value={-1}>not given</option>}
          {shapes.map((alternative, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: shapes may have the same name, and are never reordered.
            <option key={index} value={index}>
              {nameOf(alternative, index)}
            </option>
          ))}
        </select>
      </legend>
      {schema.description !== undefined && <p className={styles.about}>{schema.description}</p>}
      {shape !== undefined && shape.type !== 'null' && (
        <SchemaField {...props} key={chosen} schema={shape} isRequired name={name || nameOf(shape, chosen)} />
      )}
    </fieldset>
  )
}

function fitting(shapes: readonly JsonSchema[], value: unknown): number {
  const index = shapes.findIndex((shape) => seemsToFit(shape, value))
  return Math.max(0, index)
}

function seemsToFit({ type, required = [], properties = {} }: JsonSchema, value: unknown): boolean {
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  if (typeof value !== 'object') return type === typeof value || (type === 'integer' && typeof value === 'number')
  if (type !== 'object') return false
  const object = value as Record<string, unknown>
  const hasAll = required.every((key) => Object.hasOwn(object, key))
  return (
    hasAll && Object.entries(properties).every(([key, { const: only }]) => only === undefined || object[key] === only)
  )
}

function nameOf({ title, type, properties = {} }: JsonSchema, index: number): string {
  if (title !== undefined) return title
  const mark = Object.values(properties).find((property) => property.const !== undefined)?.const
  if (mark !== undefined) return String(mark)
  return typeof type === 'string' ? type : `shape ${index + 1}`
}
