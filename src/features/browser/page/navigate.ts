import type { Response } from 'playwright-core'
import { messageOf, ToolError } from '../../../core/index.ts'
import { judgeUrl } from '../../../sandbox/network/index.ts'
import type { ActionContext } from '../perform.ts'
import type { LoadState } from '../types.ts'

/** The empty page, which needs no permission. */
export const BLANK = 'about:blank'

/** Navigates a tab to a page that the call may visit. */
export function goTo(work: ActionContext, url: string, waitUntil: LoadState = 'load'): Promise<{ status?: number }> {
  const { tab, timeout, signal } = work
  if (url !== BLANK) work.run.network.visit(judgeUrl(url))
  return arrive(work, () => tab.page.goto(url, { waitUntil, timeout, signal }))
}

/** Waits for a navigation; throws if the page was refused, is a download, or did not load in time. */
export async function arrive(
  work: ActionContext,
  navigate: () => Promise<Response | null>,
): Promise<{ status?: number }> {
  const { network } = work.run
  const before = network.refusals
  try {
    const response = await navigate()
    const why = response ? network.refusal(response.url()) : undefined
    if (why !== undefined) throw refused(why)
    return response ? { status: response.status() } : {}
  } catch (error) {
    if (ToolError.is(error)) throw error
    const message = messageOf(error)
    if (
      /ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY|ERR_SSL|ERR_EMPTY_RESPONSE/.test(message) &&
      network.refusals > before
    ) {
      throw refused(network.lastRefusal)
    }
    if (/Download is starting/.test(message)) throw isDownload()
    if (error instanceof Error && error.name === 'TimeoutError') throw await stillLoading(work, error)
    throw error
  }
}

function refused(why: string): ToolError {
  return new ToolError('HTTP_DISALLOWED_HOST', `The page was refused: ${why}`, {
    fix: { key: 'sandbox.network', hint: 'Use a host that the owner allows; sandbox.network names them.' },
  })
}

function isDownload(): ToolError {
  return new ToolError('CONFLICT', 'The address is a download, not a page; it was stopped.', {
    hint: 'Use core/http.downloadFile, or action download with the ref of the link.',
  })
}

/** A timeout error that says how far the page has loaded. */
async function stillLoading({ tab, timeout }: ActionContext, cause: Error): Promise<ToolError> {
  const late = new Promise<string>((resolve) => setTimeout(resolve, 500, 'unknown'))
  const state = await Promise.race([tab.page.evaluate('document.readyState').catch(() => 'unknown'), late])
  const isKnown = ['loading', 'interactive', 'complete'].includes(String(state))
  return new ToolError(
    'TIMEOUT',
    `The page did not finish loading within ${timeout} ms: its document is ${isKnown ? state : 'not there yet'}, ${tab.openRequests} requests are without an answer.`,
    { hint: 'A snapshot shows what is there; waitUntil: domcontentloaded or commit waits for less.', cause },
  )
}
