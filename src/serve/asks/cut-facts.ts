/** How much of it stays: characters of a text, entries of a list. */
interface Cut {
  readonly chars: number
  readonly items: number
}

/** About as many bytes of one ask are in a list: so much is read at a glance, and a page of 500 stays small. */
const MOST_BYTES = 4_096
const CUTS: readonly Cut[] = [
  { chars: 500, items: 10 },
  { chars: 150, items: 4 },
  { chars: 50, items: 2 },
  { chars: 20, items: 1 },
]

/** What an ask says, in short where it is long: the ends of its texts, the beginnings of its lists, its arguments as a text. */
export function cutFacts<T extends object>(facts: T): { readonly facts: T; readonly isCut: boolean } {
  if (bytesOf(facts) <= MOST_BYTES) return { facts, isCut: false }
  let cut = facts
  for (const step of CUTS) {
    cut = Object.fromEntries(Object.entries(facts).flatMap((entry) => cutFact(entry, step))) as T
    if (bytesOf(cut) <= MOST_BYTES) break
  }
  return { facts: cut, isCut: true }
}

/** Arguments and values have any shape; a form that lacks fields would be another one, so it is left out. */
function cutFact([name, value]: [string, unknown], cut: Cut): [string, unknown][] {
  if (name === 'input' || name === 'answer') return [[name, cutJson(value, cut)]]
  if (name === 'form') return []
  if (name === 'hash') return [[name, value]]
  return [[name, cutValue(value, cut)]]
}

function cutJson(value: unknown, { chars }: Cut): unknown {
  const json = JSON.stringify(value) ?? ''
  return json.length > chars ? cutText(json, chars) : value
}

function cutValue(value: unknown, cut: Cut): unknown {
  if (typeof value === 'string') return value.length > cut.chars ? cutText(value, cut.chars) : value
  if (Array.isArray(value)) return value.slice(0, cut.items).map((each) => cutValue(each, cut))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutValue(each, cut)]))
}

/** Both ends stay: what matters may stand at the end, and whoever wants it unseen would put it there. */
function cutText(text: string, chars: number): string {
  const half = Math.ceil(chars / 2)
  return `${text.slice(0, half)} …(${text.length - 2 * half} characters)… ${text.slice(-half)}`
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
