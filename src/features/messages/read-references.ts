import { type FeatureHost, ToolError } from '../../core/index.ts'

/** `${env:X}` or `${secret:x}`, alone. */
const REFERENCE = /^\$\{(env|secret):([A-Za-z_][A-Za-z0-9_.-]*)\}$/

/** What the texts of one channel refer to. */
export interface References {
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
