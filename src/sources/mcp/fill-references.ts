import { ToolError } from '../../core/index.ts'

/** Where the values come from. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secret: (name: string) => string | undefined
  /** Is notified of every value that was taken from there, and of no default. */
  readonly onValue?: (kind: 'env' | 'secret', name: string, value: string) => void
}

/** `${env:X}`, `${secret:x}`, and `${X}` as Claude writes it; each may say what holds without it, `${X:-default}`. */
const REFERENCE = /\$\{(?:([A-Za-z]+):(?!-))?([A-Za-z_][A-Za-z0-9_.-]*?)(?::-([^}]*))?\}/g

/** A text of the configuration of a server with what it refers to; one that is missing is reported by its name. */
export function fillReferences(text: string, references: ReferenceSources, where: string): string {
  return text.replaceAll(REFERENCE, (whole, kind: string | undefined, name: string, otherwise: string | undefined) => {
    const value = lookUp(kind ?? 'env', name, references, { whole, where })
    if (value === undefined && otherwise !== undefined) return otherwise
    if (value === undefined)
      throw missing(kind === 'secret' ? `the secret ${name}` : `the environment variable ${name}`, where, kind)
    references.onValue?.(kind === 'secret' ? 'secret' : 'env', name, value)
    return value
  })
}

function lookUp(
  kind: string,
  name: string,
  { env, secret }: ReferenceSources,
  { whole, where }: { readonly whole: string; readonly where: string },
): string | undefined {
  if (kind === 'env') return Object.hasOwn(env, name) ? env[name] : undefined
  if (kind === 'secret') return secret(name)
  throw new ToolError('CONFIG_INVALID', `${where} holds ${whole}, which tool-hub cannot fill in.`, {
    hint: 'Use ${env:NAME} for a variable of the environment or ${secret:name} for a secret of tool-hub.yaml.',
  })
}

function missing(what: string, where: string, kind: string | undefined): ToolError {
  const hint =
    kind === 'secret' ? 'Add it to secrets in tool-hub.yaml.' : 'Set it, or give a default: ${env:NAME:-default}.'
  return new ToolError('CONFIG_INVALID', `${where} needs ${what}, which is not set.`, { hint })
}
