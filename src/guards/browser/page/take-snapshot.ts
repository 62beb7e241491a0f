import type { AbilityCall } from '../../../contracts/ability.ts'
import { ToolError } from '../../../errors.ts'
import type { Artifact } from '../../../result.ts'
import { boundSnapshot } from './bound-snapshot.ts'
import type { Tab } from './tab.ts'

/** What to look at. */
export interface SnapshotRequest {
  readonly ref?: string
  readonly depth?: number
  readonly maxChars?: number
}

/** How long it may take. */
export interface Patience {
  readonly timeout: number
  readonly signal: AbortSignal
}

/** A frame that shows nothing, since it was refused, is waited for as long as there is time: so there is little at first. */
const FRAMES_MS = 2_000
const MAX_CHARS = 20_000
const MAX_LINES = 1_500
const MOST_NODES = 200_000
const MOST_ARTIFACT_CHARS = 4_000_000

/** The accessibility tree of a page or of one element, cut to what a model can read; the whole becomes an artifact. */
export async function takeSnapshot(tab: Tab, request: SnapshotRequest, patience: Patience, call: AbilityCall) {
  const { ref, depth, maxChars = MAX_CHARS } = request
  await refuseGiant(tab)
  const place = ref === undefined ? tab.page : await tab.element(ref)
  const look = ({ timeout, signal }: Patience) =>
    place.ariaSnapshot({ mode: 'ai', timeout, signal, ...(depth !== undefined && { depth }) })
  const whole = await look({ ...patience, timeout: Math.min(FRAMES_MS, patience.timeout) }).catch((error) => {
    if (error instanceof Error && error.name === 'TimeoutError') return look(patience)
    throw error
  })
  const { text, isCut } = boundSnapshot(whole, { maxChars, maxLines: MAX_LINES })
  const artifact = isCut ? await keepWhole(whole, call) : undefined
  return { text, chars: whole.length, isCut, ...(artifact && { artifact }) }
}

/** The tree is made by the page's own thread, which nobody could stop. */
async function refuseGiant(tab: Tab): Promise<void> {
  const session = await tab.session()
  const { metrics } = await session.send('Performance.getMetrics')
  const nodes = metrics.find(({ name }) => name === 'Nodes')?.value ?? 0
  if (nodes <= MOST_NODES) return
  throw new ToolError('FILE_TOO_LARGE', `The page has ${nodes} nodes, the limit of a snapshot is ${MOST_NODES}.`, {
    hint: 'Take a screenshot, or use evaluate to read the part that you need.',
  })
}

/** Without a place for artifacts there is only what fits. */
async function keepWhole(text: string, call: AbilityCall): Promise<Artifact | undefined> {
  try {
    return await call.artifact(text.slice(0, MOST_ARTIFACT_CHARS), { name: 'snapshot.yaml', mediaType: 'text/yaml' })
  } catch (error) {
    if (ToolError.is(error) && error.code === 'RECORDS_UNAVAILABLE') return undefined
    throw error
  }
}
