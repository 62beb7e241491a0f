import { type ConfigDocument, configError, type KeyPath } from '../config-document.ts'
import { messageOf, ToolError } from '../errors.ts'

/** Where the values of references come from. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secret: (name: string) => string | undefined
  /** Called for every value that was found, but not for defaults. */
  readonly onValue?: (kind: 'env' | 'secret', name: string, value: string) => void
}

/** `${env:X}`, `${secret:x}`, and `${X}` as in Claude's configuration; each may have a default, `${X:-default}`. */
const REFERENCE = /\$\{(?:([A-Za-z]+):(?!-))?([A-Za-z_][A-Za-z0-9_.-]*?)(?::-([^}]*))?\}/g

/** Resolves the references in a text. Throws CONFIG_INVALID with the name of one that is missing. */
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

/** Fills in `${env:NAME}` in the text at a path of the config. Its errors name the place. */
export function fillAt(document: ConfigDocument, path: KeyPath, text: string): string {
  const where = path.filter((part) => typeof part === 'string').join('.')
  try {
    return fillReferences(text, { env: process.env, secret: () => undefined }, where)
  } catch (error) {
    const problem = { path, message: messageOf(error), position: document.locate(path) }
    throw configError(document.label, [problem], { hint: ToolError.is(error) ? error.fix.hint : undefined })
  }
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
