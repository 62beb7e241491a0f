import { type FeatureHost, ToolError } from '@tool-hub/core'

/** What a built-in channel needs in addition to its options. */
export interface ChannelContext {
  /** Name of the channel. */
  readonly name: string
  readonly references: References
  readonly redact: (text: string) => string
  readonly host: Pick<FeatureHost, 'dial' | 'store' | 'hide' | 'emitChange'>
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:.+\.)?localhost)$/

/** Parses the URL of a channel; one that contains a secret must use https, except on loopback. */
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

/** The values to hide of a URL that is a secret. */
export function secretsOfUrl(url: URL): string[] {
  const parts = url.pathname.split('/').filter((part) => part.length >= 16)
  return [url.href, url.pathname, ...parts].filter((value) => value.length >= 8)
}

/** `${env:X}` or `${secret:x}`, alone. */
const REFERENCE = /^\$\{(env|secret):([A-Za-z_][A-Za-z0-9_.-]*)\}$/

/** Resolves the references in the options of a channel. */
interface References {
  /** The text, or the value that it refers to. */
  read(key: string, text: string): string
  /** The same for a secret: the value is hidden from records and results. */
  readSecret(key: string, text: string): string
}

/** Resolves `${env:X}` and `${secret:x}`; throws `CONFIG_INVALID` if one is not set. */
export function readReferences(channel: string, host: Pick<FeatureHost, 'secret' | 'hide'>): References {
  const read = (key: string, text: string): string => {
    const [, kind, name] = REFERENCE.exec(text) ?? []
    if (name === undefined) return text
    const value = kind === 'secret' ? host.secret(name) : variable(name)
    if (!value) throw missing(channel, key, kind!, name)
    host.hide([value])
    return value
  }
  const readSecret = (key: string, text: string): string => {
    const value = read(key, text)
    host.hide([value])
    return value
  }
  return { read, readSecret }
}

function variable(name: string): string | undefined {
  return Object.hasOwn(process.env, name) ? process.env[name] : undefined
}

function missing(channel: string, key: string, kind: string, name: string): ToolError {
  const what = kind === 'secret' ? `the secret ${name}` : `the environment variable ${name}`
  const hint = kind === 'secret' ? `Add ${name} to secrets in tool-hub.yaml.` : `Set ${name} where tool-hub runs.`
  return new ToolError('CONFIG_INVALID', `The channel ${channel} needs ${what} (${key}), which is not set.`, { hint })
}
