import { Send } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { showFailure } from '../../components/show-failure.ts'
import styles from './agents.module.css'

const MOST_CHARS = 20_000

/** Writes to a session; it reads that when it looks for messages. */
export function AgentLetter({ id }: { id: string }) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const send = async () => {
    if (text.trim() === '' || isBusy) return
    setBusy(true)
    try {
      await api.agents.send(id, text)
      setText('')
      refreshQueries('agents')
    } catch (error) {
      showFailure('Not sent', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      className={styles.letter}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Field label="Message to it" description="It gets the message when it next looks; Ctrl and Enter send.">
        {(control) => (
          <textarea
            {...control}
            rows={3}
            maxLength={MOST_CHARS}
            value={text}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send()
            }}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" icon={Send} isBusy={isBusy} disabled={text.trim() === ''}>
        Send
      </Button>
    </form>
  )
}
