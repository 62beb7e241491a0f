import type { IncomingMessage } from 'node:http'
import { ToolError } from '../../../errors.ts'

const NOT_ASCII = /[^\x21-\x7e]/

/** The URL of a plain request that every server would read alike. */
export function judgeRequest(request: IncomingMessage, judge: (text: string) => URL): URL {
  const { url: target = '', method, headers, httpVersion } = request
  if (/^https:/i.test(target)) throw invalid('https goes through the proxy by CONNECT.', 'Use a tunnel: CONNECT.')
  if (!target.includes('://') || NOT_ASCII.test(target)) {
    throw invalid('This is a proxy, and the request does not name a whole URL.', 'Ask for GET http://host/path.')
  }
  const url = judge(target)
  if (method === 'TRACE') throw invalid('TRACE gives back what others should not see.', 'Use another method.')
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) throw invalid(`The request has ${hosts} Host headers.`)
  if (hosts === 1 && hostOf(headers.host!, judge) !== url.host) {
    throw invalid(`The Host header is another than the host of the URL, ${url.host}.`, 'Make both the same.')
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    throw invalid('The body is encoded in a way that the proxy does not know.', 'Use chunked, or a Content-Length.')
  }
  // An offer of HTTP/2 may be passed over; any other protocol would not be HTTP any more, and nobody would judge it.
  if (headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c') {
    throw invalid('The proxy changes to no other protocol.', 'Use wss:// instead of ws://.')
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw invalid('The proxy cannot meet what Expect asks for.', 'Leave the header out.')
  }
  return url
}

function hostOf(header: string, judge: (text: string) => URL): string | undefined {
  try {
    const url = judge(`http://${header}/`)
    return url.pathname === '/' && url.search === '' ? url.host : undefined
  } catch {
    // No host at all is another host, too.
    return undefined
  }
}

function invalid(message: string, hint = 'Send one plain HTTP/1.1 request.'): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
