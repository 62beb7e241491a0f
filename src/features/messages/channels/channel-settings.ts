import { type FeatureHost, ToolError } from '../../../core/index.ts'

/** What a built-in channel is made of, beside its options. */
export interface ChannelContext {
  /** As the owner has named it. */
  readonly name: string
  readonly references: References
  readonly redact: (text: string) => string
  readonly host: Pick<FeatureHost, 'dial' | 'store' | 'hide' | 'emitChange'>
}

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

/** `${env:X}` or `${secret:x}`, alone. */
const REFERENCE = /^\$\{(env|secret):([A-Za-z_][A-Za-z0-9_.-]*)\}$/

/** What the texts of one channel refer to. */
interface References {
  /** A text, or what it refers to. */
  read(key: string, text: string): string
  /** The same for what nobody else may see: from then on no record and no result holds it. */
  readSecret(key: string, text: string): string
}

/** Reads the configuration of a channel; what it refers to and is not set is told by its name. */
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
