import { useEffect, useState } from 'react'
import type { ToolEntry } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { firstValue } from '../../components/schema-form/json-schema.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import styles from './policy.module.css'

interface ArgumentsFieldProps {
  /** Whose arguments they are; without one they are written as JSON. */
  readonly tool: ToolEntry | undefined
  readonly onChange: (input: unknown) => void
  readonly onValid: (isValid: boolean) => void
}

/** The arguments of a call, as a form of its tool or as JSON. */
export function ArgumentsField({ tool, onChange, onValid }: ArgumentsFieldProps) {
  const [isJson, setJson] = useState(tool === undefined)
  const [value, setValue] = useState<unknown>(() => (tool ? firstValue(tool.parameters, tool.parameters) : {}))
  const [text, setText] = useState('{}')
  const problem = isJson ? problemOf(text) : undefined

  // The form of another tool begins with what that one needs; nothing of the last one is asked.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it appears; afterwards `change` tells.
  useEffect(() => {
    onChange(value)
    onValid(true)
  }, [])

  const change = (next: unknown) => {
    setValue(next)
    onChange(next)
  }
  const write = (next: string) => {
    setText(next)
    const isWrong = problemOf(next) !== undefined
    onValid(!isWrong)
    if (!isWrong) change(next.trim() === '' ? {} : JSON.parse(next))
  }
  const swap = () => {
    if (!isJson) setText(JSON.stringify(value ?? {}, null, 2))
    setJson(!isJson)
  }
  return (
    <>
      {isJson && (
        <Field label="Arguments" description="As JSON." problem={problem}>
          {(control) => (
            <textarea
              {...control}
              className={`${control.className} ${styles.mono}`}
              rows={6}
              spellCheck={false}
              value={text}
              onChange={({ target }) => write(target.value)}
            />
          )}
        </Field>
      )}
      {!isJson && tool && <SchemaForm schema={tool.parameters} value={value} onChange={change} />}
      {tool && (
        <div>
          <Button size="small" variant="quiet" disabled={problem !== undefined} onClick={swap}>
            {isJson ? 'Use the form' : 'Write as JSON'}
          </Button>
        </div>
      )}
    </>
  )
}

function problemOf(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `Not JSON yet: ${(error as Error).message}`
  }
}
