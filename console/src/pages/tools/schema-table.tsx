import { type CSSProperties, useMemo } from 'react'
import { Badge } from '../../components/badge.tsx'
import { JsonView } from '../../components/json-view.tsx'
import type { JsonSchema } from '../../components/schema-form/json-schema.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { flattenSchema, type SchemaLine } from './flatten-schema.ts'
import styles from './schema-table.module.css'

interface SchemaTableProps {
  readonly title: string
  readonly schema: Readonly<Record<string, unknown>>
  /** Said where it has no named parts. */
  readonly nothing: string
}

/** A schema as people read it: a line a part; the JSON below. */
export function SchemaTable({ title, schema, nothing }: SchemaTableProps) {
  const lines = useMemo(() => flattenSchema(schema as JsonSchema), [schema])
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {lines.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      {lines.length > 0 && (
        <dl className={styles.lines} aria-label={title}>
          {lines.map((line) => (
            <Line key={line.path} line={line} />
          ))}
        </dl>
      )}
      <details>
        <summary className={styles.summary}>As JSON Schema</summary>
        <JsonView value={schema} label={`${title} schema`} openDepth={1} />
      </details>
    </section>
  )
}

function Line({ line: { path, depth, type, isRequired, description, default: preset } }: { line: SchemaLine }) {
  return (
    <div className={styles.line} style={{ '--depth': depth } as CSSProperties}>
      <dt className={styles.name}>
        <code>
          <VisibleText text={path} />
        </code>
        {isRequired && <Badge tone="info">required</Badge>}
      </dt>
      <dd className={styles.about}>
        <span className={styles.type}>
          <VisibleText text={type} />
          {preset !== undefined && (
            <>
              ; default <VisibleText text={JSON.stringify(preset)} />
            </>
          )}
        </span>
        {description !== undefined && (
          <span>
            <VisibleText text={description} />
          </span>
        )}
      </dd>
    </div>
  )
}
