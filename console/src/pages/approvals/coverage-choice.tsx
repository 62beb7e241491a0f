import { useId } from 'react'
import type { Approval } from '../../api/types.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { holdsFor, type RememberChoice } from './remember.ts'
import styles from './remember-fields.module.css'

interface CoverageChoiceProps {
  readonly choice: RememberChoice
  readonly onChange: (choice: RememberChoice) => void
  readonly coverage: Approval['coverage']
}

/** Which calls a remembered answer covers, in the words of the service; a choice only where there is one. */
export function CoverageChoice({ choice, onChange, coverage }: CoverageChoiceProps) {
  const name = useId()
  const intro = `Without asking again, ${holdsFor(choice)}, for`
  if (coverage.targets === undefined && coverage.pattern === undefined) {
    return (
      <p className={styles.words}>
        {intro} <VisibleText text={coverage.exact} />.
      </p>
    )
  }
  const options = [
    ['exact', coverage.exact] as const,
    ...(coverage.pattern === undefined ? [] : [['pattern', `every call that matches ${coverage.pattern}`] as const]),
    ...(coverage.targets === undefined ? [] : [['targets', coverage.targets] as const]),
  ]
  return (
    <fieldset className={styles.coverage}>
      <legend>{intro}</legend>
      {options.map(([covers, words]) => (
        <label key={covers} className={styles.option}>
          <input
            type="radio"
            name={name}
            checked={choice.covers === covers}
            onChange={() => onChange({ ...choice, covers })}
          />
          <span>
            <VisibleText text={words} />
          </span>
        </label>
      ))}
    </fieldset>
  )
}
