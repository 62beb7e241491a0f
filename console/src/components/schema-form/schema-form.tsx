import { useMemo } from 'react'
import type { Problems } from './check-value.ts'
import { FormContext } from './form-context.ts'
import type { JsonSchema } from './json-schema.ts'
import { SchemaField } from './schema-field.tsx'
import styles from './schema-form.module.css'

interface SchemaFormProps {
  readonly schema: Readonly<Record<string, unknown>>
  /** The JSON value; begin with `firstValue(schema, schema)` or what is there to change. */
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  /** Shown at their fields; from `checkValue` when it is sent. */
  readonly problems?: Problems
}

const NONE: Problems = new Map()

/** A form made from a JSON Schema, whose value is the JSON that fits it. */
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
