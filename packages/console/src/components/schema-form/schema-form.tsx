import { Plus, Trash2, X } from 'lucide-react'
import { use, useId, useMemo, useState } from 'react'
import { Button, IconButton } from '../button.tsx'
import fieldStyles from '../field.module.css'
import { VisibleText } from '../text.tsx'
import { alternativesOf, firstValue, type JsonSchema, kindOf, type Problems, resolve } from './json-schema.ts'
import styles from './schema-form.module.css'
import { FormContext, JsonField, SimpleField } from './value-fields.tsx'

interface SchemaFormProps {
  readonly schema: Readonly<Record<string, unknown>>
  /** The JSON value; start with `firstValue(schema, schema)` or an existing value. */
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  /** The problems of `checkValue`, shown at their fields. */
  readonly problems?: Problems
}

const NONE: Problems = new Map()

/** A form generated from a JSON Schema. */
export function SchemaForm({ schema, value, onChange, problems = NONE }: SchemaFormProps) {
  const root = schema as JsonSchema
  const context = useMemo(() => ({ root, problems }), [root, problems])
  return (
    <FormContext value={context}>
      <div className={styles.form}>
        <SchemaField schema={root} name="" path="" isRequired value={value} onChange={onChange} />
      </div>
    </FormContext>
  )
}

/** The props of every field. The value `undefined` means that it is not given. */
export interface SchemaFieldProps {
  readonly schema: JsonSchema
  readonly name: string
  readonly path: string
  readonly isRequired: boolean
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

const MAX_DEPTH = 8

/** The control for a schema. */
function SchemaField(props: SchemaFieldProps) {
  const { root } = use(FormContext)
  const schema = resolve(props.schema, root)
  const kind = props.path.split('.').length > MAX_DEPTH ? 'json' : kindOf(schema)
  if (kind === 'group') return <GroupField {...props} schema={schema} />
  if (kind === 'list') return <ListField {...props} schema={schema} />
  if (kind === 'choice-of-shapes') return <ShapeField {...props} schema={schema} />
  if (kind === 'json') return <JsonField {...props} schema={schema} />
  return <SimpleField {...props} schema={schema} />
}

/** An object: a field for each property, the required ones first. */
function GroupField({ schema, name, path, isRequired, value, onChange }: SchemaFieldProps) {
  const { root } = use(FormContext)
  const required = new Set(schema.required)
  const properties = Object.entries(schema.properties ?? {})
  const ordered = [
    ...properties.filter(([key]) => required.has(key)),
    ...properties.filter(([key]) => !required.has(key)),
  ]
  if (value === undefined) {
    return (
      <div>
        <Button size="small" icon={Plus} onClick={() => onChange(firstValue(schema, root))}>
          Add {name}
        </Button>
      </div>
    )
  }
  const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  const fields = ordered.map(([key, property]) => (
    <SchemaField
      key={key}
      schema={property}
      name={key}
      path={path === '' ? key : `${path}.${key}`}
      isRequired={required.has(key)}
      value={Object.hasOwn(object, key) ? object[key] : undefined}
      onChange={(next) => onChange(withKey(object, key, next))}
    />
  ))
  if (path === '') {
    return properties.length === 0 ? <p className={styles.none}>This tool takes no arguments.</p> : fields
  }
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>
        <VisibleText text={schema.title ?? name} />
        {!isRequired && (
          <Button size="small" variant="quiet" icon={X} onClick={() => onChange(undefined)}>
            Remove
          </Button>
        )}
      </legend>
      {schema.description !== undefined && (
        <p className={styles.about}>
          <VisibleText text={schema.description} />
        </p>
      )}
      {fields}
    </fieldset>
  )
}

function withKey(object: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const entries = Object.entries(object).filter(([known]) => known !== key)
  return Object.fromEntries(value === undefined ? entries : [...entries, [key, value]])
}

/** An array: its items, each with a button to remove it, and a button to add one. */
function ListField({ schema, name, path, isRequired, value, onChange }: SchemaFieldProps) {
  const { root, problems } = use(FormContext)
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  const itemSchema = schema.items ?? {}
  const problem = problems.get(path)
  const remove = (index: number) => {
    const rest = items.toSpliced(index, 1)
    onChange(rest.length === 0 && !isRequired ? undefined : rest)
  }
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>
        <VisibleText text={schema.title ?? name} />
        {isRequired && <span className={styles.required}>*</span>}
      </legend>
      {schema.description !== undefined && (
        <p className={styles.about}>
          <VisibleText text={schema.description} />
        </p>
      )}
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no name; each field shows just what it is given.
        <div key={index} className={styles.item}>
          <div className={styles.grow}>
            <SchemaField
              schema={itemSchema}
              name={`${name} ${index + 1}`}
              path={path === '' ? String(index) : `${path}.${index}`}
              isRequired
              value={item}
              onChange={(next) => onChange(items.with(index, next ?? null))}
            />
          </div>
          <IconButton size="small" icon={Trash2} label={`Remove ${name} ${index + 1}`} onClick={() => remove(index)} />
        </div>
      ))}
      {problem !== undefined && <p className={styles.problem}>{problem}</p>}
      <div>
        <Button size="small" icon={Plus} onClick={() => onChange([...items, firstValue(itemSchema, root) ?? null])}>
          Add to {name || 'the list'}
        </Button>
      </div>
    </fieldset>
  )
}

/** oneOf and anyOf: choose a shape, then fill it in. */
function ShapeField(props: SchemaFieldProps) {
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
