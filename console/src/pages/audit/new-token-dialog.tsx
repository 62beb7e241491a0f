import { useId, useState } from 'react'
import { api } from '../../api/api.ts'
import { readHint } from '../../api/read-hint.ts'
import type { Scope } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import styles from './audit.module.css'
import { checkTokenForm, EMPTY_TOKEN, type TokenForm, type TokenProblems, toNewToken } from './token-form.ts'
import { TokenLimitFields } from './token-limit-fields.tsx'
import type { NewSecret } from './token-secret-dialog.tsx'

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['call', 'call tools'],
  ['approve', 'answer approvals and questions of others'],
  ['read', 'look at everything: calls, records, policy'],
  ['admin', 'change the policy, tokens and grants, undo changes'],
]

/** A form for a new token. */
export function NewTokenDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: NewSecret) => void }) {
  const formId = useId()
  const [form, setForm] = useState<TokenForm>(EMPTY_TOKEN)
  const [problems, setProblems] = useState<TokenProblems>({})
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const calm = useCalm('')
  const change = (part: Partial<TokenForm>) => setForm({ ...form, ...part })
  const toggle = (scope: Scope, isOn: boolean) =>
    change({ scopes: isOn ? [...form.scopes, scope] : form.scopes.filter((each) => each !== scope) })

  const make = async () => {
    const found = checkTokenForm(form)
    setProblems(found)
    setError(undefined)
    if (Object.keys(found).length > 0) return
    setBusy(true)
    try {
      const { token, secret } = await api.tokens.create(toNewToken(form, Date.now()))
      onMade({ name: token.name, secret })
    } catch (failure) {
      setError(failure as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="New token"
      description="Its secret is shown once, when it is made."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={formId} variant="primary" isBusy={isBusy} calm={calm}>
            Make the token
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        {error && (
          <Note tone="bad" title={<VisibleText text={error.message} />} isLive>
            <p>
              <VisibleText text={readHint(error) ?? ''} />
            </p>
          </Note>
        )}
        <Field label="Name" description="Records name it: token:NAME." problem={problems.name} isRequired>
          {(control) => (
            <input
              {...control}
              autoComplete="off"
              value={form.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
        <fieldset className={styles.group}>
          <legend>It may</legend>
          {SCOPES.map(([scope, about]) => (
            <Field
              key={scope}
              label={scope}
              description={about}
              problem={scope === 'call' ? problems.scopes : undefined}
            >
              {(control) => (
                <input
                  {...control}
                  type="checkbox"
                  checked={form.scopes.includes(scope)}
                  onChange={({ target }) => toggle(scope, target.checked)}
                />
              )}
            </Field>
          ))}
        </fieldset>
        <TokenLimitFields form={form} problems={problems} onChange={change} />
      </form>
    </Dialog>
  )
}
