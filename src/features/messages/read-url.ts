import { ToolError } from '../../core/index.ts'

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:.+\.)?localhost)$/

/** The URL of a channel; one that is a secret, or carries one, never goes over the network in the clear. */
export function readUrl(channel: string, text: string, { isSecret }: { readonly isSecret: boolean }): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') throw invalid(channel, 'is not a URL')
  if (url.username !== '' || url.password !== '') throw invalid(channel, 'carries a user name or password')
  if (isSecret && url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    throw invalid(channel, 'holds a secret and is not https')
  return url
}

function invalid(channel: string, what: string): ToolError {
  // Not the URL itself: it may be the secret.
  return new ToolError('CONFIG_INVALID', `The URL of the channel ${channel} ${what}.`, {
    hint: 'Give the whole URL, https://…, as the service shows it.',
  })
}

/** Values of a URL that is a secret, in the forms in which they could turn up. */
export function secretsOfUrl(url: URL): string[] {
  const parts = url.pathname.split('/').filter((part) => part.length >= 16)
  return [url.href, url.pathname, ...parts].filter((value) => value.length >= 8)
}
