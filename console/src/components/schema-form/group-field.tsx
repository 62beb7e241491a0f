import { Plus, X } from 'lucide-react'
import { use } from 'react'
import { Button } from '../button.tsx'
import { VisibleText } from '../visible-text.tsx'
import { FormContext } from './form-context.ts'
import { firstValue } from './json-schema.ts'
import { SchemaField, type SchemaFieldProps } from './schema-field.tsx'
import styles from './schema-form.module.css'

/** An object: a field for each property, the required ones first. */
export function GroupField({ schema, name, path, isRequired, value, onChange }: SchemaFieldProps) {
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
    return properties.length === 0 ? <p className={styles.none}>It takes no arguments.</p> : fields
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
