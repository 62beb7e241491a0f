import type { HubOptions } from '../../core/index.ts'
import { matchHost, parseHosts } from '../../sandbox/network/index.ts'
import { openProvider } from '../../tools/index.ts'
import type { DoctorFinding } from './doctor-examine.ts'

/** Whether the web can be searched as the config means it: the service's host is open and its key is there. */
export function examineSearch({ web, sandbox, secrets = {} }: HubOptions): DoctorFinding[] {
  if (!web?.search) return []
  const provider = openProvider(web.search)
  const { url, headers } = provider.request({ query: 'x', count: 1 })
  const host = new URL(url).hostname
  const { name, secret, keyVariable } = provider
  if (!matchHost(host, parseHosts(sandbox?.network ?? [])))
    return [
      broken(`${name} answers at ${host}, which sandbox.network does not name`, `Add ${host} to sandbox.network.`),
    ]
  const needsKey = Object.values(headers).some((value) => value.includes(`\${secret:${secret}}`))
  if (!needsKey) return [{ state: 'good', what: 'web search', detail: `${name} at ${host}, without a key` }]
  const key = Object.hasOwn(secrets, secret) ? secrets[secret] : undefined
  if (!key)
    return [
      broken(
        `${name} needs a key, and there is no secret ${secret}`,
        `Name it under secrets.${secret}, with hosts: [${host}], and set its variable (${keyVariable} by custom).`,
      ),
    ]
  if (!matchHost(host, parseHosts(key.hosts)))
    return [broken(`the secret ${secret} may not be sent to ${host}`, `Add ${host} to secrets.${secret}.hosts.`)]
  return [{ state: 'good', what: 'web search', detail: `${name} at ${host}, with the secret ${secret}` }]
}

function broken(detail: string, fix: string): DoctorFinding {
  return { state: 'broken', what: 'web search', detail, fix }
}
