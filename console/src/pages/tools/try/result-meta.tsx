import type { ToolResult } from '../../../api/types.ts'
import { Duration } from '../../../components/duration.tsx'
import { Facts } from '../../../components/facts.tsx'
import { VisibleText } from '../../../components/visible-text.tsx'

/** How long a call took, by which rule, who approved it, what else is to know. */
export function ResultMeta({ meta }: { meta: ToolResult['meta'] }) {
  const { durationMs, attempts, truncated, cached, abandoned, rule, approvedBy, labels = [], notices = [] } = meta
  return (
    <Facts
      facts={[
        ['Took', <Duration key="took" ms={durationMs} />],
        ['Attempts', attempts > 1 && String(attempts)],
        ['Rule', rule && <VisibleText key="rule" text={rule} />],
        ['Approved by', approvedBy && <VisibleText key="by" text={approvedBy} />],
        ['Cut', truncated && cutWords(truncated.cutChars)],
        ['Cached', cached && 'the result of an earlier call with the same key'],
        ['Left behind', abandoned && 'it did not stop when it was told to'],
        ['Labels', labels.join(', ')],
        ['Told', notices.length > 0 && <VisibleText key="told" text={notices.join(' ')} />],
      ]}
    />
  )
}

function cutWords(cutChars: number | undefined): string {
  if (cutChars === undefined) return 'the text was shortened; the whole is an artifact'
  return `${cutChars.toLocaleString('en')} characters; the whole is an artifact`
}
