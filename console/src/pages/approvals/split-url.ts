/** A URL around its host and port, which decide where it goes; all of it is `before` when it is none. */
export function splitUrl(url: string): { before: string; host: string; after: string } {
  const whole = { before: url, host: '', after: '' }
  if (!URL.canParse(url)) return whole
  const { host } = new URL(url)
  // What stands before an @ looks like a host and is none: it is searched for behind it.
  const authority = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?/i.exec(url)?.[0]
  if (authority === undefined || host === '') return whole
  const rest = url.slice(authority.length)
  if (!rest.toLowerCase().startsWith(host)) return whole
  return { before: authority, host: rest.slice(0, host.length), after: rest.slice(host.length) }
}
