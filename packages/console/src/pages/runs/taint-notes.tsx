import { ShieldAlert, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { api, useMe } from '../../api/session.ts'
import type { RunTaint } from '../../api/types.ts'
import { useAction, useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { TextLines } from '../../components/details.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { showToast } from '../../components/toast.tsx'
import { useCalm } from '../../lib/calm.ts'

const MAX_CLEARED = 2
const MAX_REASON_CHARS = 2_000

/** What the run has read from outside, and who cleared it of that. */
export function TaintNotes({ run, principal }: { run: string; principal: string | undefined }) {
  const { data } = useResource(['taint', run], () => api.runs.taint(run), { refreshOn: ['call'], run })
  if (data === undefined) return null
  const shown = data.cleared.slice(-MAX_CLEARED).reverse()
  return (
    <>
      {data.isTainted && <Tainted run={run} principal={principal} sources={data.sources} />}
      {shown.map((cleared) => (
        <Cleared key={cleared.at} cleared={cleared} />
      ))}
      {data.cleared.length > shown.length && (
        <p>Its taint was cleared {data.cleared.length - shown.length} more times before; the record has them all.</p>
      )}
    </>
  )
}

interface TaintedProps {
  readonly run: string
  readonly principal: string | undefined
  readonly sources: readonly string[]
}

function Tainted({ run, principal, sources }: TaintedProps) {
  const me = useMe()
  const [isClearing, setClearing] = useState(false)
  const isOwn = principal === me.principal.name
  return (
    <Note tone="warn" icon={ShieldAlert} title="This run has read content from outside">
      <p>
        Calls with side effects may need approval because of it. Read from:{' '}
        <code>
          <VisibleText text={sources.join(', ')} />
        </code>
      </p>
      {me.may('approve') && !isOwn && (
        <div>
          <Button size="small" onClick={() => setClearing(true)}>
            Clear taint…
          </Button>
        </div>
      )}
      {me.may('approve') && isOwn && <p>This is your own run: somebody else has to clear its taint.</p>}
      {isClearing && <ClearDialog run={run} sources={sources} onClose={() => setClearing(false)} />}
    </Note>
  )
}

function Cleared({ cleared: { at, by, reason, sources } }: { cleared: RunTaint['cleared'][number] }) {
  return (
    <Note
      tone="info"
      icon={ShieldCheck}
      title={
        <>
          Taint cleared by <VisibleText text={by} />, <Time at={at} />
        </>
      }
    >
      <p>
        <VisibleText text={reason} />
      </p>
      <p>
        It had read from:{' '}
        <code>
          <VisibleText text={sources.join(', ')} />
        </code>
      </p>
    </Note>
  )
}

/** Says what clearing means, and asks why the content is harmless. */
function ClearDialog({ run, sources, onClose }: Omit<TaintedProps, 'principal'> & { readonly onClose: () => void }) {
  const [reason, setReason] = useState('')
  const calm = useCalm(sources.join('\n'))
  const clear = useAction(
    async () => {
      const { isTainted } = await api.runs.clearTaint(run, { reason })
      onClose()
      if (isTainted) showToast({ tone: 'warn', title: 'The run has read more from outside, so it is tainted again' })
      else showToast({ tone: 'ok', title: 'The taint was cleared' })
    },
    { refreshes: ['taint'] },
  )
  return (
    <FormDialog
      title="Clear the taint of this run?"
      submit="Clear taint"
      isBusy={clear.isBusy}
      isDisabled={reason.trim() === ''}
      calm={calm}
      error={clear.error}
      onSubmit={() => void clear.submit()}
      onClose={onClose}
    >
      <p>
        Calls with side effects then no longer need approval because of content from outside. If that content tells the
        agent what to do, the agent may do it unasked. Look at what the run has read first:
      </p>
      <TextLines label="Sources" lines={sources} isCode />
      <p>
        It applies to this run alone, and only until the run reads from outside again. It is recorded with your name.
      </p>
      <Field label="Reason" description="Why the content is harmless." isRequired>
        {(control) => (
          <textarea
            {...control}
            rows={2}
            maxLength={MAX_REASON_CHARS}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
