import { Field } from '../../components/field.tsx'
import styles from './audit.module.css'
import type { TokenForm, TokenProblems } from './token-form.ts'

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
  ['calls', 'Calls a day'],
  ['minutes', 'Minutes of tool time a day'],
  ['megabytes', 'Megabytes a day'],
  ['cost', 'Cost a day'],
  ['perSecond', 'Requests a second'],
] as const

/** What a token is held to beside the rules for everybody. */
export function TokenLimitFields({ form, problems, onChange }: TokenLimitFieldsProps) {
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
                  {profile === '' ? 'As the config says' : profile}
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
            label="Folders instead of those of the config"
            description="One a line, such as /srv/data; with :read at the end only to read. Only folders that the hub itself has."
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
            label="Rules of its own"
            description='A JSON list that asks and denies, such as [{ "deny": "network" }]. What allows more, commands and destruction, the owner gives with tool-hub tokens add.'
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
