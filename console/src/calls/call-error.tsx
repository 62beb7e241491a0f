import { useState } from 'react'
import { ERRORS } from '../../../src/errors.ts'
import { api } from '../api/api.ts'
import type { CallEntry } from '../api/types.ts'
import { Button } from '../components/button.tsx'
import { Note } from '../components/note.tsx'
import { showFailure } from '../components/show-failure.ts'
import { VisibleText } from '../components/visible-text.tsx'

interface CallErrorProps {
  readonly call: CallEntry
  readonly error: { readonly code: string; readonly message: string }
  readonly args: unknown
}

const BY_POLICY = new Set(['POLICY_DENIED', 'APPROVAL_UNAVAILABLE', 'APPROVAL_TIMEOUT'])

/** Why a call failed, and what helps; for what policy stopped, the rule that would let it pass. */
export function CallError({ call, error: { code, message }, args }: CallErrorProps) {
  const [fix, setFix] = useState<{ callId: string; words: string }>()
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS] : undefined
  const explain = async () => {
    try {
      const { effect, fix: words, reason } = await api.policy.explain({ tool: call.tool, input: args })
      setFix({ callId: call.callId, words: words ?? (effect === 'allow' ? 'Policy would allow it now.' : reason) })
    } catch (failure) {
      showFailure('Policy was not asked', failure)
    }
  }
  return (
    <Note tone="bad" title={<VisibleText text={message || (known?.meaning ?? code)} />}>
      {known && <p>{known.fix}</p>}
      <p>
        <code>{code}</code>
      </p>
      {fix?.callId === call.callId && (
        <p role="status">
          Now: <VisibleText text={fix.words} />
        </p>
      )}
      {BY_POLICY.has(code) && args !== undefined && fix?.callId !== call.callId && (
        <div>
          <Button size="small" onClick={explain}>
            What would let it pass?
          </Button>
        </div>
      )}
    </Note>
  )
}
