import { use } from 'react'
import { FormContext } from './form-context.ts'
import { GroupField } from './group-field.tsx'
import { JsonField } from './json-field.tsx'
import { type JsonSchema, kindOf, resolve } from './json-schema.ts'
import { ListField } from './list-field.tsx'
import { ShapeField } from './shape-field.tsx'
import { SimpleField } from './simple-field.tsx'

/** What every kind of field gets. `undefined` means that it is not given. */
export interface SchemaFieldProps {
  readonly schema: JsonSchema
  readonly name: string
  readonly path: string
  readonly isRequired: boolean
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

const MAX_DEPTH = 8

/** The control that fits a schema. */
export function SchemaField(props: SchemaFieldProps) {
  const { root } = use(FormContext)
  const schema = resolve(props.schema, root)
  const kind = props.path.split('.').length > MAX_DEPTH ? 'json' : kindOf(schema)
  if (kind === 'group') return <GroupField {...props} schema={schema} />
  if (kind === 'list') return <ListField {...props} schema={schema} />
  if (kind === 'choice-of-shapes') return <ShapeField {...props} schema={schema} />
  if (kind === 'json') return <JsonField {...props} schema={schema} />
  return <SimpleField {...props} schema={schema} />
}
