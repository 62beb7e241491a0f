import { ToolError } from '../../../errors.ts'

// A name or IPv4 address, or an IPv6 address in brackets; what a URL parser would decode or rewrite is not in it.
const AUTHORITY = /^([a-z0-9._-]+|\[[0-9a-f:.]+\]):([1-9][0-9]{0,4})$/i

/** The URL that stands for the target of a CONNECT: `https://host:port/`, since TLS is what a tunnel carries. */
export function judgeAuthority(target: string, judge: (text: string) => URL): URL {
  const [, host, port] = AUTHORITY.exec(target) ?? []
  if (host === undefined) {
    throw new ToolError('INPUT_SCHEMA_INVALID', 'The target of CONNECT is not a host and a port.', {
      hint: 'Write it as example.org:443.',
    })
  }
  if (port === '80') {
    throw new ToolError('HTTP_DISALLOWED_HOST', `A tunnel to ${host}:80 would carry plain HTTP, which is not judged.`, {
      hint: 'Send plain http to the proxy as GET http://host/path, or use https.',
    })
  }
  return judge(`https://${host}:${port}/`)
}
