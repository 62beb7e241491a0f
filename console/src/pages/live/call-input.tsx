import { JsonView } from '../../components/json-view.tsx'
import styles from './call-details.module.css'
import { DetailBlock } from './detail-block.tsx'
import { type CallStory, numberOf } from './read-call.ts'

/** The arguments as they were recorded, or why they were not. */
export function CallInput({ story: { facts } }: { story: CallStory }) {
  if (facts === undefined) return null
  return (
    <DetailBlock title="Input">
      {facts.args !== undefined && <JsonView value={facts.args} label="input" />}
      {facts.args === undefined && <p className={styles.quiet}>{whyNot(numberOf(facts, 'argsBytes'))}</p>}
    </DetailBlock>
  )
}

function whyNot(bytes: number | undefined): string {
  if (bytes === undefined) return 'The arguments were not valid, so they were not recorded.'
  return `The arguments have ${bytes.toLocaleString('en')} bytes; over 2 KB only their hash is kept.`
}
