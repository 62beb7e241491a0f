import { ListX } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import type { Ask } from './ask.ts'
import { DenyDialog } from './deny-dialog.tsx'

type WaitingApproval = Extract<Ask, { kind: 'approval' }>

/** The way to deny several calls with one reason; where there are several. */
export function DenySeveral({ asks }: { asks: readonly Ask[] }) {
  // What is offered stays as it was when the dialog was opened: nothing moves under the pointer.
  const [offered, setOffered] = useState<readonly WaitingApproval[]>()
  const waiting = asks.filter(isAnswerable)
  if (offered === undefined && waiting.length < 2) return null
  return (
    <>
      <Button icon={ListX} onClick={() => setOffered(waiting)}>
        Deny several…
      </Button>
      {offered !== undefined && (
        <DenyDialog
          offered={offered}
          isWaiting={(id) => waiting.some((each) => each.id === id)}
          onClose={() => setOffered(undefined)}
        />
      )}
    </>
  )
}

function isAnswerable(ask: Ask): ask is WaitingApproval {
  return ask.kind === 'approval' && ask.state === 'waiting' && ask.mayAnswer
}
