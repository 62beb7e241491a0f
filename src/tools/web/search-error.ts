import { ToolError } from '../../core/index.ts'
import type { OpenProvider } from './open-provider.ts'

const PREVIEW_CHARS = 200

/** What a call says as long as the owner has chosen no provider. */
export function notConfigured(): ToolError {
  return new ToolError('CONFIG_INVALID', 'No search provider is set, so nothing can be searched.', {
    fix: {
      key: 'web.search.provider',
      value: 'tavily',
      hint:
        'Have the owner set web.search.provider in tool-hub.yaml to tavily (key in TAVILY_API_KEY), brave ' +
        '(BRAVE_API_KEY) or searxng (web.search.url, no key), the key under secrets, and its host in sandbox.network.',
    },
  })
}

/** A key that nobody set, told so that the owner can; anything else as it is. */
export function explainMissingKey(error: unknown, { name, secret, keyVariable }: OpenProvider): unknown {
  const isMissing = ToolError.is(error) && error.code === 'NOT_FOUND' && error.fix.key === `secrets.${secret}`
  if (!isMissing) return error
  return new ToolError('CONFIG_INVALID', `The search provider ${name} needs a key, and there is no secret ${secret}.`, {
    fix: {
      key: `secrets.${secret}`,
      hint: `Have the owner put the key into ${keyVariable} and name it under secrets.${secret} in tool-hub.yaml.`,
    },
    cause: error,
  })
}

/** The failure that an HTTP status stands for. */
export function refusedSearch(status: number, text: string, { name, secret, keyVariable }: OpenProvider): ToolError {
  const said = text
    .slice(0, PREVIEW_CHARS)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  const message = `The search provider ${name} answered with status ${status}${said ? `: ${said}` : '.'}`
  if (status === 401 || status === 403) {
    const hint =
      name === 'searxng'
        ? 'Have the owner allow the format json in the settings of SearXNG.'
        : `Have the owner check the key in ${keyVariable} (secrets.${secret} in tool-hub.yaml).`
    return new ToolError('CONFIG_INVALID', message, { hint, details: { status } })
  }
  if (status === 429) return new ToolError('RATE_LIMITED', message, { details: { status } })
  return new ToolError('UPSTREAM_ERROR', message, { retryable: status >= 500, details: { status } })
}

/** An answer that is no list of hits. */
export function unreadableAnswer({ name }: OpenProvider, cause: unknown): ToolError {
  return new ToolError(
    'UPSTREAM_ERROR',
    `The search provider ${name} answered with something that is no search result.`,
    {
      hint: 'Have the owner check web.search.url in tool-hub.yaml.',
      retryable: false,
      cause,
    },
  )
}
