import { z } from 'zod'
import { SCOPES, tokenLimits } from '../../protocol/index.ts'

const scope = z.enum(SCOPES)

/** Keys are asked for where nobody on the way can change them. */
const keyAddress = z.url({ protocol: /^https?$/ }).refine(isPrivateWay, 'must begin with https://')

/** An authorization server whose JSON Web Tokens open the door. */
export const jwtConfig = z
  .strictObject({
    /** As its tokens say it, to the letter. */
    issuer: keyAddress,
    /** What its tokens must be meant for. */
    audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    /** Where its keys are; what its `/.well-known/openid-configuration` says unless said. */
    jwksUri: keyAddress.optional(),
    /** The keys themselves, for a server that cannot be asked. */
    jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string() })).min(1) }).optional(),
    /** The claim with the scopes: words in a text, or a list; `realm_access.roles` looks into an object. */
    scopesClaim: z.string().min(1).default('scope'),
    /** What the server's words mean here; without it, `call`, `approve`, `read` and `admin` mean themselves. */
    map: z.record(z.string(), z.union([scope, z.array(scope)])).optional(),
    /** What everybody who comes this way is held to. */
    limits: tokenLimits.optional(),
  })
  .refine(({ jwksUri, jwks }) => !(jwksUri && jwks), 'has jwksUri and jwks; give one of them')

export type JwtConfig = z.input<typeof jwtConfig>
export type CheckedJwtConfig = z.output<typeof jwtConfig>

function isPrivateWay(address: string): boolean {
  // Also asked of what is no URL, which is said already.
  if (!URL.canParse(address)) return true
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
