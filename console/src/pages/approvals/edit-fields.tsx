import { useMemo, useState } from 'react'
import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { checkValue } from '../../components/schema-form/check-value.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import styles from './ask-detail.module.css'
import { JsonEditor } from './json-editor.tsx'

interface EditFieldsProps {
  readonly tool: string
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  /** Whether what is written is a value at all. */
  readonly onReady: (isReady: boolean) => void
}

/** The arguments as a form of the tool’s parameters, or as JSON; only JSON where the tool is not known any more. */
export function EditFields({ tool, value, onChange, onReady }: EditFieldsProps) {
  const [isJson, setJson] = useState(false)
  const tools = useQuery('tools', () => api.tools({ hidden: true }))
  const schema = tools.data?.find((known) => known.tool === tool)?.parameters
  const problems = useMemo(() => (schema ? checkValue(schema, value) : undefined), [schema, value])
  const showsForm = schema !== undefined && !isJson
  return (
    <div className={styles.block}>
      {schema && (
        <fieldset className={styles.buttons} aria-label="How to edit">
          <Button
            size="small"
            aria-pressed={showsForm}
            variant={showsForm ? 'secondary' : 'quiet'}
            onClick={() => setJson(false)}
          >
            Form
          </Button>
          <Button
            size="small"
            aria-pressed={!showsForm}
            variant={showsForm ? 'quiet' : 'secondary'}
            onClick={() => setJson(true)}
          >
            JSON
          </Button>
        </fieldset>
      )}
      {showsForm && <SchemaForm schema={schema} value={value} onChange={onChange} problems={problems} />}
      {!showsForm && <JsonEditor value={value} onChange={onChange} onReady={onReady} />}
    </div>
  )
}
