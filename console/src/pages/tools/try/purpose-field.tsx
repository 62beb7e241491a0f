import { Field } from '../../../components/field.tsx'

/** Why it is called, in words for whoever is asked. */
export function PurposeField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Field label="Purpose" description="Shown to whoever is asked for the approval.">
      {(control) => (
        <input
          {...control}
          type="text"
          maxLength={2_000}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
