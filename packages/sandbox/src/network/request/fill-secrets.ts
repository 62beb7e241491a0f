import { ToolError } from '@tool-hub/core'
import { type HostPatterns, matchHost, parseHosts } from '../judge-destination.ts'
import { isFieldValue } from './http-request.ts'

/** A secret and the only hosts that may ever see it. */
export interface BoundSecret {
  /** The secret itself. */
  readonly value: string
  /** Where it may be sent: `api.github.com`, `*.example.org`. */
  readonly hosts: readonly string[]
}

/** The secrets of an owner, by name. */
export type SecretStore = ReadonlyMap<string, { readonly value: string; readonly hosts: HostPatterns }>

const REFERENCE = /\$\{secret:([^}]*)\}/g

/** Reads the owner's secrets. */
export function openSecrets(secrets: ReadonlyMap<string, BoundSecret> = new Map()): SecretStore {
  return new Map([...secrets].map(([name, { value, hosts }]) => [name, { value, hosts: parseHosts(hosts) }]))
}

/** Whether a header value refers to a secret. */
export function hasSecret(value: string): boolean {
  return value.includes('${secret:')
}

/**
 * The headers of a hop with the secrets in place of their names; called right before sending, and never stored.
 * `isOwnersPlace`: the owner has opened the address, and so permits plain http there.
 */
export function fillSecrets(
  headers: ReadonlyMap<string, string>,
  url: URL,
  secrets: SecretStore,
  isOwnersPlace: boolean,
): ReadonlyMap<string, string> {
  let filled: Map<string, string> | undefined
  for (const [header, text] of headers) {
    if (!hasSecret(text)) continue
    const value = text.replace(REFERENCE, (_, name: string) => secretFor(name, url, secrets, isOwnersPlace))
    if (!isFieldValue(value)) {
      throw new ToolError(
        'CONFIG_INVALID',
        `A secret in the header ${header} has a character that no header can carry.`,
        {
          hint: 'Have the owner check the value, e.g. for a line end after it.',
        },
      )
    }
    filled ??= new Map(headers)
    filled.set(header, value)
  }
  return filled ?? headers
}

function secretFor(name: string, url: URL, secrets: SecretStore, isOwnersPlace: boolean): string {
  const secret = secrets.get(name)
  if (!secret) {
    throw new ToolError('NOT_FOUND', `Secret ${JSON.stringify(name.slice(0, 100))} not found.`, {
      fix: {
        key: `secrets.${name.slice(0, 100)}`,
        hint: 'Use a name the owner has set, or have the owner set this one.',
      },
    })
  }
  if (!matchHost(url.hostname, secret.hosts)) {
    throw new ToolError('HTTP_DISALLOWED_HOST', `The secret ${name} is not for the host ${url.hostname}.`, {
      fix: {
        key: `secrets.${name}.hosts`,
        value: url.hostname,
        hint: 'Use the host it is for, or have the owner add this one.',
      },
    })
  }
  if (url.protocol === 'https:' || isOwnersPlace) return secret.value
  throw new ToolError('HTTP_DISALLOWED_HOST', `The secret ${name} is not sent to ${url.host} over plain http.`, {
    hint: 'Use https.',
  })
}
