import { isSessionSecret } from './token-secret.ts'

/** The cookie of the console. */
export const SESSION_COOKIE = 'tool_hub_session'

/** A `Set-Cookie` that signs in for so long; out when there is no value. Scripts never see it, other sites never send it. */
export function writeSessionCookie(
  value: string,
  { maxAgeMs, secure }: { readonly maxAgeMs: number; readonly secure: boolean },
): string {
  const parts = [`${SESSION_COOKIE}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict']
  return [...parts, `Max-Age=${Math.floor(maxAgeMs / 1_000)}`, ...(secure ? ['Secure'] : [])].join('; ')
}

/** The session of a `Cookie` header. Two of them are none: another site on this name may have planted one. */
export function readSessionCookie(header: string | null): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const [name, value = ''] = pair.trim().split('=')
    return name === SESSION_COOKIE && value !== '' ? [value] : []
  })
  const [value] = values
  return values.length === 1 && isSessionSecret(value!) ? value : undefined
}
