import { Send } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { checkValue, type Problems } from '../../components/schema-form/check-value.ts'
import { firstValue } from '../../components/schema-form/json-schema.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import type { Calm } from '../../keyboard/use-calm.ts'
import styles from './ask-detail.module.css'
import type { Reply } from './use-reply.ts'

interface QuestionFormProps {
  readonly schema: Readonly<Record<string, unknown>>
  readonly reply: Reply
  readonly calm: Calm
}

/** A form where more than a text is wanted, made from the JSON Schema of the question. */
export function QuestionForm({ schema, reply, calm }: QuestionFormProps) {
  const [value, setValue] = useState<unknown>(() => firstValue(schema, schema))
  const [problems, setProblems] = useState<Problems>()
  const send = () => {
    const found = checkValue(schema, value)
    setProblems(found)
    if (found.size === 0) void reply.send({ values: value as Record<string, unknown> })
  }
  return (
    <>
      <SchemaForm schema={schema} value={value} onChange={setValue} problems={problems} />
      <div className={styles.buttons}>
        <Button variant="primary" icon={Send} isBusy={reply.isBusy} calm={calm} onClick={send}>
          Send
        </Button>
      </div>
    </>
  )
}
