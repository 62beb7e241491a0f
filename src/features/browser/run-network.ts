import { type FeatureCall, type ProgramNetwork, ToolError } from '../../core/index.ts'
import type { PageEventQueue } from './page/page-news.ts'

/** A page makes many connections; so many of them are put on record for one call. */
const MAX_RECORDED = 200
const MAX_REMEMBERED = 500
const REFUSED = 'refused: '

/** What the pages of a run may reach: what the last call of the run would be allowed outright, and where it was sent to. */
export class RunNetwork implements ProgramNetwork {
  readonly #news: PageEventQueue
  readonly #visited = new Set<string>()
  readonly #refused = new Map<string, string>()
  /** How many requests were refused so far. */
  refusals = 0
  lastRefusal = ''
  #call: FeatureCall
  #recorded = 0

  constructor(call: FeatureCall, news: PageEventQueue) {
    this.#call = call
    this.#news = news
  }

  /** From now on pages are judged as this call is. */
  judgeAs(call: FeatureCall): void {
    if (call !== this.#call) this.#recorded = 0
    this.#call = call
  }

  /** A page that a call was allowed to visit. A tunnel to its host shows no path, so the host is what counts there. */
  visit({ protocol, host }: URL): void {
    if (protocol === 'https:') this.#visited.add(host)
  }

  /** Why a URL was refused, if it was. */
  refusal(url: string): string | undefined {
    if (!URL.canParse(url)) return undefined
    const { protocol, href, origin } = new URL(url)
    return this.#refused.get(protocol === 'https:' ? `${origin}/` : href.replace(/#.*$/s, ''))
  }

  readonly permits = (url: string): void => {
    const { protocol, host } = new URL(url)
    if (protocol === 'https:' && this.#visited.has(host)) return
    const verdict = this.#call.allows('network', url)
    if (verdict.ok) return
    throw new ToolError('POLICY_DENIED', `${host}: ${verdict.why}.`, {
      hint: 'Have the owner allow network on this host by a rule.',
    })
  }

  readonly onConnection = (url: string, outcome: string): void => {
    if (outcome.startsWith(REFUSED)) this.#note(url, outcome.slice(REFUSED.length))
    this.#recorded += 1
    if (this.#recorded > MAX_RECORDED) return
    this.#call.recordConnection(url, outcome)
    if (this.#recorded === MAX_RECORDED) this.#call.recordConnection(url, 'and further ones, which are not listed')
  }

  #note(url: string, why: string): void {
    if (this.#refused.size >= MAX_REMEMBERED) this.#refused.clear()
    this.#refused.set(url, why)
    this.refusals += 1
    this.lastRefusal = why
    this.#news.refused(url, why)
  }
}
