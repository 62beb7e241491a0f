import type { AbilityHost } from '../../contracts/ability.ts'
import { ToolError } from '../../errors.ts'

const REFERENCE = /\$\{(env|secret):([A-Za-z_][A-Za-z0-9_.-]{0,127})\}/g
/** Shorter ones would hide ordinary words. */
const SHORTEST_SECRET = 6
/** Of the variable, or of the one that it refers to. */
const SAYS_SECRET = /key|token|secret|passw|credential|auth/i

/** The environment of a runner with what it refers to; secrets, and what is called one, are hidden from then on. One that is missing is told by its name. */
export function fillEnv(
  runner: string,
  env: Readonly<Record<string, string>> = {},
  { host, variables }: { host: Pick<AbilityHost, 'secret' | 'hide'>; variables: NodeJS.ProcessEnv },
): Record<string, string> {
  const hide = (value: string) => {
    if (value.length >= SHORTEST_SECRET) host.hide([value])
  }
  const fill = (text: string, key: string) =>
    text.replaceAll(REFERENCE, (_, kind: string, name: string) => {
      const value = kind === 'secret' ? host.secret(name) : ownValue(variables, name)
      if (value === undefined) throw missing(kind, name, `sessions.runners.${runner}.env.${key}`)
      if (kind === 'secret' || SAYS_SECRET.test(name)) hide(value)
      return value
    })
  const filled = Object.entries(env).map(([key, text]) => [key, fill(text, key)] as const)
  for (const [key, value] of filled) if (SAYS_SECRET.test(key)) hide(value)
  return Object.fromEntries(filled)
}

function ownValue(variables: NodeJS.ProcessEnv, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined
}

function missing(kind: string, name: string, where: string): ToolError {
  const what = kind === 'secret' ? `the secret ${name}` : `the environment variable ${name}`
  return new ToolError('CONFIG_INVALID', `${where} needs ${what}, which is not set.`, {
    hint: kind === 'secret' ? 'Add it to secrets in tool-hub.yaml.' : 'Set it where tool-hub is started.',
  })
}
