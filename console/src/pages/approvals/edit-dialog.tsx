import { Check, TriangleAlert } from 'lucide-react'
import { useMemo, useState } from 'react'
import { revealText } from '../../../../src/value/escape-text.ts'
import { readHint } from '../../api/read-hint.ts'
import type { Approval } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import { subjectOf } from './ask.ts'
import { ChangeList } from './change-list.tsx'
import { DetailBlock } from './detail-block.tsx'
import { EditFields } from './edit-fields.tsx'
import { listChanges } from './list-changes.ts'
import type { Approve } from './use-approve.ts'

interface EditDialogProps {
  readonly approval: Approval
  readonly approve: Approve
  readonly onClose: () => void
}

const MARK = /\[redacted:[a-z-]{1,40}\]/

/** Other arguments than the ones asked for: checked and judged again by the service, and recorded as changed. */
export function EditDialog({ approval, approve, onClose }: EditDialogProps) {
  const [value, setValue] = useState<unknown>(approval.input)
  const [isReady, setReady] = useState(true)
  const [error, setError] = useState<Error>()
  const subject = useMemo(() => subjectOf(approval), [approval])
  const calm = useCalm(subject)
  const changes = useMemo(() => listChanges(approval.input, value), [approval.input, value])
  const json = JSON.stringify(value) ?? ''
  const hasMark = MARK.test(json)
  const isUnsafe = revealText(json) !== json
  const hint = readHint(error)
  const send = () => approve.sendOrThrow({ decision: 'allow', remember: 'once', input: value }).catch(setError)
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isWide
      title={
        <>
          Edit and allow <VisibleText text={approval.tool} />
        </>
      }
      description="The changed call is checked and judged again, runs once, and is recorded as changed by you."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            icon={Check}
            isBusy={approve.isBusy}
            calm={calm}
            disabled={changes.length === 0 || !isReady}
            onClick={send}
          >
            Allow with changes
          </Button>
        </>
      }
    >
      {error && (
        <div role="alert">
          <Note icon={TriangleAlert} tone="bad" title={<VisibleText text={error.message} />}>
            {hint !== undefined && (
              <p>
                <VisibleText text={hint} />
              </p>
            )}
          </Note>
        </div>
      )}
      {hasMark && (
        <Note icon={TriangleAlert} tone="warn" title="A secret is hidden here.">
          <p>
            {' '}
            Where it says [redacted:…] stood a secret that nobody is shown. Write what is to be there, or cancel and
            allow the call as it is.
          </p>
        </Note>
      )}
      {isUnsafe && (
        <Note icon={TriangleAlert} tone="warn" title="Some characters are not what they seem.">
          <p>
            {' '}
            The arguments have characters that are hidden, or change the order of others; in a field they cannot be
            shown. The call itself shows them by their code.
          </p>
        </Note>
      )}
      <EditFields tool={approval.tool} value={value} onChange={setValue} onReady={setReady} />
      <DetailBlock title="What you change">
        <ChangeList changes={changes} />
      </DetailBlock>
    </Dialog>
  )
}
