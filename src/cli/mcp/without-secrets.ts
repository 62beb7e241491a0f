import { isPlainObject } from '../../value/is-plain-object.ts'
import { holdsSecret } from './holds-secret.ts'

const SECRET_NAME = /TOKEN|SECRET|PASS|AUTH|CREDENTIAL|(^|[_-])KEY($|[_-])/i

/** The entry of a server with references where it had secrets, and the variables that must be set for them. */
export function withoutSecrets(entry: unknown): { readonly entry: unknown; readonly missing: readonly string[] } {
  if (!isPlainObject(entry)) return { entry, missing: [] }
  const missing: string[] = []
  const cleaned = (values: unknown) => {
    if (!isPlainObject(values)) return values
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        if (!isSecret(name, value)) return [name, value]
        const variable = name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')
        missing.push(variable)
        const scheme = /^(Bearer|Basic|token) /i.exec(String(value))?.[0] ?? ''
        return [name, `${scheme}\${env:${variable}}`]
      }),
    )
  }
  const { env, headers, ...rest } = entry
  return {
    entry: {
      ...rest,
      ...(env !== undefined && { env: cleaned(env) }),
      ...(headers !== undefined && { headers: cleaned(headers) }),
    },
    missing,
  }
}

function isSecret(name: string, value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.includes('${')) return false
  return SECRET_NAME.test(name) || holdsSecret(value)
}
