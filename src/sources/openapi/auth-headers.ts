import { ToolError } from '../../errors.ts'
import type { OpenApiAuth } from './open-api-options.ts'

const SECRET_NAME = /^[A-Za-z0-9_.-]{1,100}$/
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** The headers that say who asks. A secret stands there by its name; the network guard fills it in at the last moment. */
export function authHeaders(auth: OpenApiAuth | undefined): Readonly<Record<string, string>> {
  if (!auth) return {}
  if (auth.type === 'query') throw inUrl(auth.name)
  if (!SECRET_NAME.test(auth.secret)) throw unusable(`${JSON.stringify(auth.secret)} is no name of a secret.`)
  const reference = `\${secret:${auth.secret}}`
  switch (auth.type) {
    case 'bearer':
      return { authorization: `Bearer ${reference}` }
    case 'basic':
      return { authorization: `Basic ${reference}` }
    case 'header': {
      const name = auth.name.toLowerCase()
      if (!HEADER_NAME.test(name)) throw unusable(`${JSON.stringify(auth.name)} is no name of a header.`)
      return { [name]: reference }
    }
    default:
      throw unusable(`The type ${JSON.stringify((auth as { type: unknown }).type)} is not known.`)
  }
}

function inUrl(name: string): ToolError {
  return new ToolError('CONFIG_INVALID', `A secret cannot be sent in the URL, as ${JSON.stringify(name)}.`, {
    hint: 'URLs end up in logs and records. Most APIs take the key in a header too: { type: "header", name: "X-Api-Key", secret }.',
  })
}

function unusable(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The option auth cannot be used: ${message}`, {
    hint: 'Give { type: "bearer", secret: "github" }, the name of a secret of the hub.',
  })
}
