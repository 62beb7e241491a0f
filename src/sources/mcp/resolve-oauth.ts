import type { HttpMcpServer, McpOAuth } from '../../core/options.ts'
import type { SourceHost } from '../../core/source.ts'
import type { ReferenceSources } from './fill-references.ts'
import { toServerUrl } from './resolve-server.ts'
import { openReferences } from './server-references.ts'

/** Where and how to sign in to a server, with everything filled in that its configuration refers to. */
export function resolveOAuth(
  name: string,
  { url, oauth }: HttpMcpServer,
  host: Pick<SourceHost, 'secret' | 'hide'>,
  env: ReferenceSources['env'] = process.env,
): { readonly url: string; readonly oauth: McpOAuth | undefined } {
  const { fill } = openReferences(name, { host, env })
  const { href } = toServerUrl(name, fill(url, 'url'))
  if (!oauth) return { url: href, oauth: undefined }
  const { clientId, clientSecret, ...others } = oauth
  const secret = clientSecret === undefined ? undefined : fill(clientSecret, 'oauth.clientSecret')
  if (secret) host.hide([secret])
  return {
    url: href,
    oauth: {
      ...others,
      clientId: clientId === undefined ? undefined : fill(clientId, 'oauth.clientId'),
      clientSecret: secret,
    },
  }
}
