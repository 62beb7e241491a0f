import { useState } from 'react'
import { api } from '../../api/session.ts'
import type { Scope } from '../../api/types.ts'
import { useAction } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { Dialog, FormDialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { Code } from '../../components/text.tsx'
import { useCalm } from '../../lib/calm.ts'
import styles from '../audit/audit.module.css'
import { checkTokenForm, EMPTY_TOKEN, type TokenForm, type TokenProblems, toNewToken } from './token-form.ts'

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['call', 'call tools'],
  ['approve', 'answer approvals and questions of others'],
  ['read', 'look at everything: calls, records, policy'],
  ['admin', 'change the policy, tokens and grants, undo changes'],
]

/** The form for a new token. */
export function NewTokenDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: NewSecret) => void }) {
  const [form, setForm] = useState<TokenForm>(EMPTY_TOKEN)
  const [problems, setProblems] = useState<TokenProblems>({})
  const calm = useCalm('')
  const change = (part: Partial<TokenForm>) => setForm({ ...form, ...part })
  const toggle = (scope: Scope, isOn: boolean) =>
    change({ scopes: isOn ? [...form.scopes, scope] : form.scopes.filter((each) => each !== scope) })

  const create = useAction(
    async () => {
      const { token, secret } = await api.tokens.create(toNewToken(form, Date.now()))
      onMade({ name: token.name, secret })
    },
    { refreshes: ['tokens'] },
  )
  const submit = () => {
    const found = checkTokenForm(form)
    setProblems(found)
    if (Object.keys(found).length === 0) void create.submit()
  }
  return (
    <FormDialog
      onClose={onClose}
      title="New token"
      description="Its secret is shown once, right after it is created."
      submit="Create the token"
      isBusy={create.isBusy}
      calm={calm}
      error={create.error}
      onSubmit={submit}
    >
      <Field label="Name" description="Shown in records as token:NAME." problem={problems.name} isRequired>
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
        <legend>Scopes</legend>
        {SCOPES.map(([scope, about]) => (
          <Field key={scope} label={scope} description={about} problem={scope === 'call' ? problems.scopes : undefined}>
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
    </FormDialog>
  )
}

interface TokenLimitFieldsProps {
  readonly form: TokenForm
  readonly problems: TokenProblems
  readonly onChange: (part: Partial<TokenForm>) => void
}

const DAYS = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['', 'Never'],
] as const
const PROFILES = ['', 'minimal', 'coding', 'messaging', 'full'] as const
const AMOUNTS = [
  ['calls', 'Calls per day'],
  ['minutes', 'Minutes of tool time per day'],
  ['megabytes', 'Megabytes per day'],
  ['cost', 'Cost per day'],
  ['perSecond', 'Requests per second'],
] as const

/** The limits of a token, in addition to the rules for everybody. */
function TokenLimitFields({ form, problems, onChange }: TokenLimitFieldsProps) {
  return (
    <>
      <div className={styles.grid}>
        <Field label="Expires after">
          {(control) => (
            <select {...control} value={form.days} onChange={({ target }) => onChange({ days: target.value })}>
              {DAYS.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Tools it sees">
          {(control) => (
            <select {...control} value={form.profile} onChange={({ target }) => onChange({ profile: target.value })}>
              {PROFILES.map((profile) => (
                <option key={profile} value={profile}>
                  {profile === '' ? 'As configured' : profile}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <details open={AMOUNTS.some(([key]) => problems[key]) || problems.roots || problems.rules ? true : undefined}>
        <summary className={styles.summary}>Limits</summary>
        <div className={styles.more}>
          <div className={styles.grid}>
            {AMOUNTS.map(([key, label]) => (
              <Field key={key} label={label} problem={problems[key]}>
                {(control) => (
                  <input
                    {...control}
                    inputMode="decimal"
                    placeholder="no limit"
                    value={form[key]}
                    onChange={({ target }) => onChange({ [key]: target.value })}
                  />
                )}
              </Field>
            ))}
          </div>
          <Field
            label="Folders instead of those in the config"
            description="One per line, such as /srv/data. Append :read for read-only access. Only folders that the hub itself can access."
            problem={problems.roots}
          >
            {(control) => (
              <textarea
                {...control}
                className={`${control.className} ${styles.mono}`}
                spellCheck={false}
                value={form.roots}
                onChange={({ target }) => onChange({ roots: target.value })}
              />
            )}
          </Field>
          <Field
            label="Own rules"
            description='A JSON list of rules that ask or deny, such as [{ "deny": "network" }]. The owner can allow commands and destructive calls with tool-hub tokens add.'
            problem={problems.rules}
          >
            {(control) => (
              <textarea
                {...control}
                className={`${control.className} ${styles.mono}`}
                spellCheck={false}
                value={form.rules}
                onChange={({ target }) => onChange({ rules: target.value })}
              />
            )}
          </Field>
        </div>
      </details>
    </>
  )
}

/** A new token, with its secret that is shown once. */
export interface NewSecret {
  readonly name: string
  readonly secret: string
}

/** Shows the secret once. Closing it accidentally asks for confirmation. */
export function TokenSecretDialog({ secret, onClose }: { secret: NewSecret | undefined; onClose: () => void }) {
  const [isWarned, setWarned] = useState(false)
  // It appears where the button that created the token was.
  const calm = useCalm(secret?.secret ?? '')
  const close = () => {
    setWarned(false)
    onClose()
  }
  return (
    <Dialog
      isOpen={secret !== undefined}
      onClose={() => (isWarned ? close() : setWarned(true))}
      title={`Secret of ${secret?.name ?? ''}`}
      description="Copy it now: it is not shown again, and only its hash is stored."
      footer={
        <Button variant="primary" calm={calm} onClick={close}>
          I have copied it
        </Button>
      }
    >
      {isWarned && (
        <Note tone="warn" title="Have you copied it? Close again to continue without it." isLive>
          <p>A lost secret cannot be recovered: revoke the token and create another.</p>
        </Note>
      )}
      {secret && <Code text={secret.secret} label="Secret" />}
      <p className={styles.muted}>
        Agents send it as <code>Authorization: Bearer SECRET</code>; people paste it on the sign-in page.
      </p>
    </Dialog>
  )
}
