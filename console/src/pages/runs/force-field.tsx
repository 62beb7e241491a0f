import { Field } from '../../components/field.tsx'

/** Whether to undo also where a file was changed since. */
export function ForceField({ isForced, onChange }: { isForced: boolean; onChange: (isForced: boolean) => void }) {
  return (
    <Field
      label="Undo also what was changed since"
      description="What was written after these calls is lost then: look at the differences above first."
    >
      {({ required: _, ...control }) => (
        <input {...control} type="checkbox" checked={isForced} onChange={({ target }) => onChange(target.checked)} />
      )}
    </Field>
  )
}
