import { Plus, Trash2 } from 'lucide-react'
import { use } from 'react'
import { Button } from '../button.tsx'
import { IconButton } from '../icon-button.tsx'
import { VisibleText } from '../visible-text.tsx'
import { FormContext } from './form-context.ts'
import { firstValue } from './json-schema.ts'
import { SchemaField, type SchemaFieldProps } from './schema-field.tsx'
import styles from './schema-form.module.css'

/** An array: its items with a button to remove each, and one to add. */
export function ListField({ schema, name, path, isRequired, value, onChange }: SchemaFieldProps) {
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
